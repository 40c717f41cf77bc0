/* SPDX-License-Identifier: MIT */
#include "src/slices/sorter_track.h"

#include "base/alloc.h"

/* Bytes of the records of one time: of a trace that has times, they are few. */
#define GROUP_MOST ((size_t)4 << 20)

static void leave_behind(const struct sorter_track *track, size_t at)
{
	const struct slice_event *record = sorter_track_records(track) + at;

	/* Details come in the order of records, of which each has one at most. */
	if (at % SORTER_TRACK_STEP == 0 && at)
		sorter_track_leave(track, at, record->detail ? record->detail - 1 : 0);
}

static inline void pass_detail(struct sorter_track *track, const struct slice_event *record)
{
	const struct slice_sink *next = track->sorter->next;

	if (record && record->detail)
		next->detail(next, track->next_track,
			     (struct slice_detail *)track->details.items + record->detail - 1);
}

/* Whose end the next one is, for a sink that is told of each begin. */
static inline void keep_open(struct sorter_track *track, const struct symbol *symbol)
{
	if (track->sorter->next->edges)
		return;
	if (track->depth > track->open_room)
		track->open = alloc_grow(track->open, &track->open_room, track->depth,
					 sizeof(*track->open));
	track->open[track->depth - 1] = symbol;
}

static inline void pass_begin(struct sorter_track *track, const struct slice_event *record)
{
	const struct slice_sink *next = track->sorter->next;

	if (track->depth++ >= track->sorter->depth) {
		track->sorter->counts.too_deep++;
		return;
	}
	keep_open(track, record->symbol);
	pass_detail(track, record);
	next->begin(next, track->next_track, track->last_time, record->symbol, record->ip,
		    record->flags & (unsigned)~SLICE_DEFERRED);
}

/* `record`: the end's own; NULL: it has none, the trace has ended. */
static inline void pass_end(struct sorter_track *track, const struct slice_event *record)
{
	const struct slice_sink *next = track->sorter->next;

	if (!track->depth) {
		track->sorter->counts.unmatched_ends++;
		return;
	}
	if (--track->depth >= track->sorter->depth)
		return;
	pass_detail(track, record);
	next->end(next, track->next_track, track->last_time,
		  next->edges ? NULL : track->open[track->depth]);
}

static inline __attribute__((always_inline)) void pass_one(struct sorter_track *track,
							   const struct slice_event *record)
{
	const struct slice_sink *next = track->sorter->next;

	if (record->time < track->last_time)
		track->sorter->counts.backward++;
	else
		track->last_time = record->time;
	switch ((enum slice_event_kind)record->kind) {
	case SLICE_BEGIN:
		pass_begin(track, record);
		break;
	case SLICE_END:
		pass_end(track, record);
		break;
	case SLICE_INSTANT:
		next->instant(next, track->next_track, track->last_time,
			      track->texts + record->text);
		break;
	}
}

static void pass(struct sorter_track *track, const struct slice_event *record)
{
	pass_one(track, record);
}

/* Record `at` of an array is the next; what lies far behind it may leave memory. */
static const struct slice_event *visit(const struct big_array *array, size_t at)
{
	if (at % SORTER_TRACK_STEP == 0 && at)
		big_array_rest(array, at - SORTER_TRACK_STEP, at, sizeof(struct slice_event));
	return (const struct slice_event *)array->items + at;
}

/* Pass the records [begin, end) of an array on, which are of equal time. */
static void pass_group(struct sorter_track *track, const struct big_array *array, size_t begin,
		       size_t end)
{
	const struct slice_event *records = array->items;
	size_t deferred, plain;

	for (; begin < end && records[begin].order == ORDER_CLOSE; begin++)
		pass(track, visit(array, begin));
	deferred = plain = begin;
	while (plain < end && visit(array, plain)->order == ORDER_DEFERRED)
		plain++;
	for (begin = plain; plain < end && records[plain].kind == SLICE_END && track->depth;
	     plain++)
		pass(track, visit(array, plain));
	for (; deferred < begin; deferred++)
		pass(track, visit(array, deferred));
	for (; plain < end; plain++)
		pass(track, visit(array, plain));
}

/* Pass the records [begin, end) on, which are in order, whatever their orders are. */
static void pass_groups(struct sorter_track *track, size_t begin, size_t end)
{
	const struct slice_event *records = sorter_track_records(track);

	while (begin < end) {
		size_t behind = begin + 1;

		leave_behind(track, begin);
		while (behind < end && records[behind].time == records[begin].time)
			leave_behind(track, behind++);
		pass_group(track, &track->records, begin, behind);
		begin = behind;
	}
}

