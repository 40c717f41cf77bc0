/* SPDX-License-Identifier: MIT */
/* Collect slices by timestamp, distribute the time, and emit them. */
#include "src/callstack/timestamp_group.h"

/*
 * Limit of events in a group, which may last long where timing packets are missing. At the limit it
 * is emitted without distributing time. Deferred calls at mapped time 0 have the same limit.
 */
#define GROUP_LIMIT ((size_t)1 << 18)

/* Each thread has room for this many events, even at the limit of all threads. */
#define GROUP_FEW ((size_t)1 << 10)

/* Events to emit at once, if possible: 8 KiB. */
#define EMIT_ENOUGH ((size_t)1 << 8)

/* Bytes of a thread's deferred events kept in memory, and events per step of eviction. */
#define DEFERRED_MEMORY ((size_t)1 << 20)
#define DEFERRED_STEP   ((size_t)1 << 14)

/*
 * Events between two flushes of a group that settles. They are counted exactly, so that the order
 * of slices of several threads does not depend on when events are emitted.
 */
#define SETTLE_EVENTS ((size_t)1 << 12)

/* Values of slice_event.order within a group, for events that are not calls or returns. */
enum { ORDER_MARK = 1, ORDER_UNSEEN_RETURN, ORDER_INLINED };

struct deferred_event {
	struct slice_event begin;
	struct slice_detail detail;
	uint64_t end_time;
	uint32_t same;  /* 1 + the index within the group of the event it begins with; 0: time known
			 */
	uint32_t floor; /* the first event, within the group, of its segment */
	bool whole;     /* it has an end */
	bool waits;     /* placeholder until its group's time is distributed */
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
	free(group->cuts);
	if (group->room + group->detail_room)
		group->owner->machine->pending_room -= group->room + group->detail_room;
	group->events = NULL;
	group->details = NULL;
	group->cuts = NULL;
	group->cut_count = group->cut_room = 0;
	group->count = group->distributed = group->full = group->calls = group->uncosted = 0;
	group->room = group->detail_room = 0;
}

void timestamp_group_release(struct timestamp_group *group)
{
	release_events(group);
	big_array_release(&group->outer.events);
	big_array_release(&group->initial.events);
	group->outer = group->initial = (struct deferred_events){ 0 };
}

static bool sink_is_immediate(const struct timestamp_group *group)
{
	return group->owner->machine->sink->immediate;
}

/* ---- Deferred events ----------------------------------------------------- */

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
	size_t cut = group->cut_count ? group->cuts[group->cut_count - 1].at : 0;

	if (!group->watched)
		group->unresolved = group->outer.count;
	group->watched = group->count - group->distributed;
	group->floor = cut > group->distributed ? cut - group->distributed : 0;
}

void timestamp_group_infer_watched(struct timestamp_group *group, const struct slice_event *begin,
				   const struct slice_detail *detail)
{
	struct deferred_event event = { .begin = *begin,
					.detail = *detail,
					.same = (uint32_t)group->watched,
					.floor = (uint32_t)group->floor };

	event.begin.time = group->watched_time;
	event.begin.order = group->watched_order;
	if (group->watched_estimated)
		event.begin.flags |= SLICE_ESTIMATED_TIME;
	defer(&group->outer, &event);
}

/*
 * Returns the order of a slice that encloses event `at` of the group and no earlier event; events
 * before `floor` are emitted before.
 */
static int8_t order_around(const struct slice_event *own, size_t at, size_t floor)
{
	int order = SLICE_ORDER_DEFERRED;

	for (size_t i = at;
	     i-- > floor && own[i].time == own[at].time && order < SLICE_ORDER_LAST;) {
		if (own[i].kind == SLICE_BEGIN)
			order = order < 0 ? SLICE_ORDER_PLAIN + 1 : order + 1;
	}
	return (int8_t)order;
}

/*
 * The group's times are final: copy them to the deferred events that begin with one of its events.
 */
static __attribute__((noinline)) void resolve_watched(struct timestamp_group *group, bool estimated)
{
	const struct slice_event *own = group->events + group->distributed;

	for (size_t i = group->unresolved; i < group->outer.count; i++) {
		struct deferred_event *event = deferred_at(&group->outer, i);

		if (event->same) {
			event->begin.time = own[event->same - 1].time;
			event->begin.order = order_around(own, event->same - 1, event->floor);
			if (estimated)
				event->begin.flags |= SLICE_ESTIMATED_TIME;
		}
		event->same = 0;
	}
	group->watched_time = own[group->watched - 1].time;
	group->watched_order = order_around(own, group->watched - 1, group->floor);
	group->watched_estimated = estimated;
	group->watched = 0;
}

