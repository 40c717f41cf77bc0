/* SPDX-License-Identifier: MIT */
#include "src/overlays/overlay_slices.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* An end is looked for among so many open spans: a program that never ends any stays linear. */
#define SEARCH_MAX 256

void overlay_spans_begin(struct overlay_spans *spans, uint64_t time, uint32_t name)
{
	spans->spans = alloc_grow(spans->spans, &spans->room, spans->count + 1,
				  sizeof(*spans->spans));
	spans->open = alloc_grow(spans->open, &spans->open_room, spans->open_count + 1,
				 sizeof(*spans->open));
	spans->open[spans->open_count++] = spans->count;
	spans->spans[spans->count++] = (struct overlay_span){ .begin = time, .name = name };
}

void overlay_spans_end(struct overlay_spans *spans, uint64_t time, uint32_t name)
{
	size_t last = spans->open_count > SEARCH_MAX ? spans->open_count - SEARCH_MAX : 0;

	for (size_t i = spans->open_count; i-- > last;) {
		struct overlay_span *span = &spans->spans[spans->open[i]];

		if (span->name != name)
			continue;
		span->end = time;
		memmove(&spans->open[i], &spans->open[i + 1],
			(spans->open_count - i - 1) * sizeof(*spans->open));
		spans->open_count--;
		return;
	}
	spans->unmatched_ends++;
}

/* Give out those of the spans left that nest on one lane.  Returns how many are left then. */
static size_t fill_lane(struct overlay_spans *spans, unsigned lane,
			const struct overlay_lane_sink *sink)
{
	const struct overlay_span *stack[OVERLAY_DEPTH];
	size_t depth = 0, left = 0;

	for (size_t i = 0; i < spans->count; i++) {
		struct overlay_span *span = &spans->spans[i];

		if (span->placed)
			continue;
		for (; depth && stack[depth - 1]->end <= span->begin; depth--)
			sink->end(sink->context, lane, stack[depth - 1], stack[depth - 1]->end);
		if (depth == OVERLAY_DEPTH || (depth && stack[depth - 1]->end < span->end)) {
			left++;
			continue;
		}
		span->placed = true;
		stack[depth++] = span;
		sink->begin(sink->context, lane, span);
	}
	for (; depth; depth--)
		sink->end(sink->context, lane, stack[depth - 1], stack[depth - 1]->end);
	return left;
}

void overlay_spans_finish(struct overlay_spans *spans, uint64_t time,
			  const struct overlay_lane_sink *sink)
{
	size_t left = spans->count;

	for (size_t i = 0; i < spans->open_count; i++) {
		struct overlay_span *span = &spans->spans[spans->open[i]];

		span->end = time > span->begin ? time : span->begin;
		span->unfinished = true;
	}
	spans->open_count = 0;
	for (unsigned lane = 0; left && lane < OVERLAY_LANES; lane++)
		left = fill_lane(spans, lane, sink);
	spans->left_out += left;
}

void overlay_spans_release(struct overlay_spans *spans)
{
	free(spans->spans);
	free(spans->open);
	*spans = (struct overlay_spans){ 0 };
}
