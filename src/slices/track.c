/* SPDX-License-Identifier: MIT */
/* The costs of a track's slices, by a stack of the counters at their begins. */
#include "src/slices/track.h"

void slice_costs_begin(struct slice_costs *costs, const struct slice_detail *detail)
{
	costs->open = alloc_grow(costs->open, &costs->room, costs->count + 1, sizeof(*costs->open));
	costs->open[costs->count++] = detail ? (struct slice_cost){ detail->insns, detail->cycles }
					     : (struct slice_cost){ 0 };
}

struct slice_cost slice_costs_end(struct slice_costs *costs, const struct slice_detail *detail)
{
	struct slice_cost begin;

	if (!costs->count)
		return (struct slice_cost){ 0 };
	begin = costs->open[--costs->count];
	if (!detail || detail->insns < begin.insns)
		return (struct slice_cost){ 0 };
	return (struct slice_cost){ detail->insns - begin.insns, detail->cycles - begin.cycles };
}

double slice_cost_ipc(struct slice_cost cost)
{
	double hundredths = 100 * (double)cost.insns / (double)cost.cycles;

	return cost.cycles ? (double)(uint64_t)(hundredths + 0.5) / 100 : 0;
}

void slice_costs_release(struct slice_costs *costs)
{
	free(costs->open);
	*costs = (struct slice_costs){ 0 };
}
