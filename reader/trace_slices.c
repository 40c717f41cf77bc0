/* SPDX-License-Identifier: MIT */
/* Matches begins and ends, and sorts slices for printing. */

#include "base/tables/hash.h"
#include "reader/trace_print.h"

#define DEPTH_MAX 512
#define TOO_DEEP  "more than 512 slices are open, and Perfetto drops it"

/* An end has no begin before it, and none after it with an earlier time; or the other way round. */
#define UNMATCHED "ends without a begin on %" PRIu64 "/%" PRIu64

struct slice_thread {
	struct trace_ids ids;
	uint64_t last_time; /* time of the last begin or end */
	uint64_t newest;    /* the latest of all */
	/* A slice that is open at the time of the last event. */
	struct nested_slice {
		size_t index;  /* index of a struct read_slice */
		bool complete; /* else it has begun, and waits for its end event */
		uint64_t end; /* ticks; of a begun slice, the end of the enclosing complete event */
	} * open;             /* owned: innermost last */
	size_t depth, room;
	size_t begun; /* open slices that are not complete events */
	bool late;    /* complete events follow their child slices: they are not in `open` */
	/* Ends whose begins follow, with earlier times; and open slices begun so, outermost first.
	 */
	struct early_end {
		uint64_t time;
		size_t order;
		size_t inside; /* most slices that were open since the end before it */
		char *text;    /* owned: args */
	} * early;             /* owned */
	size_t early_count, early_room;
	size_t *begins; /* owned: indices of struct read_slice */
	size_t begin_count, begin_room;
	size_t deepest; /* most slices that were open since the last of `early` */
	/* The same before `early`, and when; each entry has more than the next one. */
	struct reached_depth {
		uint64_t time;
		size_t depth;
	} * reached; /* owned */
	size_t reached_count, reached_room;
	UT_hash_handle hh;
};

struct read_slice {
	struct trace_ids ids;
	uint64_t begin, end;
	size_t depth;
	size_t order, end_order; /* order of its events; a complete event's `end_order` is 0 */
	char *text;              /* owned: name and args, escaped */
};

/* Returns `begin` (NULL: the record's name) and the record's arguments; the caller frees it. */
static char *describe(const char *begin, const struct trace_record *record)
{
	char *text = NULL;
	FILE *out = OPEN_TEXT(text);

	if (begin)
		fputs(begin, out);
	else
		trace_print_text(out, &record->name);
	trace_print_args(out, record);
	alloc_close_text(out, &text);
	return text;
}

/* Returns the slice's index. */
static size_t add_slice(struct trace_slices *slices, const struct trace_record *record)
{
	bool complete = record->type == EVENT_COMPLETE;

	slices->total++;
	if (!slices->keep)
		return 0;
	ARRAY_GROW(slices->slices, slices->room, slices->count + 1);
	slices->slices[slices->count] = (struct read_slice){
		.ids = record->thread,
		.begin = record->time,
		.end = complete ? record->id : record->time,
		.order = slices->events,
		.text = describe(NULL, record),
	};
	return slices->count++;
}

static struct nested_slice *innermost(const struct slice_thread *thread)
{
	return thread->depth ? &thread->open[thread->depth - 1] : NULL;
}

static void pop_open(struct slice_thread *thread)
{
	thread->begun -= !thread->open[--thread->depth].complete;
}

/* Close the complete events that ended. Perfetto also closes complete events around open slices. */
static void move_to(struct slice_thread *thread, struct trace_record *record)
{
	const struct nested_slice *slice;

	if (record->time < thread->newest) {
		size_t kept = 0;

		/* From now on, complete events of the thread are not compared with open slices. */
		for (size_t i = 0; i < thread->depth; i++) {
			if (thread->open[i].complete)
				continue;
			thread->open[kept] = thread->open[i];
			thread->open[kept++].end = UINT64_MAX;
		}
		thread->depth = kept;
		thread->late = true;
	} else {
		thread->newest = record->time;
	}
	while ((slice = innermost(thread)) && slice->complete && slice->end <= record->time)
		pop_open(thread);
	if (slice && !slice->complete && slice->end < record->time)
		trace_refuse(record, "a slice ends after the complete event that it is in, and "
				     "Perfetto cuts it");
}

