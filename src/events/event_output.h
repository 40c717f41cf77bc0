/* SPDX-License-Identifier: MIT */
/*
 * The events that are shown beside the calls: CPU events of the trace, context
 * switches, samples of other events, losses, the wall clock.
 *
 * FTF shows all of them; lists of slices only the marks among the calls.
 */
#ifndef SRC_EVENTS_EVENT_OUTPUT_H
#define SRC_EVENTS_EVENT_OUTPUT_H

#include "base/io/big_array.h"
#include "base/tables/name.h"
#include "decoder/perf_data/perf_file.h"
#include "src/callstack/thread_stacks.h"
#include "src/events/cpu_event_sink.h"
#include "src/events/hit_output.h"
#include "src/events/initial_state.h"
#include "src/events/pebs_events.h"
#include "src/formats/output_format.h"
#include "src/select/event_filter.h"

struct resolver;

/* All is borrowed until event_output_release(). */
struct event_output_input {
	struct ftf_writer *writer; /* NULL: write no tracks of events */
	const struct perf_file *file;
	const struct timeline *timeline;
	const struct pt_info *info;
	const struct event_filter *filter;
	struct thread_stacks *stacks; /* NULL: leave the marks among calls out */
	struct resolver *resolver;
	struct diag *diag;
	bool samples; /* show them */
	struct trace_facts facts;
};

struct event_output {
	struct event_output_input input;
	struct event_tracks tracks;
	struct cpu_event_sink sink;
	struct pebs_events pebs;
	struct initial_state initial;
	struct hit_output hits;
	struct big_array events; /* owned: struct cpu_event, written by event_output_finish() */
	size_t event_count;
	struct symbol ptwrite, abort; /* marks */
};

void event_output_init(struct event_output *output, const struct event_output_input *input,
		       struct name_table *names);

/* Add an event of kind BRANCH_CPU_EVENT; those of a stream come in order of time. */
void event_output_add(struct event_output *output, const struct branch_event *event);

/*
 * Write the trace's events, and those of other records.  The trace is from `begin` to
 * `end` (ns; both 0: nothing with a time was decoded).  If it is `untimed`, the decoded
 * events have no times, so records with a time are left out, with a warning.  Hits are
 * counted in any case.  Nothing else may use the writer now.
 */
void event_output_finish(struct event_output *output, uint64_t begin, uint64_t end, bool untimed);

/* Show the hits of the recording. */
void event_output_show_hits(const struct event_output *output, struct hit_output *hits);

/* Idempotent, also on zeroed memory. */
void event_output_release(struct event_output *output);

#endif
