/* SPDX-License-Identifier: MIT */
/* Keeps the ends of slices that were left by tail calls. */
#include "src/formats/ftf/ftf_flows.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "src/slices/track.h"

void ftf_flows_hold(struct ftf_flows *flows, struct track *track, const struct slice_event *end,
		    const struct slice_detail *detail)
{
	struct held_end *held;

	flows->ends = alloc_grow_zeroed(flows->ends, &flows->room, (size_t)track->index + 1,
					sizeof(*flows->ends));
	if (track->index >= flows->count)
		flows->count = (size_t)track->index + 1;
	held = &flows->ends[track->index];
	held->track = track;
	held->end = *end;
	held->end.detail = detail != NULL;
	if (detail)
		held->detail = *detail;
}

/* The one at an index, if it waits. */
static const struct held_end *take_at(struct ftf_flows *flows, size_t index)
{
	if (!flows->ends[index].track)
		return NULL;
	flows->taken = flows->ends[index];
	flows->ends[index].track = NULL;
	return &flows->taken;
}

const struct held_end *ftf_flows_take(struct ftf_flows *flows, const struct track *track)
{
	return track->index < flows->count ? take_at(flows, track->index) : NULL;
}

const struct held_end *ftf_flows_take_any(struct ftf_flows *flows)
{
	const struct held_end *held = NULL;

	while (flows->count && !(held = take_at(flows, flows->count - 1)))
		flows->count--;
	return held;
}

void ftf_flows_release(struct ftf_flows *flows)
{
	free(flows->ends);
	*flows = (struct ftf_flows){ 0 };
}
