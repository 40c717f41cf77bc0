/* SPDX-License-Identifier: MIT */
#include "src/slices/slice_sorter.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "src/slices/sorter_track.h"

/* Bytes of all tracks that stay in memory; and of one array, so that few need a file each. */
#define MEMORY_MOST ((size_t)24 << 20)
#define MEMORY_EACH ((size_t)1 << 20)

/* Pass a segment on in parts when it is too long. */
static void bound(struct sorter_track *track)
{
	if (track->count < track->sorter->limit)
		return;
	sorter_track_flush(track);
	track->sorter->counts.split++;
}

/* Have room for `need` items of `size` bytes in one of the track's arrays. */
static void make_room(struct sorter_track *track, struct big_array *array, size_t need, size_t size)
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

static uint32_t keep_detail(struct sorter_track *track)
{
	struct slice_detail *details;

	track->has_detail = false;
	make_room(track, &track->details, track->detail_count + 1, sizeof(*details));
	details = track->details.items;
	details[track->detail_count++] = track->next_detail;
	return (uint32_t)track->detail_count;
}

static void begin_run(struct sorter_track *track)
{
	track->runs = alloc_grow(track->runs, &track->run_room, track->run_count + 1,
				 sizeof(*track->runs));
	track->runs[track->run_count++] = (struct record_run){ .begin = track->count };
}

/* Have room for one record more. */
static void make_way(struct sorter_track *track)
{
	size_t step;

	bound(track);
	make_room(track, &track->records, track->count + 1, sizeof(struct slice_event));
	step = track->count - track->count % SORTER_TRACK_STEP + SORTER_TRACK_STEP;
	if (track->count && track->count % SORTER_TRACK_STEP == 0)
		sorter_track_leave(track, track->count, track->detail_count);
	track->full = track->records.room < step ? track->records.room : step;
	if (track->full > track->sorter->limit)
		track->full = track->sorter->limit;
}

static uint64_t hold(struct sorter_track *track, uint64_t time)
{
	track->sorter->counts.late += time > INT64_MAX;
	return time > INT64_MAX ? INT64_MAX : time;
}

/* Returns a new record with its time, order and detail; the rest is to be filled. */
static struct slice_event *add(struct sorter_track *track, uint64_t time, enum record_order order)
{
	struct slice_event *record;

	if (track->count >= track->full)
		make_way(track);
	if (time > INT64_MAX)
		time = hold(track, time);
	record = sorter_track_records(track) + track->count;
	if (!track->count || record[-1].time > time ||
	    (record[-1].time == time && record[-1].order > order))
		begin_run(track);
	track->runs[track->run_count - 1].mixed |= order != ORDER_PLAIN;
	record->time = track->latest = time;
	record->order = (int8_t)order;
	record->detail = track->has_detail ? keep_detail(track) : 0;
	track->count++;
	return record;
}

/* Returns whether add_plain() may be used, of a begin or end that comes in order, as most do. */
static inline bool comes_plain(const struct sorter_track *track, uint64_t time)
{
	return track->count < track->full && time >= track->latest && time <= INT64_MAX &&
	       !track->has_detail;
}

/* add() for less, of ORDER_PLAIN. */
static inline struct slice_event *add_plain(struct sorter_track *track, uint64_t time)
{
	struct slice_event *record = sorter_track_records(track) + track->count++;

	record->time = track->latest = time;
	record->order = ORDER_PLAIN;
	record->detail = 0;
	return record;
}

static void sorter_detail(const struct slice_sink *sink, void *track_,
			  const struct slice_detail *detail)
{
	struct sorter_track *track = track_;

	(void)sink;
	track->next_detail = *detail;
	track->has_detail = true;
}

static enum record_order order_of(unsigned flags)
{
	return flags & SLICE_DEFERRED ? ORDER_DEFERRED : ORDER_PLAIN;
}

static inline void fill_begin(struct slice_event *record, const struct symbol *symbol, uint64_t ip,
			      unsigned flags)
{
	record->kind = SLICE_BEGIN;
	record->symbol = symbol;
	record->ip = ip;
	record->flags = (uint16_t)flags;
}

static inline void fill_end(struct slice_event *record)
{
	record->kind = SLICE_END;
	record->symbol = NULL;
}

/* What sorter_begin() and sorter_end() do seldom, apart from them, who so save no registers. */
static __attribute__((noinline)) void begin_any(struct sorter_track *track, uint64_t time,
						const struct symbol *symbol, uint64_t ip,
						unsigned flags)
{
	fill_begin(add(track, time, order_of(flags)), symbol, ip, flags);
}

static __attribute__((noinline)) void end_any(struct sorter_track *track, uint64_t time)
{
	fill_end(add(track, time, ORDER_PLAIN));
}