/* End a slice.  Perfetto adds an end's arguments to those of the begin. */
static void set_end(struct trace_slices *slices, size_t index, const struct early_end *end)
{
	struct read_slice *slice;
	char *text = slices->keep ? NULL : end->text;

	if (slices->keep) {
		slice = &slices->slices[index];
		slice->end = end->time;
		slice->end_order = end->order;
		text = slice->text;
		slice->text = alloc_text("%s%s", text, end->text);
		free(end->text);
	}
	free(text);
}

/* The thread's begins that are earlier than their ends belong to these. Returns how many do not. */
static size_t match_early(struct trace_slices *slices, struct slice_thread *thread)
{
	size_t count = MIN(thread->begin_count, thread->early_count);
	size_t others = thread->begin_count + thread->early_count - 2 * count;

	for (size_t i = 0; i < count; i++)
		set_end(slices, thread->begins[thread->begin_count - 1 - i], &thread->early[i]);
	for (size_t i = count; i < thread->early_count; i++)
		free(thread->early[i].text);
	thread->begin_count = thread->early_count = 0;
	return others;
}

static void end_slice(struct trace_slices *slices, struct slice_thread *thread,
		      struct trace_record *record)
{
	const struct early_end end = { record->time, slices->events, thread->deepest,
				       slices->keep ? describe("", record) : NULL };

	/* Readers sort events by time, so an end can precede its begin. */
	if (!thread->begun) {
		*ARRAY_ADD(thread->early, thread->early_count, thread->early_room) = end;
		thread->deepest = 0;
		return;
	}
	while (innermost(thread)->complete) {
		trace_refuse(record, "a slice ends before the complete event in it, and Perfetto "
				     "leaves it open");
		pop_open(thread);
	}
	pop_open(thread);
	set_end(slices, thread->open[thread->depth].index, &end);
}

/* Take a begin or end whose time goes back.  Returns whether an end preceded its begin. */
static bool take_earlier(struct trace_slices *slices, struct slice_thread *thread,
			 struct trace_record *record)
{
	if (!thread->early_count)
		return false;
	if (record->type == EVENT_BEGIN) {
		size_t at = thread->reached_count, inside, end;

		/* Begin an early slice, outermost first. Readers keep the order of one time. */
		*ARRAY_ADD(thread->begins, thread->begin_count, thread->begin_room) =
			add_slice(slices, record);
		while (at && thread->reached[at - 1].time > record->time)
			at--;
		inside = at < thread->reached_count ? thread->reached[at].depth : 0;
		end = thread->early_count -
		      thread->begin_count; /* huge: it has an end of its own */
		if (end && end < thread->early_count)
			inside = MAX(inside, thread->early[end].inside);
		if (inside + thread->begin_count > DEPTH_MAX)
			trace_refuse(record, TOO_DEEP);
		slices->deepest = MAX(slices->deepest, inside + thread->begin_count);
	} else if (thread->begin_count) {
		set_end(slices, thread->begins[--thread->begin_count],
			&(struct early_end){ record->time, slices->events, 0,
					     slices->keep ? describe("", record) : NULL });
	} else {
		return false;
	}
	return true;
}

/* Open the slice of a begin or complete event. */
static void open_slice(struct trace_slices *slices, struct slice_thread *thread,
		       struct trace_record *record)
{
	const struct nested_slice *around = innermost(thread);
	bool complete = record->type == EVENT_COMPLETE;
	struct nested_slice slice = { .complete = complete,
				      .end = around ? around->end : UINT64_MAX };

	if (complete) {
		if (around && around->complete && around->end < record->id)
			trace_refuse(record, "a complete event is partly in another, and Perfetto "
					     "drops it");
		slice.end = record->id;
	}
	slice.index = add_slice(slices, record);
	*ARRAY_ADD(thread->open, thread->depth, thread->room) = slice;
	thread->begun += !complete;
	/* Note how many slices are open. */
	if (thread->depth > DEPTH_MAX)
		trace_refuse(record, TOO_DEEP);
	slices->deepest = MAX(slices->deepest, thread->depth);
	thread->deepest = MAX(thread->deepest, thread->depth);
	while (!thread->early_count && thread->reached_count &&
	       thread->reached[thread->reached_count - 1].depth <= thread->depth)
		thread->reached_count--;
	if (!thread->early_count)
		*ARRAY_ADD(thread->reached, thread->reached_count, thread->reached_room) =
			(struct reached_depth){ record->time, thread->depth };
	if (complete && thread->late)
		pop_open(thread);
}

