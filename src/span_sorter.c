/* SPDX-License-Identifier: MIT */
#include "span_sorter.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

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
	uint8_t kind, order, flags;
};

struct span_track {
	struct span_sorter *sorter;
	void *next_track;
	struct span_track *next;
	struct span_record *records; /* owned; of the segment */
	size_t count, room;
	char *texts; /* owned; of the segment's instants, NUL-terminated */
	size_t text_count, text_room;
	struct span_detail *details; /* owned; of the segment's begins and ends */
	size_t detail_count, detail_room;
	struct span_detail next_detail; /* of the next record, if has_detail */
	bool has_detail;
	const struct symbol **open; /* owned; of the open slices that were passed on */
	size_t open_room;
	uint64_t depth;     /* open slices, with those that were left out */
	uint64_t last_time; /* ns; of the last record passed on */
};

static bool is_after(const struct span_record *a, const struct span_record *b)
{
	return a->time != b->time ? a->time > b->time : a->order > b->order;
}

/* Returns the number of runs in order; sorter->runs gets where they begin, and the end. */
static size_t find_runs(struct span_sorter *sorter, const struct span_track *track)
{
	size_t count = 0;

	for (size_t i = 0; i <= track->count; i++) {
		if (i && i < track->count && !is_after(&track->records[i - 1], &track->records[i]))
			continue;
		sorter->runs = alloc_grow(sorter->runs, &sorter->run_room, count + 1,
					  sizeof(*sorter->runs));
		sorter->runs[count++] = i;
	}
	return count - 1;
}

static struct span_record *merge_room(struct span_sorter *sorter, size_t count)
{
	sorter->merge =
		alloc_grow(sorter->merge, &sorter->merge_room, count, sizeof(*sorter->merge));
	return sorter->merge;
}

/* Merge from the front, the left run moved away. */
static void merge_forward(struct span_sorter *sorter, struct span_record *records, size_t left,
			  size_t right)
{
	struct span_record *copy = merge_room(sorter, left);
	struct span_record *a = copy, *b = records + left, *out = records;

	memcpy(copy, records, left * sizeof(*copy));
	while (a < copy + left && b < records + left + right)
		*out++ = is_after(a, b) ? *b++ : *a++;
	memcpy(out, a, (size_t)(copy + left - a) * sizeof(*a));
}

/* Merge from the back, the right run moved away. */
static void merge_backward(struct span_sorter *sorter, struct span_record *records, size_t left,
			   size_t right)
{
	struct span_record *copy = merge_room(sorter, right);
	size_t a = left, b = right;

	memcpy(copy, records + left, right * sizeof(*copy));
	while (a && b) {
		if (is_after(&records[a - 1], &copy[b - 1])) {
			records[a + b - 1] = records[a - 1];
			a--;
		} else {
			records[a + b - 1] = copy[b - 1];
			b--;
		}
	}
	memcpy(records, copy, b * sizeof(*copy));
}

/* Merge the neighbours [begin, middle) and [middle, end). */
static void merge(struct span_sorter *sorter, struct span_record *records, size_t begin,
		  size_t middle, size_t end)
{
	if (middle - begin <= end - middle)
		merge_forward(sorter, records + begin, middle - begin, end - middle);
	else
		merge_backward(sorter, records + begin, middle - begin, end - middle);
}

static void sort(struct span_track *track)
{
	struct span_sorter *sorter = track->sorter;
	size_t count = find_runs(sorter, track);
	size_t *runs = sorter->runs;

	while (count > 1) {
		size_t merged = 0;

		for (size_t i = 0; i < count; i += 2) {
			if (i + 1 < count)
				merge(sorter, track->records, runs[i], runs[i + 1], runs[i + 2]);
			runs[merged++] = runs[i];
		}
		runs[merged] = track->count;
		count = merged;
	}
}

static void pass_detail(struct span_track *track, const struct span_record *record)
{
	const struct span_sink *next = track->sorter->next;

	if (record && record->detail)
		next->detail(next, track->next_track, &track->details[record->detail - 1]);
}

static void pass_begin(struct span_track *track, const struct span_record *record)
{
	const struct span_sink *next = track->sorter->next;

	if (track->depth++ >= track->sorter->depth) {
		track->sorter->counts.too_deep++;
		return;
	}
	track->open =
		alloc_grow(track->open, &track->open_room, track->depth, sizeof(*track->open));
	track->open[track->depth - 1] = record->symbol;
	pass_detail(track, record);
	next->begin(next, track->next_track, track->last_time, record->symbol, record->ip,
		    record->flags & (unsigned)~SPAN_DEFERRED);
}

/* `record`: the end's own; NULL: it has none, the trace has ended. */
static void pass_end(struct span_track *track, const struct span_record *record)
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

