/* SPDX-License-Identifier: MIT */
/* Ends the slices of an output that has reached its limit. */
#include "src/formats/slice_limit.h"

#include "src/slices/track.h"

/* Room for a slice in any format: a name and a path of 32,000 bytes each, escaped. */
#define SLICE_BYTES_SHIFT 18

/*
 * Emit the end of an open slice, at the time of the thread's last event; drop all else.  The
 * amount decoded after the limit depends on the threads, so it must not be visible.
 */
static void emit_end(const struct slice_limit *limit, struct track *track,
		     const struct slice_event *event)
{
	struct slice_event end = *event;

	limit->output->cut = true;
	end.time = track->limit_time;
	if (event->kind == SLICE_BEGIN)
		track->left_out++;
	else if (event->kind == SLICE_END && track->left_out)
		track->left_out--;
	else if (event->kind == SLICE_END)
		slice_sink_emit(limit->next, track, &end, NULL);
}

static void limit_events(const struct slice_sink *sink, void *context,
			 const struct slice_batch *batch)
{
	const struct slice_limit *limit = sink->context;
	struct track *track = context;
	struct slice_batch part = *batch;

	for (size_t at = 0; at < batch->count; at += part.count) {
		uint64_t room = output_room(limit->output);

		part.events = batch->events + at;
		part.count = 1;
		if (!room || limit->output->cut) {
			emit_end(limit, track, part.events);
			continue;
		}
		part.count += (size_t)(room >> SLICE_BYTES_SHIFT);
		part.count = MIN(part.count, batch->count - at);
		track->limit_time = part.events[part.count - 1].time;
		limit->next->events(limit->next, track, &part);
	}
}

static void limit_flush(const struct slice_sink *sink, void *track)
{
	const struct slice_limit *limit = sink->context;

	slice_sink_flush(limit->next, track);
}

void slice_limit_init(struct slice_limit *limit, const struct slice_sink *next,
		      struct output *output)
{
	*limit = (struct slice_limit){ .sink = *next, .next = next, .output = output };
	limit->sink.events = limit_events;
	limit->sink.flush = next->flush ? limit_flush : NULL;
	limit->sink.context = limit;
}