bool timestamp_group_mark_uncertain(struct timestamp_group *group, size_t number)
{
	if (number <= group->outer_done || number > group->outer.count)
		return false;
	deferred_at(&group->outer, number - 1)->begin.flags |= SLICE_UNCERTAIN_LEVEL;
	return true;
}

/*
 * Defer a return from an unseen function. It is inside of callers found later, although magic-trace
 * emits it before them.
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
 * Returns whether the group drops a call at a mapped time. magic-trace's file has calls at time 0
 * after their callers; the sorter does not need that order.
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
 * Returns the next call's share: the remaining time divided by the remaining calls. The division
 * truncates towards zero, so the last call gets the remainder. A negative total (time ran
 * backwards) is distributed the same way.
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

/*
 * Returns the time of the calls before an open gap, which comes last and may have been long: at the
 * last group's time per call, but at most `total`.
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

static void mark_estimated(struct timestamp_group *group)
{
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
	if (group->calls)
		keep_pace(group, total);
}

/* Returns the instructions before the group's first event that is not an inlined call's. */
static inline uint32_t first_insns(const struct timestamp_group *group, bool any)
{
	size_t i = group->distributed;

	while (any && i + 1 < group->count && group->events[i].order == ORDER_INLINED)
		i++;
	return group->events[i].detail;
}