/*
 * Pass those of the records [begin, end), which are ORDER_PLAIN, on at once that are
 * begins and ends as they should be.  Returns where the others begin.
 */
static size_t pass_edges(struct sorter_track *track, size_t begin, size_t end)
{
	const struct slice_event *records = sorter_track_records(track);
	const struct slice_sink *next = track->sorter->next;
	uint64_t depth = track->depth, most = track->sorter->depth;
	size_t at = begin;

	if (records[begin].time < track->last_time)
		return begin;
	for (; at < end && records[at].kind <= SLICE_END; at++) {
		/* What is open outside of the slice; of an end without one it wraps around. */
		uint64_t outside = depth - (records[at].kind == SLICE_END);

		if (outside >= most)
			break;
		depth = outside + (records[at].kind == SLICE_BEGIN);
	}
	if (at == begin)
		return begin;
	track->depth = depth;
	track->last_time = records[at - 1].time;
	next->edges(next, track->next_track, records + begin, at - begin);
	return at;
}

/* The same of records that are all ORDER_PLAIN, as most are: they stand as they are passed. */
static void pass_plain(struct sorter_track *track, size_t begin, size_t end)
{
	const struct slice_event *records = sorter_track_records(track);
	bool edges = track->sorter->next->edges;

	while (begin < end) {
		size_t stop = begin - begin % SORTER_TRACK_STEP + SORTER_TRACK_STEP;

		leave_behind(track, begin);
		if (stop > end)
			stop = end;
		while (begin < stop) {
			if (edges)
				begin = pass_edges(track, begin, stop);
			if (begin < stop)
				pass_one(track, &records[begin++]);
		}
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

/* A run on its way out. */
struct sorter_run {
	size_t at, end; /* of the track's records */
	size_t rank;    /* place among the runs, for equal times */
	bool mixed;
};

static bool run_before(const struct slice_event *records, const struct sorter_run *a,
		       const struct sorter_run *b)
{
	uint64_t left = records[a->at].time, right = records[b->at].time;

	return left != right ? left < right : a->rank < b->rank;
}

/* Of a heap with the earliest run on top: move the one at `at` down to its place. */
static void sift_down(const struct slice_event *records, struct sorter_run *runs, size_t count,
		      size_t at)
{
	struct sorter_run moving = runs[at];

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
static size_t list_runs(const struct sorter_track *track)
{
	struct slice_sorter *sorter = track->sorter;
	size_t count = track->run_count;

	sorter->heap = alloc_grow(sorter->heap, &sorter->heap_room, count, sizeof(*sorter->heap));
	for (size_t i = 0; i < count; i++)
		sorter->heap[i] = (struct sorter_run){
			track->runs[i].begin,
			i + 1 < count ? track->runs[i + 1].begin : track->count,
			i,
			track->runs[i].mixed,
		};
	for (size_t i = count / 2; i-- > 0;)
		sift_down(sorter_track_records(track), sorter->heap, count, i);
	return count;
}

/* Have room for `need` records in the group. */
static struct slice_event *group_of(struct slice_sorter *sorter, size_t need)
{
	big_array_grow(&sorter->group, need, sizeof(struct slice_event), GROUP_MOST);
	return sorter->group.items;
}

/* Move the records of the earliest run's first time to the group, which has `*grouped`. */
static void take(const struct sorter_track *track, struct sorter_run *run, size_t *grouped)
{
	struct slice_sorter *sorter = track->sorter;
	const struct slice_event *records = sorter_track_records(track);
	uint64_t time = records[run->at].time;

	for (; run->at < run->end && records[run->at].time == time; run->at++) {
		leave_behind(track, run->at);
		group_of(sorter, *grouped + 1)[*grouped] = records[run->at];
		visit(&sorter->group, (*grouped)++);
	}
}

/* Records of equal time, as they came, get the order of their kinds. */
static void order_group(struct slice_sorter *sorter, size_t count)
{
	struct slice_event *group = group_of(sorter, 2 * count);
	size_t placed = count;

	for (int8_t order = ORDER_CLOSE; order <= ORDER_PLAIN; order++) {
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
	size_t count = list_runs(track);
	struct sorter_run *top = sorter->heap;

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

void sorter_track_flush(struct sorter_track *track)
{
	if (track->run_count > 1)
		merge_runs(track);
	else if (track->run_count)
		pass_run(track, 0, track->count, track->runs->mixed);
	track->count = track->run_count = track->text_count = track->detail_count = 0;
	track->full = 0;
}

void sorter_track_close(struct sorter_track *track)
{
	pass_end(track, NULL);
}
