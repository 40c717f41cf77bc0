/* SPDX-License-Identifier: MIT */
/*
 * Store the events of each track in runs; then merge these, order equal times and enforce nesting.
 */
#include "src/slices/slice_sorter.h"

#include "base/io/temp_file.h"

struct sorter_track {
	struct slice_sorter *sorter;
	void *next_track;
	struct sorter_track *next;
	struct big_array records; /* owned: of the segment */
	size_t count;
	size_t full;     /* count at which the next record takes the slow path */
	uint64_t latest; /* time of the last record added */
	size_t *runs;    /* owned: starts of runs of records sorted by time and order */
	size_t run_count, run_room;
	uint64_t plain_from;      /* at and after this time, all are SLICE_ORDER_PLAIN */
	struct arena texts;       /* texts of the segment's instants */
	struct big_array details; /* owned: of the segment's begins and ends */
	size_t detail_count;
	uint64_t since; /* see struct slice_sink */
	bool waits;     /* slices can be found late at any time */
	/*
	 * A segment whose later slices are already emitted, if the next sink takes slices late: the
	 * first `held` records, up to the time `hold`, are not.
	 */
	bool parted, ends;
	uint64_t hold;
	size_t held, held_open; /* held slices, and slices still open after `hold` */
	size_t orphans;         /* ends of held or late slices so far, including omitted ones */
	size_t left_out;        /* outermost slices left out, which are too deep */
	size_t deepest;         /* maximum number of slices around each other, with orphans */
	uint64_t depth;         /* open slices, including omitted ones */
	uint64_t last_time;     /* ns; of the last event emitted */
	/* With `twice`: */
	uint64_t emitted;       /* events; in the second pass, those still to leave out */
	uint64_t segment;       /* number of flushes */
	uint64_t reached;       /* ns: latest time of the segment's events */
	uint64_t bound;         /* ns: events before it come too late for the segment's parts */
	size_t kept;            /* records of the last part */
	struct big_array found; /* owned: struct found_event */
	size_t found_count, found_next;
	size_t expected;           /* events added from `found` that the segment will have again */
	struct found_event *early; /* owned, with `hopes`: announced events of the segment */
	size_t early_count, early_room, early_next;
};

/* An event that came too late for the parts of its segment. */
struct found_event {
	struct slice_event event; /* `detail`: whether it has one */
	struct slice_detail detail;
	uint64_t segment, number; /* `number`: in the order of arrival */
};

static inline struct slice_event *records_of(const struct sorter_track *track)
{
	return track->records.items;
}

/* Records per step, after which pages are released. */
#define STEP ((size_t)1 << 15)

/* Release the pages of records [begin, end), and of the first `details` details. */
static void leave_step(const struct sorter_track *track, size_t begin, size_t end, size_t details)
{
	big_array_rest(&track->records, begin, end, sizeof(struct slice_event));
	big_array_rest(&track->details, 0, details, sizeof(struct slice_detail));
}

/* ---- Out: a track's segment in order ---------------------------------------- */

/* Maximum bytes in memory of records to merge. */
#define MERGE_MOST ((size_t)4 << 20)

static void emit_events(struct sorter_track *track, const struct slice_event *events, size_t count)
{
	const struct slice_sink *next = track->sorter->next;
	size_t left_out = track->sorter->again ? MIN(count, track->emitted) : 0;
	const struct slice_batch batch = { events + left_out, count - left_out,
					   track->details.items, false };

	track->emitted += track->sorter->again ? 0 - left_out : count;
	if (batch.count)
		next->events(next, track->next_track, &batch);
}

/* Emit the end of a slice whose begin comes late. A slice around `limit` others is omitted. */
static void emit_orphan(struct sorter_track *track, struct slice_event *end)
{
	bool held = track->orphans++ < track->held_open;

	end->order = SLICE_ORDER_DEFERRED;
	end->ip = held ? track->hold : track->since;
	end->flags |= held ? 0 : SLICE_INFERRED_START;
	if (track->deepest < track->sorter->depth) {
		track->deepest++;
		emit_events(track, end, 1);
	} else {
		track->left_out++;
		track->sorter->too_deep++;
	}
}

