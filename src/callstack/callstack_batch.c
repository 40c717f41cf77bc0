/* SPDX-License-Identifier: MIT */
#include "src/callstack/callstack_batch.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/*
 * A trace without timing packets is one endless batch.  What is pending is
 * given out without spreading when there is this much, so that memory stays
 * bounded (16 MiB a thread).  The calls at mapped time 0 have the same bound.
 */
#define BATCH_LIMIT ((size_t)1 << 18)

/* So much each thread has room for, also where all together have too much. */
#define BATCH_FEW ((size_t)1 << 10)

/* As many edges are given out at once, where there are as many: 8 KiB. */
#define SLICE_EVENTS_ENOUGH ((size_t)1 << 8)

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

/* Nothing is pending. */
static void release_pending(struct callstack_batch *batch)
{
	struct batch_edges *edges = &batch->edges;

	free(batch->pending);
	free(edges->edges);
	if (batch->room + edges->room)
		batch->owner->machine->pending_room -= batch->room + edges->room;
	batch->pending = NULL;
	batch->count = batch->room = batch->full = 0;
	*edges = (struct batch_edges){ 0 };
}

void callstack_batch_release(struct callstack_batch *batch)
{
	release_pending(batch);
	big_array_release(&batch->outer.events);
	big_array_release(&batch->initial.events);
	batch->outer = batch->initial = (struct start_events){ 0 };
	batch->calls = 0;
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

/* Emit one event. */
static void emit(const struct callstack_batch *batch, int64_t time, const struct batch_event *event,
		 enum slice_order order)
{
	const struct callstack_machine *machine = batch->owner->machine;
	const struct slice_sink *sink = machine->sink;
	const struct slice_detail *detail = sink->details ? &event->detail : NULL;
	struct slice_event slice = {
		.time = callstack_perf_time(machine, time),
		.symbol = event->symbol,
		.ip = event->ip,
		.flags = event->flags,
		.order = (int8_t)order,
	};

	switch ((enum batch_kind)event->kind) {
	case BATCH_INFERRED_CALL:
		slice.flags |= SLICE_INFERRED_START;
		/* fall through */
	case BATCH_CALL:
		slice_sink_emit(sink, batch->owner->track, &slice, detail);
		break;
	case BATCH_MARK:
		slice_sink_emit(sink, batch->owner->track, &slice, detail);
		/* fall through */
	case BATCH_RETURN:
		slice.kind = SLICE_END;
		slice.flags = 0;
		slice_sink_emit(sink, batch->owner->track, &slice, detail);
		break;
	case BATCH_UNSEEN_RETURN:
		slice.time = callstack_perf_time(machine, event->since);
		slice_sink_emit_whole(sink, batch->owner->track, &slice,
				      callstack_perf_time(machine, time));
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
		emit(batch, time, event, SLICE_ORDER_PLAIN);
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

static void deal_events(struct callstack_batch *batch, int64_t to_time)
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

static void deal_edges(struct callstack_batch *batch, int64_t to_time)
{
	struct batch_edges *edges = &batch->edges;
	struct slice_event *edge = edges->edges + edges->dealt, *end = edges->edges + edges->count;
	int64_t total = time_to_share(batch, to_time), used = 0;
	size_t calls_left = batch->calls;

	for (; edge < end; edge++) {
		edge->time = edges->time + (uint64_t)used;
		if (edge->kind == SLICE_BEGIN)
			used += share(total, used, calls_left--);
	}
}

/* Give out the edges of former batches. */
static void give_edges(struct callstack_batch *batch)
{
	const struct slice_sink *sink = batch->owner->machine->sink;
	struct batch_edges *edges = &batch->edges;

	if (!edges->dealt)
		return;
	sink->events(sink, batch->owner->track,
		     &(struct slice_batch){ edges->edges, edges->dealt, NULL, true });
	edges->count -= edges->dealt;
	memmove(edges->edges, edges->edges + edges->dealt, edges->count * sizeof(*edges->edges));
	edges->dealt = 0;
}

/* A large batch was given out: others may need the room. */
static void share_room(struct callstack_batch *batch)
{
	const struct callstack_machine *machine = batch->owner->machine;

	if (machine->pending_room > machine->pending_most / 2)
		release_pending(batch);
}

/* The batch is not of edges alone: those that it has, if any, become events. */
static void take_apart(struct callstack_batch *batch)
{
	struct batch_edges taken;

	batch->edges.full = 0;
	give_edges(batch);
	if (!batch->edges.count)
		return;
	/* What is given out while they are added may release the others. */
	taken = batch->edges;
	batch->edges = (struct batch_edges){ 0 };
	batch->calls = 0; /* they are counted again */
	for (size_t i = 0; i < taken.count; i++) {
		const struct slice_event *edge = &taken.edges[i];
		struct batch_event event = {
			.symbol = edge->symbol,
			.ip = edge->ip,
			.flags = edge->flags,
			.kind = edge->kind == SLICE_BEGIN ? BATCH_CALL : BATCH_RETURN,
		};

		callstack_batch_add(batch, batch->time, &event);
	}
	batch->owner->machine->pending_room -= taken.room;
	free(taken.edges);
}

void callstack_batch_flush(struct callstack_batch *batch, int64_t to_time)
{
	struct batch_edges *edges = &batch->edges;
	size_t count = batch->count + edges->count;

	if (to_time < batch->time)
		take_apart(batch);
	if (edges->count) {
		deal_edges(batch, to_time);
		edges->dealt = edges->count;
		give_edges(batch);
	}
	deal_events(batch, to_time);
	batch->count = batch->calls = batch->full = edges->full = 0;
	batch->time = to_time;
	if (count > BATCH_FEW)
		share_room(batch);
}

/* Returns whether an array of so much room may have more. */
static bool may_grow(const struct callstack_batch *batch, size_t room)
{
	const struct callstack_machine *machine = batch->owner->machine;

	return room < BATCH_FEW ||
	       (room < BATCH_LIMIT && machine->pending_room + room <= machine->pending_most);
}

/* Returns how many may be in an array of so much room. */
static size_t full_at(size_t room)
{
	return room < BATCH_LIMIT ? room : BATCH_LIMIT;
}

/* Returns `array` with room for `need`, counted. */
static void *grow(struct callstack_batch *batch, void *array, size_t *room, size_t need,
		  size_t size)
{
	size_t before = *room;

	array = alloc_grow(array, room, need, size);
	batch->owner->machine->pending_room += *room - before;
	return array;
}

/* Have room for an event more, or give out what is there. */
static void make_room(struct callstack_batch *batch)
{
	if (batch->count >= full_at(batch->room) && !may_grow(batch, batch->room))
		callstack_batch_flush(batch, batch->time);
	batch->pending = grow(batch, batch->pending, &batch->room, batch->count + 1,
			      sizeof(*batch->pending));
	batch->full = full_at(batch->room);
}

/* The same for an edge; those of former batches are given out first. */
static void make_edge_room(struct callstack_batch *batch)
{
	struct batch_edges *edges = &batch->edges;
	size_t need = edges->count + 1;

	if (need > full_at(edges->room)) {
		give_edges(batch);
		need = edges->room < SLICE_EVENTS_ENOUGH ? edges->room + 1 : edges->count + 1;
	}
	if (need > full_at(edges->room) && !may_grow(batch, edges->room)) {
		callstack_batch_flush(batch, batch->time);
		need = 1;
	}
	edges->edges = grow(batch, edges->edges, &edges->room, need, sizeof(*edges->edges));
	edges->full = full_at(edges->room);
}

/* Whether nothing but edges was put down, and the sink takes them as they come. */
static bool takes_edges(const struct callstack_batch *batch)
{
	const struct slice_sink *sink = batch->owner->machine->sink;

	return batch->keeps_order && !sink->details && !sink->immediate && !batch->count &&
	       batch->time >= 0;
}

/* The batch, which has edges only, ends before `time`: they get their times, and wait for more. */
static inline void end_edges(struct callstack_batch *batch, int64_t time)
{
	struct batch_edges *edges = &batch->edges;
	size_t own = edges->count - edges->dealt;

	if (own > BATCH_FEW) {
		callstack_batch_flush(batch, time);
		return;
	}
	/* A call that comes last leaves nobody to deal time to. */
	if (batch->calls > (own && edges->edges[edges->count - 1].kind == SLICE_BEGIN))
		deal_edges(batch, time);
	edges->dealt = edges->count;
	batch->calls = 0;
	batch->time = time;
}

/* Returns whether edges may be put down at a time; there is room for one, then. */
static __attribute__((noinline)) bool begin_edges(struct callstack_batch *batch, int64_t time)
{
	if (time != batch->time)
		callstack_batch_flush(batch, time);
	if (!takes_edges(batch))
		return false;
	make_edge_room(batch);
	return true;
}

struct slice_event *callstack_batch_turn(struct callstack_batch *batch, int64_t time)
{
	struct batch_edges *edges = &batch->edges;
	struct slice_event *edge;

	/* Where there is room for edges, there is nothing else. */
	if (edges->full && time > batch->time)
		end_edges(batch, time);
	if ((time != batch->time || edges->count >= edges->full) && !begin_edges(batch, time))
		return NULL;
	edges->time = batch->owner->machine->base_time + (uint64_t)time;
	edge = &edges->edges[edges->count++];
	edge->time = edges->time;
	return edge;
}

void callstack_batch_add(struct callstack_batch *batch, int64_t time,
			 const struct batch_event *event)
{
	if (time != batch->time)
		callstack_batch_flush(batch, time);
	take_apart(batch);
	if (batch->count >= batch->full)
		make_room(batch);
	batch->pending[batch->count++] = *event;
	batch->calls += event->kind == BATCH_CALL;
}

void callstack_batch_drain_start(struct callstack_batch *batch)
{
	const struct start_events *outer = &batch->outer, *initial = &batch->initial;

	give_edges(batch);
	for (size_t i = outer->count; i-- > 0; start_events_rest(outer, i))
		emit(batch, start_event_at(outer, i)->time, &start_event_at(outer, i)->event,
		     SLICE_ORDER_DEFERRED);
	for (size_t i = 0; i < initial->count; i++)
		emit(batch, start_event_at(initial, i)->time, &start_event_at(initial, i)->event,
		     SLICE_ORDER_DEFERRED);
	batch->outer.count = batch->initial.count = 0;
}

size_t callstack_batch_waiting(const struct callstack_batch *batch)
{
	return batch->outer.count + batch->initial.count;
}
