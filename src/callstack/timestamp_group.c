/* SPDX-License-Identifier: MIT */
/* Collect slices by timestamp, and emit them. */
#include "src/callstack/timestamp_group.h"

/* Events to emit at once, if possible: 8 KiB. */
#define EMIT_ENOUGH ((size_t)1 << 8)

/* Events between two flushes of a group that settles, exactly: it orders slices of several threads.
 */
#define SETTLE_EVENTS ((size_t)1 << 12)

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
	/* A group on zeroed memory has no owner. */
	if (group->room)
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

/* ---- Spreading cycles ---------------------------------------------------- */

#define PACE_BITS 32

uint64_t timestamp_group_cycles_at(const struct timestamp_group *group, uint64_t insns)
{
	const struct slice_cost *from = &group->before, *to = &group->costed;
	uint64_t pace; /* cycles per instruction between them */
	uint32_t rounding;

	if (insns >= to->insns)
		return to->cycles;
	if (insns <= from->insns)
		return from->cycles;
	pace = ((to->cycles - from->cycles) << PACE_BITS) / (to->insns - from->insns);
	/* Rounding down would shift cycles between functions, alike in each pass of a loop. */
	rounding = (uint32_t)(from->insns * FIBONACCI_FACTOR >> 32);
	return from->cycles + (((insns - from->insns) * pace + rounding) >> PACE_BITS);
}

void timestamp_group_spread_cycles(struct timestamp_group *group)
{
	for (size_t i = group->uncosted; group->details && i < group->count; i++)
		if (group->details[i].insns > group->before.insns)
			group->details[i].cycles =
				timestamp_group_cycles_at(group, group->details[i].insns);
	group->uncosted = group->count;
}

/* ---- Emitting ------------------------------------------------------------ */

static void pass_events(const struct timestamp_group *group, const struct slice_event *events,
			size_t count)
{
	const struct slice_sink *sink = group->owner->machine->sink;
	const struct slice_detail *details = group->details;

	if (details && group->sorted)
		details += events - group->events;
	if (count)
		sink->events(sink, group->owner->track,
			     &(struct slice_batch){ events, count, details, group->sorted });
}

/* Flush the sink after an event, if no slice that encloses it may be found late. */
static void flush_after(struct timestamp_group *group, const struct slice_event *event)
{
	int64_t time = (int64_t)(event->time - group->owner->machine->base_time);

	group->emitted = 0;
	if (time <= group->since)
		return;
	group->settled = time;
	timestamp_group_emit_outer(group, group->outer.count);
	group->outer.count = group->outer_done = group->announced = 0;
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
	if (group->emitted + count >= SLICE_EARLY_EVENTS && group->owner->machine->sink->early)
		timestamp_group_announce(group);
	pass_events(group, events, count);
	group->emitted += count;
}

void timestamp_group_set_since(const struct timestamp_group *group, uint64_t perf_time)
{
	slice_sink_since(group->owner->machine->sink, group->owner->track, perf_time);
}

/* Emit the segments that ended within the first events. Returns the number of their events. */
static __attribute__((noinline)) size_t emit_segments(struct timestamp_group *group, size_t count)
{
	size_t passed = 0, left = 0, last = group->cut_count - 1;

	for (size_t i = 0; i <= last; i++) {
		struct group_cut cut = group->cuts[i];

		if (cut.at > count) {
			cut.at -= count;
			group->cuts[left++] = cut;
			continue;
		}
		emit_events(group, group->events + passed, cut.at - passed);
		timestamp_group_emit_outer(group, cut.outer);
		slice_sink_flush(group->owner->machine->sink, group->owner->track);
		passed = cut.at;
		if (i == last && !group->switched)
			timestamp_group_set_since(group, group->events[passed - 1].time);
	}
	group->cut_count = left;
	return passed;
}

