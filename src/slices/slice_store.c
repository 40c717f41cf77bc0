/* SPDX-License-Identifier: MIT */
/* Slices in an array: records of 32 bytes, in stretches per track. */
#include "src/slices/slice_store.h"

#include "base/tables/heap.h"
#include "src/slices/track.h"

#define STORE_MEMORY ((size_t)4 << 20)

/* Records between two releases of the file's pages. */
#define STEP 32768u

/* An event. If its `detail` is not 0, the next record is its detail. */
struct store_record {
	union {
		struct slice_event event;
		struct slice_detail detail;
	};
};

static const struct store_record *record_at(const struct slice_store *store, uint64_t at)
{
	return (const struct store_record *)store->records.items + at;
}

/* ---- In ------------------------------------------------------------------ */

static void add(struct slice_store *store, struct store_track *to,
		const struct store_record *record)
{
	struct store_stretch *last = to->count ? &to->stretches[to->count - 1] : NULL;

	if (!last || last->begin + last->count != store->count || to->apart) {
		ARRAY_GROW(to->stretches, to->room, to->count + 1);
		last = &to->stretches[to->count++];
		*last = (struct store_stretch){ .begin = store->count };
	}
	to->apart = false;
	last->count++;
	if (store->count == store->records.room)
		big_array_grow(&store->records, store->count + 1, sizeof(*record), STORE_MEMORY);
	((struct store_record *)store->records.items)[store->count++] = *record;
	if (store->count % STEP == 0)
		big_array_rest(&store->records, store->count - STEP, store->count, sizeof(*record));
}

static void keep_event(struct slice_store *store, struct store_track *to,
		       const struct slice_event *event, const struct slice_detail *detail)
{
	struct store_record record = { .event = *event };

	record.event.detail = detail != NULL;
	if (event->kind == SLICE_END)
		record.event.ip = 0; /* unset: keep old memory contents out of a file */
	if (event->kind == SLICE_INSTANT)
		record.event.text = name_intern_text(store->names, event->text)->text;
	if (!to->slices)
		to->begin = event->time;
	to->slices += event->kind != SLICE_END;
	store->slices += event->kind != SLICE_END;
	to->end = event->time;
	to->apart = event->kind == SLICE_ARROW_END;
	add(store, to, &record);
	if (detail)
		add(store, to, &(struct store_record){ .detail = *detail });
}

static void keep_events(const struct slice_sink *sink, void *track, const struct slice_batch *batch)
{
	struct slice_store *store = sink->context;
	size_t index = ((struct track *)track)->index;
	struct store_track *to;

	ARRAY_GROW_ZEROED(store->tracks, store->track_room, index + 1);
	store->track_count = MAX(store->track_count, index + 1);
	to = &store->tracks[index];
	to->track = track;
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
	const struct store_record *detail = event->detail ? take_record(store, cursor) : NULL;

	slice_sink_emit(sink, cursor->track->track, event, detail ? &detail->detail : NULL);
	return next_event(store, cursor);
}

static void release_step(const struct slice_store *store, uint64_t count)
{
	if (count % STEP == 0)
		big_array_rest(&store->records, 0, store->count, sizeof(struct store_record));
}

void slice_store_replay_track(const struct slice_store *store, size_t index,
			      const struct slice_sink *sink)
{
	struct store_cursor cursor = { .track = &store->tracks[index] };
	uint64_t emitted = 0;

	for (bool more = next_event(store, &cursor); more; release_step(store, ++emitted))
		more = emit_event(store, &cursor, sink);
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
