/* SPDX-License-Identifier: MIT */
/* Slices in an array: records of 32 bytes, in stretches per track. */
#include "src/slices/slice_store.h"

#include "base/tables/heap.h"
#include "src/slices/track.h"

#define STORE_MEMORY ((size_t)4 << 20)

/* Records between two releases of the file's pages. */
#define STEP 32768u

/* Number of events whose room a detail takes.  It follows an event whose `detail` is not 0. */
#define DETAIL_EVENTS                                                                              \
	((sizeof(struct slice_detail) + sizeof(struct slice_event) - 1) /                          \
	 sizeof(struct slice_event))

static struct slice_event *event_at(const struct slice_store *store, uint64_t at)
{
	return (struct slice_event *)store->records.items + at;
}

/* ---- In ------------------------------------------------------------------ */

/* Add the records before `end`, which are in place, to a track. */
static void add(struct slice_store *store, struct store_track *to, const struct slice_event *end)
{
	const struct slice_event *first = event_at(store, store->count);
	struct store_stretch *last = to->count ? &to->stretches[to->count - 1] : NULL;

	if (first == end)
		return;
	if (!last || last->begin + last->count != store->count || first->kind == SLICE_ARROW_END) {
		ARRAY_GROW(to->stretches, to->room, to->count + 1);
		last = &to->stretches[to->count++];
		*last = (struct store_stretch){ .begin = store->count };
	}
	last->count += (uint64_t)(end - first);
	store->count += (uint64_t)(end - first);
}

/* Fill a record. Returns the place of the next one. */
static inline struct slice_event *keep_event(struct slice_store *store, struct slice_event *kept,
					     const struct slice_event *event,
					     const struct slice_detail *detail)
{
	*kept = *event;
	kept->detail = detail != NULL;
	/* Keep old memory contents out of a file. */
	if (event->kind == SLICE_END)
		kept->ip = 0;
	else if (event->kind == SLICE_INSTANT)
		kept->text = name_intern_text(store->names, event->text)->text;
	if (!detail)
		return kept + 1;
	memset(kept + 1, 0, DETAIL_EVENTS * sizeof(*kept));
	memcpy(kept + 1, detail, sizeof(*detail));
	return kept + 1 + DETAIL_EVENTS;
}

static void keep_events(const struct slice_sink *sink, void *track, const struct slice_batch *batch)
{
	const struct slice_event *event = batch->events, *end = event + batch->count;
	struct slice_store *store = sink->context;
	size_t index = ((struct track *)track)->index, at = store->count, before;
	size_t need = at + batch->count * (batch->details ? 1 + DETAIL_EVENTS : 1);
	struct slice_event *kept;
	struct store_track *to;

	ARRAY_GROW_ZEROED(store->tracks, store->track_room, index + 1);
	store->track_count = MAX(store->track_count, index + 1);
	to = &store->tracks[index];
	to->track = track;
	to->end = end[-1].time;
	if (need > store->records.room)
		big_array_grow(&store->records, need, sizeof(*event), STORE_MEMORY);
	kept = event_at(store, at);
	for (before = to->slices; event < end; event++) {
		if (event->kind == SLICE_ARROW_END)
			add(store, to, kept);
		if (!to->slices)
			to->begin = event->time;
		to->slices += event->kind != SLICE_END;
		kept = keep_event(store, kept, event, slice_batch_detail(batch, event));
	}
	add(store, to, kept);
	store->slices += to->slices - before;
	if (at / STEP < store->count / STEP)
		big_array_rest(&store->records, at - at % STEP, store->count - store->count % STEP,
			       sizeof(*event));
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

/* Emit an event, or several without details. Returns the number of their records. */
static size_t emit_some(const struct slice_sink *sink, struct track *track,
			const struct slice_event *events, size_t count)
{
	struct slice_detail detail;
	size_t some = 0;

	while (some < count && !events[some].detail)
		some++;
	if (some) {
		sink->events(sink, track, &(struct slice_batch){ events, some, NULL, false });
		return some;
	}
	memcpy(&detail, events + 1, sizeof(detail));
	slice_sink_emit(sink, track, events, &detail);
	return 1 + DETAIL_EVENTS;
}

void slice_store_replay_track(const struct slice_store *store, size_t index,
			      const struct slice_sink *sink)
{
	const struct store_track *track = &store->tracks[index];

	for (size_t i = 0; i < track->count; i++) {
		uint64_t at = track->stretches[i].begin, end = at + track->stretches[i].count;

		for (uint64_t next; at < end; at = next) {
			next = at + emit_some(sink, track->track, event_at(store, at),
					      MIN(end - at, STEP));
			if (at / STEP != next / STEP)
				big_array_rest(&store->records, 0, store->count,
					       sizeof(struct slice_event));
		}
	}
}

COMPARE_WITHIN(compare_stretches, struct store_stretch, struct slice_store,
	       COMPARE(event_at(context, a->begin)->time, event_at(context, b->begin)->time)
		       ?: COMPARE(a->begin, b->begin))

void slice_store_replay_sorted(struct slice_store *store, size_t index,
			       const struct slice_sink *sink)
{
	struct store_track *track = &store->tracks[index];

	SORT_WITHIN(track->stretches, track->count, compare_stretches, store);
	slice_store_replay_track(store, index, sink);
}

/* ---- By time: a heap of the tracks ----------------------------------------- */

/* An event of a track, and its place. */
struct store_cursor {
	const struct store_track *track;
	size_t stretch;
	uint64_t at; /* in the stretch */
	const struct slice_event *event;
};

/* Go to the event at the cursor's place, perhaps in the next stretch. Returns false at the end. */
static bool find_event(const struct slice_store *store, struct store_cursor *cursor)
{
	const struct store_stretch *stretch = &cursor->track->stretches[cursor->stretch];

	if (cursor->stretch < cursor->track->count && cursor->at == stretch->count) {
		stretch++;
		cursor->stretch++;
		cursor->at = 0;
	}
	if (cursor->stretch == cursor->track->count)
		return false;
	cursor->event = event_at(store, stretch->begin + cursor->at);
	return true;
}

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
		count += find_event(store, &heap[count]);
	}
	cursors_order(store, heap, count);
	while (count) {
		heap[0].at += emit_some(sink, heap[0].track->track, heap[0].event, 1);
		if (!find_event(store, &heap[0]))
			heap[0] = heap[--count];
		if (++emitted % STEP == 0)
			big_array_rest(&store->records, 0, store->count,
				       sizeof(struct slice_event));
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
