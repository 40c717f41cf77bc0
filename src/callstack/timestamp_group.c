/* SPDX-License-Identifier: MIT */
/* Collects slices by timestamp, distributes the time, and emits them. */
#include "src/callstack/timestamp_group.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/*
 * A trace without timing packets is one endless group.  A group of so many events is emitted
 * without distributing time, so that memory stays bounded.  The deferred calls at
 * mapped time 0 have the same bound.
 */
#define GROUP_LIMIT ((size_t)1 << 18)

/* Each thread has room for so many events, even if all threads together have too many. */
#define GROUP_FEW ((size_t)1 << 10)

/* Emit so many events at once, if there are: 8 KiB. */
#define EMIT_ENOUGH ((size_t)1 << 8)

/* Bytes of a thread's deferred events that stay in memory, and events per step of eviction. */
#define DEFERRED_MEMORY ((size_t)1 << 20)
#define DEFERRED_STEP   ((size_t)1 << 14)

/* Values of slice_event.order within a group, for what is no call or return. */
enum { ORDER_MARK = 1, ORDER_UNSEEN_RETURN };

struct deferred_event {
	struct slice_event begin;
	struct slice_detail detail;
	uint64_t end_time;
	size_t same; /* 1 + which of the group's own events it begins with; 0: its time is known */
	bool whole;  /* it has an end */
	bool waits;  /* its group's time is not distributed, so its end is unknown */
};

