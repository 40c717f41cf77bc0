/* SPDX-License-Identifier: MIT */
/*
 * Sums per function and per thread: calls, time and instructions with and without callees, and the
 * slowest call. A sink that passes all events on. Slices must come in program order, as from a
 * slice_sorter. Memory grows with the functions, the threads and the depth of stacks, not with the
 * trace.
 */
#ifndef SRC_SLICES_SLICE_TOTALS_H
#define SRC_SLICES_SLICE_TOTALS_H

#include "src/slices/call_tails.h"

struct slice_totals {
	/*
	 * First. Node N is of function N - 1; `slowest` is the first of equally long calls. Without
	 * `report` there are own times only.
	 */
	struct call_tree tree;
	struct slice_sink sink;          /* for the sorter; its tracks are struct track */
	const struct slice_sink *next;   /* borrowed */
	bool report;                     /* compute all sums */
	bool by_insns;                   /* struct callstack_machine */
	bool estimated;                  /* times are estimates, and instructions are not counted */
	struct function_table functions; /* by number */
	bool with_tails;                 /* times are known: find long calls, and */
	struct call_tails tails; /* slowest.rank of a node is what the next of these exceeds */
};

/*
 * Initialize without slices, before `next` (borrowed). The totals must not move, because they have
 * pointers to themselves. Without `report` only own costs and slowest calls are computed. `insns`:
 * count instructions even if `next` uses no details. `by_insns`: rank calls by instructions, if
 * these are counted anyway; counting them takes half of a conversion's time.
 */
void slice_totals_init(struct slice_totals *totals, const struct slice_sink *next, bool report,
		       bool insns, bool by_insns);

/* Returns the cost by which functions and calls are ranked. */
static inline uint64_t slice_totals_rank(const struct slice_totals *totals,
					 const struct call_costs *costs)
{
	return totals->by_insns ? costs->insns : costs->ns;
}

/* Idempotent, also on zeroed memory. */
void slice_totals_release(struct slice_totals *totals);

#endif