void trace_slices_add(struct trace_slices *slices, struct trace_record *record)
{
	struct slice_thread *thread;

	if (record->kind != TRACE_EVENT || record->problem[0])
		return;
	if (record->type != EVENT_BEGIN && record->type != EVENT_END &&
	    record->type != EVENT_COMPLETE)
		return;
	HASH_FIND_OR_ADD(slices->threads, ids, &record->thread, thread);
	slices->events++;
	if (record->type != EVENT_COMPLETE && record->time < thread->last_time &&
	    take_earlier(slices, thread, record))
		return;
	if (thread->begin_count && record->time >= thread->last_time && match_early(slices, thread))
		trace_complain(record, UNMATCHED, record->thread.pid, record->thread.tid);
	move_to(thread, record);
	if (record->type == EVENT_COMPLETE) {
		open_slice(slices, thread, record);
		return;
	}
	if (record->time < thread->last_time)
		trace_complain(
			record,
			"time goes back from %" PRIu64 " to %" PRIu64 " on %" PRIu64 "/%" PRIu64,
			thread->last_time, record->time, record->thread.pid, record->thread.tid);
	thread->last_time = record->time;
	if (record->type == EVENT_BEGIN)
		open_slice(slices, thread, record);
	else
		end_slice(slices, thread, record);
}

int trace_slices_finish(struct trace_slices *slices, struct error *err)
{
	for (struct slice_thread *thread = slices->threads; thread; thread = thread->hh.next) {
		if (match_early(slices, thread))
			return error_set(err, ERROR_FORMAT, UNMATCHED, thread->ids.pid,
					 thread->ids.tid);
		if (thread->begun)
			return error_set(err, ERROR_FORMAT,
					 "%zu durations of %" PRIu64 "/%" PRIu64 " never end",
					 thread->begun, thread->ids.pid, thread->ids.tid);
	}
	return 0;
}

/* ---- Printing ------------------------------------------------------------ */

/* Perfetto keeps ids in 32 bits, signed. */
static int compare_threads(const struct read_slice *a, const struct read_slice *b)
{
	return COMPARE((int32_t)a->ids.pid, (int32_t)b->ids.pid)
		       ?: COMPARE((int32_t)a->ids.tid, (int32_t)b->ids.tid);
}

COMPARE_WITH(by_order, struct read_slice,
	     compare_threads(a, b) ?: COMPARE(a->begin, b->begin) ?: COMPARE(a->order, b->order))

static bool ends_before(const struct read_slice *a, const struct read_slice *b)
{
	return a->end != b->begin ? a->end < b->begin : a->end_order < b->order;
}

/* A slice lies inside of all slices before it that end after its begin. */
static void find_depths(struct trace_slices *slices)
{
	struct read_slice *all = slices->slices;
	size_t *open = alloc_zeroed(slices->count, sizeof(*open)), depth = 0;

	for (size_t i = 0; i < slices->count; i++) {
		if (i && compare_threads(&all[i - 1], &all[i]) != 0)
			depth = 0;
		while (depth && ends_before(&all[open[depth - 1]], &all[i]))
			depth--;
		all[i].depth = depth;
		open[depth++] = i;
	}
	free(open);
}

void trace_slices_print(struct trace_slices *slices, FILE *out)
{
	if (!slices->count)
		return;
	SORT(slices->slices, slices->count, by_order);
	find_depths(slices);
	for (size_t i = 0; i < slices->count; i++) {
		const struct read_slice *slice = &slices->slices[i];

		fprintf(out, "%" PRId32 "/%" PRId32 " %zu %" PRIu64 " %" PRIu64 " %s\n",
			(int32_t)slice->ids.pid, (int32_t)slice->ids.tid, slice->depth,
			slice->begin, slice->end, slice->text);
	}
}

void trace_slices_release(struct trace_slices *slices)
{
	struct slice_thread *thread;

	for (thread = slices->threads; thread; thread = thread->hh.next)
		match_early(slices, thread);
	HASH_FREE_ALL(slices->threads, thread, free(thread->open); free(thread->early);
		      free(thread->begins); free(thread->reached));
	for (size_t i = 0; i < slices->count; i++)
		free(slices->slices[i].text);
	free(slices->slices);
	*slices = (struct trace_slices){ 0 };
}
