/* SPDX-License-Identifier: MIT */
/* Keep slices that are found after the slices inside of them, until their segment ends. */
#include "src/callstack/timestamp_group.h"

/* Bytes of a thread's deferred events kept in memory, and events per step of eviction. */
#define DEFERRED_MEMORY ((size_t)1 << 20)
#define DEFERRED_STEP   ((size_t)1 << 14)

struct deferred_event {
	struct slice_event begin;
	struct slice_detail detail;
	uint64_t end_time;
	uint32_t same;  /* 1 + the index in the group of the event it begins with; 0: time known */
	uint32_t floor; /* the first event, within the group, of its segment */
	bool whole;     /* it has an end */
	bool waits;     /* placeholder until its group's time is distributed */
};

/* A complete step of events from `begin` on need not stay in memory. */
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
			  size_t index, bool early)
{
	const struct deferred_event *event = deferred_at(list, index);
	const struct slice_sink *sink = group->owner->machine->sink;
	struct slice_event begin = event->begin;

	if (event->waits)
		return;
	if (early)
		begin.kind = SLICE_EARLY;
	else
		callstack_mark_level(group->owner->machine, &begin);
	if (event->whole)
		slice_sink_emit_whole(sink, group->owner->track, &begin, event->end_time);
	else
		slice_sink_emit(sink, group->owner->track, &begin,
				sink->details ? &event->detail : NULL);
}

void timestamp_group_emit_outer(struct timestamp_group *group, size_t end)
{
	for (size_t i = end; i-- > group->outer_done; evict(&group->outer, i))
		emit_deferred(group, &group->outer, i, false);
	group->outer_done = group->announced = end;
	if (!group->settles)
		group->emitted = 0;
}

void timestamp_group_announce(struct timestamp_group *group)
{
	if (group->watched || group->cut_count)
		return;
	for (size_t i = group->outer.count; i-- > group->announced;)
		emit_deferred(group, &group->outer, i, true);
	group->announced = group->outer.count;
}

void timestamp_group_empty_deferred(struct timestamp_group *group)
{
	timestamp_group_emit_outer(group, group->outer.count);
	for (size_t i = 0; i < group->initial.count; i++)
		emit_deferred(group, &group->initial, i, false);
	group->outer.count = group->outer_done = group->announced = group->initial.count = 0;
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
	size_t cut = group->cut_count ? group->cuts[group->cut_count - 1].at : 0;

	if (!group->watched)
		group->unresolved = group->outer.count;
	group->watched = group->count - group->distributed;
	group->simple = false;
	group->floor = cut > group->distributed ? cut - group->distributed : 0;
}

void timestamp_group_switch(struct timestamp_group *group)
{
	group->switched = true;
	timestamp_group_set_since(group, UINT64_MAX);
}

/* Let a slice begin around `at`, which is marked if no order was left: the level is a guess. */
static void begin_around(const struct timestamp_group *group, struct slice_event *begin,
			 const struct slice_event *at)
{
	begin->time = at->time;
	begin->order = at->order;
	if (at->flags & ~begin->flags & SLICE_UNCERTAIN_LEVEL)
		callstack_count_uncertain(group->owner->machine, group->time);
	begin->flags |= at->flags;
}

void timestamp_group_infer_watched(struct timestamp_group *group, const struct slice_event *begin,
				   const struct slice_detail *detail)
{
	struct deferred_event event = { .begin = *begin,
					.detail = *detail,
					.same = (uint32_t)group->watched,
					.floor = (uint32_t)group->floor };

	if (!group->watched)
		begin_around(group, &event.begin, &group->around);
	defer(&group->outer, &event);
}

/*
 * Returns time, order and flags for a slice that encloses the group's event `at`, but no earlier
 * one. `floor`: the first event not emitted.
 */
static struct slice_event slice_around(const struct timestamp_group *group, size_t at, size_t floor,
				       bool estimated)
{
	const struct slice_event *own = group->events + group->distributed;
	int order = SLICE_ORDER_DEFERRED;

	for (size_t i = at;
	     i-- > floor && own[i].time == own[at].time && order < SLICE_ORDER_LAST;) {
		if (own[i].kind == SLICE_BEGIN)
			order = order < 0 ? SLICE_ORDER_PLAIN + 1 : order + 1;
	}
	return (struct slice_event){
		.time = own[at].time,
		.order = (int8_t)order,
		.flags = (estimated ? SLICE_ESTIMATED_TIME : 0) |
			 (order == SLICE_ORDER_LAST ? SLICE_UNCERTAIN_LEVEL : 0),
	};
}

/* Mark the slices that begin after the most that an order counts: a late slice can enclose them. */
static void mark_unordered(struct timestamp_group *group)
{
	struct slice_event *own = group->events + group->distributed;
	int begins = 0;

	for (size_t i = group->floor; i < group->watched; i++) {
		if (i > group->floor && own[i].time != own[i - 1].time)
			begins = 0;
		if (own[i].kind != SLICE_BEGIN || ++begins <= SLICE_ORDER_LAST)
			continue;
		own[i].flags |= SLICE_UNCERTAIN_LEVEL;
		callstack_count_uncertain(group->owner->machine, group->time);
	}
}

void timestamp_group_resolve_watched(struct timestamp_group *group, bool estimated)
{
	for (size_t i = group->unresolved; i < group->outer.count; i++) {
		struct deferred_event *event = deferred_at(&group->outer, i);
		struct slice_event begin;

		if (event->same) {
			begin = slice_around(group, event->same - 1, event->floor, estimated);
			begin_around(group, &event->begin, &begin);
		}
		event->same = 0;
	}
	group->around = slice_around(group, group->watched - 1, group->floor, estimated);
	if (group->around.order == SLICE_ORDER_LAST)
		mark_unordered(group);
	group->watched = 0;
}

bool timestamp_group_mark_uncertain(struct timestamp_group *group, size_t number)
{
	if (number <= group->outer_done || number > group->outer.count)
		return false;
	deferred_at(&group->outer, number - 1)->begin.flags |= SLICE_UNCERTAIN_LEVEL;
	return true;
}

void timestamp_group_defer_unseen(struct timestamp_group *group, const struct slice_event *event)
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

bool timestamp_group_defer_initial(struct timestamp_group *group, size_t index, int64_t time)
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

uint32_t timestamp_group_reserve_unseen(struct timestamp_group *group)
{
	defer(&group->outer, &(struct deferred_event){ .waits = true });
	return (uint32_t)group->outer.count - 1;
}