/*
 * Distribute by instructions: at a steady pace, but at least 1 ns per call. If instructions are
 * unknown, or there are more calls than ns, all calls take the same time. `any` (a constant): there
 * may be marks.
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

/* distribute_by_insns() for simple groups, the most frequent ones. */
static __attribute__((noinline)) void distribute_simple(struct timestamp_group *group,
							int64_t to_time, uint32_t insns)
{
	distribute_by_insns(group, to_time, insns, false);
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

/* Returns the first event from `i` on that is not of an inlined call. */
static size_t skip_inlined(const struct timestamp_group *group, size_t i)
{
	while (i < group->count && group->events[i].order == ORDER_INLINED)
		i++;
	return i;
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

/* ---- Spreading cycles ---------------------------------------------------- */

#define PACE_BITS 32

/* Returns the cycles at an instruction count within the last stretch of known cycles. */
static uint64_t cycles_at(const struct timestamp_group *group, uint64_t insns)
{
	const struct slice_cost *from = &group->before, *to = &group->costed;

	if (insns >= to->insns)
		return to->cycles;
	if (insns <= from->insns)
		return from->cycles;
	return from->cycles + ((insns - from->insns) * group->pace >> PACE_BITS);
}

void timestamp_group_count_cycles(struct timestamp_group *group, uint64_t insns, uint32_t cycles)
{
	if (!group->owner->machine->sink->details)
		return;
	group->before = group->costed;
	group->costed = (struct slice_cost){ insns, group->before.cycles + cycles };
	if (insns != group->before.insns)
		group->pace = ((uint64_t)cycles << PACE_BITS) / (insns - group->before.insns);
	for (size_t i = group->uncosted; i < group->count; i++) {
		if (group->details[i].insns > group->before.insns)
			group->details[i].cycles = cycles_at(group, group->details[i].insns);
	}
	group->uncosted = group->count;
}

uint64_t timestamp_group_split(struct timestamp_group *group, uint64_t insns)
{
	if (insns != group->costed.insns)
		timestamp_group_count_cycles(group, insns, 0);
	return group->costed.cycles;
}

/* ---- Emitting ------------------------------------------------------------ */

static void pass_events(const struct timestamp_group *group, const struct slice_event *events,
			size_t count)
{
	const struct slice_sink *sink = group->owner->machine->sink;

	if (count)
		sink->events(sink, group->owner->track,
			     &(struct slice_batch){ events, count, group->details, group->sorted });
}

/* Emit the deferred events up to index `end`, outermost first. */
static void emit_outer(struct timestamp_group *group, size_t end)
{
	for (size_t i = end; i-- > group->outer_done; evict(&group->outer, i))
		emit_deferred(group, &group->outer, i);
	group->outer_done = end;
}

/* Flush the sink after an event, if no slice that encloses it may be found late. */
static void flush_after(struct timestamp_group *group, const struct slice_event *event)
{
	int64_t time = (int64_t)(event->time - group->owner->machine->base_time);

	group->emitted = 0;
	if (time <= group->since)
		return;
	group->settled = time;
	emit_outer(group, group->outer.count);
	group->outer.count = group->outer_done = 0;
	slice_sink_flush(group->owner->machine->sink, group->owner->track);
}

static void emit_events(struct timestamp_group *group, const struct slice_event *events,
			size_t count)
{
	while (group->settles && group->emitted + count >= SETTLE_EVENTS) {
		size_t fitting = SETTLE_EVENTS - group->emitted;

		pass_events(group, events, fitting);
		flush_after(group, &events[fitting - 1]);
		events += fitting;
		count -= fitting;
	}
	pass_events(group, events, count);
	group->emitted += count;
}

/* Emit the segments that ended within the first events. Returns the number of their events. */
static __attribute__((noinline)) size_t emit_segments(struct timestamp_group *group, size_t count)
{
	size_t passed = 0, left = 0;

	for (size_t i = 0; i < group->cut_count; i++) {
		struct group_cut cut = group->cuts[i];

		if (cut.at > count) {
			cut.at -= count;
			group->cuts[left++] = cut;
			continue;
		}
		emit_events(group, group->events + passed, cut.at - passed);
		emit_outer(group, cut.outer);
		slice_sink_flush(group->owner->machine->sink, group->owner->track);
		passed = cut.at;
	}
	group->cut_count = left;
	return passed;
}

/* Emit the first events, of former groups. */
static void emit_first(struct timestamp_group *group, size_t count)
{
	size_t left = group->count - count, passed;

	if (!count)
		return;
	for (size_t i = 0; i < count && group->details; i++)
		group->events[i].detail = (uint32_t)i + 1;
	passed = group->cut_count ? emit_segments(group, count) : 0;
	emit_events(group, group->events + passed, count - passed);
	memmove(group->events, group->events + count, left * sizeof(*group->events));
	if (group->details)
		memmove(group->details, group->details + count, left * sizeof(*group->details));
	group->count = left;
	group->distributed -= count;
	group->uncosted -= MIN(group->uncosted, count);
}

void timestamp_group_emit(struct timestamp_group *group)
{
	emit_first(group, group->distributed);
}

/* Returns whether the group has events that wait for their cycles. */
static inline bool awaits_cycles(const struct timestamp_group *group)
{
	return group->costed.cycles && group->uncosted < group->count;
}

/* Emit the events of former groups, except for events that wait for their cycles. */
static void emit_costed(struct timestamp_group *group)
{
	bool waits = awaits_cycles(group) && group->uncosted < group->distributed;

	emit_first(group, waits ? group->uncosted : group->distributed);
}

static void end_inlined(struct timestamp_group *group, int64_t time, uint32_t insns)
{
	if (group->has_inlined)
		distribute_inlined(group,
				   &(struct slice_event){
					   .time = callstack_perf_time(group->owner->machine, time),
					   .detail = insns });
}

static void distribute_with_gap(struct timestamp_group *group, int64_t time, uint32_t insns)
{
	int64_t total = time_before_gap(group, time_to_share(group, time));
	bool estimated = total > 0;

	/* The code after the last gap has a share as well. */
	group->calls += !group->in_gap;
	estimated &= group->calls > 1;
	if (group->time >= 0 && !group->has_mark && !group->has_inlined)
		distribute_evenly(group, total);
	else
		distribute_any(group, total);
	end_inlined(group, time, insns);
	if (group->watched)
		resolve_watched(group, estimated);
	if (estimated)
		mark_estimated(group);
	group->has_gap = false;
}

/*
 * Returns whether events depend on shares of the time: a call that comes last affects no other.
 * `any`: there may be marks.
 */
static inline bool shares_time(const struct timestamp_group *group, bool any)
{
	size_t end = group->count;

	while (any && end > group->distributed && group->events[end - 1].order == ORDER_INLINED)
		end--;
	return group->calls >
	       (end > group->distributed && group->events[end - 1].kind == SLICE_BEGIN);
}

/* end_group() for a group that is not simple. */
static __attribute__((noinline)) void end_any(struct timestamp_group *group, int64_t time,
					      uint32_t insns)
{
	bool estimated = group->details && group->owner->machine->has_cycles && group->calls > 1 &&
			 time > group->time;

	if (group->has_gap)
		distribute_with_gap(group, time, insns);
	else if (!group->sorted || group->time < 0 ||
		 (group->has_mark && !shares_time(group, true)))
		distribute_any(group, time_to_share(group, time));
	else if (shares_time(group, true)) /* else no pace is kept, as in a simple group */
		distribute_by_insns(group, time, insns, true);
	end_inlined(group, time, insns);
	if (group->watched)
		resolve_watched(group, estimated);
	if (estimated)
		mark_estimated(group);
	group->has_mark = false;
	group->simple = group->sorted && time >= 0 && !group->owner->machine->sink->details;
}

/* The group ends before `time`, after `insns` instructions of the thread. */
static inline void end_group(struct timestamp_group *group, int64_t time, uint32_t insns)
{
	if (!group->simple)
		end_any(group, time, insns);
	else if (shares_time(group, false))
		distribute_simple(group, time, insns);
	if (group->watched)
		resolve_watched(group, false);
	group->distributed = group->count;
	group->calls = 0;
	group->time = time;
	/* Flush ended segments at once, so that other threads' slices do not come first. */
	if (group->cut_count)
		timestamp_group_emit(group);
	else if (group->settles && group->emitted + group->count >= SETTLE_EVENTS)
		emit_costed(group);
}

void timestamp_group_settle(struct timestamp_group *group, bool settles)
{
	timestamp_group_emit(group);
	group->emitted = 0;
	group->settles = settles;
}

void timestamp_group_flush(struct timestamp_group *group, int64_t to_time, uint32_t insns)
{
	const struct callstack_machine *machine = group->owner->machine;
	size_t count = group->count;

	end_group(group, to_time, insns);
	timestamp_group_emit(group);
	group->full = 0; /* the machine's base time may change now */
	/* Other threads may need the room of a large group. */
	if (count > GROUP_FEW && machine->pending_room > machine->pending_most / 2)
		release_events(group);
}

void timestamp_group_emit_deferred(struct timestamp_group *group)
{
	timestamp_group_emit(group);
	emit_outer(group, group->outer.count);
	for (size_t i = 0; i < group->initial.count; i++)
		emit_deferred(group, &group->initial, i);
	group->outer.count = group->outer_done = group->initial.count = 0;
}

bool timestamp_group_cut(struct timestamp_group *group, int64_t time, uint32_t insns)
{
	if (time == group->time && group->calls) {
		*ARRAY_ADD(group->cuts, group->cut_count, group->cut_room) =
			(struct group_cut){ group->count, group->outer.count };
		timestamp_group_watch(group);
		return true;
	}
	timestamp_group_flush(group, time, insns);
	timestamp_group_emit_deferred(group);
	slice_sink_flush(group->owner->machine->sink, group->owner->track);
	return false;
}

/* ---- Adding -------------------------------------------------------------- */

/* Returns whether the arrays may grow. */
static bool may_grow(const struct timestamp_group *group)
{
	const struct callstack_machine *machine = group->owner->machine;

	return group->room < GROUP_FEW ||
	       (group->room < GROUP_LIMIT &&
		machine->pending_room + group->room <= machine->pending_most);
}

/* Returns the maximum number of events in the array. */
static size_t full_at(const struct timestamp_group *group)
{
	return MIN(group->room, GROUP_LIMIT);
}

/* Make room for one more event; emit events before growing the array. */
static void make_room(struct timestamp_group *group)
{
	struct callstack_machine *machine = group->owner->machine;
	size_t need = group->count + 1, before = group->room + group->detail_room;

	if (need > full_at(group)) {
		emit_costed(group);
		need = group->room < EMIT_ENOUGH ? group->room + 1 : group->count + 1;
	}
	if (need > full_at(group) && !may_grow(group)) {
		timestamp_group_flush(group, group->time, 0);
		before = group->room + group->detail_room;
		need = 1;
	}
	group->events = alloc_grow(group->events, &group->room, need, sizeof(*group->events));
	if (machine->sink->details)
		group->details = alloc_grow(group->details, &group->detail_room, group->room,
					    sizeof(*group->details));
	machine->pending_room += group->room + group->detail_room - before;
}

static bool waits(const struct timestamp_group *group)
{
	return group->sorted && !sink_is_immediate(group);
}

/* Returns whether the group's events may be emitted with the next group's. */
static bool collects(const struct timestamp_group *group)
{
	return waits(group) && group->count - group->distributed <= GROUP_FEW &&
	       !(awaits_cycles(group) && group->count - group->uncosted > GROUP_FEW);
}

/* Start a group at `time` if it differs, and make room for an event. */
static void prepare(struct timestamp_group *group, int64_t time, uint32_t insns)
{
	const struct callstack_machine *machine = group->owner->machine;

	if (time != group->time) {
		if (collects(group))
			end_group(group, time, insns);
		else
			timestamp_group_flush(group, time, insns);
	}
	group->perf_time = callstack_perf_time(machine, time);
	if (group->count >= full_at(group))
		make_room(group);
	group->full = waits(group) && !machine->sink->details ? full_at(group) : 0;
}

struct slice_event *timestamp_group_next_slow(struct timestamp_group *group, int64_t time,
					      uint32_t insns)
{
	struct slice_event *event;

	/* Fast path for a small group and a new time: `full` is 0 unless events collect. */
	if (group->count < group->full && group->count - group->distributed <= GROUP_FEW) {
		end_group(group, time, insns);
		group->perf_time = callstack_perf_time(group->owner->machine, time);
	} else if (group->owner->machine->sink->details) {
		return NULL;
	} else {
		prepare(group, time, insns);
	}
	event = &group->events[group->count++];
	event->time = group->perf_time;
	event->detail = insns;
	return event;
}

static void join_group(struct timestamp_group *group, const struct slice_event *events,
		       size_t count, uint32_t insns)
{
	int64_t time = count ? (int64_t)(events->time - group->owner->machine->base_time) : 0;

	for (size_t i = 0; i < count; i++) {
		uint32_t own = insns + events[i].detail;
		struct slice_event *event = timestamp_group_next(group, time, own);
		uint64_t perf_time = event->time;

		*event = events[i];
		event->time = perf_time;
		event->detail = own;
		group->calls += event->kind == SLICE_BEGIN;
	}
}

void timestamp_group_join(struct timestamp_group *group, const struct group_stretch *stretch,
			  uint32_t insns)
{
	const struct slice_event *middle = stretch->events + stretch->head;
	uint64_t base_time = group->owner->machine->base_time;

	join_group(group, stretch->events, stretch->head, insns);
	if (stretch->middle) {
		timestamp_group_flush(group, (int64_t)(middle->time - base_time),
				      insns + middle->detail);
		emit_events(group, middle, stretch->middle);
	}
	if (stretch->past_calls) {
		group->past_calls = stretch->past_calls;
		group->past_time = stretch->past_time;
	}
	join_group(group, middle + stretch->middle, stretch->tail, insns);
}

void timestamp_group_add(struct timestamp_group *group, int64_t time,
			 const struct slice_event *event, const struct slice_detail *detail)
{
	prepare(group, time, event->detail);
	if (group->details) {
		struct slice_detail *own = &group->details[group->count];

		*own = detail ? *detail : (struct slice_detail){ 0 };
		own->cycles = cycles_at(group, own->insns);
	}
	group->events[group->count] = *event;
	group->events[group->count++].time = group->perf_time;
	group->calls += event->kind == SLICE_BEGIN && event->order == SLICE_ORDER_PLAIN;
}

void timestamp_group_add_gap(struct timestamp_group *group, int64_t time,
			     const struct slice_event *event, const struct slice_detail *detail)
{
	timestamp_group_add(group, time, event, detail);
	group->in_gap = event->kind == SLICE_BEGIN;
	group->has_gap |= group->in_gap;
	if (group->in_gap)
		group->simple = false;
}

void timestamp_group_add_mark(struct timestamp_group *group, int64_t time,
			      const struct slice_event *mark, const struct slice_detail *detail)
{
	struct slice_event event = *mark;

	event.order = ORDER_MARK;
	timestamp_group_add(group, time, &event, detail);
	group->simple = false;
	group->has_mark = true;
	event.order = SLICE_ORDER_PLAIN;
	event.kind = SLICE_END;
	event.flags = 0;
	timestamp_group_add(group, time, &event, detail);
}

void timestamp_group_add_inlined(struct timestamp_group *group, int64_t time,
				 const struct slice_event *event, const struct slice_detail *detail)
{
	const struct callstack_machine *machine = group->owner->machine;

	/* Many inlined calls of one function are no reason to give up distributing its time. */
	if (group->count - group->distributed >= GROUP_LIMIT)
		timestamp_group_flush(group, time, event->detail);
	if (group->count >= full_at(group))
		make_room(group);
	group->full = waits(group) && !machine->sink->details ? full_at(group) : 0;
	if (group->details) {
		group->details[group->count] = *detail;
		group->details[group->count].cycles = cycles_at(group, detail->insns);
	}
	group->simple = false;
	group->has_inlined = true;
	group->events[group->count] = *event;
	group->events[group->count].time = callstack_perf_time(machine, time);
	group->events[group->count++].order = ORDER_INLINED;
}

bool timestamp_group_rename(struct timestamp_group *group, const struct symbol *symbol,
			    uint16_t flags)
{
	size_t at = group->count;

	/* A mark consists of a begin and an end. */
	while (at >= 2 && group->events[at - 1].kind == SLICE_END)
		at -= 2;
	if (!at || group->events[at - 1].kind != SLICE_BEGIN)
		return false;
	group->events[at - 1].symbol = symbol;
	group->events[at - 1].flags |= flags;
	return true;
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