/* Part of the depth that is left to late slices, around deep recursions. */
#define LATE_SHARE 8

/* Emit a record; change or drop it if necessary. */
static void emit_checked(struct sorter_track *track, const struct slice_event *record)
{
	struct slice_sorter *sorter = track->sorter;
	struct slice_event event = *record;
	size_t most = sorter->depth;

	if (event.time < track->last_time)
		sorter->backward++;
	else
		track->last_time = event.time;
	event.time = track->last_time;
	event.order =
		track->ends && event.kind == SLICE_BEGIN ? SLICE_ORDER_DEFERRED : SLICE_ORDER_PLAIN;
	if (track->parted && !track->ends) {
		if (event.kind == SLICE_END && !track->depth) {
			emit_orphan(track, &event);
			return;
		}
		most -= most / LATE_SHARE;
		if (event.kind == SLICE_BEGIN && track->depth < most)
			track->deepest = MAX(track->deepest, track->depth + 1);
	}
	if (track->ends && event.kind == SLICE_BEGIN && track->left_out) {
		track->left_out--;
		return;
	}
	/* Formats write an instant as a slice without length, so it needs a level. */
	if (event.kind != SLICE_END && track->depth >= most) {
		track->depth += event.kind == SLICE_BEGIN;
		sorter->too_deep++;
		return;
	}
	track->depth += event.kind == SLICE_BEGIN;
	if (event.kind == SLICE_END && !track->depth) {
		sorter->unmatched_ends++;
		return;
	}
	if (event.kind == SLICE_END && --track->depth >= most)
		return;
	emit_events(track, &event, 1);
}

/*
 * Returns the number of leading records of [0, count), sorted by time, that can be emitted
 * unchanged. Advances the track's depth and time past them.
 */
static size_t count_valid(struct sorter_track *track, const struct slice_event *records,
			  size_t count)
{
	/* Stop at instants, which need a level around them: emit_checked() handles them. */
	static const int64_t change[] = {
		[SLICE_BEGIN] = 1, [SLICE_END] = -1, [SLICE_INSTANT] = INT64_MIN
	};
	const struct slice_event *record = records, *end = records + count;
	uint64_t depth = track->depth, most = track->sorter->depth;

	/* The depth of an end without a slice wraps around, and so exceeds this limit. */
	most = MIN(track->parted ? track->deepest : most, INT64_MAX);
	if (records->time < track->last_time || depth > most)
		return 0;
	for (; record < end; record++) {
		depth += (uint64_t)change[record->kind];
		if (depth > most) {
			depth -= (uint64_t)change[record->kind];
			break;
		}
	}
	if (record > records)
		track->last_time = record[-1].time;
	track->depth = depth;
	return (size_t)(record - records);
}

