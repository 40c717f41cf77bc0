/* SPDX-License-Identifier: MIT */
/* Times of slices by their thread's instructions or cycles; and the choice of a range of these. */
#include "src/slices/work_clock.h"

struct work_track {
	void *next_track;
	struct work_track *next;
	struct open_slice {
		struct slice_event begin;
		struct slice_detail detail;
		bool stop; /* left out */
	} * open;          /* owned; outermost first */
	size_t count, room;
	size_t shown; /* of the open slices: begun in the next sink, stops included */
};

/* Replace the times of a batch before the sorter. The machine's events have details. */
static void count_events(const struct slice_sink *sink, void *track,
			 const struct slice_batch *batch)
{
	struct work_clock *clock = sink->context;
	struct slice_batch counted = *batch;

	ARRAY_GROW(clock->events, clock->room, batch->count);
	for (size_t i = 0; i < batch->count; i++) {
		const struct slice_detail *detail = slice_batch_detail(batch, &batch->events[i]);

		clock->events[i] = batch->events[i];
		if (detail)
			clock->events[i].time = clock->options->clock == CLOCK_INSNS
							? detail->insns
							: detail->cycles;
	}
	counted.events = clock->events;
	clock->sorter->events(clock->sorter, track, &counted);
}

static void flush_counted(const struct slice_sink *sink, void *track)
{
	const struct work_clock *clock = sink->context;

	slice_sink_flush(clock->sorter, track);
}

/* ---- After the sorter ---------------------------------------------------- */

/* Begin the open slices in the next sink, at the range's begin if they are older. */
static void show_open(const struct work_clock *clock, struct work_track *track)
{
	for (; track->shown < track->count; track->shown++) {
		struct open_slice *slice = &track->open[track->shown];

		if (slice->stop)
			continue;
		if (slice->begin.time < clock->options->clock_from) {
			slice->begin.time = clock->options->clock_from;
			slice->begin.flags |= SLICE_INFERRED_START;
		}
		slice_sink_emit(clock->next, track->next_track, &slice->begin, &slice->detail);
	}
}

static void begin_slice(const struct work_clock *clock, struct work_track *track,
			const struct slice_event *event, const struct slice_detail *detail)
{
	struct open_slice *slice = ARRAY_ADD(track->open, track->count, track->room);

	*slice = (struct open_slice){ .begin = *event, .stop = symbol_is_stop(event->symbol) };
	if (detail)
		slice->detail = *detail;
	if (clock->options->clock == CLOCK_INSNS)
		slice->begin.flags &= (uint16_t)~SLICE_ESTIMATED_TIME;
	if (event->time >= clock->options->clock_from && event->time <= clock->options->clock_to)
		show_open(clock, track);
}

static void finish_slice(const struct work_clock *clock, struct work_track *track,
			 struct slice_event *event, const struct slice_detail *detail)
{
	const struct open_slice *slice;

	if (!track->count)
		return;
	slice = &track->open[track->count - 1];
	if (event->time > clock->options->clock_from &&
	    slice->begin.time <= clock->options->clock_to)
		show_open(clock, track);
	if (event->time > clock->options->clock_to) {
		event->time = clock->options->clock_to;
		event->flags |= SLICE_CUT;
	}
	if (track->shown == track->count-- && !slice->stop)
		slice_sink_emit(clock->next, track->next_track, event, detail);
	track->shown = MIN(track->shown, track->count);
}

static void choose_events(const struct slice_sink *sink, void *context,
			  const struct slice_batch *batch)
{
	const struct work_clock *clock = sink->context;

	for (size_t i = 0; i < batch->count; i++) {
		const struct slice_detail *detail = slice_batch_detail(batch, &batch->events[i]);
		struct slice_event event = batch->events[i];

		if (event.kind == SLICE_BEGIN)
			begin_slice(clock, context, &event, detail);
		else if (event.kind == SLICE_END)
			finish_slice(clock, context, &event, detail);
	}
}

static void flush_events(const struct slice_sink *sink, void *context)
{
	const struct work_clock *clock = sink->context;
	const struct work_track *track = context;

	slice_sink_flush(clock->next, track->next_track);
}

void work_clock_init(struct work_clock *clock, const struct slice_sink *next,
		     const struct options *options)
{
	*clock = (struct work_clock){ .next = next, .options = options };
	clock->sink = (struct slice_sink){
		.events = choose_events, .flush = flush_events, .context = clock, .details = true
	};
}

const struct slice_sink *work_clock_front(struct work_clock *clock, const struct slice_sink *sorter)
{
	clock->sorter = sorter;
	clock->front = (struct slice_sink){
		.events = count_events, .flush = flush_counted, .context = clock, .details = true
	};
	return &clock->front;
}

void *work_clock_track(struct work_clock *clock, void *next_track)
{
	struct work_track *track = alloc_zeroed(1, sizeof(*track));

	track->next_track = next_track;
	track->next = clock->tracks;
	clock->tracks = track;
	return track;
}

void work_clock_release(struct work_clock *clock)
{
	for (struct work_track *track = clock->tracks, *next; track; track = next) {
		next = track->next;
		free(track->open);
		free(track);
	}
	clock->tracks = NULL;
	free(clock->events);
	clock->events = NULL;
	clock->room = 0;
}
