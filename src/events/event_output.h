/* SPDX-License-Identifier: MIT */
/*
 * What is shown beside the calls: side events of the trace, context switches,
 * other samples of the recording, losses, the wall clock.
 *
 * In FTF all of it; in lists of slices the marks among the calls only.
 */
#ifndef SRC_EVENTS_EVENT_OUTPUT_H
#define SRC_EVENTS_EVENT_OUTPUT_H

#include "base/big_array.h"
#include "base/name.h"
#include "decoder/perf_data/perf_file.h"
#include "src/select/event_filter.h"
#include "src/events/initial_state.h"
#include "src/events/cpu_event_sink.h"
#include "src/callstack/thread_stacks.h"

struct resolver;

/* What it is made of; all borrowed until side_view_release(). */
struct side_view_input {
	struct ftf_writer *writer; /* NULL: not FTF, or in parts */
	const struct perf_file *file;
	const struct timeline *timeline;
	const struct pt_info *info;
	const struct event_filter *filter; /* what is wanted */
	struct thread_stacks *stacks; /* NULL: marks are left out */
	struct resolver *resolver;
	struct diag *diag;
	bool samples; /* show them */
};

struct side_view {
	struct side_view_input input;
	struct side_tracks tracks;
	struct side_sink sink;
	struct side_early early; /* before the chosen time */
	struct big_array events; /* owned: struct side_event, to be written in the end */
	size_t event_count;
	struct symbol ptwrite, abort; /* marks */
};

void side_view_init(struct side_view *view, const struct side_view_input *input,
		    struct name_table *names);

/* Take an event of kind BRANCH_SIDE, in the order of time of its stream. */
void side_view_event(struct side_view *view, const struct branch_event *event);

/*
 * The trace went from `begin` to `end` (ns): write its events, and what does not
 * come from it.  Nobody else uses the writer now.
 */
void side_view_finish(struct side_view *view, uint64_t begin, uint64_t end);

/* Idempotent, also on zeroed memory. */
void side_view_release(struct side_view *view);

#endif
