/* SPDX-License-Identifier: MIT */
#include "span_sorter.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/big_array.h"

/* Bytes of all tracks that stay in memory; and of one array, so that few need a file each. */
#define MEMORY_MOST ((size_t)24 << 20)
#define MEMORY_EACH ((size_t)1 << 20)
/* Bytes of the records of one time: of a trace that has times, they are few. */
#define GROUP_MOST ((size_t)4 << 20)

enum record_kind { RECORD_BEGIN, RECORD_END, RECORD_INSTANT };

/* The order of records of equal time; see the header. */
enum record_order { ORDER_CLOSE, ORDER_DEFERRED, ORDER_PLAIN };

struct span_record {
	uint64_t time; /* ns, perf's clock */
	union {
		const struct symbol *symbol; /* of a begin */
		size_t text;                 /* of an instant: offset in the track's texts */
	};
	uint64_t ip;
	uint32_t detail; /* 1 + its index in the track's details; 0: none */
	uint8_t kind, order;
	uint16_t flags;
};

/* Records one after the other that are in order. */
struct record_run {
	size_t begin; /* of the track's records; it ends where the next one begins */
	bool mixed;   /* they have other orders than ORDER_PLAIN */
};

struct span_track {
	struct span_sorter *sorter;
	void *next_track;
	struct span_track *next;
	struct big_array records; /* owned: of the segment */
	size_t count;
	size_t full;              /* at so many records there is more to be done than to add one */
	uint64_t latest;          /* of the last record that was added */
	struct record_run *runs;  /* owned: of records in order */
	size_t run_count, run_room;
	char *texts; /* owned; of the segment's instants, NUL-terminated */
	size_t text_count, text_room;
	struct big_array details; /* owned: of the segment's begins and ends */
	size_t detail_count;
	struct span_detail next_detail; /* of the next record, if has_detail */
	bool has_detail;
	const struct symbol **open; /* owned; of the open slices that were passed on */
	size_t open_room;
	uint64_t depth;     /* open slices, with those that were left out */
	uint64_t last_time; /* ns; of the last record passed on */
};

static struct span_record *records_of(const struct span_track *track)
{
	return track->records.items;
}

/* Looked at in steps of so many records, which then may leave memory. */
#define STEP ((size_t)1 << 15)

/* The records before `at`, and the first `details`, are not looked at for now. */
static void leave(const struct span_track *track, size_t at, size_t details)
{
	big_array_rest(&track->records, at - STEP, at, sizeof(struct span_record));
	big_array_rest(&track->details, 0, details, sizeof(struct span_detail));
}

static void leave_behind(const struct span_track *track, size_t at)
{
	const struct span_record *record = records_of(track) + at;

	/* Details come in the order of records, of which each has one at most. */
	if (at % STEP == 0 && at)
		leave(track, at, record->detail ? record->detail - 1 : 0);
}

static inline void pass_detail(struct span_track *track, const struct span_record *record)
{
	const struct span_sink *next = track->sorter->next;

	if (record && record->detail)
		next->detail(next, track->next_track,
			     (struct span_detail *)track->details.items + record->detail - 1);
}

static inline void pass_begin(struct span_track *track, const struct span_record *record)
{
	const struct span_sink *next = track->sorter->next;

	if (track->depth++ >= track->sorter->depth) {
		track->sorter->counts.too_deep++;
		return;
	}
	if (track->depth > track->open_room)
		track->open = alloc_grow(track->open, &track->open_room, track->depth,
					 sizeof(*track->open));
	track->open[track->depth - 1] = record->symbol;
	pass_detail(track, record);
	next->begin(next, track->next_track, track->last_time, record->symbol, record->ip,
		    record->flags & (unsigned)~SPAN_DEFERRED);
}

/* `record`: the end's own; NULL: it has none, the trace has ended. */
static inline void pass_end(struct span_track *track, const struct span_record *record)
{
	const struct span_sink *next = track->sorter->next;

	if (!track->depth) {
		track->sorter->counts.unmatched_ends++;
		return;
	}
	if (--track->depth >= track->sorter->depth)
		return;
	pass_detail(track, record);
	next->end(next, track->next_track, track->last_time, track->open[track->depth]);
}

static inline __attribute__((always_inline)) void pass_one(struct span_track *track,
							   const struct span_record *record)
{
	const struct span_sink *next = track->sorter->next;

	if (record->time < track->last_time)
		track->sorter->counts.backward++;
	else
		track->last_time = record->time;
	switch ((enum record_kind)record->kind) {
	case RECORD_BEGIN:
		pass_begin(track, record);
		break;
	case RECORD_END:
		pass_end(track, record);
		break;
	case RECORD_INSTANT:
		next->instant(next, track->next_track, track->last_time,
			      track->texts + record->text);
		break;
	}
}

