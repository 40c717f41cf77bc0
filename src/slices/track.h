/* SPDX-License-Identifier: MIT */
/* A track: the line of the timeline that shows a thread's slices. */
#ifndef SRC_SLICES_TRACK_H
#define SRC_SLICES_TRACK_H

#include "src/slices/slice_sink.h"

/*
 * The cost of a slice: the thread's counters at its end minus those at its begin.  All zeros: not
 * known.
 */
struct slice_cost {
	uint64_t insns;  /* instructions retired in the slice, its callees' included */
	uint64_t cycles; /* of the core; 0: the trace has none */
};

struct slice_costs {
	struct slice_cost *open; /* owned: counters at the begin of each open slice */
	size_t count, room;
};

struct track {
	int32_t pid, tid;
	uint32_t index;                         /* dense, in the order of first use */
	const char *process_name, *thread_name; /* NULL: unknown; borrowed */
	const char *ids;                        /* "PID/TID"; borrowed */
	size_t *open; /* owned by the output in use: its open slices, innermost last */
	size_t open_count, open_room;
	size_t left_out;          /* slices that began when the output was full, and are open */
	uint64_t limit_time;      /* ns: of the last event before it was */
	struct slice_costs costs; /* of the output in use, with --args=full */
	struct slice_event
		pending;        /* begin that the output in use has not written; no symbol: none */
	bool announced;         /* the output has written the track's names */
	uint32_t writer_thread; /* of an announced track, if the output is FTF: the writer's id */
};

/* A slice begins; `detail` is its begin's, NULL: unknown. */
void slice_costs_begin(struct slice_costs *costs, const struct slice_detail *detail);

/* The innermost slice ends; `detail` is its end's, NULL: unknown.  Returns its cost. */
struct slice_cost slice_costs_end(struct slice_costs *costs, const struct slice_detail *detail);

/* Returns instructions per cycle, to a hundredth; 0: not known. */
double slice_cost_ipc(struct slice_cost cost);

/* Release the memory.  Idempotent, also on zeroed memory. */
void slice_costs_release(struct slice_costs *costs);

#endif
