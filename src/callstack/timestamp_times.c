/* SPDX-License-Identifier: MIT */
/* Distribute the time between two timestamps among the calls of the first. */
#include "src/callstack/timestamp_group.h"

static int64_t add_wrapping(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t subtract_wrapping(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

/* Returns the next call's share of the remaining time, which is negative if time ran backwards. */
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

/* Returns the time of the calls before an open gap: at the last group's per call, at most `total`.
 */
static int64_t time_before_gap(const struct timestamp_group *group, int64_t total)
{
	int64_t calls = (int64_t)group->calls, past = (int64_t)group->past_calls;
	int64_t each;

	if (!group->in_gap || !past || total <= 0 || group->past_time <= 0)
		return total;
	each = group->past_time / past;
	if (each >= total / calls)
		return total;
	return each * calls + group->past_time % past * calls / past;
}

/* Mark the group's calls, and what begins with them. */
static void mark_estimated(struct timestamp_group *group)
{
	if (group->watched)
		timestamp_group_resolve_watched(group, true);
	for (size_t i = group->distributed; i < group->count; i++) {
		if (group->events[i].kind == SLICE_BEGIN)
			group->events[i].flags |= SLICE_ESTIMATED_TIME;
	}
}

static void keep_pace(struct timestamp_group *group, int64_t total)
{
	group->past_calls = group->calls;
	group->past_time = total;
}

static void distribute_evenly(struct timestamp_group *group, int64_t total)
{
	struct slice_event *event = group->events + group->distributed;
	const struct slice_event *end = group->events + group->count;
	size_t calls_left = group->calls;
	int64_t used = 0;

	for (; event < end; event++) {
		event->time = group->perf_time + (uint64_t)used;
		if (event->kind == SLICE_BEGIN)
			used += share(total, used, calls_left--);
	}
	keep_pace(group, total);
}

/* Distribute time in any group; deferred events are removed from it. */
static __attribute__((noinline)) void distribute_any(struct timestamp_group *group, int64_t total)
{
	size_t calls_left = group->calls, kept = group->distributed;
	int64_t used = 0;

	for (size_t i = kept; i < group->count; i++) {
		struct slice_event *event = &group->events[i];
		int64_t time = add_wrapping(group->time, used);

		if (event->order == ORDER_INLINED) {
			group->events[kept] = *event;
			if (group->details)
				group->details[kept] = group->details[i];
			kept++;
			continue;
		}
		event->time = callstack_perf_time(group->owner->machine, time);
		if (event->kind == SLICE_BEGIN && event->order == SLICE_ORDER_PLAIN)
			used = add_wrapping(used, share(total, used, calls_left--));
		if (event->order == ORDER_UNSEEN_RETURN) {
			timestamp_group_defer_unseen(group, event);
			continue;
		}
		if (group->evenly && timestamp_group_defer_initial(group, i, time))
			continue;
		event->order = SLICE_ORDER_PLAIN;
		group->events[kept] = *event;
		if (group->details)
			group->details[kept] = group->details[i];
		kept++;
	}
	group->count = kept;
	if (group->calls)
		keep_pace(group, total);
}

/* Returns the first event from `i` on that is not of an inlined call. */
static size_t skip_inlined(const struct timestamp_group *group, size_t i)
{
	while (i < group->count && group->events[i].order == ORDER_INLINED)
		i++;
	return i;
}

/* Returns the instructions before the group's first event that is not an inlined call's. */
static inline uint32_t first_insns(const struct timestamp_group *group, bool any)
{
	size_t i = group->distributed;

	if (any)
		i = MIN(skip_inlined(group, i), group->count - 1);
	return group->events[i].detail;
}

/*
 * Distribute at a steady pace by instructions, at least 1 ns per call; evenly if they are unknown,
 * or there are more calls than ns. `any` (a constant): there may be marks.
 */
static inline __attribute__((always_inline)) void distribute_by_insns(struct timestamp_group *group,
								      int64_t to_time,
								      uint32_t insns, bool any)
{
	struct slice_event *event = group->events + group->distributed;
	const struct slice_event *end = group->events + group->count;
	int64_t total = time_to_share(group, to_time), spare = total - (int64_t)group->calls;
	uint64_t whole = (uint64_t)(to_time - group->time) - group->calls, pace;
	uint32_t first = first_insns(group, any), all = insns - first;
	uint64_t time = group->perf_time;

	if (!all || spare <= 0 || whole > UINT32_MAX) {
		if (any)
			distribute_any(group, total);
		else
			distribute_evenly(group, total);
		return;
	}
	pace = (whole << 32) / all; /* ns, in units of 2^-32 */
	for (; event < end; event++) {
		uint64_t since = (event->detail - first) * pace >> 32;

		if (any && event->order == ORDER_INLINED)
			continue;
		event->time = time + (since < (uint64_t)spare ? since : (uint64_t)spare);
		time += event->kind == SLICE_BEGIN && (!any || event->order == SLICE_ORDER_PLAIN);
		if (any)
			event->order = SLICE_ORDER_PLAIN;
	}
	keep_pace(group, total);
}

/* Returns whether calls share the time up to another time, and such times are marked. */
static inline bool is_estimated(const struct timestamp_group *group, int64_t to_time)
{
	return group->details && group->owner->machine->has_cycles && group->calls > 1 &&
	       to_time > group->time;
}

void timestamp_group_distribute_simple(struct timestamp_group *group, int64_t to_time,
				       uint32_t insns)
{
	distribute_by_insns(group, to_time, insns, false);
	if (is_estimated(group, to_time))
		mark_estimated(group);
}

/* Returns the time of an event's instructions, at a steady pace between two other events. */
static uint64_t time_between(const struct slice_event *from, const struct slice_event *to,
			     const struct slice_event *event)
{
	uint32_t all = to->detail - from->detail, own = event->detail - from->detail;
	uint64_t time = from->time;

	if (to->time <= from->time)
		return from->time;
	if (all && own <= all)
		time += (uint64_t)((double)(to->time - from->time) * own / all);
	if (time < event->time)
		time = event->time;
	return MIN(time, to->time);
}

/* Interpolate the times of inlined calls between the group's other events, up to its end. */
static __attribute__((noinline)) void distribute_inlined(struct timestamp_group *group,
							 const struct slice_event *end)
{
	struct slice_event *events = group->events;
	const struct slice_event begin = { .time = callstack_perf_time(group->owner->machine,
								       group->time),
					   .detail = events[group->distributed].detail };
	const struct slice_event *from = &begin, *to;
	size_t next;

	for (size_t i = group->distributed; i < group->count; i = next + 1) {
		next = skip_inlined(group, i);
		to = next < group->count ? &events[next] : end;
		for (; i < next; i++) {
			events[i].time = time_between(from, to, &events[i]);
			if (group->details && events[i].kind == SLICE_BEGIN)
				events[i].flags |= SLICE_ESTIMATED_TIME;
			events[i].order = SLICE_ORDER_PLAIN;
		}
		from = to;
	}
	group->has_inlined = false;
}

/* Returns whether times are estimated. */
static bool distribute_with_gap(struct timestamp_group *group, int64_t time)
{
	int64_t total = time_before_gap(group, time_to_share(group, time));

	/* The code after the last gap has a share as well. */
	group->calls += !group->in_gap;
	if (group->time >= 0 && !group->has_mark && !group->has_inlined)
		distribute_evenly(group, total);
	else
		distribute_any(group, total);
	group->has_gap = false;
	return total > 0 && group->calls > 1;
}

void timestamp_group_distribute(struct timestamp_group *group, int64_t time, uint32_t insns)
{
	const struct callstack_machine *machine = group->owner->machine;
	bool estimated = is_estimated(group, time);
	bool shares = timestamp_group_shares_time(group, true);

	if (group->has_gap)
		estimated |= distribute_with_gap(group, time);
	else if (group->evenly || group->time < 0 || (group->has_mark && !shares))
		distribute_any(group, time_to_share(group, time));
	else if (shares) /* else no pace is kept, as in a simple group */
		distribute_by_insns(group, time, insns, true);
	if (group->has_inlined)
		distribute_inlined(
			group, &(struct slice_event){ .time = callstack_perf_time(machine, time),
						      .detail = insns });
	if (estimated)
		mark_estimated(group);
	group->has_mark = false;
	group->simple = group->sorted && time > 0;
}
