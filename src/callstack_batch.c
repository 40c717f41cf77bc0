/* SPDX-License-Identifier: MIT */
#include "callstack_batch.h"

#include <stdlib.h>

#include "base/alloc.h"

/*
 * A trace without timing packets is one endless batch.  What is pending is
 * given out without spreading when there is this much, so that memory stays
 * bounded (16 MiB a thread).  The calls at mapped time 0 have the same bound.
 */
#define BATCH_LIMIT ((size_t)1 << 18)

/* So much each thread has room for, also where all together have too much. */
#define BATCH_FEW ((size_t)1 << 10)

/* Bytes of a thread's start events that stay in memory, and how many rest at a time. */
#define START_MEMORY ((size_t)1 << 20)
#define START_STEP   ((size_t)1 << 14)

static int64_t add_wrapping(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

uint64_t callstack_perf_time(const struct callstack_machine *machine, int64_t time)
{
	uint64_t back = 0 - (uint64_t)time;

	if (time >= 0)
		return machine->base_time + (uint64_t)time;
	return back > machine->base_time ? 0 : machine->base_time - back;
}

static void release_pending(struct callstack_batch *batch)
{
	free(batch->pending);
	if (batch->room)
		batch->owner->machine->pending_room -= batch->room;
	batch->pending = NULL;
	batch->count = batch->room = batch->full = 0;
}

void callstack_batch_release(struct callstack_batch *batch)
{
	release_pending(batch);
	big_array_release(&batch->outer.events);
	big_array_release(&batch->initial.events);
	batch->outer = batch->initial = (struct start_events){ 0 };
	batch->calls = batch->others = 0;
}

static struct start_event *start_event_at(const struct start_events *list, size_t index)
{
	return (struct start_event *)list->events.items + index;
}

/* What lies so far from where the list is looked at need not be in memory. */
static void start_events_rest(const struct start_events *list, size_t begin)
{
	if (begin % START_STEP == 0 && begin + START_STEP <= list->count)
		big_array_rest(&list->events, begin, begin + START_STEP,
			       sizeof(struct start_event));
}

static void start_events_add(struct start_events *list, int64_t time,
			     const struct batch_event *event)
{
	big_array_grow(&list->events, list->count + 1, sizeof(struct start_event), START_MEMORY);
	*start_event_at(list, list->count++) = (struct start_event){ time, *event };
	if (list->count >= START_STEP)
		start_events_rest(list, list->count - START_STEP);
}

/* Give one event to the sink. */
static void emit(const struct callstack_batch *batch, int64_t time, const struct batch_event *event,
		 unsigned flags)
{
	const struct callstack_machine *machine = batch->owner->machine;
	const struct span_sink *sink = machine->sink;
	uint64_t at = callstack_perf_time(machine, time);

	flags |= event->flags;
	if (sink->detail && event->kind != BATCH_UNSEEN_RETURN)
		sink->detail(sink, batch->owner->track, &event->detail);
	switch ((enum batch_kind)event->kind) {
	case BATCH_INFERRED_CALL:
		flags |= SPAN_INFERRED_START;
		/* fall through */
	case BATCH_CALL:
		sink->begin(sink, batch->owner->track, at, event->symbol, event->ip, flags);
		break;
	case BATCH_MARK:
		sink->begin(sink, batch->owner->track, at, event->symbol, event->ip, flags);
		if (sink->detail)
			sink->detail(sink, batch->owner->track, &event->detail);
		/* fall through */
	case BATCH_RETURN:
		sink->end(sink, batch->owner->track, at, event->symbol);
		break;
	case BATCH_UNSEEN_RETURN:
		sink->complete(sink, batch->owner->track,
			       callstack_perf_time(machine, event->since), at, event->symbol,
			       flags);
		break;
	}
}

void callstack_batch_pass(struct callstack_batch *batch, int64_t time,
			  const struct batch_event *event)
{
	if (event->kind == BATCH_INFERRED_CALL || event->kind == BATCH_UNSEEN_RETURN)
		start_events_add(&batch->outer, time, event);
	else if (event->kind == BATCH_CALL && time == 0 && !batch->keeps_order &&
		 batch->initial.count < BATCH_LIMIT)
		start_events_add(&batch->initial, time, event);
	else
		emit(batch, time, event, 0);
}

/*
 * Returns the next call's share: what is left of the time by the calls left.
 * The division truncates towards zero, so the last call gets the remainder; a
 * negative total (time ran backwards) is dealt out the same way.
 */
static int64_t share(int64_t total, int64_t used, size_t calls_left)
{
	int64_t left = (int64_t)((uint64_t)total - (uint64_t)used);

	/* Divisions take long, and most batches are short. */
	return calls_left > 1 && left ? left / (int64_t)calls_left : left;
}

static int64_t time_to_share(const struct callstack_batch *batch, int64_t to_time)
{
	int64_t total = (int64_t)((uint64_t)to_time - (uint64_t)batch->time);
	int64_t resolution = (int64_t)batch->owner->machine->resolution;

	return resolution && total > resolution ? resolution : total;
}

/* Whether it is calls and returns only, for a sink that takes them as they come: most are. */
static inline bool is_plain(const struct callstack_batch *batch)
{
	return batch->keeps_order && !batch->details && !batch->others && batch->time >= 0;
}

/* A plain batch of one event, as it is where each has a time of its own: nothing to deal out. */
static inline void flush_one(const struct callstack_batch *batch)
{
	const struct callstack *owner = batch->owner;
	const struct batch_event *event = batch->pending;
	const struct span_sink *sink = owner->machine->sink;
	uint64_t at = owner->machine->base_time + (uint64_t)batch->time;

	if (event->kind == BATCH_CALL)
		sink->begin(sink, owner->track, at, event->symbol, event->ip, event->flags);
	else
		sink->end(sink, owner->track, at, event->symbol);
}

/* Any plain batch. */
static __attribute__((noinline)) void flush_plain(const struct callstack_batch *batch,
						  int64_t to_time)
{
	const struct batch_event *event = batch->pending, *end = event + batch->count;
	const struct callstack_machine *machine = batch->owner->machine;
	const struct span_sink *sink = machine->sink;
	void *track = batch->owner->track;
	uint64_t begin = machine->base_time + (uint64_t)batch->time;
	int64_t total = time_to_share(batch, to_time), used = 0;
	size_t calls_left = batch->calls;

	for (; event < end; event++) {
		uint64_t at = begin + (uint64_t)used;

		if (event->kind != BATCH_CALL) {
			sink->end(sink, track, at, event->symbol);
			continue;
		}
		sink->begin(sink, track, at, event->symbol, event->ip, event->flags);
		used += share(total, used, calls_left--);
	}
}

static __attribute__((noinline)) void flush_any(struct callstack_batch *batch, int64_t to_time)
{
	int64_t total = time_to_share(batch, to_time), used = 0;
	size_t calls_left = batch->calls;

	for (size_t i = 0; i < batch->count; i++) {
		const struct batch_event *event = &batch->pending[i];
		int64_t at = add_wrapping(batch->time, used);

		if (event->kind == BATCH_CALL)
			used = add_wrapping(used, share(total, used, calls_left--));
		callstack_batch_pass(batch, at, event);
	}
}

/* A large batch was given out: others may need the room. */
static __attribute__((noinline)) void share_room(struct callstack_batch *batch)
{
	const struct callstack_machine *machine = batch->owner->machine;

	if (machine->pending_room > machine->pending_most / 2)
		release_pending(batch);
}

void callstack_batch_flush(struct callstack_batch *batch, int64_t to_time)
{
	size_t count = batch->count;

	if (!is_plain(batch) || to_time < batch->time)
		flush_any(batch, to_time);
	else if (count == 1)
		flush_one(batch);
	else if (count)
		flush_plain(batch, to_time);
	batch->count = batch->calls = batch->others = 0;
	batch->time = to_time;
	if (count > BATCH_FEW)
		share_room(batch);
}

static bool may_grow(const struct callstack_batch *batch)
{
	const struct callstack_machine *machine = batch->owner->machine;

	return batch->room < BATCH_FEW ||
	       (batch->room < BATCH_LIMIT &&
		machine->pending_room + batch->room <= machine->pending_most);
}

/* It is full: make room, or give out what is there. */
static __attribute__((noinline)) void make_room(struct callstack_batch *batch)
{
	size_t room;

	if (!may_grow(batch))
		callstack_batch_flush(batch, batch->time);
	if (batch->count < batch->full)
		return;
	room = batch->room;
	batch->pending =
		alloc_grow(batch->pending, &batch->room, batch->count + 1, sizeof(*batch->pending));
	batch->owner->machine->pending_room += batch->room - room;
	batch->full = batch->room < BATCH_LIMIT ? batch->room : BATCH_LIMIT;
}

void callstack_batch_turn(struct callstack_batch *batch, int64_t time)
{
	if (time != batch->time)
		callstack_batch_flush(batch, time);
	if (batch->count >= batch->full)
		make_room(batch);
}

void callstack_batch_add(struct callstack_batch *batch, int64_t time,
			 const struct batch_event *event)
{
	*callstack_batch_next(batch, time, (enum batch_kind)event->kind) = *event;
}

void callstack_batch_drain_start(struct callstack_batch *batch)
{
	const struct start_events *outer = &batch->outer, *initial = &batch->initial;

	for (size_t i = outer->count; i-- > 0; start_events_rest(outer, i))
		emit(batch, start_event_at(outer, i)->time, &start_event_at(outer, i)->event,
		     SPAN_DEFERRED);
	for (size_t i = 0; i < initial->count; i++)
		emit(batch, start_event_at(initial, i)->time, &start_event_at(initial, i)->event,
		     SPAN_DEFERRED);
	batch->outer.count = batch->initial.count = 0;
}

size_t callstack_batch_waiting(const struct callstack_batch *batch)
{
	return batch->outer.count + batch->initial.count;
}
