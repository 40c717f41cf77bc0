/* SPDX-License-Identifier: MIT */
/* Slices in an array: records of 32 bytes, in stretches per track. */
#include "src/slices/slice_store.h"

#include "base/tables/heap.h"
#include "src/slices/track.h"

#define STORE_MEMORY ((size_t)4 << 20)

/* Records between two releases of the file's pages. */
#define STEP 32768u

/* An event. If its `detail` is not 0, the next records have its detail. */
struct store_record {
	struct slice_event event;
};

#define DETAIL_RECORDS                                                                             \
	((sizeof(struct slice_detail) + sizeof(struct store_record) - 1) /                         \
	 sizeof(struct store_record))

static const struct store_record *record_at(const struct slice_store *store, uint64_t at)
{
	return (const struct store_record *)store->records.items + at;
}

/* ---- In ------------------------------------------------------------------ */

/* Add records, for which there is room, to a track. */
static inline struct store_record *add(struct slice_store *store, struct store_track *to,
				       size_t count)
{
	struct store_stretch *last = to->count ? &to->stretches[to->count - 1] : NULL;
	uint64_t at = store->count, end = at + count;

	if (!last || last->begin + last->count != at || to->apart) {
		ARRAY_GROW(to->stretches, to->room, to->count + 1);
		last = &to->stretches[to->count++];
		*last = (struct store_stretch){ .begin = at };
	}
	last->count += count;
	store->count = end;
	if (at / STEP < end / STEP)
		big_array_rest(&store->records, at - at % STEP, end - end % STEP,
			       sizeof(struct store_record));
	return (struct store_record *)store->records.items + at;
}

static inline void keep_event(struct slice_store *store, struct store_track *to,
			      const struct slice_event *event, const struct slice_detail *detail)
{
	struct store_record *record;

	to->apart = event->kind == SLICE_ARROW_END;
	record = add(store, to, detail ? 1 + DETAIL_RECORDS : 1);

	record->event = *event;
	record->event.detail = detail != NULL;
	if (detail)
		memcpy(record + 1, detail, sizeof(*detail));
	if (event->kind == SLICE_END)
		record->event.ip = 0; /* unset: keep old memory contents out of a file */
	if (event->kind == SLICE_INSTANT)
		record->event.text = name_intern_text(store->names, event->text)->text;
	if (!to->slices)
		to->begin = event->time;
	to->slices += event->kind != SLICE_END;
	store->slices += event->kind != SLICE_END;
	to->end = event->time;
}

static void keep_events(const struct slice_sink *sink, void *track, const struct slice_batch *batch)
{
	struct slice_store *store = sink->context;
	size_t index = ((struct track *)track)->index;
	size_t end = store->count + batch->count * (batch->details ? 1 + DETAIL_RECORDS : 1);
	struct store_track *to;

	ARRAY_GROW_ZEROED(store->tracks, store->track_room, index + 1);
	store->track_count = MAX(store->track_count, index + 1);
	to = &store->tracks[index];
	to->track = track;
	if (end > store->records.room)
		big_array_grow(&store->records, end, sizeof(struct store_record), STORE_MEMORY);
	for (size_t i = 0; i < batch->count; i++)
		keep_event(store, to, &batch->events[i],
			   slice_batch_detail(batch, &batch->events[i]));
}

struct slice_sink slice_store_sink(struct slice_store *store, bool details, bool folded)
{
	return (struct slice_sink){
		.events = keep_events,
		.context = store,
		.details = details,
		.folded = folded,
	};
}

/* ---- Out ----------------------------------------------------------------- */

/* A position in a track's records, after `event`. */
struct store_cursor {
	const struct store_track *track;
	size_t stretch;
	uint64_t at; /* in the stretch */
	const struct slice_event *event;
};

/* Returns the next record and consumes it; NULL at the end. */
static const struct store_record *take_record(const struct slice_store *store,
					      struct store_cursor *cursor)
{
	const struct store_stretch *stretch = &cursor->track->stretches[cursor->stretch];

	if (cursor->stretch == cursor->track->count)
		return NULL;
	if (cursor->at + 1 == stretch->count) {
		cursor->stretch++;
		cursor->at = 0;
		return record_at(store, stretch->begin + stretch->count - 1);
	}
	return record_at(store, stretch->begin + cursor->at++);
}

