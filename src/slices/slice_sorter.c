/* SPDX-License-Identifier: MIT */
/* The sorter as a sink: store events in runs, and count what had to be changed. */
#include "src/slices/slice_sorter.h"

#include "src/slices/sorter_track.h"

/* Limits of memory, in bytes, for all tracks and for one array; larger arrays are in files. */
#define MEMORY_MOST ((size_t)24 << 20)
#define MEMORY_EACH ((size_t)1 << 20)

/* Emit a segment at the limit of its length. */
static void limit_segment(struct sorter_track *track)
{
	if (track->count < track->sorter->limit)
		return;
	sorter_track_flush(track);
	track->sorter->counts.split++;
}

/* Make room for `need` items of `size` bytes in one of the track's arrays. */
static void grow_array(struct sorter_track *track, struct big_array *array, size_t need,
		       size_t size)
{
	size_t *memory = &track->sorter->memory, most = MEMORY_EACH;

	if (need <= array->room)
		return;
	*memory -= array->mapped ? 0 : array->room * size;
	if (*memory < MEMORY_MOST - MEMORY_EACH)
		most = MEMORY_MOST - *memory;
	big_array_grow(array, need, size, most);
	*memory += array->mapped ? 0 : array->room * size;
}

static uint32_t keep_detail(struct sorter_track *track, const struct slice_detail *detail)
{
	grow_array(track, &track->details, track->detail_count + 1, sizeof(*detail));
	((struct slice_detail *)track->details.items)[track->detail_count++] = *detail;
	return (uint32_t)track->detail_count;
}

static void begin_run(struct sorter_track *track)
{
	track->runs = alloc_grow(track->runs, &track->run_room, track->run_count + 1,
				 sizeof(*track->runs));
	track->runs[track->run_count++] = (struct sorter_run){ .begin = track->count };
}

/* Make room for one more record. */
static void make_record_room(struct sorter_track *track)
{
	size_t step;

	limit_segment(track);
	grow_array(track, &track->records, track->count + 1, sizeof(struct slice_event));
	step = track->count - track->count % SORTER_TRACK_STEP + SORTER_TRACK_STEP;
	if (track->count && track->count % SORTER_TRACK_STEP == 0)
		sorter_track_leave(track, track->count, track->detail_count);
	track->full = track->records.room < step ? track->records.room : step;
	if (track->full > track->sorter->limit)
		track->full = track->sorter->limit;
}

static uint64_t hold_time(struct sorter_track *track, uint64_t time)
{
	track->sorter->counts.late += time > INT64_MAX;
	return time > INT64_MAX ? INT64_MAX : time;
}

/* Returns an event with the time and order to sort by: a slice never ends before it begins. */
static struct slice_event as_sorted(struct sorter_track *track, const struct slice_event *event)
{
	struct slice_event sorted = *event;

	if (event->order == SLICE_ORDER_WHOLE && event->time <= event[-1].time) {
		sorted.time = event[-1].time;
		sorted.order = event[-1].order;
	}
	sorted.time = hold_time(track, sorted.time);
	return sorted;
}

static void add_event(struct sorter_track *track, const struct slice_batch *batch,
		      const struct slice_event *event)
{
	const struct slice_detail *detail = slice_batch_detail(batch, event);
	struct slice_event *record;

	if (track->count >= track->full)
		make_record_room(track);
	record = sorter_track_records(track) + track->count;
	*record = as_sorted(track, event);
	if (!track->count || record[-1].time > record->time ||
	    (record[-1].time == record->time && record[-1].order > record->order))
		begin_run(track);
	track->runs[track->run_count - 1].mixed |= record->order != SLICE_ORDER_PLAIN;
	record->detail = detail ? keep_detail(track, detail) : 0;
	if (record->kind == SLICE_INSTANT)
		record->text = arena_text(&track->texts, record->text, strlen(record->text));
	track->latest = record->time;
	track->count++;
}

