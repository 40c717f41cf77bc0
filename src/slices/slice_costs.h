/* SPDX-License-Identifier: MIT */
/*
 * What the open slices of one track have cost: the thread's counters where a
 * slice ends less those where it began.
 *
 * Feed it what a slice sink gets: the detail, then the begin or end it is of.
 */
#ifndef SRC_SLICES_SLICE_COSTS_H
#define SRC_SLICES_SLICE_COSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/slices/slice_sink.h"

/* All zeros: not known. */
struct slice_cost {
	uint64_t insns;  /* instructions retired in the slice, its callees' included */
	uint64_t cycles; /* of the core; 0: the trace does not tell */
};

struct slice_costs {
	struct slice_detail next; /* of what comes next; zeroed if nothing was told */
	bool has_next;
	struct slice_cost *open; /* owned: counters at the begin of each open slice */
	size_t count, room;
};

void slice_costs_detail(struct slice_costs *costs, const struct slice_detail *detail);

/* A slice begins.  Returns its detail, zeroed if there is none. */
struct slice_detail slice_costs_begin(struct slice_costs *costs);

/* The innermost slice ends.  Returns what it cost. */
struct slice_cost slice_costs_end(struct slice_costs *costs);

/* Returns instructions per cycle, to a hundredth; 0: not known. */
double slice_cost_ipc(struct slice_cost cost);

/* Release the memory.  Idempotent, also on zeroed memory. */
void slice_costs_release(struct slice_costs *costs);

#endif