/* Emit sorted records, usually in place and in large batches. */
static void emit_sorted(struct sorter_track *track, const struct slice_event *records, size_t count)
{
	while (count) {
		size_t valid = records->order == SLICE_ORDER_PLAIN && !track->ends
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

static void emit_one(struct sorter_track *track, size_t at)
{
	emit_sorted(track, records_of(track) + at, 1);
}

/*
 * Returns the index after the last end in [at, end) that closes a slice of an earlier group, with
 * only ends and instants before it in its group.
 */
static size_t skip_ends(const struct sorter_track *track, size_t at, size_t end)
{
	uint64_t depth = track->parted && !track->ends ? UINT64_MAX : track->depth;
	size_t ends = at;

	for (; at < end; at++) {
		const struct slice_event *record = records_of(track) + at;

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
 * Emit the records [begin, end), which have equal times. Slices found late enclose slices that
 * begin at this time, but not slices that end.
 */
static void pass_group(struct sorter_track *track, size_t begin, size_t end)
{
	const struct slice_event *records = records_of(track);
	size_t deferred, plain, ended, late = end;
	int begins = 0;

	for (; begin < end && records[begin].order == SLICE_ORDER_WHOLE; begin++)
		emit_one(track, begin);
	deferred = plain = begin;
	while (plain < end && records[plain].order == SLICE_ORDER_DEFERRED)
		plain++;
	begin = plain;
	while (late > plain && records[late - 1].order > SLICE_ORDER_PLAIN)
		late--;
	for (ended = skip_ends(track, plain, late); plain < ended; plain++)
		emit_one(track, plain);
	for (; deferred < begin; deferred++)
		emit_one(track, deferred);
	/*
	 * Emit the plain records [plain, late) of a group and the records [late, end), each of
	 * the latter after the number of begins given by its order.
	 */
	for (size_t stop = late; plain < stop; plain++) {
		if (records[plain].kind == SLICE_BEGIN && late < end)
			for (begins++; late < end && records[late].order < begins; late++)
				emit_one(track, late);
		emit_one(track, plain);
	}
	for (; late < end; late++)
		emit_one(track, late);
}

/* Returns the end of the records at `begin` that can be emitted in place. Divides no group. */
static size_t end_of_plain(const struct sorter_track *track, size_t begin)
{
	const struct slice_event *records = records_of(track);
	size_t end = begin, most = track->count - begin < STEP ? track->count : begin + STEP;

	if (records[begin].time >= track->plain_from)
		return most;
	while (end < track->count && records[end].order == SLICE_ORDER_PLAIN &&
	       (end < most || records[end].time == records[end - 1].time))
		end++;
	if (end < track->count && records[end].order != SLICE_ORDER_PLAIN)
		while (end > begin && records[end - 1].time == records[end].time)
			end--;
	return end;
}

/* Emit the sorted records at `begin` and after: most are SLICE_ORDER_PLAIN. */
static void pass_sorted(struct sorter_track *track, size_t begin)
{
	const struct slice_event *records = records_of(track);

	for (size_t left = begin, end; begin < track->count; begin = end) {
		end = end_of_plain(track, begin);
		if (end > begin) {
			emit_sorted(track, records + begin, end - begin);
		} else {
			while (++end < track->count && records[end].time == records[begin].time)
				;
			pass_group(track, begin, end);
		}
		if (end - left < STEP)
			continue;
		/* Details are usually in the order of records. */
		leave_step(track, left, end, records[end - 1].detail);
		left = end;
	}
}

/* ---- Several runs -------------------------------------------------------- */

static bool is_after(const struct slice_event *a, const struct slice_event *b)
{
	return a->time != b->time ? a->time > b->time : a->order > b->order;
}

/* Move the records [begin, end) up by `count`. */
static void move_up(const struct big_array *array, size_t begin, size_t end, size_t count)
{
	struct slice_event *records = array->items;

	while (end > begin) {
		size_t part = end - begin < STEP ? end - begin : STEP;

		end -= part;
		memmove(records + end + count, records + end, part * sizeof(*records));
		if (part == STEP)
			big_array_rest(array, end + count, end + count + part, sizeof(*records));
	}
}

/* Usual distance of a record to its position. */
#define NEAR ((size_t)32)

/* Merge the sorted records [left, right) and [right, end), starting at the end. */
static void merge_pair(struct sorter_track *track, size_t left, size_t right, size_t end)
{
	struct big_array *spare = &track->sorter->spare;
	struct slice_event *records = records_of(track), *copy;
	size_t count = end - right;

	big_array_grow(spare, count, sizeof(*copy), MERGE_MOST);
	copy = spare->items;
	memcpy(copy, records + right, count * sizeof(*copy));
	for (; count; count--) {
		const struct slice_event *last = &copy[count - 1];
		size_t near = right - MIN(NEAR, right - left), at;

		if (is_after(&records[near], last))
			near = left;
		at = near + LOWER_BOUND(i, right - near, !is_after(&records[near + i], last));
		move_up(&track->records, at, right, count);
		records[at + count - 1] = *last;
		right = at;
	}
	big_array_rest(spare, 0, spare->room, sizeof(*copy));
}

/*
 * Keep equal times and orders in the order of arrival. A run is merged when the following ones are
 * as long, because often many short runs follow a long one.
 */
static void merge_runs(struct sorter_track *track)
{
	size_t *runs = track->runs, count = track->run_count, kept = 0;

	for (size_t i = 0; i < count; i++) {
		bool is_last = i + 1 == count;
		size_t end = is_last ? track->count : runs[i + 1];

		runs[kept++] = runs[i];
		for (; kept > 1; kept--) {
			size_t *last = &runs[kept - 1];

			if (!is_last && last[0] - last[-1] > end - last[0])
				break;
			merge_pair(track, last[-1], last[0], end);
		}
	}
}

/* ---- Slices that need not wait for late ones ----------------------------- */

static void emit_late(struct sorter_track *track, uint64_t passed)
{
	const struct slice_event event = { .time = track->since,
					   .ip = passed,
					   .flags = track->sorter->next->sums,
					   .kind = SLICE_LATE };

	emit_events(track, &event, 1);
}

/*
 * Begin to emit a segment in parts. Its first records, which late slices enclose, wait for these.
 * Does nothing if all records have one time.
 */
static void begin_parts(struct sorter_track *track)
{
	const struct slice_event *records = records_of(track);
	bool sums = track->sorter->next->sums;
	uint64_t hold = sums ? track->since : records->time, passed = 0;
	size_t held = 0, open = 0;

	track->parted = records[track->count - 1].time > hold;
	track->waits = !track->parted;
	if (track->waits)
		return;
	for (; !sums && records[held].time == hold; held++) {
		if (records[held].kind == SLICE_BEGIN)
			open++;
		else if (open)
			open--;
		else
			passed = hold - track->since;
	}
	track->hold = hold;
	track->held = held;
	track->held_open = open;
	track->orphans = track->left_out = track->deepest = 0;
	emit_late(track, passed);
}

/* Drop the details of all but the first `count` records. */
static void keep_first_details(struct sorter_track *track, size_t count)
{
	struct slice_detail *details = track->details.items, *kept;

	if (!track->detail_count)
		return;
	kept = alloc_zeroed(count + 1, sizeof(*kept));
	track->detail_count = 0;
	for (size_t i = 0; i < count; i++) {
		struct slice_event *record = records_of(track) + i;

		if (!record->detail)
			continue;
		kept[track->detail_count] = details[record->detail - 1];
		record->detail = (uint32_t)++track->detail_count;
	}
	memcpy(details, kept, track->detail_count * sizeof(*kept));
	free(kept);
}

/* Emit the segment's records, except for the first ones, or late ones. */
static void emit_part(struct sorter_track *track)
{
	bool holds = track->parted || !track->sorter->next->sums;

	merge_runs(track);
	if (!track->parted)
		begin_parts(track);
	if (!track->parted)
		return;
	while (holds && track->held < track->count &&
	       records_of(track)[track->held].time <= track->hold)
		track->held++;
	pass_sorted(track, track->held);
	track->count = track->held;
	keep_first_details(track, track->held);
	track->runs[0] = 0;
	track->run_count = 1;
}

/* Returns the slices of a parted segment that have not ended. */
static int64_t count_open(const struct sorter_track *track)
{
	const struct slice_event *records = records_of(track);
	int64_t open = (int64_t)(track->depth - track->orphans);

	for (size_t i = 0; i < track->held; i++)
		open += records[i].kind == SLICE_BEGIN ? 1 : -1;
	return open;
}

/* The segment ends: emit its late slices, outermost first, then the slices held for them. */
static void end_parts(struct sorter_track *track)
{
	uint64_t last_time = track->last_time;
	/* Number of written ends for which no begin was found. */
	size_t unmatched = (size_t)-count_open(track);

	track->sorter->unmatched_ends += unmatched;
	track->left_out -= MIN(unmatched, track->left_out);
	track->ends = true;
	track->last_time = 0;
	pass_sorted(track, 0);
	emit_late(track, 0);
	track->parted = track->ends = false;
	track->last_time = last_time;
	track->depth = track->held = 0;
}

static void flush_track(struct sorter_track *track)
{
	if (track->sorter->looks) {
		; /* the second pass emits the slices */
	} else if (track->parted) {
		emit_part(track);
		if (track->depth || count_open(track) > 0)
			return;
		end_parts(track);
	} else {
		merge_runs(track);
		pass_sorted(track, 0);
	}
	track->plain_from = 0;
	track->waits = true;
	arena_release(&track->texts);
	track->count = track->run_count = track->detail_count = track->full = track->kept = 0;
}

static void sorter_flush(const struct slice_sink *sink, void *track_)
{
	struct sorter_track *track = track_;

	(void)sink;
	flush_track(track);
	track->sorter->looks |= track->early_next < track->early_count;
	track->early_next = track->early_count = 0;
	track->sorter->unrepeated += track->expected;
	track->segment++;
	track->bound = track->reached = track->expected = 0;
}

static void sorter_since(const struct slice_sink *sink, void *track_, uint64_t time)
{
	struct sorter_track *track = track_;

	(void)sink;
	track->waits = time == UINT64_MAX;
	if (!track->waits)
		track->since = time;
}

/* ---- In ------------------------------------------------------------------ */

/* Memory limits, in bytes, of all tracks and of one array; larger arrays are in files. */
#define MEMORY_MOST ((size_t)24 << 20)
#define MEMORY_EACH ((size_t)1 << 20)

/*
 * Part of the budget of temporary files for stored slices. Another third of it may be needed to
 * merge them, and the rest for the output, which may store them again.
 */
#define REST_PARTS 3

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
	if ((!track->sorter->twice || track->sorter->looks) && !track->sorter->next->late)
		temp_files_keep_rest(REST_PARTS);
}

static uint32_t keep_detail(struct sorter_track *track, const struct slice_detail *detail)
{
	grow_array(track, &track->details, track->detail_count + 1, sizeof(*detail));
	((struct slice_detail *)track->details.items)[track->detail_count++] = *detail;
	return (uint32_t)track->detail_count;
}

/* Add a record; there is room for it. */
static void add_record(struct sorter_track *track, const struct slice_event *event,
		       const struct slice_detail *detail)
{
	struct slice_event *record = records_of(track) + track->count;

	*record = *event;
	if (!track->run_count || (track->count && (record[-1].time > record->time ||
						   (record[-1].time == record->time &&
						    record[-1].order > record->order))))
		*ARRAY_ADD(track->runs, track->run_count, track->run_room) = track->count;
	if (record->order != SLICE_ORDER_PLAIN && record->time >= track->plain_from)
		track->plain_from = record->time + 1;
	record->detail = detail ? keep_detail(track, detail) : 0;
	if (record->kind == SLICE_INSTANT)
		record->text = arena_text(&track->texts, record->text, strlen(record->text));
	track->latest = record->time;
	track->count++;
}

/* ---- Two passes ------------------------------------------------------------ */

static struct found_event found_event(const struct slice_event *event,
				      const struct slice_detail *detail)
{
	struct found_event found = { .event = *event };

	found.event.detail = detail != NULL;
	if (detail)
		found.detail = *detail;
	return found;
}

static void add_again(struct sorter_track *track, const struct found_event *found)
{
	add_record(track, &found->event, found->event.detail ? &found->detail : NULL);
}

/* Keep an event for the second pass; in it, drop the event. Returns false if it was not kept. */
static bool take_late(struct sorter_track *track, const struct slice_event *event,
		      const struct slice_detail *detail)
{
	struct found_event found = found_event(event, detail);

	if (track->sorter->again)
		return track->expected && track->expected--;
	found.segment = track->segment;
	found.number = track->found_count;
	if (event->kind == SLICE_INSTANT)
		found.event.text =
			arena_text(&track->sorter->texts, event->text, strlen(event->text));
	grow_array(track, &track->found, track->found_count + 1, sizeof(found));
	((struct found_event *)track->found.items)[track->found_count++] = found;
	return true;
}

/* Add a slice that was announced. It is not counted before it comes. */
static void add_early(struct sorter_track *track, const struct slice_event *event,
		      const struct slice_detail *detail)
{
	struct found_event found = found_event(event, detail);

	track->sorter->looks |= track->bound > 0;
	if (track->sorter->looks)
		return;
	found.event.kind = SLICE_BEGIN;
	*ARRAY_ADD(track->early, track->early_count, track->early_room) = found;
	grow_array(track, &track->records, track->count + 1, sizeof(struct slice_event));
	add_again(track, &found);
	track->kept++;
}

/* Take the next announced event.  Returns whether it equals this one. */
static bool take_early(struct sorter_track *track, const struct slice_event *event,
		       const struct slice_detail *detail)
{
	struct found_event found;

	if (track->early_next == track->early_count || event->order == SLICE_ORDER_PLAIN)
		return false;
	found = found_event(event, detail);
	return !memcmp(&track->early[track->early_next], &found, sizeof(found)) &&
	       ++track->early_next;
}

/* Returns whether events are emitted as they come, after the first part. */
static bool passes(const struct sorter_track *track)
{
	return track->sorter->hopes && !track->sorter->looks && track->bound;
}

/* Emit all records but the last `emitted`. The part still counts all. */
static void pass_on(struct sorter_track *track, size_t emitted)
{
	track->kept -= track->count;
	track->full -= MIN(track->full, track->count);
	track->count -= emitted;
	merge_runs(track);
	pass_sorted(track, 0);
	track->count = track->run_count = track->detail_count = track->plain_from = 0;
}

/*
 * A part of a segment is complete. In the first pass, this ends the emission of all slices: from
 * now on, only note the events that come too late.
 */
static void end_part(struct sorter_track *track)
{
	size_t end;
	size_t kept;

	track->sorter->looks |= !track->sorter->again && !track->sorter->hopes;
	track->bound = track->latest = track->reached;
	if (passes(track))
		pass_on(track, 0);
	if (passes(track) || track->sorter->looks) {
		track->count = track->kept = 0;
		return;
	}
	if (track->sorter->again) {
		const struct found_event *found = track->found.items;
		uint64_t segment = track->segment;

		/* In the second pass, add the segment's events before `bound` that will come too
		 * late. */
		for (found += track->found_next;
		     track->found_next < track->found_count && found->segment == segment &&
		     found->event.time < track->bound;
		     track->found_next++, track->expected++, found++) {
			grow_array(track, &track->records, track->count + 1,
				   sizeof(struct slice_event));
			add_again(track, found);
		}
	}
	merge_runs(track);
	/* Emit the records before `bound`, and keep the others. */
	end = LOWER_BOUND(i, track->count, records_of(track)[i].time < track->bound);
	kept = track->count - end;
	track->count = end;
	pass_sorted(track, 0);
	memmove(records_of(track), records_of(track) + end, kept * sizeof(struct slice_event));
	keep_first_details(track, kept);
	track->count = track->kept = kept;
	track->run_count = kept > 0;
	track->plain_from = kept ? records_of(track)[kept - 1].time + 1 : 0;
}

/* Returns an event with its sort keys. A slice never ends before it begins. */
static struct slice_event as_sorted(struct sorter_track *track, const struct slice_event *event)
{
	struct slice_event sorted = *event;

	if (event->order == SLICE_ORDER_WHOLE && event->time <= event[-1].time) {
		sorted.time = event[-1].time;
		sorted.order = event[-1].order;
	}
	track->sorter->late += sorted.time > INT64_MAX;
	sorted.time = MIN(INT64_MAX, sorted.time);
	return sorted;
}

static void add_event(struct sorter_track *track, const struct slice_batch *batch,
		      const struct slice_event *event)
{
	const struct slice_detail *detail = slice_batch_detail(batch, event);
	struct slice_event sorted = as_sorted(track, event);
	bool early;

	if (event->kind == SLICE_EARLY) {
		add_early(track, &sorted, detail);
		return;
	}
	if (track->count >= track->full) {
		size_t step, part = SIZE_MAX;

		if (track->sorter->next->late && !track->waits &&
		    (track->parted || !track->depth)) {
			if (track->count - track->held >= track->sorter->part)
				emit_part(track);
			part = track->held + track->sorter->part;
		} else if (track->sorter->twice) {
			if (track->count - track->kept >= track->sorter->part)
				end_part(track);
			part = track->kept + track->sorter->part;
		}
		if (track->count >= track->sorter->limit) {
			flush_track(track);
			track->sorter->split++;
		}
		grow_array(track, &track->records, track->count + 1, sizeof(struct slice_event));
		step = track->count - track->count % STEP + STEP;
		if (track->count && track->count % STEP == 0)
			leave_step(track, track->count - STEP, track->count, track->detail_count);
		track->full = MIN(MIN(track->records.room, part), MIN(step, track->sorter->limit));
	}
	early = take_early(track, &sorted, detail);
	track->sorter->looks |=
		passes(track) && !early && (sorted.time < track->latest || sorted.order);
	if (sorted.time < track->bound && take_late(track, &sorted, detail))
		return;
	track->reached = MAX(track->reached, sorted.time);
	if (early) {
		track->kept--;
		track->full = 0;
		return;
	}
	if (!track->sorter->looks) {
		add_record(track, &sorted, detail);
		if (passes(track))
			pass_on(track, 0);
		return;
	}
	track->latest = sorted.time;
	track->count++;
}

/*
 * If the last `count` events of a plain batch complete a part, emit the part without copying them.
 * Returns the number of events emitted from the batch.
 */
static size_t emit_plain(struct sorter_track *track, const struct slice_batch *batch, size_t count)
{
	const struct slice_event *events = batch->events + batch->count - count;
	size_t missing = track->full - track->count;

	if (!track->parted || track->waits || track->run_count != 1 || count <= missing ||
	    track->full - track->held < track->sorter->part || batch->details ||
	    events->time <= track->hold)
		return 0;
	emit_part(track);
	emit_sorted(track, events, missing);
	return missing;
}

/*
 * Of the last `count` events of a plain batch, add the first ones, which continue the last run.
 * Returns their number.
 */
static size_t add_plain(struct sorter_track *track, const struct slice_batch *batch, size_t count)
{
	const struct slice_event *events = batch->events + batch->count - count;
	size_t emitted = emit_plain(track, batch, count);

	if (emitted) {
		track->latest = events[emitted - 1].time;
		return emitted;
	}
	count = MIN(count, track->full - track->count);
	if (track->sorter->looks) {
		; /* the second pass emits the slices */
	} else if (batch->details) {
		struct slice_event *record = records_of(track) + track->count;
		const struct slice_detail *from = slice_batch_detail(batch, events);
		size_t kept = track->detail_count;
		struct slice_detail *to;

		/* Store plain events and their details as the next records. */
		grow_array(track, &track->details, kept + count, sizeof(*to));
		to = (struct slice_detail *)track->details.items + kept;
		for (size_t i = 0; i < count; i++) {
			to[i] = from[i];
			record[i] = events[i];
			record[i].detail = (uint32_t)(kept + i) + 1;
		}
		track->detail_count = kept + count;
	} else if (passes(track)) {
		emit_sorted(track, events, count);
	} else {
		memcpy(records_of(track) + track->count, events, count * sizeof(*events));
	}
	track->latest = events[count - 1].time;
	track->reached = MAX(track->reached, track->latest);
	track->count += count;
	if (passes(track))
		pass_on(track, batch->details ? 0 : count);
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
		if (plain && track->count < track->full && event->time >= track->latest &&
		    event->time >= track->plain_from)
			event += add_plain(track, batch, (size_t)(end - event));
		else
			add_event(track, batch, event++);
	}
}

void slice_sorter_init(struct slice_sorter *sorter, const struct slice_sink *next,
		       struct diag *diag)
{
	*sorter = (struct slice_sorter){
		.next = next,
		.diag = diag,
		.limit = SLICE_SORTER_LIMIT,
		.part = SLICE_SORTER_PART,
		.depth = SLICE_SORTER_DEPTH,
	};
	sorter->last = &sorter->first;
	sorter->sink = (struct slice_sink){
		.events = sorter_events,
		.flush = sorter_flush,
		.since = sorter_since,
		.context = sorter,
		.details = next->details,
	};
}

void slice_sorter_release(struct slice_sorter *sorter)
{
	while (sorter->first || sorter->noted) {
		struct sorter_track **list = sorter->first ? &sorter->first : &sorter->noted;
		struct sorter_track *track = *list;

		*list = track->next;
		big_array_release(&track->records);
		big_array_release(&track->details);
		big_array_release(&track->found);
		free(track->early);
		free(track->runs);
		arena_release(&track->texts);
		free(track);
	}
	arena_release(&sorter->texts);
	sorter->last = &sorter->first;
	big_array_release(&sorter->spare);
}

COMPARE_BY_THREE(compare_found, struct found_event, segment, event.time, number)

/* Begin the second pass of a track, without the events that the first one has `emitted`. */
static void begin_again(struct sorter_track *track, uint64_t emitted)
{
	arena_release(&track->texts);
	*track = (struct sorter_track){
		.sorter = track->sorter,
		.next_track = track->next_track,
		.next = track->next,
		.records = track->records,
		.runs = track->runs,
		.run_room = track->run_room,
		.details = track->details,
		.early = track->early,
		.early_room = track->early_room,
		.waits = true,
		.emitted = emitted,
		.found = track->found,
		.found_count = track->found_count,
	};
	SORT((struct found_event *)track->found.items, track->found_count, compare_found);
}

struct sorter_track *slice_sorter_track(struct slice_sorter *sorter, void *next_track)
{
	struct sorter_track *track = sorter->noted ?: alloc_zeroed(1, sizeof(*track));

	sorter->noted = track->next;
	begin_again(track, 0);
	track->sorter = sorter;
	track->next_track = next_track;
	track->next = NULL;
	*sorter->last = track;
	sorter->last = &track->next;
	return track;
}

void *slice_sorter_next_track(const struct sorter_track *track)
{
	return track->next_track;
}

void slice_sorter_again(struct slice_sorter *sorter)
{
	for (struct sorter_track *track = sorter->first; track; track = track->next)
		begin_again(track, track->emitted);
	sorter->looks = false;
	sorter->again = true;
	sorter->unmatched_ends = sorter->backward = sorter->late = sorter->too_deep = 0;
	sorter->split = 0;
}

void slice_sorter_finish(struct slice_sorter *sorter)
{
	for (struct sorter_track *track = sorter->first; track; track = track->next) {
		flush_track(track);
		while (track->depth || (track->parted && count_open(track) > 0))
			emit_checked(track, &(struct slice_event){ .time = track->last_time,
								   .kind = SLICE_END,
								   .flags = SLICE_CUT });
		if (track->parted)
			flush_track(track);
		if (sorter->again)
			sorter->unrepeated += track->expected + track->emitted +
					      (track->found_count - track->found_next);
	}
	if (sorter->unmatched_ends)
		diag_warn(sorter->diag, "unmatched-end", "%" PRIu64 " ends belong to no slice",
			  sorter->unmatched_ends);
	if (sorter->late)
		diag_warn(sorter->diag, "times-late",
			  "%" PRIu64
			  " times exceed 2^63 ns, the maximum that Perfetto can show, and were "
			  "reduced to it",
			  sorter->late);
	if (sorter->backward)
		diag_warn(sorter->diag, "time-backwards",
			  "%" PRIu64
			  " begins and ends were earlier than the one before, and got its time",
			  sorter->backward);
	if (sorter->too_deep)
		diag_warn(sorter->diag, "too-deep",
			  "%" PRIu64 " slices were left out, as at most %zu can be nested",
			  sorter->too_deep, sorter->depth);
	if (sorter->split)
		diag_warn(sorter->diag, "segment-split",
			  "%" PRIu64 " segments were too long to sort at once: callers found late "
			  "may begin too late",
			  sorter->split);
	if (sorter->unrepeated && !sorter->cut)
		diag_warn(sorter->diag, "passes-differ",
			  "%" PRIu64
			  " begins and ends differ between two passes of decoding; report this",
			  sorter->unrepeated);
}