static void sorter_begin(const struct slice_sink *sink, void *track, uint64_t time,
			 const struct symbol *symbol, uint64_t ip, unsigned flags)
{
	(void)sink;
	if (flags & SLICE_DEFERRED || !comes_plain(track, time))
		begin_any(track, time, symbol, ip, flags);
	else
		fill_begin(add_plain(track, time), symbol, ip, flags);
}

static void sorter_end(const struct slice_sink *sink, void *track, uint64_t time,
		       const struct symbol *symbol)
{
	(void)sink;
	(void)symbol;
	if (!comes_plain(track, time))
		end_any(track, time);
	else
		fill_end(add_plain(track, time));
}

static void add_edge(struct sorter_track *track, const struct slice_event *edge)
{
	if (edge->kind == SLICE_BEGIN)
		begin_any(track, edge->time, edge->symbol, edge->ip, edge->flags);
	else
		end_any(track, edge->time);
}

static void sorter_edges(const struct slice_sink *sink, void *track_,
			 const struct slice_event *edges, size_t count)
{
	const struct slice_event *end = edges + count;
	struct sorter_track *track = track_;
	bool late = end[-1].time > INT64_MAX;

	(void)sink;
	while (edges < end) {
		size_t some = (size_t)(end - edges);

		if (late || !comes_plain(track, edges->time)) {
			add_edge(track, edges++);
			continue;
		}
		if (some > track->full - track->count)
			some = track->full - track->count;
		memcpy(sorter_track_records(track) + track->count, edges, some * sizeof(*edges));
		track->count += some;
		edges += some;
		track->latest = edges[-1].time;
	}
}

static void sorter_complete(const struct slice_sink *sink, void *track, uint64_t begin_time,
			    uint64_t end_time, const struct symbol *symbol, unsigned flags)
{
	bool is_long = end_time > begin_time;

	sorter_begin(sink, track, begin_time, symbol, 0, flags);
	fill_end(add(track, is_long ? end_time : begin_time,
		     is_long ? ORDER_CLOSE : order_of(flags)));
}

static void sorter_instant(const struct slice_sink *sink, void *track_, uint64_t time,
			   const char *text)
{
	struct sorter_track *track = track_;
	size_t size = strlen(text) + 1;
	struct slice_event *record;

	(void)sink;
	bound(track); /* forgets the texts: before this one is among them */
	record = add(track, time, ORDER_PLAIN);
	record->kind = SLICE_INSTANT;
	record->text = track->text_count;
	track->texts = alloc_grow(track->texts, &track->text_room, track->text_count + size, 1);
	memcpy(track->texts + track->text_count, text, size);
	track->text_count += size;
}

static void sorter_segment_end(const struct slice_sink *sink, void *track_)
{
	struct sorter_track *track = track_;
	const struct slice_sorter *sorter = sink->context;

	sorter_track_flush(track);
	sorter->next->segment_end(sorter->next, track->next_track);
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
		.detail = next->detail ? sorter_detail : NULL,
		.begin = sorter_begin,
		.end = sorter_end,
		.edges = sorter_edges,
		.complete = sorter_complete,
		.instant = sorter_instant,
		.segment_end = sorter_segment_end,
		.context = sorter,
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
		free(track->texts);
		free(track->open);
		free(track);
	}
	sorter->last = &sorter->first;
	free(sorter->heap);
	big_array_release(&sorter->group);
	sorter->heap = NULL;
	sorter->heap_room = 0;
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
			  "%" PRIu64 " ends of slices without a beginning were left out",
			  counts->unmatched_ends);
	if (counts->late)
		diag_warn(sorter->diag, "times-late",
			  "%" PRIu64
			  " times lie beyond the 2^63 ns that Perfetto can show, and are "
			  "shown there",
			  counts->late);
	if (counts->backward)
		diag_warn(sorter->diag, "time-backwards",
			  "the time of %" PRIu64 " beginnings and ends went back and was held",
			  counts->backward);
	if (counts->too_deep)
		diag_warn(sorter->diag, "too-deep",
			  "%" PRIu64 " slices deeper than %zu were left out", counts->too_deep,
			  sorter->depth);
	if (counts->split)
		diag_warn(sorter->diag, "segment-split",
			  "%" PRIu64 " stretches were too long to order as a whole: callers found "
			  "late may begin too late",
			  counts->split);
}

void slice_sorter_finish(struct slice_sorter *sorter)
{
	for (struct sorter_track *track = sorter->first; track; track = track->next) {
		bool any = track->count || track->depth;

		sorter_track_flush(track);
		while (track->depth)
			sorter_track_close(track);
		if (any)
			sorter->next->segment_end(sorter->next, track->next_track);
	}
	warn(sorter);
}
