/* SPDX-License-Identifier: MIT */
/*
 * What is shown beside the calls: side events of the trace, context switches,
 * other samples of the recording, losses, the wall clock.
 *
 * In FTF all of it; in lists of slices the marks among the calls only.
 */
#ifndef SRC_EVENTS_EVENT_OUTPUT_H
#define SRC_EVENTS_EVENT_OUTPUT_H

#include "base/io/big_array.h"
#include "base/name.h"
#include "decoder/perf_data/perf_file.h"
#include "src/callstack/thread_stacks.h"
#include "src/events/cpu_event_sink.h"
#include "src/events/initial_state.h"
#include "src/select/event_filter.h"

struct resolver;

/* What it is made of; all borrowed until event_output_release(). */
struct event_output_input {
	struct ftf_writer *writer; /* NULL: not FTF, or in parts */
	const struct perf_file *file;
	const struct timeline *timeline;
	const struct pt_info *info;
	const struct event_filter *filter; /* what is wanted */
	struct thread_stacks *stacks;      /* NULL: marks are left out */
	struct resolver *resolver;
	struct diag *diag;
	bool samples; /* show them */
};

struct event_output {
	struct event_output_input input;
	struct event_tracks tracks;
	struct event_sink sink;
	struct initial_state early; /* before the chosen time */
	struct big_array events;    /* owned: struct cpu_event, to be written in the end */
	size_t event_count;
	struct symbol ptwrite, abort; /* marks */
};

void event_output_init(struct event_output *view, const struct event_output_input *input,
		       struct name_table *names);

/* Take an event of kind BRANCH_CPU_EVENT, in the order of time of its stream. */
void event_output_event(struct event_output *view, const struct branch_event *event);

/*
 * The trace went from `begin` to `end` (ns): write its events, and what does not
 * come from it.  Nobody else uses the writer now.
 */
void event_output_finish(struct event_output *view, uint64_t begin, uint64_t end);

/* Idempotent, also on zeroed memory. */
void event_output_release(struct event_output *view);

#endif
