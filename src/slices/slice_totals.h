/* SPDX-License-Identifier: MIT */
/*
 * Sums per function and per thread: calls, time and instructions with and without callees, and the
 * slowest call.
 *
 * A sink that passes all events on.  Slices must come in program order, as from a
 * slice_sorter.  Memory grows with the functions and threads of the run and the
 * depth of stacks, not with the trace.
 */
#ifndef SRC_SLICES_SLICE_TOTALS_H
#define SRC_SLICES_SLICE_TOTALS_H

#include "src/slices/call_tree.h"

struct slice_totals {
	/*
	 * First.  Node N is of function N - 1, `slowest` the first one of the longest; without
	 * `report` it has own times only.
	 */
	struct call_tree tree;
	struct slice_sink sink;          /* give this to the sorter; its tracks are struct track */
	const struct slice_sink *next;   /* borrowed */
	bool report;                     /* all sums are made */
	bool by_insns;                   /* struct callstack_machine */
	bool estimated;                  /* times are estimates, and instructions are not counted */
	struct function_table functions; /* by number */
};

/*
 * Start without slices, in front of `next` (borrowed).  The totals borrow themselves: they must
 * not move.  Without `report` only own costs and slowest calls are known.  `insns`: count
 * instructions, too, also if `next` uses no details.  `by_insns`: the slowest call is that with
 * most instructions, if they are counted anyway: counting them takes half of a conversion's time.
 */
void slice_totals_init(struct slice_totals *totals, const struct slice_sink *next, bool report,
		       bool insns, bool by_insns);

/* Returns the part of costs by which functions and calls are ranked. */
static inline uint64_t slice_totals_rank(const struct slice_totals *totals,
					 const struct call_costs *costs)
{
	return totals->by_insns ? costs->insns : costs->ns;
}

/* Idempotent, also on zeroed memory. */
void slice_totals_release(struct slice_totals *totals);

#endif