static int64_t add_wrapping(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t subtract_wrapping(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

uint64_t callstack_perf_time(const struct callstack_machine *machine, int64_t time)
{
	uint64_t back = 0 - (uint64_t)time;

	if (time >= 0)
		return machine->base_time + (uint64_t)time;
	return back > machine->base_time ? 0 : machine->base_time - back;
}

static void release_events(struct timestamp_group *group)
{
	free(group->events);
	free(group->details);
	if (group->room + group->detail_room)
		group->owner->machine->pending_room -= group->room + group->detail_room;
	group->events = NULL;
	group->details = NULL;
	group->count = group->distributed = group->full = group->calls = 0;
	group->room = group->detail_room = 0;
}

void timestamp_group_release(struct timestamp_group *group)
{
	release_events(group);
	big_array_release(&group->outer.events);
	big_array_release(&group->initial.events);
	group->outer = group->initial = (struct deferred_events){ 0 };
}

/* Returns whether events must be emitted in magic-trace's own order. */
static bool sink_is_immediate(const struct timestamp_group *group)
{
	return group->owner->machine->sink->immediate;
}

/* ---- Deferred events ----------------------------------------------------- */

/* A step of events from `begin` on, if it is a whole one, need not stay in memory. */
static void evict(const struct deferred_events *list, size_t begin)
{
	if (begin % DEFERRED_STEP == 0 && begin + DEFERRED_STEP <= list->count)
		big_array_rest(&list->events, begin, begin + DEFERRED_STEP,
			       sizeof(struct deferred_event));
}

static void defer(struct deferred_events *list, const struct deferred_event *event)
{
	big_array_grow(&list->events, list->count + 1, sizeof(*event), DEFERRED_MEMORY);
	((struct deferred_event *)list->events.items)[list->count] = *event;
	if (++list->count >= DEFERRED_STEP)
		evict(list, list->count - DEFERRED_STEP);
}

static struct deferred_event *deferred_at(const struct deferred_events *list, size_t index)
{
	return (struct deferred_event *)list->events.items + index;
}

static void emit_deferred(const struct timestamp_group *group, const struct deferred_events *list,
			  size_t index)
{
	const struct deferred_event *event = deferred_at(list, index);
	const struct slice_sink *sink = group->owner->machine->sink;

	if (event->waits)
		return;
	if (event->whole)
		slice_sink_emit_whole(sink, group->owner->track, &event->begin, event->end_time);
	else
		slice_sink_emit(sink, group->owner->track, &event->begin,
				sink->details ? &event->detail : NULL);
}

void timestamp_group_infer(struct timestamp_group *group, int64_t time,
			   const struct slice_event *begin, const struct slice_detail *detail)
{
	struct deferred_event event = { .begin = *begin, .detail = *detail };

	event.begin.time = callstack_perf_time(group->owner->machine, time);
	defer(&group->outer, &event);
}

void timestamp_group_watch(struct timestamp_group *group)
{
	if (!group->watched)
		group->unresolved = group->outer.count;
	group->watched = group->count - group->distributed;
}

void timestamp_group_infer_watched(struct timestamp_group *group, const struct slice_event *begin,
				   const struct slice_detail *detail)
{
	struct deferred_event event = { .begin = *begin,
					.detail = *detail,
					.same = group->watched };

	event.begin.time = group->watched_time;
	event.begin.order = group->watched_order;
	defer(&group->outer, &event);
}

/* Returns the order of what encloses one of the group's own events, and nothing before it. */
static int8_t order_around(const struct slice_event *own, size_t at)
{
	int order = SLICE_ORDER_DEFERRED;

	for (size_t i = at; i-- > 0 && own[i].time == own[at].time && order < SLICE_ORDER_LAST;) {
		if (own[i].kind == SLICE_BEGIN)
			order = order < 0 ? SLICE_ORDER_PLAIN + 1 : order + 1;
	}
	return (int8_t)order;
}

/* The group's times are final. */
static __attribute__((noinline)) void resolve_watched(struct timestamp_group *group)
{
	const struct slice_event *own = group->events + group->distributed;

	for (size_t i = group->unresolved; i < group->outer.count; i++) {
		struct deferred_event *event = deferred_at(&group->outer, i);

		if (event->same) {
			event->begin.time = own[event->same - 1].time;
			event->begin.order = order_around(own, event->same - 1);
		}
		event->same = 0;
	}
	group->watched_time = own[group->watched - 1].time;
	group->watched_order = order_around(own, group->watched - 1);
	group->watched = 0;
}

bool timestamp_group_mark_uncertain(struct timestamp_group *group, size_t number)
{
	if (!number || number > group->outer.count)
		return false;
	deferred_at(&group->outer, number - 1)->begin.flags |= SLICE_UNCERTAIN_LEVEL;
	return true;
}

/*
 * Defer a return from an unseen function.  It is inside of callers that were found after it,
 * although magic-trace emits it before them.
 */
static void defer_unseen(struct timestamp_group *group, const struct slice_event *event)
{
	const struct callstack_machine *machine = group->owner->machine;
	struct deferred_event deferred = {
		.begin = { .symbol = event->symbol,
			   .time = callstack_perf_time(machine, (int64_t)event->ip),
			   .order = (int8_t)event->flags },
		.end_time = event->time,
		.whole = true,
	};

	if (group->last)
		return;
	if (sink_is_immediate(group))
		defer(&group->outer, &deferred);
	else
		*deferred_at(&group->outer, event->detail) = deferred;
}

/*
 * Returns whether the group keeps no call at a mapped time: in magic-trace's file those at time 0
 * come behind their callers, for which the sorter needs no such order.
 */
static bool defer_initial(struct timestamp_group *group, size_t index, int64_t time)
{
	const struct slice_event *event = &group->events[index];
	struct deferred_event deferred = { .begin = *event };

	if (event->kind != SLICE_BEGIN || time != 0 || group->initial.count >= GROUP_LIMIT)
		return false;
	if (group->last || !sink_is_immediate(group))
		return group->last;
	deferred.begin.order = SLICE_ORDER_DEFERRED;
	if (group->details)
		deferred.detail = group->details[index];
	defer(&group->initial, &deferred);
	return true;
}

/* ---- Distributing time --------------------------------------------------- */

/*
 * Returns the next call's share: what is left of the time by the calls left.
 * The division truncates towards zero, so the last call gets the remainder; a
 * negative total (time ran backwards) is distributed the same way.
 */
static int64_t share(int64_t total, int64_t used, size_t calls_left)
{
	int64_t left = subtract_wrapping(total, used);

	/* Divisions take long, and most groups are small. */
	return calls_left > 1 && left ? left / (int64_t)calls_left : left;
}

static int64_t time_to_share(const struct timestamp_group *group, int64_t to_time)
{
	int64_t total = subtract_wrapping(to_time, group->time);
	int64_t resolution = (int64_t)group->owner->machine->resolution;

	return resolution && total > resolution ? resolution : total;
}

static void distribute_simple(struct timestamp_group *group, int64_t to_time)
{
	struct slice_event *event = group->events + group->distributed;
	const struct slice_event *end = group->events + group->count;
	int64_t total = time_to_share(group, to_time), used = 0;
	size_t calls_left = group->calls;

	for (; event < end; event++) {
		event->time = group->perf_time + (uint64_t)used;
		if (event->kind == SLICE_BEGIN)
			used += share(total, used, calls_left--);
	}
}

/* Distribute in any group; deferred events are removed from it. */
static __attribute__((noinline)) void distribute_any(struct timestamp_group *group, int64_t to_time)
{
	int64_t total = time_to_share(group, to_time), used = 0;
	size_t calls_left = group->calls, kept = group->distributed;

	for (size_t i = kept; i < group->count; i++) {
		struct slice_event *event = &group->events[i];
		int64_t time = add_wrapping(group->time, used);

		event->time = callstack_perf_time(group->owner->machine, time);
		if (event->kind == SLICE_BEGIN && event->order == SLICE_ORDER_PLAIN)
			used = add_wrapping(used, share(total, used, calls_left--));
		if (event->order == ORDER_UNSEEN_RETURN) {
			defer_unseen(group, event);
			continue;
		}
		if (!group->sorted && defer_initial(group, i, time))
			continue;
		event->order = SLICE_ORDER_PLAIN;
		group->events[kept] = *event;
		if (group->details)
			group->details[kept] = group->details[i];
		kept++;
	}
	group->count = kept;
}

/* ---- Emitting ------------------------------------------------------------ */

/* Emit the events of former groups. */
static void emit_distributed(struct timestamp_group *group)
{
	const struct slice_sink *sink = group->owner->machine->sink;
	size_t count = group->distributed, left = group->count - count;

	if (!count)
		return;
	for (size_t i = 0; i < count && group->details; i++)
		group->events[i].detail = (uint32_t)i + 1;
	sink->events(sink, group->owner->track,
		     &(struct slice_batch){ group->events, count, group->details,
					    group->sorted && !group->details });
	memmove(group->events, group->events + count, left * sizeof(*group->events));
	if (group->details)
		memmove(group->details, group->details + count, left * sizeof(*group->details));
	group->count = left;
	group->distributed = 0;
}

/* The group ends before `time`. */
static inline void end_group(struct timestamp_group *group, int64_t time)
{
	bool own = group->count > group->distributed;

	if (!group->simple) {
		distribute_any(group, time);
		group->simple = group->sorted && time >= 0;
	}
	/* If a call comes last, no other event's time depends on its share. */
	else if (group->calls > (own && group->events[group->count - 1].kind == SLICE_BEGIN))
		distribute_simple(group, time);
	if (group->watched)
		resolve_watched(group);
	group->distributed = group->count;
	group->calls = 0;
	group->time = time;
}

void timestamp_group_flush(struct timestamp_group *group, int64_t to_time)
{
	const struct callstack_machine *machine = group->owner->machine;
	size_t count = group->count;

	end_group(group, to_time);
	emit_distributed(group);
	group->full = 0; /* the machine's base time may change now */
	/* Other threads may need the room of a large group. */
	if (count > GROUP_FEW && machine->pending_room > machine->pending_most / 2)
		release_events(group);
}

void timestamp_group_emit_deferred(struct timestamp_group *group)
{
	emit_distributed(group);
	for (size_t i = group->outer.count; i-- > 0; evict(&group->outer, i))
		emit_deferred(group, &group->outer, i);
	for (size_t i = 0; i < group->initial.count; i++)
		emit_deferred(group, &group->initial, i);
	group->outer.count = group->initial.count = 0;
}

/* ---- Adding -------------------------------------------------------------- */

/* Returns whether the arrays may have more room. */
static bool may_grow(const struct timestamp_group *group)
{
	const struct callstack_machine *machine = group->owner->machine;

	return group->room < GROUP_FEW ||
	       (group->room < GROUP_LIMIT &&
		machine->pending_room + group->room <= machine->pending_most);
}

/* Returns how many events may be in the array. */
static size_t full_at(const struct timestamp_group *group)
{
	return group->room < GROUP_LIMIT ? group->room : GROUP_LIMIT;
}

/* Have room for one event more; before the array grows, emit events. */
static void make_room(struct timestamp_group *group)
{
	struct callstack_machine *machine = group->owner->machine;
	size_t need = group->count + 1, before = group->room + group->detail_room;

	if (need > full_at(group)) {
		emit_distributed(group);
		need = group->room < EMIT_ENOUGH ? group->room + 1 : group->count + 1;
	}
	if (need > full_at(group) && !may_grow(group)) {
		timestamp_group_flush(group, group->time);
		before = group->room + group->detail_room;
		need = 1;
	}
	group->events = alloc_grow(group->events, &group->room, need, sizeof(*group->events));
	if (machine->sink->details)
		group->details = alloc_grow(group->details, &group->detail_room, group->room,
					    sizeof(*group->details));
	machine->pending_room += group->room + group->detail_room - before;
}

/* Returns whether events of the group may wait to be emitted with those of the next group. */
static bool collects(const struct timestamp_group *group)
{
	return group->sorted && !sink_is_immediate(group) &&
	       group->count - group->distributed <= GROUP_FEW;
}

/* Make the group one of a time, with room for an event. */
static void prepare(struct timestamp_group *group, int64_t time)
{
	const struct callstack_machine *machine = group->owner->machine;

	if (time != group->time) {
		if (collects(group))
			end_group(group, time);
		else
			timestamp_group_flush(group, time);
	}
	group->perf_time = callstack_perf_time(machine, time);
	if (group->count >= full_at(group))
		make_room(group);
	group->full = collects(group) && !machine->sink->details ? full_at(group) : 0;
}

struct slice_event *timestamp_group_next_slow(struct timestamp_group *group, int64_t time)
{
	struct slice_event *event;

	/* The short way is for a small group and another time: `full` is 0 unless events collect.
	 */
	if (group->count < group->full && group->count - group->distributed <= GROUP_FEW) {
		end_group(group, time);
		group->perf_time = callstack_perf_time(group->owner->machine, time);
	} else if (group->owner->machine->sink->details) {
		return NULL;
	} else {
		prepare(group, time);
	}
	event = &group->events[group->count++];
	event->time = group->perf_time;
	return event;
}

void timestamp_group_add(struct timestamp_group *group, int64_t time,
			 const struct slice_event *event, const struct slice_detail *detail)
{
	prepare(group, time);
	if (group->details)
		group->details[group->count] = detail ? *detail : (struct slice_detail){ 0 };
	group->events[group->count] = *event;
	group->events[group->count++].time = group->perf_time;
	group->calls += event->kind == SLICE_BEGIN && event->order == SLICE_ORDER_PLAIN;
}

void timestamp_group_add_mark(struct timestamp_group *group, int64_t time,
			      const struct slice_event *mark, const struct slice_detail *detail)
{
	struct slice_event event = *mark;

	event.order = ORDER_MARK;
	timestamp_group_add(group, time, &event, detail);
	group->simple = false;
	event.order = SLICE_ORDER_PLAIN;
	event.kind = SLICE_END;
	event.flags = 0;
	timestamp_group_add(group, time, &event, detail);
}

void timestamp_group_add_unseen_return(struct timestamp_group *group, int64_t time,
				       const struct slice_event *begin, int64_t since)
{
	struct slice_event event = { .symbol = begin->symbol,
				     .ip = (uint64_t)since,
				     .flags = (uint8_t)begin->order,
				     .order = ORDER_UNSEEN_RETURN };
	const struct deferred_event waits = { .waits = true };

	timestamp_group_add(group, time, &event, NULL);
	if (sink_is_immediate(group))
		return;
	group->events[group->count - 1].detail = (uint32_t)group->outer.count;
	defer(&group->outer, &waits);
}