static void pass(struct span_track *track, const struct span_record *record)
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

/* Pass records [begin, end) of equal time on.  Returns end. */
static size_t pass_group(struct span_track *track, size_t begin, size_t end)
{
	const struct span_record *records = track->records;
	size_t deferred, plain;

	for (; begin < end && records[begin].order == ORDER_CLOSE; begin++)
		pass(track, &records[begin]);
	deferred = plain = begin;
	while (plain < end && records[plain].order == ORDER_DEFERRED)
		plain++;
	for (begin = plain; plain < end && records[plain].kind == RECORD_END && track->depth;
	     plain++)
		pass(track, &records[plain]);
	for (; deferred < begin; deferred++)
		pass(track, &records[deferred]);
	for (; plain < end; plain++)
		pass(track, &records[plain]);
	return end;
}

/* Sort what is buffered and pass it on. */
static void flush(struct span_track *track)
{
	size_t begin = 0;

	sort(track);
	while (begin < track->count) {
		size_t end = begin + 1;

		/* Most stand alone. */
		if (end == track->count || track->records[end].time != track->records[begin].time) {
			pass(track, &track->records[begin++]);
			continue;
		}
		while (end < track->count && track->records[end].time == track->records[begin].time)
			end++;
		begin = pass_group(track, begin, end);
	}
	track->count = track->text_count = track->detail_count = 0;
}

/* Pass a segment on in parts when it is too long. */
static void bound(struct span_track *track)
{
	if (track->count < track->sorter->limit)
		return;
	flush(track);
	track->sorter->counts.split++;
}

static uint32_t keep_detail(struct span_track *track)
{
	if (!track->has_detail)
		return 0;
	track->has_detail = false;
	track->details = alloc_grow(track->details, &track->detail_room, track->detail_count + 1,
				    sizeof(*track->details));
	track->details[track->detail_count++] = track->next_detail;
	return (uint32_t)track->detail_count;
}

static void add(struct span_track *track, const struct span_record *record)
{
	bound(track);
	track->records =
		alloc_grow(track->records, &track->room, track->count + 1, sizeof(*track->records));
	track->records[track->count] = *record;
	track->records[track->count++].detail = keep_detail(track);
}

static void sorter_detail(const struct span_sink *sink, void *track_,
			  const struct span_detail *detail)
{
	struct span_track *track = track_;

	(void)sink;
	track->next_detail = *detail;
	track->has_detail = true;
}

static uint8_t order_of(unsigned flags)
{
	return flags & SPAN_DEFERRED ? ORDER_DEFERRED : ORDER_PLAIN;
}

static void sorter_begin(const struct span_sink *sink, void *track, uint64_t time,
			 const struct symbol *symbol, uint64_t ip, unsigned flags)
{
	struct span_record record = {
		.time = time,
		.symbol = symbol,
		.ip = ip,
		.kind = RECORD_BEGIN,
		.order = order_of(flags),
		.flags = (uint8_t)flags,
	};

	(void)sink;
	add(track, &record);
}

static void sorter_end(const struct span_sink *sink, void *track, uint64_t time,
		       const struct symbol *symbol)
{
	struct span_record record = { .time = time, .kind = RECORD_END, .order = ORDER_PLAIN };

	(void)sink;
	(void)symbol;
	add(track, &record);
}

static void sorter_complete(const struct span_sink *sink, void *track, uint64_t begin_time,
			    uint64_t end_time, const struct symbol *symbol, unsigned flags)
{
	struct span_record end = { .time = end_time, .kind = RECORD_END, .order = ORDER_CLOSE };

	if (end_time <= begin_time) {
		end.time = begin_time;
		end.order = order_of(flags);
	}
	sorter_begin(sink, track, begin_time, symbol, 0, flags);
	add(track, &end);
}

static void sorter_instant(const struct span_sink *sink, void *track_, uint64_t time,
			   const char *text)
{
	struct span_track *track = track_;
	size_t size = strlen(text) + 1;
	struct span_record record = {
		.time = time,
		.kind = RECORD_INSTANT,
		.order = ORDER_PLAIN,
	};

	(void)sink;
	bound(track); /* forgets the texts: before this one is among them */
	record.text = track->text_count;
	track->texts = alloc_grow(track->texts, &track->text_room, track->text_count + size, 1);
	memcpy(track->texts + track->text_count, text, size);
	track->text_count += size;
	add(track, &record);
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
		free(track->records);
		free(track->texts);
		free(track->details);
		free(track->open);
		free(track);
	}
	sorter->last = &sorter->first;
	free(sorter->merge);
	free(sorter->runs);
	sorter->merge = NULL;
	sorter->runs = NULL;
	sorter->merge_room = sorter->run_room = 0;
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
