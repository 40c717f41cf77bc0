/* SPDX-License-Identifier: MIT */
#include "src/slices/slice_store.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/pages.h"
#include "src/slices/track.h"

#define BUFFER_RECORDS 32768u

/* So many begins, ends and instants are given out before what was read may leave memory. */
#define STEP 32768u

enum record_kind {
	RECORD_BEGIN = 0,
	RECORD_END,
	RECORD_INSTANT,
	RECORD_DETAIL, /* of the begin or end that follows */
	RECORD_CYCLES, /* more of it */
	RECORD_FOLDED, /* of the end that follows */
};

struct temp_file_record {
	uint64_t time; /* ns; DETAIL: insns; CYCLES: cycles; FOLDED: how many */
	union {
		const struct symbol *symbol; /* DETAIL: the caller */
		const struct name *text;     /* of an instant */
	};
	uint64_t ip; /* DETAIL: the caller's offset; FOLDED: ns */
	uint8_t kind;
	uint16_t flags;
};

/* Records of a track in a row. */
struct stretch {
	uint64_t begin, count; /* in records of the file */
};

struct temp_file_track {
	struct track *track;       /* borrowed; NULL: nothing came */
	struct stretch *stretches; /* owned */
	size_t count, room;
	uint64_t slices, begin, end;
};

int slice_store_init(struct slice_store *spool, struct name_table *names, struct error *err)
{
	*spool = (struct slice_store){ .names = names };
	if (temp_file_open(&spool->file, err) < 0)
		return -1;
	spool->buffer = alloc_zeroed(BUFFER_RECORDS, sizeof(*spool->buffer));
	return 0;
}

/* ---- In ------------------------------------------------------------------ */

static void flush(struct slice_store *spool)
{
	if (spool->err.kind == ERROR_NONE)
		temp_file_write(&spool->file, spool->buffer,
				spool->buffered * sizeof(*spool->buffer), &spool->err);
	spool->buffered = 0;
}

static struct temp_file_track *track_of(struct slice_store *spool, struct track *track)
{
	struct temp_file_track *found;

	while (spool->track_count <= track->index) {
		spool->tracks = alloc_grow(spool->tracks, &spool->track_room,
					   spool->track_count + 1, sizeof(*spool->tracks));
		spool->tracks[spool->track_count++] = (struct temp_file_track){ 0 };
	}
	found = &spool->tracks[track->index];
	found->track = track;
	return found;
}

static struct temp_file_track *add(struct slice_store *spool, struct track *track,
				   const struct temp_file_record *record)
{
	struct temp_file_track *to = track_of(spool, track);
	struct stretch *last = to->count ? &to->stretches[to->count - 1] : NULL;

	if (!last || last->begin + last->count != spool->count) {
		to->stretches =
			alloc_grow(to->stretches, &to->room, to->count + 1, sizeof(*to->stretches));
		last = &to->stretches[to->count++];
		*last = (struct stretch){ .begin = spool->count };
	}
	last->count++;
	spool->buffer[spool->buffered++] = *record;
	spool->count++;
	if (spool->buffered == BUFFER_RECORDS)
		flush(spool);
	return to;
}

static void add_timed(struct slice_store *spool, struct track *track,
		      const struct temp_file_record *record)
{
	struct temp_file_track *to = add(spool, track, record);

	if (!to->slices)
		to->begin = record->time;
	to->slices += record->kind != RECORD_END;
	to->end = record->time;
}

static void keep_detail(const struct slice_sink *sink, void *track,
			const struct slice_detail *detail)
{
	struct temp_file_record record = {
		.time = detail->insns,
		.symbol = detail->caller,
		.ip = detail->caller_offset,
		.kind = RECORD_DETAIL,
	};

	add(sink->context, track, &record);
	record = (struct temp_file_record){ .time = detail->cycles, .kind = RECORD_CYCLES };
	add(sink->context, track, &record);
}

