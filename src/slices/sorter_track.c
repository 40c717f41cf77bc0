/* SPDX-License-Identifier: MIT */
/* Emit a track's events in order: merge runs, order equal times, enforce nesting. */
#include "src/slices/sorter_track.h"

#include "base/tables/heap.h"

/* Bytes in memory of records of equal time; with timing packets these are few. */
#define GROUP_MOST ((size_t)4 << 20)

static void release_step(const struct sorter_track *track, size_t at)
{
	const struct slice_event *record = sorter_track_records(track) + at;

	/* Details are in the order of records, at most one for each. */
	if (at % SORTER_TRACK_STEP == 0 && at)
		sorter_track_leave(track, at,
				   track->detail_count && record->detail ? record->detail - 1 : 0);
}

static void emit_events(const struct sorter_track *track, const struct slice_event *events,
			size_t count)
{
	const struct slice_sink *next = track->sorter->next;
	const struct slice_batch batch = { events, count, track->details.items, false };

	next->events(next, track->next_track, &batch);
}

/* Emit a record that may have to be changed or dropped. */
static void emit_checked(struct sorter_track *track, const struct slice_event *record)
{
	struct slice_sorter *sorter = track->sorter;
	struct slice_event event = *record;

	if (event.time < track->last_time)
		sorter->counts.backward++;
	else
		track->last_time = event.time;
	event.time = track->last_time;
	event.order = SLICE_ORDER_PLAIN;
	if (event.kind == SLICE_BEGIN && track->depth++ >= sorter->depth) {
		sorter->counts.too_deep++;
		return;
	}
	/* Formats write an instant as a slice without length, so it needs a level. */
	if (event.kind == SLICE_INSTANT && track->depth >= sorter->depth) {
		sorter->counts.too_deep++;
		return;
	}
	if (event.kind == SLICE_END && !track->depth) {
		sorter->counts.unmatched_ends++;
		return;
	}
	if (event.kind == SLICE_END && --track->depth >= sorter->depth)
		return;
	emit_events(track, &event, 1);
}

/*
 * Returns how many of the records [0, count), sorted by time, can be emitted unchanged, and
 * advances the track's depth and time past them.
 */
static size_t count_valid(struct sorter_track *track, const struct slice_event *records,
			  size_t count)
{
	uint64_t depth = track->depth, most = track->sorter->depth;
	size_t valid = 0;

	if (records->time < track->last_time)
		return 0;
	for (; valid < count; valid++) {
		/* Slices open around it; wraps around for an end without a slice. */
		uint64_t outside = depth - (records[valid].kind == SLICE_END);

		if (outside >= most)
			break;
		depth = outside + (records[valid].kind == SLICE_BEGIN);
	}
	if (valid)
		track->last_time = records[valid - 1].time;
	track->depth = depth;
	return valid;
}

/* Emit sorted records, mostly many at once and in place. */
static void emit_sorted(struct sorter_track *track, const struct slice_event *records, size_t count)
{
	while (count) {
		size_t valid = records->order == SLICE_ORDER_PLAIN
				       ? count_valid(track, records, count)
				       : 0;

		if (valid)
			emit_events(track, records, valid);
		else
			emit_checked(track, records);
		records += valid ? valid : 1;
		count -= valid ? valid : 1;
	}
}

/* Returns record `at` of an array; releases the pages of far earlier records. */
static const struct slice_event *visit(const struct big_array *array, size_t at)
{
	if (at % SORTER_TRACK_STEP == 0 && at)
		big_array_rest(array, at - SORTER_TRACK_STEP, at, sizeof(struct slice_event));
	return (const struct slice_event *)array->items + at;
}

static void emit_one(struct sorter_track *track, const struct big_array *array, size_t at)
{
	emit_sorted(track, visit(array, at), 1);
}

/*
 * Returns the index after the last end in [at, end) that closes a slice of an earlier group and has
 * only ends and instants before it in its group.
 */
static size_t skip_ends(const struct sorter_track *track, const struct big_array *array, size_t at,
			size_t end)
{
	uint64_t depth = track->depth;
	size_t ends = at;

	for (; at < end; at++) {
		const struct slice_event *record = visit(array, at);

		if (record->kind == SLICE_BEGIN || (record->kind == SLICE_END && !depth))
			break;
		if (record->kind != SLICE_END)
			continue;
		depth--;
		ends = at + 1;
	}
	return ends;
}

/*
 * Emit the plain records [plain, late) of a group and the records [late, end), each of these after
 * as many begins as its order says.
 */
static void pass_plain_and_late(struct sorter_track *track, const struct big_array *array,
				size_t plain, size_t late, size_t end)
{
	const struct slice_event *records = array->items;
	int begins = 0;

	for (size_t stop = late; plain < stop; plain++) {
		if (records[plain].kind == SLICE_BEGIN && late < end)
			for (begins++; late < end && records[late].order < begins; late++)
				emit_one(track, array, late);
		emit_one(track, array, plain);
	}
	for (; late < end; late++)
		emit_one(track, array, late);
}

/*
 * Emit the records [begin, end) of an array, which have equal times. Slices found late enclose
 * slices that begin at this time, but not slices that end then.
 */
