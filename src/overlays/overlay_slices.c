/* SPDX-License-Identifier: MIT */
/* Lay out slices that a program marked, so that they nest. */
#include "src/overlays/overlay_slices.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Open slices searched for an end, so that programs that end none take linear time. */
#define SEARCH_MAX 256

void overlay_slices_begin(struct overlay_slices *slices, uint64_t time, uint32_t name)
{
	slices->slices = alloc_grow(slices->slices, &slices->room, slices->count + 1,
				    sizeof(*slices->slices));
	slices->open = alloc_grow(slices->open, &slices->open_room, slices->open_count + 1,
				  sizeof(*slices->open));
	slices->open[slices->open_count++] = slices->count;
	slices->slices[slices->count++] = (struct overlay_slice){ .begin = time, .name = name };
}

void overlay_slices_end(struct overlay_slices *slices, uint64_t time, uint32_t name)
{
	size_t last = slices->open_count > SEARCH_MAX ? slices->open_count - SEARCH_MAX : 0;

	for (size_t i = slices->open_count; i-- > last;) {
		struct overlay_slice *slice = &slices->slices[slices->open[i]];

		if (slice->name != name)
			continue;
		slice->end = time;
		memmove(&slices->open[i], &slices->open[i + 1],
			(slices->open_count - i - 1) * sizeof(*slices->open));
		slices->open_count--;
		return;
	}
	slices->unmatched_ends++;
}

/* Emit those of the remaining slices that nest on a lane.  Returns how many remain. */
static size_t fill_lane(struct overlay_slices *slices, unsigned lane,
			const struct overlay_lane_sink *sink)
{
	const struct overlay_slice *stack[OVERLAY_DEPTH];
	size_t depth = 0, left = 0;

	for (size_t i = 0; i < slices->count; i++) {
		struct overlay_slice *slice = &slices->slices[i];

		if (slice->placed)
			continue;
		for (; depth && stack[depth - 1]->end <= slice->begin; depth--)
			sink->end(sink->context, lane, stack[depth - 1], stack[depth - 1]->end);
		if (depth == OVERLAY_DEPTH || (depth && stack[depth - 1]->end < slice->end)) {
			left++;
			continue;
		}
		slice->placed = true;
		stack[depth++] = slice;
		sink->begin(sink->context, lane, slice);
	}
	for (; depth; depth--)
		sink->end(sink->context, lane, stack[depth - 1], stack[depth - 1]->end);
	return left;
}

void overlay_slices_finish(struct overlay_slices *slices, uint64_t time,
			   const struct overlay_lane_sink *sink)
{
	size_t left = slices->count;

	for (size_t i = 0; i < slices->open_count; i++) {
		struct overlay_slice *slice = &slices->slices[slices->open[i]];

		slice->end = time > slice->begin ? time : slice->begin;
		slice->unfinished = true;
	}
	slices->open_count = 0;
	for (unsigned lane = 0; left && lane < OVERLAY_LANES; lane++)
		left = fill_lane(slices, lane, sink);
	slices->left_out += left;
}

void overlay_slices_release(struct overlay_slices *slices)
{
	free(slices->slices);
	free(slices->open);
	*slices = (struct overlay_slices){ 0 };
}
