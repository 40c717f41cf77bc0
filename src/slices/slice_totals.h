/* SPDX-License-Identifier: MIT */
/*
 * Sums per function and per thread: calls, time and instructions with and without callees, and the
 * slowest call. A sink that passes all events on. Slices must be in program order, as from a
 * slice_sorter. Memory grows with the functions, the threads and the depth of stacks, not with the
 * trace.
 */
#pragma once

#include "src/slices/call_tree.h"

/* Number of first calls of a function that define the bound. */
#define TAIL_FIRST 32

/* Number of remembered stops of a thread; a call with more stops is ignored. */
#define STOPS_KEPT 16

struct slice_totals {
	/*
	 * First. Node N belongs to function N - 1; `slowest` is the first of equally long calls.
	 * Without `report`, only own times.
	 */
	struct call_tree tree;
	struct slice_sink sink;          /* for the sorter; its tracks are struct track */
	const struct slice_sink *next;   /* borrowed */
	bool report;                     /* compute all sums */
	bool by_insns;                   /* struct callstack_machine */
	bool estimated;                  /* times are estimates, without counts of instructions */
	struct function_table functions; /* by number */
	struct name_table *names;        /* borrowed: for labels; set by the caller */
	bool with_edges;                 /* count `edges`: */
	struct pair_table edges;         /* edges by (node of the caller, node of the callee) */
	/*
	 * Times are known: find tails. A node's `slowest.rank` is the bound that a call must exceed
	 * to be the slowest, or to count in the tail.
	 */
	bool with_tails;
	/*
	 * The few calls of a function that take much longer than the others, found without a
	 * histogram: only calls longer than a bound are counted. If more than a twentieth of the
	 * calls exceed the bound, it is doubled. Stops of the thread outside system calls are not
	 * part of a call, and recursive functions have no tail.
	 */
	struct call_tail {
		uint64_t first[TAIL_FIRST]; /* ns of the first calls, in order */
		uint32_t first_count;
		bool given_up;
		uint64_t bound;
		uint64_t since;      /* calls of the function before the bound was last doubled */
		uint64_t count, sum; /* calls longer than the bound since then, and their time */
		const struct track *track; /* borrowed: of the last call added */
		uint64_t end;              /* ns: of that call */
	} * *tails;                        /* owned; by node; NULL: no call yet */
	size_t tail_room;
	struct track_stops {
		struct {
			uint64_t begin, duration; /* ns */
		} last[STOPS_KEPT];
		size_t count;
	} * stops; /* owned; by index of the track */
	size_t stop_room;
};

/*
 * Initialize without slices, before `next` (borrowed). The totals must not move, because they have
 * pointers to themselves. Without `report` only own costs and slowest calls are computed. `insns`:
 * count instructions even if `next` uses no details, and find edges. `by_insns`: rank calls by
 * instructions, if these are counted anyway; counting them takes half of a conversion's time.
 */
void slice_totals_init(struct slice_totals *totals, const struct slice_sink *next, bool report,
		       bool insns, bool by_insns);

/* Returns the cost by which functions and calls are ranked. */
static inline uint64_t slice_totals_rank(const struct slice_totals *totals,
					 const struct call_costs *costs)
{
	return totals->by_insns ? costs->insns : costs->ns;
}

/* Returns the sum of the tail's time above the median (ns); 0 if the node has no tail. */
uint64_t slice_totals_excess(const struct slice_totals *totals, uint32_t node);

void slice_totals_release(struct slice_totals *totals);