static void pass(struct span_track *track, const struct span_record *record)
{
	pass_one(track, record);
}

/* Record `at` of an array is the next; what lies far behind it may leave memory. */
static const struct span_record *visit(const struct big_array *array, size_t at)
{
	if (at % STEP == 0 && at)
		big_array_rest(array, at - STEP, at, sizeof(struct span_record));
	return (const struct span_record *)array->items + at;
}

/* Pass the records [begin, end) of an array on, which are of equal time. */
static void pass_group(struct span_track *track, const struct big_array *array, size_t begin,
		       size_t end)
{
	const struct span_record *records = array->items;
	size_t deferred, plain;

	for (; begin < end && records[begin].order == ORDER_CLOSE; begin++)
		pass(track, visit(array, begin));
	deferred = plain = begin;
	while (plain < end && visit(array, plain)->order == ORDER_DEFERRED)
		plain++;
	for (begin = plain; plain < end && records[plain].kind == RECORD_END && track->depth;
	     plain++)
		pass(track, visit(array, plain));
	for (; deferred < begin; deferred++)
		pass(track, visit(array, deferred));
	for (; plain < end; plain++)
		pass(track, visit(array, plain));
}

/* Pass the records [begin, end) on, which are in order, whatever their orders are. */
static void pass_groups(struct span_track *track, size_t begin, size_t end)
{
	const struct span_record *records = records_of(track);

	while (begin < end) {
		size_t behind = begin + 1;

		leave_behind(track, begin);
		while (behind < end && records[behind].time == records[begin].time)
			leave_behind(track, behind++);
		pass_group(track, &track->records, begin, behind);
		begin = behind;
	}
}

/* The same of records that are all ORDER_PLAIN, as most are: they stand as they are passed. */
static void pass_plain(struct span_track *track, size_t begin, size_t end)
{
	const struct span_record *records = records_of(track);

	while (begin < end) {
		size_t stop = begin - begin % STEP + STEP;

		leave_behind(track, begin);
		for (stop = stop < end ? stop : end; begin < stop; begin++)
			pass_one(track, &records[begin]);
	}
}

static void pass_run(struct span_track *track, size_t begin, size_t end, bool mixed)
{
	if (mixed)
		pass_groups(track, begin, end);
	else
		pass_plain(track, begin, end);
}

/* ---- Several runs -------------------------------------------------------- */

/* A run on its way out. */
struct span_run {
	size_t at, end; /* of the track's records */
	size_t rank;    /* place among the runs, for equal times */
	bool mixed;
};

static bool run_before(const struct span_record *records, const struct span_run *a,
		       const struct span_run *b)
{
	uint64_t left = records[a->at].time, right = records[b->at].time;

	return left != right ? left < right : a->rank < b->rank;
}

/* Of a heap with the earliest run on top: move the one at `at` down to its place. */
static void sift_down(const struct span_record *records, struct span_run *runs, size_t count,
		      size_t at)
{
	struct span_run moving = runs[at];

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= count)
			break;
		if (child + 1 < count && run_before(records, &runs[child + 1], &runs[child]))
			child++;
		if (!run_before(records, &runs[child], &moving))
			break;
		runs[at] = runs[child];
		at = child;
	}
	runs[at] = moving;
}

/* Returns the number of runs; sorter->heap gets them, the earliest on top. */
static size_t list_runs(const struct span_track *track)
{
	struct span_sorter *sorter = track->sorter;
	size_t count = track->run_count;

	sorter->heap = alloc_grow(sorter->heap, &sorter->heap_room, count, sizeof(*sorter->heap));
	for (size_t i = 0; i < count; i++)
		sorter->heap[i] = (struct span_run){
			track->runs[i].begin,
			i + 1 < count ? track->runs[i + 1].begin : track->count,
			i, track->runs[i].mixed,
		};
	for (size_t i = count / 2; i-- > 0;)
		sift_down(records_of(track), sorter->heap, count, i);
	return count;
}

/* Have room for `need` records in the group. */
static struct span_record *group_of(struct span_sorter *sorter, size_t need)
{
	big_array_grow(&sorter->group, need, sizeof(struct span_record), GROUP_MOST);
	return sorter->group.items;
}

/* Move the records of the earliest run's first time to the group, which has `*grouped`. */
static void take(const struct span_track *track, struct span_run *run, size_t *grouped)
{
	struct span_sorter *sorter = track->sorter;
	const struct span_record *records = records_of(track);
	uint64_t time = records[run->at].time;

	for (; run->at < run->end && records[run->at].time == time; run->at++) {
		leave_behind(track, run->at);
		group_of(sorter, *grouped + 1)[*grouped] = records[run->at];
		visit(&sorter->group, (*grouped)++);
	}
}