static void keep_folded(const struct slice_sink *sink, void *track, uint64_t count, uint64_t time)
{
	struct temp_file_record record = { .time = count, .ip = time, .kind = RECORD_FOLDED };

	add(sink->context, track, &record);
}

static void keep_begin(const struct slice_sink *sink, void *track, uint64_t time,
		       const struct symbol *symbol, uint64_t ip, unsigned flags)
{
	struct temp_file_record record = {
		.time = time,
		.symbol = symbol,
		.ip = ip,
		.flags = (uint16_t)flags,
	};
	struct slice_store *spool = sink->context;

	add_timed(spool, track, &record);
	spool->slices++;
}

static void keep_end(const struct slice_sink *sink, void *track, uint64_t time,
		     const struct symbol *symbol)
{
	struct temp_file_record record = { .time = time, .symbol = symbol, .kind = RECORD_END };

	add_timed(sink->context, track, &record);
}

static void keep_complete(const struct slice_sink *sink, void *track, uint64_t begin_time,
			  uint64_t end_time, const struct symbol *symbol, unsigned flags)
{
	keep_begin(sink, track, begin_time, symbol, 0, flags);
	keep_end(sink, track, end_time, symbol);
}

static void keep_instant(const struct slice_sink *sink, void *track, uint64_t time,
			 const char *text)
{
	struct slice_store *spool = sink->context;
	struct temp_file_record record = {
		.time = time,
		.text = name_intern_text(spool->names, text),
		.kind = RECORD_INSTANT,
	};

	add_timed(spool, track, &record);
	spool->slices++;
}

static void segment_end(const struct slice_sink *sink, void *track)
{
	(void)sink;
	(void)track;
}

struct slice_sink slice_store_sink(struct slice_store *spool, bool details)
{
	return (struct slice_sink){
		.detail = details ? keep_detail : NULL,
		.begin = keep_begin,
		.end = keep_end,
		.complete = keep_complete,
		.folded = keep_folded,
		.instant = keep_instant,
		.segment_end = segment_end,
		.context = spool,
	};
}

int slice_store_end(struct slice_store *spool, struct error *err)
{
	flush(spool);
	if (spool->err.kind != ERROR_NONE) {
		*err = spool->err;
		return -1;
	}
	if (!spool->count)
		return 0;
	spool->records =
		(const struct temp_file_record *)(const void *)temp_file_map(&spool->file, err);
	return spool->records ? 0 : -1;
}

/* ---- Out ----------------------------------------------------------------- */

/* A place among a track's records. */
struct cursor {
	const struct temp_file_track *track;
	size_t stretch;
	uint64_t at;  /* in the stretch */
	uint64_t key; /* ns: of the next timed record */
};

/* Returns the next record, NULL at the end. */
static const struct temp_file_record *peek(const struct slice_store *spool,
					   const struct cursor *cursor)
{
	if (cursor->stretch == cursor->track->count)
		return NULL;
	return &spool->records[cursor->track->stretches[cursor->stretch].begin + cursor->at];
}

static void step(struct cursor *cursor)
{
	if (++cursor->at < cursor->track->stretches[cursor->stretch].count)
		return;
	cursor->stretch++;
	cursor->at = 0;
}

static bool is_timed(const struct temp_file_record *record)
{
	return record->kind <= RECORD_INSTANT;
}

static void give_detail(const struct slice_sink *sink, struct track *track,
			const struct temp_file_record *record, uint64_t cycles)
{
	struct slice_detail detail = {
		.insns = record->time,
		.cycles = cycles,
		.caller = record->symbol,
		.caller_offset = record->ip,
	};

	if (sink->detail)
		sink->detail(sink, track, &detail);
}

static void give(const struct slice_sink *sink, struct track *track,
		 const struct temp_file_record *record)
{
	switch ((enum record_kind)record->kind) {
	case RECORD_BEGIN:
		sink->begin(sink, track, record->time, record->symbol, record->ip, record->flags);
		break;
	case RECORD_END:
		sink->end(sink, track, record->time, record->symbol);
		break;
	case RECORD_INSTANT:
		sink->instant(sink, track, record->time, record->text->text);
		break;
	case RECORD_FOLDED:
		if (sink->folded)
			sink->folded(sink, track, record->time, record->ip);
		break;
	default:
		break;
	}
}