/* Store the details of plain events, which are the next records. */
static void keep_details(struct sorter_track *track, const struct slice_batch *batch, size_t count)
{
	struct slice_event *record = sorter_track_records(track) + track->count;
	const struct slice_detail *details = &batch->details[record->detail - 1];

	grow_array(track, &track->details, track->detail_count + count, sizeof(*details));
	memcpy((struct slice_detail *)track->details.items + track->detail_count, details,
	       count * sizeof(*details));
	for (size_t i = 0; i < count; i++)
		record[i].detail = (uint32_t)++track->detail_count;
}

/*
 * Add the first of the last `count` events of a plain batch, which continue the last run. Returns
 * their number.
 */
static size_t add_plain(struct sorter_track *track, const struct slice_batch *batch, size_t count)
{
	const struct slice_event *events = batch->events + batch->count - count;
	size_t room = track->full - track->count;

	if (count > room)
		count = room;
	memcpy(sorter_track_records(track) + track->count, events, count * sizeof(*events));
	if (batch->details)
		keep_details(track, batch, count);
	track->count += count;
	track->latest = events[count - 1].time;
	return count;
}

static void sorter_events(const struct slice_sink *sink, void *track_,
			  const struct slice_batch *batch)
{
	const struct slice_event *event = batch->events, *end = event + batch->count;
	struct sorter_track *track = track_;
	bool plain = batch->plain && end[-1].time <= INT64_MAX;

	(void)sink;
	while (event < end) {
		if (plain && track->count < track->full && event->time >= track->latest)
			event += add_plain(track, batch, (size_t)(end - event));
		else
			add_event(track, batch, event++);
	}
}

static void sorter_flush(const struct slice_sink *sink, void *track)
{
	(void)sink;
	sorter_track_flush(track);
}

void slice_sorter_init(struct slice_sorter *sorter, const struct slice_sink *next,
		       struct diag *diag)
{
	*sorter = (struct slice_sorter){
		.next = next,
		.diag = diag,
		.limit = SLICE_SORTER_LIMIT,
		.depth = SLICE_SORTER_DEPTH,
	};
	sorter->last = &sorter->first;
	sorter->sink = (struct slice_sink){
		.events = sorter_events,
		.flush = sorter_flush,
		.context = sorter,
		.details = next->details,
	};
}

void slice_sorter_release(struct slice_sorter *sorter)
{
	while (sorter->first) {
		struct sorter_track *track = sorter->first;

		sorter->first = track->next;
		big_array_release(&track->records);
		big_array_release(&track->details);
		free(track->runs);
		arena_release(&track->texts);
		free(track);
	}
	sorter->last = &sorter->first;
	big_array_release(&sorter->group);
}

struct sorter_track *slice_sorter_track(struct slice_sorter *sorter, void *next_track)
{
	struct sorter_track *track = alloc_zeroed(1, sizeof(*track));

	track->sorter = sorter;
	track->next_track = next_track;
	*sorter->last = track;
	sorter->last = &track->next;
	return track;
}

static void warn(const struct slice_sorter *sorter)
{
	const struct slice_sorter_counts *counts = &sorter->counts;

	if (counts->unmatched_ends)
		diag_warn(sorter->diag, "unmatched-end",
			  "%" PRIu64 " ends without an open slice were left out",
			  counts->unmatched_ends);
	if (counts->late)
		diag_warn(sorter->diag, "times-late",
			  "%" PRIu64
			  " times exceed 2^63 ns, the maximum that Perfetto can show, and were "
			  "reduced to it",
			  counts->late);
	if (counts->backward)
		diag_warn(sorter->diag, "time-backwards",
			  "%" PRIu64
			  " begins and ends were earlier than the one before, and got its time",
			  counts->backward);
	if (counts->too_deep)
		diag_warn(sorter->diag, "too-deep",
			  "%" PRIu64 " slices deeper than %zu were left out", counts->too_deep,
			  sorter->depth);
	if (counts->split)
		diag_warn(sorter->diag, "segment-split",
			  "%" PRIu64 " segments were too long to sort at once: callers found late "
			  "may begin too late",
			  counts->split);
}

void slice_sorter_finish(struct slice_sorter *sorter)
{
	for (struct sorter_track *track = sorter->first; track; track = track->next) {
		sorter_track_flush(track);
		sorter_track_close_all(track);
	}
	warn(sorter);
}