/* Records of equal time, as they came, get the order of their kinds. */
static void order_group(struct span_sorter *sorter, size_t count)
{
	struct span_record *group = group_of(sorter, 2 * count);
	size_t placed = count;

	for (uint8_t order = ORDER_CLOSE; order <= ORDER_PLAIN; order++) {
		for (size_t i = 0; i < count; i++) {
			if (visit(&sorter->group, i)->order != order)
				continue;
			group[placed] = group[i];
			visit(&sorter->group, placed++);
		}
	}
}

static void merge_runs(struct span_track *track)
{
	struct span_sorter *sorter = track->sorter;
	const struct span_record *records = records_of(track);
	size_t count = list_runs(track);
	struct span_run *top = sorter->heap;

	while (count > 1) {
		uint64_t time = records[top->at].time;
		size_t grouped = 0;

		while (count && records[top->at].time == time) {
			take(track, top, &grouped);
			if (top->at == top->end)
				*top = sorter->heap[--count];
			if (count)
				sift_down(records, top, count, 0);
		}
		order_group(sorter, grouped);
		pass_group(track, &sorter->group, grouped, 2 * grouped);
	}
	if (count)
		pass_run(track, top->at, top->end, top->mixed);
}

/* Pass what is buffered on, in order. */
static void flush(struct span_track *track)
{
	if (track->run_count > 1)
		merge_runs(track);
	else if (track->run_count)
		pass_run(track, 0, track->count, track->runs->mixed);
	track->count = track->run_count = track->text_count = track->detail_count = 0;
	track->full = 0;
}

/* Pass a segment on in parts when it is too long. */
static void bound(struct span_track *track)
{
	if (track->count < track->sorter->limit)
		return;
	flush(track);
	track->sorter->counts.split++;
}

/* Have room for `need` items of `size` bytes in one of the track's arrays. */
static void make_room(struct span_track *track, struct big_array *array, size_t need, size_t size)
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

static uint32_t keep_detail(struct span_track *track)
{
	struct span_detail *details;

	track->has_detail = false;
	make_room(track, &track->details, track->detail_count + 1, sizeof(*details));
	details = track->details.items;
	details[track->detail_count++] = track->next_detail;
	return (uint32_t)track->detail_count;
}

static void begin_run(struct span_track *track)
{
	track->runs = alloc_grow(track->runs, &track->run_room, track->run_count + 1,
				 sizeof(*track->runs));
	track->runs[track->run_count++] = (struct record_run){ .begin = track->count };
}

/* Have room for one record more. */
static void make_way(struct span_track *track)
{
	size_t step;

	bound(track);
	make_room(track, &track->records, track->count + 1, sizeof(struct span_record));
	step = track->count - track->count % STEP + STEP;
	if (track->count && track->count % STEP == 0)
		leave(track, track->count, track->detail_count);
	track->full = track->records.room < step ? track->records.room : step;
	if (track->full > track->sorter->limit)
		track->full = track->sorter->limit;
}

static uint64_t hold(struct span_track *track, uint64_t time)
{
	track->sorter->counts.late += time > INT64_MAX;
	return time > INT64_MAX ? INT64_MAX : time;
}

/* Returns a new record with its time, order and detail; the rest is to be filled. */
static struct span_record *add(struct span_track *track, uint64_t time,
				      enum record_order order)
{
	struct span_record *record;

	if (track->count >= track->full)
		make_way(track);
	if (time > INT64_MAX)
		time = hold(track, time);
	record = records_of(track) + track->count;
	if (!track->count || record[-1].time > time ||
	    (record[-1].time == time && record[-1].order > order))
		begin_run(track);
	track->runs[track->run_count - 1].mixed |= order != ORDER_PLAIN;
	record->time = track->latest = time;
	record->order = (uint8_t)order;
	record->detail = track->has_detail ? keep_detail(track) : 0;
	track->count++;
	return record;
}

/* Returns whether add_plain() may be used, of a begin or end that comes in order, as most do. */
static inline bool comes_plain(const struct span_track *track, uint64_t time)
{
	return track->count < track->full && time >= track->latest && time <= INT64_MAX &&
	       !track->has_detail;
}

/* add() for less, of ORDER_PLAIN. */
static inline struct span_record *add_plain(struct span_track *track, uint64_t time)
{
	struct span_record *record = records_of(track) + track->count++;

	record->time = track->latest = time;
	record->order = ORDER_PLAIN;
	record->detail = 0;
	return record;
}

static void sorter_detail(const struct span_sink *sink, void *track_,
			  const struct span_detail *detail)
{
	struct span_track *track = track_;

	(void)sink;
	track->next_detail = *detail;
	track->has_detail = true;
}