/* Move to the next event. Returns false at the end. */
static bool next_event(const struct slice_store *store, struct store_cursor *cursor)
{
	const struct store_record *record = take_record(store, cursor);

	cursor->event = record ? &record->event : NULL;
	return record;
}

/* Emit the cursor's event and move to the next one. Returns false at the end. */
static bool emit_event(const struct slice_store *store, struct store_cursor *cursor,
		       const struct slice_sink *sink)
{
	const struct slice_event *event = cursor->event;
	struct slice_detail detail;

	if (event->detail)
		memcpy(&detail, event + 1, sizeof(detail));
	for (size_t i = 0; event->detail && i < DETAIL_RECORDS; i++)
		take_record(store, cursor);
	slice_sink_emit(sink, cursor->track->track, event, event->detail ? &detail : NULL);
	return next_event(store, cursor);
}

static void release_step(const struct slice_store *store, uint64_t count)
{
	if (count % STEP == 0)
		big_array_rest(&store->records, 0, store->count, sizeof(struct store_record));
}

/* Emit the next event of a stretch, or several without details. Returns their records' number. */
static size_t emit_some(const struct slice_sink *sink, struct track *track,
			const struct store_record *records, size_t count)
{
	struct slice_detail detail;
	size_t some = 0;

	while (some < count && !records[some].event.detail)
		some++;
	if (!some) {
		memcpy(&detail, records + 1, sizeof(detail));
		slice_sink_emit(sink, track, &records->event, &detail);
		return 1 + DETAIL_RECORDS;
	}
	sink->events(sink, track, &(struct slice_batch){ &records->event, some, NULL, false });
	return some;
}

void slice_store_replay_track(const struct slice_store *store, size_t index,
			      const struct slice_sink *sink)
{
	const struct store_track *track = &store->tracks[index];

	for (size_t i = 0; i < track->count; i++) {
		uint64_t at = track->stretches[i].begin, end = at + track->stretches[i].count;

		while (at < end) {
			uint64_t step = MIN(end, at - at % STEP + STEP);

			at += emit_some(sink, track->track, record_at(store, at), step - at);
			if (at >= step)
				big_array_rest(&store->records, 0, store->count,
					       sizeof(struct store_record));
		}
	}
}

COMPARE_WITHIN(compare_stretches, struct store_stretch, struct slice_store,
	       COMPARE(record_at(context, a->begin)->event.time,
		       record_at(context, b->begin)->event.time)
		       ?: COMPARE(a->begin, b->begin))

void slice_store_replay_sorted(struct slice_store *store, size_t index,
			       const struct slice_sink *sink)
{
	struct store_track *track = &store->tracks[index];

	SORT_WITHIN(track->stretches, track->count, compare_stretches, store);
	slice_store_replay_track(store, index, sink);
}

/* ---- By time: a heap of the tracks ----------------------------------------- */

static bool is_before(const struct slice_store *store, const struct store_cursor *a,
		      const struct store_cursor *b)
{
	(void)store;
	return a->event->time != b->event->time ? a->event->time < b->event->time
						: a->track < b->track;
}

HEAP_DEFINE(cursors, struct store_cursor, struct slice_store, is_before)

void slice_store_replay(const struct slice_store *store, const struct slice_sink *sink)
{
	struct store_cursor *heap = alloc_zeroed(store->track_count + 1, sizeof(*heap));
	size_t count = 0;
	uint64_t emitted = 0;

	for (size_t i = 0; i < store->track_count; i++) {
		heap[count] = (struct store_cursor){ .track = &store->tracks[i] };
		count += next_event(store, &heap[count]);
	}
	cursors_order(store, heap, count);
	while (count) {
		if (!emit_event(store, &heap[0], sink))
			heap[0] = heap[--count];
		release_step(store, ++emitted);
		if (count)
			cursors_sift_down(store, heap, count, 0);
	}
	free(heap);
}

void slice_store_release(struct slice_store *store)
{
	big_array_release(&store->records);
	for (size_t i = 0; i < store->track_count; i++)
		free(store->tracks[i].stretches);
	free(store->tracks);
	*store = (struct slice_store){ 0 };
}
