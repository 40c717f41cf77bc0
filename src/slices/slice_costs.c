/* SPDX-License-Identifier: MIT */
#include "src/slices/slice_costs.h"

#include <stdlib.h>

#include "base/alloc.h"

void slice_costs_detail(struct slice_costs *costs, const struct slice_detail *detail)
{
	costs->next = *detail;
	costs->has_next = true;
}

static struct slice_detail take(struct slice_costs *costs)
{
	struct slice_detail detail = costs->next;

	costs->next = (struct slice_detail){ 0 };
	costs->has_next = false;
	return detail;
}

struct slice_detail slice_costs_begin(struct slice_costs *costs)
{
	struct slice_detail detail = take(costs);

	costs->open = alloc_grow(costs->open, &costs->room, costs->count + 1, sizeof(*costs->open));
	costs->open[costs->count++] = (struct slice_cost){ detail.insns, detail.cycles };
	return detail;
}

struct slice_cost slice_costs_end(struct slice_costs *costs)
{
	bool known = costs->has_next && costs->count;
	struct slice_cost cost = { costs->next.insns, costs->next.cycles };

	take(costs);
	if (!costs->count)
		return (struct slice_cost){ 0 };
	costs->count--;
	if (!known || cost.insns < costs->open[costs->count].insns)
		return (struct slice_cost){ 0 };
	cost.insns -= costs->open[costs->count].insns;
	cost.cycles -= costs->open[costs->count].cycles;
	return cost;
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
