/* SPDX-License-Identifier: MIT */
/* A track: the row of the timeline with a thread's slices. */
#pragma once

#include "src/slices/slice_sink.h"

/*
 * A thread's counters at an event; or their difference between a slice's end and begin, which is
 * its cost with callees. All zeros: unknown.
 */
struct slice_cost {
	uint64_t insns;  /* instructions retired */
	uint64_t cycles; /* cycles of the core; 0: not in the trace */
};

struct track {
	int32_t pid, tid;
	uint32_t index;                         /* dense, in the order of first use */
	const char *process_name, *thread_name; /* NULL: unknown; borrowed */
	const char *ids;                        /* "PID/TID"; borrowed */
	size_t *open; /* owned by the current output: its open slices, innermost last */
	size_t open_count, open_room;
	size_t left_out;      /* open slices that began after the output was full */
	size_t late_left_out; /* ends of late slices after that which are left out */
	bool late_ended;      /* an end of a late slice came after that */
	uint64_t limit_time;  /* ns: of the last event before the limit */
	/* Owned: counters at the begins of the current output's open slices, with --args=full. */
	struct slice_cost *costs;
	size_t cost_count, cost_room;
	bool announced;         /* the output has written the track's names */
	uint32_t writer_thread; /* FTF, if announced: the writer's id of the thread */
};

/* Returns a slice's cost from the counters at its begin and the end's detail, which may be NULL. */
static inline struct slice_cost slice_cost_between(struct slice_cost begin,
						   const struct slice_detail *end)
{
	if (!end || end->insns < begin.insns)
		return (struct slice_cost){ 0 };
	return (struct slice_cost){ end->insns - begin.insns, end->cycles - begin.cycles };
}

/* A slice begins, with its begin's `detail` or NULL. */
void track_cost_begin(struct track *track, const struct slice_detail *detail);

/* The innermost slice ends, with its end's `detail` or NULL. Returns its cost. */
struct slice_cost track_cost_end(struct track *track, const struct slice_detail *detail);

void track_release(struct track *track);