static void pass_group(struct sorter_track *track, const struct big_array *array, size_t begin,
		       size_t end)
{
	const struct slice_event *records = array->items;
	size_t deferred, plain, ended, late = end;

	for (; begin < end && records[begin].order == SLICE_ORDER_WHOLE; begin++)
		emit_one(track, array, begin);
	deferred = plain = begin;
	while (plain < end && visit(array, plain)->order == SLICE_ORDER_DEFERRED)
		plain++;
	begin = plain;
	while (late > plain && records[late - 1].order > SLICE_ORDER_PLAIN)
		late--;
	for (ended = skip_ends(track, array, plain, late); plain < ended; plain++)
		emit_one(track, array, plain);
	for (; deferred < begin; deferred++)
		emit_one(track, array, deferred);
	pass_plain_and_late(track, array, plain, late, end);
}

/* Emit the sorted records [begin, end), of any order. */
static void pass_groups(struct sorter_track *track, size_t begin, size_t end)
{
	const struct slice_event *records = sorter_track_records(track);

	while (begin < end) {
		size_t stop = begin + 1;

		release_step(track, begin);
		while (stop < end && records[stop].time == records[begin].time)
			release_step(track, stop++);
		pass_group(track, &track->records, begin, stop);
		begin = stop;
	}
}

/* The same for records that are all SLICE_ORDER_PLAIN, as most are: in place. */
static void pass_plain(struct sorter_track *track, size_t begin, size_t end)
{
	const struct slice_event *records = sorter_track_records(track);

	while (begin < end) {
		size_t stop = begin - begin % SORTER_TRACK_STEP + SORTER_TRACK_STEP;

		release_step(track, begin);
		if (stop > end)
			stop = end;
		emit_sorted(track, records + begin, stop - begin);
		begin = stop;
	}
}

static void pass_run(struct sorter_track *track, size_t begin, size_t end, bool mixed)
{
	if (mixed)
		pass_groups(track, begin, end);
	else
		pass_plain(track, begin, end);
}

/* ---- Several runs -------------------------------------------------------- */

static bool run_before(const struct slice_event *records, const struct sorter_run *a,
		       const struct sorter_run *b)
{
	uint64_t left = records[a->begin].time, right = records[b->begin].time;

	return left != right ? left < right : a->rank < b->rank;
}

HEAP_DEFINE(runs, struct sorter_run, struct slice_event, run_before)

/* Make the runs a heap, the earliest on top. */
static void order_runs(struct sorter_track *track)
{
	size_t count = track->run_count;

	for (size_t i = 0; i < count; i++) {
		track->runs[i].end = i + 1 < count ? track->runs[i + 1].begin : track->count;
		track->runs[i].rank = i;
	}
	runs_order(sorter_track_records(track), track->runs, count);
}

/* Returns the group with room for `need` records. */
static struct slice_event *group_of(struct slice_sorter *sorter, size_t need)
{
	big_array_grow(&sorter->group, need, sizeof(struct slice_event), GROUP_MOST);
	return sorter->group.items;
}

/* Move the records of a run's first time to the group, which has `*grouped` so far. */
static void take(const struct sorter_track *track, struct sorter_run *run, size_t *grouped)
{
	struct slice_sorter *sorter = track->sorter;
	const struct slice_event *records = sorter_track_records(track);
	uint64_t time = records[run->begin].time;

	for (; run->begin < run->end && records[run->begin].time == time; run->begin++) {
		release_step(track, run->begin);
		group_of(sorter, *grouped + 1)[*grouped] = records[run->begin];
		visit(&sorter->group, (*grouped)++);
	}
}

/* Sort records of equal time by enum slice_order, stably. */
static void order_group(struct slice_sorter *sorter, size_t count)
{
	struct slice_event *group = group_of(sorter, 2 * count);
	size_t placed = count;

	/* Usually all records are placed after SLICE_ORDER_PLAIN. */
	for (int8_t order = SLICE_ORDER_WHOLE; order <= SLICE_ORDER_LAST && placed < 2 * count;
	     order++) {
		for (size_t i = 0; i < count; i++) {
			if (visit(&sorter->group, i)->order != order)
				continue;
			group[placed] = group[i];
			visit(&sorter->group, placed++);
		}
	}
}

static void merge_runs(struct sorter_track *track)
{
	struct slice_sorter *sorter = track->sorter;
	const struct slice_event *records = sorter_track_records(track);
	size_t count = track->run_count;
	struct sorter_run *top = track->runs;

	order_runs(track);
	while (count > 1) {
		uint64_t time = records[top->begin].time;
		size_t grouped = 0;

		while (count && records[top->begin].time == time) {
			take(track, top, &grouped);
			if (top->begin == top->end)
				*top = track->runs[--count];
			if (count)
				runs_sift_down(records, top, count, 0);
		}
		order_group(sorter, grouped);
		pass_group(track, &sorter->group, grouped, 2 * grouped);
	}
	if (count)
		pass_run(track, top->begin, top->end, top->mixed);
}

void sorter_track_flush(struct sorter_track *track)
{
	if (track->run_count > 1)
		merge_runs(track);
	else if (track->run_count)
		pass_run(track, 0, track->count, track->runs->mixed);
	arena_release(&track->texts);
	track->count = track->run_count = track->detail_count = track->full = 0;
}

void sorter_track_close_all(struct sorter_track *track)
{
	const struct slice_event end = { .time = track->last_time,
					 .kind = SLICE_END,
					 .flags = SLICE_CUT };

	while (track->depth)
		emit_checked(track, &end);
}
