/* SPDX-License-Identifier: MIT */
/* Store all slices, and measure the calls of the functions of --within. */
#include "src/select/slice_filter.h"

#include "src/slices/track.h"

struct within_track {
	struct filter_track *filtered; /* borrowed */
	uint64_t *calls;               /* owned: durations (ns), in the order of begins */
	size_t count, room;
	struct open_slice {
		uint64_t begin; /* ns */
		size_t call;    /* 1 + index in `calls`; 0: another function */
	} * open;               /* owned */
	size_t open_count, open_room;
};

static void begin_measured(struct slice_within *within, struct within_track *track,
			   const struct slice_event *event)
{
	struct open_slice *slice = ARRAY_ADD(track->open, track->open_count, track->open_room);

	*slice = (struct open_slice){ .begin = event->time };
	if (!(function_choice_verdict(&within->filter->choice, event->symbol) & VERDICT_WITHIN))
		return;
	*ARRAY_ADD(track->calls, track->count, track->room) = 0;
	slice->call = track->count;
}

static void end_measured(struct slice_within *within, struct within_track *track, uint64_t time)
{
	const struct open_slice *slice;

	if (!track->open_count)
		return;
	slice = &track->open[--track->open_count];
	if (!slice->call)
		return;
	track->calls[slice->call - 1] = time - slice->begin;
	durations_add(&within->durations, time - slice->begin);
}

static void measure_events(const struct slice_sink *sink, void *track,
			   const struct slice_batch *batch)
{
	struct slice_within *within = sink->context;
	struct within_track *measured = &within->tracks[((const struct track *)track)->index];

	for (size_t i = 0; i < batch->count; i++) {
		const struct slice_event *event = &batch->events[i];

		if (event->kind == SLICE_BEGIN)
			begin_measured(within, measured, event);
		else if (event->kind == SLICE_END)
			end_measured(within, measured, event->time);
	}
	within->stored.events(&within->stored, track, batch);
}

static void pass_on(const struct slice_sink *sink, void *track, const struct slice_batch *batch)
{
	const struct slice_within *within = sink->context;
	const struct slice_sink *filter = &within->filter->sink;

	filter->events(filter, within->tracks[((const struct track *)track)->index].filtered,
		       batch);
}

void slice_within_init(struct slice_within *within, struct slice_filter *filter,
		       struct name_table *names)
{
	*within = (struct slice_within){ .filter = filter, .store.names = names };
	within->stored = slice_store_sink(&within->store, filter->sink.details, false);
	within->sink = within->stored;
	within->sink.events = measure_events;
	within->sink.context = within;
}

void slice_within_add_track(struct slice_within *within, const struct track *track,
			    struct filter_track *filtered)
{
	ARRAY_GROW_ZEROED(within->tracks, within->track_room, (size_t)track->index + 1);
	within->tracks[track->index].filtered = filtered;
}

struct ranked_call {
	uint64_t duration;  /* ns */
	size_t track, call; /* indexes */
};

COMPARE_WITH(compare_ranks, struct ranked_call,
	     COMPARE(b->duration, a->duration) ?: COMPARE(a->track, b->track) ?:
	     COMPARE(a->call, b->call))

/* Forget the durations of all calls but the Nth slowest, from 1; equal ones are in order. */
static void keep_rank(struct slice_within *within, size_t rank)
{
	struct ranked_call *calls = NULL;
	size_t count = 0, room = 0;

	for (size_t i = 0; i < within->store.track_count; i++)
		for (size_t j = 0; j < within->tracks[i].count; j++)
			*ARRAY_ADD(calls, count, room) =
				(struct ranked_call){ within->tracks[i].calls[j], i, j };
	SORT(calls, count, compare_ranks);
	for (size_t i = 0; i < count; i++)
		if (i + 1 != rank)
			within->tracks[calls[i].track].calls[calls[i].call] = 0;
	free(calls);
}

void slice_within_finish(struct slice_within *within)
{
	const struct slow_choice *slow = &within->filter->choice.selection->within.slow;
	const struct slice_sink sink = { .events = pass_on,
					 .context = within,
					 .details = within->filter->sink.details };
	uint64_t bound = slow->percentile ? durations_quantile(&within->durations, slow->percentile)
					  : slow->longer;

	if (slow->most)
		keep_rank(within, slow->most);
	for (size_t i = 0; i < within->store.track_count; i++) {
		slice_filter_set_calls(within->tracks[i].filtered, within->tracks[i].calls, bound);
		slice_store_replay_track(&within->store, i, &sink);
	}
}

void slice_within_release(struct slice_within *within)
{
	for (size_t i = 0; i < within->track_room; i++) {
		free(within->tracks[i].calls);
		free(within->tracks[i].open);
	}
	free(within->tracks);
	durations_release(&within->durations);
	slice_store_release(&within->store);
	*within = (struct slice_within){ 0 };
}