static enum record_order order_of(unsigned flags)
{
	return flags & SPAN_DEFERRED ? ORDER_DEFERRED : ORDER_PLAIN;
}

static inline void fill_begin(struct span_record *record, const struct symbol *symbol, uint64_t ip,
			      unsigned flags)
{
	record->kind = RECORD_BEGIN;
	record->symbol = symbol;
	record->ip = ip;
	record->flags = (uint16_t)flags;
}

/* What sorter_begin() and sorter_end() do seldom, apart from them, who so save no registers. */
static __attribute__((noinline)) void begin_any(struct span_track *track, uint64_t time,
						const struct symbol *symbol, uint64_t ip,
						unsigned flags)
{
	fill_begin(add(track, time, order_of(flags)), symbol, ip, flags);
}

static __attribute__((noinline)) void end_any(struct span_track *track, uint64_t time)
{
	add(track, time, ORDER_PLAIN)->kind = RECORD_END;
}

static void sorter_begin(const struct span_sink *sink, void *track, uint64_t time,
			 const struct symbol *symbol, uint64_t ip, unsigned flags)
{
	(void)sink;
	if (flags & SPAN_DEFERRED || !comes_plain(track, time))
		begin_any(track, time, symbol, ip, flags);
	else
		fill_begin(add_plain(track, time), symbol, ip, flags);
}

static void sorter_end(const struct span_sink *sink, void *track, uint64_t time,
		       const struct symbol *symbol)
{
	(void)sink;
	(void)symbol;
	if (!comes_plain(track, time))
		end_any(track, time);
	else
		add_plain(track, time)->kind = RECORD_END;
}

static void sorter_complete(const struct span_sink *sink, void *track, uint64_t begin_time,
			    uint64_t end_time, const struct symbol *symbol, unsigned flags)
{
	bool is_long = end_time > begin_time;

	sorter_begin(sink, track, begin_time, symbol, 0, flags);
	add(track, is_long ? end_time : begin_time, is_long ? ORDER_CLOSE : order_of(flags))
		->kind = RECORD_END;
}

static void sorter_instant(const struct span_sink *sink, void *track_, uint64_t time,
			   const char *text)
{
	struct span_track *track = track_;
	size_t size = strlen(text) + 1;
	struct span_record *record;

	(void)sink;
	bound(track); /* forgets the texts: before this one is among them */
	record = add(track, time, ORDER_PLAIN);
	record->kind = RECORD_INSTANT;
	record->text = track->text_count;
	track->texts = alloc_grow(track->texts, &track->text_room, track->text_count + size, 1);
	memcpy(track->texts + track->text_count, text, size);
	track->text_count += size;
}

static void sorter_segment_end(const struct span_sink *sink, void *track_)
{
	struct span_track *track = track_;
	const struct span_sorter *sorter = sink->context;

	flush(track);
	sorter->next->segment_end(sorter->next, track->next_track);
}

void span_sorter_init(struct span_sorter *sorter, const struct span_sink *next, struct diag *diag)
{
	*sorter = (struct span_sorter){
		.next = next, .diag = diag, .limit = SPAN_SORTER_LIMIT, .depth = SPAN_SORTER_DEPTH,
	};
	sorter->last = &sorter->first;
	sorter->sink = (struct span_sink){
		.detail = next->detail ? sorter_detail : NULL,
		.begin = sorter_begin,
		.end = sorter_end,
		.complete = sorter_complete,
		.instant = sorter_instant,
		.segment_end = sorter_segment_end,
		.context = sorter,
	};
}

void span_sorter_release(struct span_sorter *sorter)
{
	while (sorter->first) {
		struct span_track *track = sorter->first;

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

struct span_track *span_sorter_track(struct span_sorter *sorter, void *next_track)
{
	struct span_track *track = alloc_zeroed(1, sizeof(*track));

	track->sorter = sorter;
	track->next_track = next_track;
	*sorter->last = track;
	sorter->last = &track->next;
	return track;
}

static void warn(const struct span_sorter *sorter)
{
	const struct span_sorter_counts *counts = &sorter->counts;

	if (counts->unmatched_ends)
		diag_warn(sorter->diag, "unmatched-end",
			  "%" PRIu64 " ends of slices without a beginning were left out",
			  counts->unmatched_ends);
	if (counts->late)
		diag_warn(sorter->diag, "times-late",
			  "%" PRIu64 " times lie beyond the 2^63 ns that Perfetto can show, and are "
			  "shown there", counts->late);
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

void span_sorter_finish(struct span_sorter *sorter)
{
	for (struct span_track *track = sorter->first; track; track = track->next) {
		bool any = track->count || track->depth;

		flush(track);
		while (track->depth)
			pass_end(track, NULL);
		if (any)
			sorter->next->segment_end(sorter->next, track->next_track);
	}
	warn(sorter);
}