/* Emit the first events, of former groups. */
static void emit_first(struct timestamp_group *group, size_t count)
{
	size_t left = group->count - count, passed;

	group->full = 0;
	if (!count)
		return;
	for (size_t i = 0; group->details && !group->sorted && i < count; i++)
		group->events[i].detail = (uint32_t)i + 1;
	for (size_t i = 0; group->owner->machine->lacks_levels && i < count; i++)
		callstack_mark_level(group->owner->machine, &group->events[i]);
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

/* Emit the events of former groups, except for events that wait for their cycles. */
static void emit_costed(struct timestamp_group *group)
{
	bool waits = timestamp_group_awaits_cycles(group) && group->uncosted < group->distributed;

	emit_first(group, waits ? group->uncosted : group->distributed);
}

/* The group ends before `time`, after `insns` instructions of the thread. */
static inline void end_group(struct timestamp_group *group, int64_t time, uint32_t insns)
{
	if (!group->simple)
		timestamp_group_distribute(group, time, insns);
	else if (timestamp_group_shares_time(group, false))
		timestamp_group_distribute_simple(group, time, insns);
	if (group->watched)
		timestamp_group_resolve_watched(group, false);
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
	group->settles = settles && !group->encloses;
}

void timestamp_group_flush(struct timestamp_group *group, int64_t to_time, uint32_t insns)
{
	const struct callstack_machine *machine = group->owner->machine;
	size_t count = group->count;
	bool sorted = group->sorted;

	/* The group's times decrease if time does. */
	if (to_time < group->time)
		group->simple = group->sorted = false;
	end_group(group, to_time, insns);
	timestamp_group_emit(group);
	group->sorted = sorted;
	group->full = 0; /* the machine's base time may change now */
	/* Other threads may need the room of a large group. */
	if (count > GROUP_FEW && machine->pending_room > machine->pending_most / 2)
		release_events(group);
}

void timestamp_group_emit_deferred(struct timestamp_group *group)
{
	timestamp_group_emit(group);
	timestamp_group_empty_deferred(group);
}

bool timestamp_group_cut(struct timestamp_group *group, int64_t time, uint32_t insns)
{
	if (time == group->time && group->calls) {
		*ARRAY_ADD(group->cuts, group->cut_count, group->cut_room) =
			(struct group_cut){ group->count, group->outer.count };
		timestamp_group_watch(group);
		group->switched = false;
		return true;
	}
	timestamp_group_flush(group, time, insns);
	timestamp_group_emit_deferred(group);
	slice_sink_flush(group->owner->machine->sink, group->owner->track);
	timestamp_group_set_since(group, callstack_perf_time(group->owner->machine, time));
	group->switched = false;
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
	ARRAY_GROW(group->events, group->room, need);
	if (machine->sink->details)
		ARRAY_GROW(group->details, group->detail_room, group->room);
	group->noted = machine->sink->details || machine->sites;
	machine->pending_room += group->room + group->detail_room - before;
}

static bool waits(const struct timestamp_group *group)
{
	return group->sorted && !sink_is_immediate(group);
}

/* Make room for an event. */
static void reserve(struct timestamp_group *group)
{
	if (group->count >= full_at(group))
		make_room(group);
	group->full = waits(group) ? full_at(group) : 0;
	if (group->settles)
		group->full = MIN(group->full, SETTLE_EVENTS - group->emitted);
	/* Before that, the group and the events that wait for cycles are small. */
	if (group->costed.cycles)
		group->full =
			MIN(group->full, MIN(group->distributed, group->uncosted) + GROUP_FEW);
}

/* Returns whether the group and the events that wait for cycles are small. */
static bool is_small(const struct timestamp_group *group)
{
	return group->count - group->distributed <= GROUP_FEW &&
	       !(timestamp_group_awaits_cycles(group) &&
		 group->count - group->uncosted > GROUP_FEW);
}

/* Start a group at `time` if it differs, and make room for an event. */
static inline __attribute__((always_inline)) void prepare(struct timestamp_group *group,
							  int64_t time, uint32_t insns)
{
	if (time != group->time) {
		/* Its events may be emitted with the next group's. */
		if (time > group->time && (group->full || waits(group)) && is_small(group))
			end_group(group, time, insns);
		else
			timestamp_group_flush(group, time, insns);
	}
	group->perf_time = callstack_perf_time(group->owner->machine, time);
	if (group->count >= group->full)
		reserve(group);
}

/* Add an event, for which there is room, with its detail (NULL: unknown). */
static struct slice_event *append(struct timestamp_group *group, const struct slice_event *event,
				  const struct slice_detail *detail, uint64_t perf_time)
{
	static const struct slice_detail unknown;
	struct slice_event *own = &group->events[group->count++];

	*own = *event;
	own->time = perf_time;
	if (group->details) {
		group->details[group->count - 1] = detail ? *detail : unknown;
		timestamp_group_set_cycles(group);
	}
	return own;
}

struct slice_event *timestamp_group_next_slow(struct timestamp_group *group, int64_t time,
					      uint32_t insns)
{
	struct slice_event *event;

	prepare(group, time, insns);
	event = &group->events[group->count++];
	event->time = group->perf_time;
	event->detail = insns;
	return event;
}

static void join_group(struct timestamp_group *group, const struct slice_event *events,
		       size_t count, uint32_t insns)
{
	const struct slice_event *limit = events + count;
	int64_t time = count ? (int64_t)(events->time - group->owner->machine->base_time) : 0;

	while (events < limit) {
		struct slice_event *event =
			timestamp_group_next(group, time, insns + events->detail);
		size_t left = (size_t)(limit - events), room = group->full - (group->count - 1);
		size_t calls = 0, now = group->full < group->count ? 1 : MIN(left, room);
		uint64_t perf_time = event->time;

		group->count += now - 1;
		for (const struct slice_event *end = events + now; events < end; event++) {
			*event = *events++;
			event->time = perf_time;
			event->detail += insns;
			calls += event->kind == SLICE_BEGIN;
		}
		group->calls += calls;
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
	append(group, event, detail, group->perf_time);
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
	/* Many inlined calls of one function are no reason to give up distributing its time. */
	if (group->count - group->distributed >= GROUP_LIMIT)
		timestamp_group_flush(group, time, event->detail);
	reserve(group);
	group->simple = false;
	group->has_inlined = true;
	append(group, event, detail, callstack_perf_time(group->owner->machine, time))->order =
		ORDER_INLINED;
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

	timestamp_group_add(group, time, &event, NULL);
	group->simple = false;
	if (!sink_is_immediate(group))
		group->events[group->count - 1].detail = timestamp_group_reserve_unseen(group);
}