/* Give the next begin, end or instant, with what belongs to it.  Returns false at the end. */
static bool give_next(const struct slice_store *spool, struct cursor *cursor,
		      const struct slice_sink *sink)
{
	struct track *track = cursor->track->track;
	const struct temp_file_record *record, *detail = NULL;

	while ((record = peek(spool, cursor))) {
		step(cursor);
		if (record->kind == RECORD_DETAIL) {
			detail = record;
		} else if (record->kind == RECORD_CYCLES && detail) {
			give_detail(sink, track, detail, record->time);
		} else {
			give(sink, track, record);
			if (is_timed(record))
				return true;
		}
	}
	return false;
}

/* `count` of those were given out: the file need not stay in memory. */
static void leave_behind(const struct slice_store *spool, uint64_t count)
{
	if (count % STEP == 0)
		pages_give_back((const uint8_t *)spool->records, spool->file.size);
}

/* Find the time of what comes next.  Returns false at the end. */
static bool find_key(const struct slice_store *spool, struct cursor *cursor)
{
	struct cursor ahead = *cursor;
	const struct temp_file_record *record;

	while ((record = peek(spool, &ahead)) && !is_timed(record))
		step(&ahead);
	if (record)
		cursor->key = record->time;
	return record;
}

size_t slice_store_tracks(const struct slice_store *spool)
{
	return spool->track_count;
}

struct temp_file_summary slice_store_summary(const struct slice_store *spool, size_t index)
{
	const struct temp_file_track *track = &spool->tracks[index];

	return (struct temp_file_summary){ track->track, track->slices, track->begin, track->end };
}

void slice_store_replay_track(const struct slice_store *spool, size_t index,
			      const struct slice_sink *sink)
{
	struct cursor cursor = { .track = &spool->tracks[index] };
	uint64_t given = 0;

	while (give_next(spool, &cursor, sink))
		leave_behind(spool, ++given);
}

/* ---- By time: a binary heap of the tracks ---------------------------------- */

static bool is_before(const struct cursor *a, const struct cursor *b)
{
	return a->key != b->key ? a->key < b->key : a->track < b->track;
}

static void sift(struct cursor *heap, size_t count, size_t at)
{
	for (;;) {
		size_t least = at, child = 2 * at + 1;
		struct cursor swap = heap[at];

		if (child < count && is_before(&heap[child], &heap[least]))
			least = child;
		if (child + 1 < count && is_before(&heap[child + 1], &heap[least]))
			least = child + 1;
		if (least == at)
			return;
		heap[at] = heap[least];
		heap[least] = swap;
		at = least;
	}
}

void slice_store_replay(const struct slice_store *spool, const struct slice_sink *sink)
{
	struct cursor *heap = alloc_zeroed(spool->track_count + 1, sizeof(*heap));
	size_t count = 0;
	uint64_t given = 0;

	for (size_t i = 0; i < spool->track_count; i++) {
		heap[count] = (struct cursor){ .track = &spool->tracks[i] };
		count += find_key(spool, &heap[count]);
	}
	for (size_t i = count; i-- > 0;)
		sift(heap, count, i);
	while (count) {
		give_next(spool, &heap[0], sink);
		leave_behind(spool, ++given);
		if (!find_key(spool, &heap[0]))
			heap[0] = heap[--count];
		sift(heap, count, 0);
	}
	free(heap);
}

void slice_store_release(struct slice_store *spool)
{
	if (spool->records)
		munmap((void *)(uintptr_t)spool->records, spool->file.size);
	temp_file_close(&spool->file);
	for (size_t i = 0; i < spool->track_count; i++)
		free(spool->tracks[i].stretches);
	free(spool->tracks);
	free(spool->buffer);
	*spool = (struct slice_store){ 0 };
}
