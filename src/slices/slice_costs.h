/* SPDX-License-Identifier: MIT */
/*
 * The costs of one track's slices: the thread's counters at a slice's end minus
 * those at its begin.
 */
#ifndef SRC_SLICES_SLICE_COSTS_H
#define SRC_SLICES_SLICE_COSTS_H

#include "src/slices/slice_sink.h"

/* All zeros: not known. */
struct slice_cost {
	uint64_t insns;  /* instructions retired in the slice, its callees' included */
	uint64_t cycles; /* of the core; 0: the trace has none */
};

struct slice_costs {
	struct slice_cost *open; /* owned: counters at the begin of each open slice */
	size_t count, room;
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
