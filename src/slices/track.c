/* SPDX-License-Identifier: MIT */
/* The costs of a track's slices, by a stack of the counters at their begins. */
#include "src/slices/track.h"

void track_cost_begin(struct track *track, const struct slice_detail *detail)
{
	*ARRAY_ADD(track->costs, track->cost_count, track->cost_room) =
		detail ? (struct slice_cost){ detail->insns, detail->cycles }
		       : (struct slice_cost){ 0 };
}

struct slice_cost track_cost_end(struct track *track, const struct slice_detail *detail)
{
	struct slice_cost begin;

	if (!track->cost_count)
		return (struct slice_cost){ 0 };
	begin = track->costs[--track->cost_count];
	if (!detail || detail->insns < begin.insns)
		return (struct slice_cost){ 0 };
	return (struct slice_cost){ detail->insns - begin.insns, detail->cycles - begin.cycles };
}

double slice_cost_ipc(struct slice_cost cost)
{
	double hundredths = 100 * (double)cost.insns / (double)cost.cycles;

	return cost.cycles ? (double)(uint64_t)(hundredths + 0.5) / 100 : 0;
}

void track_release(struct track *track)
{
	free(track->open);
	free(track->costs);
	*track = (struct track){ 0 };
}
