/* SPDX-License-Identifier: MIT */
/*
 * One thread's slices on their way from a call-stack machine to the sink.
 *
 * Many branches of a PT trace share a timestamp. The calls and returns of one timestamp are
 * collected as a group until a later timestamp arrives. The time between the two, but at most the
 * trace's resolution, is then distributed by the instructions between the group's events, as perf
 * estimates times between timing packets (util/intel-pt-decoder, intel_pt_est_timestamp()), with at
 * least 1 ns per call. If instructions are unknown, and for magic-trace's machine, each call has an
 * equal share. Returns take no time.
 *
 * Most groups are small, so events of former groups wait in the same array until some hundreds can
 * be emitted at once, unless the order of emission matters.
 *
 * A gap in the trace counts as a call: if it has the time of the events before it, it began some
 * time after them. It has an equal share of the time up to its end, or to the next event with
 * another time. The calls before an open gap take at most the time per call of the last group. The
 * slices of such a group have SLICE_ESTIMATED_TIME. So have the slices of any group of several
 * calls if the sink uses details and the trace has cycles; without cycles nearly all would.
 *
 * Core cycles are known at some branches only. The cycles between two of them are spread by
 * instructions as well: all events in between wait for the second one, and the shares add up to the
 * count.
 *
 * Deferred events enclose slices that are already emitted: they were found late (a caller that was
 * returned to but never seen to be called) or, for magic-trace's machine, begin at the very start
 * of the run. They wait until the thread's segment ends, and are emitted with SLICE_ORDER_DEFERRED.
 *
 * Times here are "mapped": ns since the run's first timed event, which may be
 * negative.  Arithmetic on them wraps and never traps.
 */
#pragma once

#include "base/io/big_array.h"
#include "src/callstack/callstack.h"
#include "src/slices/track.h"

/* A list that only grows; most of a long one is in a file (base/io/big_array.h). */
struct deferred_events {
	struct big_array events; /* owned: of struct deferred_event */
	size_t count;
};

struct timestamp_group {
	const struct callstack *owner; /* borrowed: where the slices go */
	/*
	 * Owned; in order of arrival, with final times of the first `distributed`. Until an event
	 * is emitted, its `detail` is the thread's instructions so far, modulo 2^32.
	 */
	struct slice_event *events;
	struct slice_detail *details; /* owned; by event, if the sink uses them */
	size_t count, distributed;
	/* Where a segment ended at the group's time. */
	struct group_cut {
		size_t at;    /* index after its last event */
		size_t outer; /* index after its last deferred event */
	} * cuts;             /* owned; a call of the group precedes each */
	size_t cut_count, cut_room;
	size_t room, detail_room;
	/* While `count` is below this, an event can be added, and none must be emitted first. */
	size_t full;
	/* Cycles of CYC packets; events from `uncosted` up, after `costed`, have no cycles yet. */
	struct slice_cost costed, before; /* the last known cycles, and the ones before */
	size_t uncosted;
	size_t calls;       /* the group's events that take time */
	size_t past_calls;  /* the same of the last group with distributed time; 0: no such group */
	int64_t past_time;  /* ns: time of past_calls */
	int64_t time;       /* mapped: the group's */
	uint64_t perf_time; /* the same, of perf's clock */
	bool sorted;        /* times do not decrease, and enclosing slices may be emitted late */
	bool evenly;        /* each call has an equal share: magic-trace's machine */
	bool last;          /* drop deferred events from now on */
	bool simple;        /* only calls and returns in order, no gap, no watched event, no cut */
	bool has_inlined, has_mark;
	bool noted;        /* events have more than the usual fields: details or sites */
	bool has_gap;      /* one of the calls is a gap */
	bool in_gap;       /* the last gap is still open */
	bool switched;     /* another stack began in the segment: see timestamp_group_switch() */
	size_t watched;    /* 1 + the watched event's index in the group; 0: its time is known */
	size_t floor;      /* the first event, within the group, of the watched event's segment */
	size_t unresolved; /* index in `outer`: later ones may begin with a watched event */
	struct slice_event around; /* if `watched` is 0: time, order, flags of an enclosing slice */
	struct deferred_events outer;   /* found late, innermost first */
	size_t outer_done;              /* events of `outer` that were already emitted */
	size_t announced;               /* the same, or announced: see SLICE_EARLY */
	struct deferred_events initial; /* calls at mapped time 0, emitted after `outer` */
	int64_t since;                  /* mapped: earliest start of a call that is found late */
	bool encloses;   /* a slice is always found late, around all others: never settle */
	bool settles;    /* nothing will be found late: see timestamp_group_settle() */
	size_t emitted;  /* events since the last flush of the sink, or since it settles */
	int64_t settled; /* mapped: slices that begin earlier can no longer be emitted */
};

void timestamp_group_release(struct timestamp_group *group);

/* Slow path of timestamp_group_next(). */
struct slice_event *timestamp_group_next_slow(struct timestamp_group *group, int64_t time,
					      uint32_t insns);

/* Each thread has room for this many events, even at the limit of all threads. */
#define GROUP_FEW ((size_t)1 << 10)

/* Returns whether the group has events that wait for their cycles. */
static inline bool timestamp_group_awaits_cycles(const struct timestamp_group *group)
{
	return group->costed.cycles && group->uncosted < group->count;
}

/* Returns whether the group can end without changing its events' times. */
static inline __attribute__((always_inline)) bool timestamp_group_has_times(
	const struct timestamp_group *group)
{
	return group->simple &&
	       (!group->calls ||
		(group->calls == 1 && group->events[group->count - 1].kind == SLICE_BEGIN));
}

/*
 * Returns a new event at `time`; another time than the group's begins a new group. The caller fills
 * in all but the event's time and `detail`, and counts a call in `calls`. `insns`: the thread's
 * instructions so far, modulo 2^32. If `details` is not NULL, timestamp_group_set_cycles() is next.
 */
static inline __attribute__((always_inline)) struct slice_event *timestamp_group_next(
	struct timestamp_group *group, int64_t time, uint32_t insns)
{
	struct slice_event *event;

	if (group->count >= group->full)
		return timestamp_group_next_slow(group, time, insns);
	if (time != group->time) {
		if (time < group->time || !timestamp_group_has_times(group))
			return timestamp_group_next_slow(group, time, insns);
		group->distributed = group->count;
		group->calls = 0;
		group->perf_time += (uint64_t)(time - group->time);
		group->time = time;
	}
	event = &group->events[group->count++];
	event->time = group->perf_time;
	event->detail = insns;
	return event;
}

/* Returns the cycles at an instruction count within the last stretch of known cycles. */
uint64_t timestamp_group_cycles_at(const struct timestamp_group *group, uint64_t insns);

/* The detail of the event added last is set: fill in its cycles. */
static inline void timestamp_group_set_cycles(const struct timestamp_group *group)
{
	const struct slice_cost *last = &group->costed;
	struct slice_detail *own = &group->details[group->count - 1];

	own->cycles = own->insns >= last->insns ? last->cycles
						: timestamp_group_cycles_at(group, own->insns);
}

/*
 * Add the begin or end of a call at `time`, with its detail (NULL: unknown), whose cycles the group
 * fills in. Here and below, the event's own `detail` is the thread's instructions so far.
 */
void timestamp_group_add(struct timestamp_group *group, int64_t time,
			 const struct slice_event *event, const struct slice_detail *detail);

/*
 * Add the begin of a gap's slice, which counts as a call, or its end. Only marks may come between.
 */
void timestamp_group_add_gap(struct timestamp_group *group, int64_t time,
			     const struct slice_event *event, const struct slice_detail *detail);

/* Add a slice without duration, which takes no time of the group. */
void timestamp_group_add_mark(struct timestamp_group *group, int64_t time,
			      const struct slice_event *mark, const struct slice_detail *detail);

/*
 * Add the begin or end of an inlined call, which takes no time of the group: its time is
 * interpolated by instructions between the calls and returns around it, from `time` on, not before
 * the group's.
 */
void timestamp_group_add_inlined(struct timestamp_group *group, int64_t time,
				 const struct slice_event *event,
				 const struct slice_detail *detail);

/* Give the last open slice another name and more slice_flags. Returns false if it is emitted. */
bool timestamp_group_rename(struct timestamp_group *group, const struct symbol *symbol,
			    uint16_t flags);

/* Add a return from an unseen function that began at `since`, with `begin`'s symbol and order. */
void timestamp_group_add_unseen_return(struct timestamp_group *group, int64_t time,
				       const struct slice_event *begin, int64_t since);

/* Defer a call that is open since a mapped time, with its order and flags. */
void timestamp_group_infer(struct timestamp_group *group, int64_t time,
			   const struct slice_event *begin, const struct slice_detail *detail);

/*
 * Watch the event added last. Until another event is watched, timestamp_group_infer_watched() is
 * timestamp_group_infer() at its time, which is known when the group ends.
 */
void timestamp_group_watch(struct timestamp_group *group);
void timestamp_group_infer_watched(struct timestamp_group *group, const struct slice_event *begin,
				   const struct slice_detail *detail);

/* The segment has another stack from now on, whose unseen callers begin later than others. */
void timestamp_group_switch(struct timestamp_group *group);

/* The segment that begins now, or the thread, has its first unseen callers at `perf_time`. */
void timestamp_group_set_since(const struct timestamp_group *group, uint64_t perf_time);

/* Spread the last known cycles over the events that wait for them. */
void timestamp_group_spread_cycles(struct timestamp_group *group);

/*
 * The thread has run for `cycles` more, and `insns` in all. The sink uses details, which have them.
 */
static inline void timestamp_group_count_cycles(struct timestamp_group *group, uint64_t insns,
						uint32_t cycles)
{
	size_t last = group->count - 1;

	if (!group->costed.cycles)
		group->full = 0; /* events wait from now on: see reserve() */
	group->before = group->costed;
	group->costed = (struct slice_cost){ insns, group->before.cycles + cycles };
	/* Usually the cycles end with the only event that waits for them. */
	if (group->uncosted == last && group->details && insns > group->before.insns &&
	    group->details[last].insns == insns) {
		group->details[last].cycles = group->costed.cycles;
		group->uncosted = group->count;
	} else if (group->uncosted < group->count) {
		timestamp_group_spread_cycles(group);
	}
}

/* Cycles counted later are of later instructions, of another stack. Returns the cycles so far. */
static inline uint64_t timestamp_group_split(struct timestamp_group *group, uint64_t insns)
{
	if (insns != group->costed.insns)
		timestamp_group_count_cycles(group, insns, 0);
	return group->costed.cycles;
}

/* Emit the events of former groups. */
void timestamp_group_emit(struct timestamp_group *group);

/* Mark the `number`-th deferred call, from 1, SLICE_UNCERTAIN_LEVEL. False: it is emitted. */
bool timestamp_group_mark_uncertain(struct timestamp_group *group, size_t number);

/* Returns the number of calls at a time so far, at most `most`. */
static inline size_t timestamp_group_calls(const struct timestamp_group *group, int64_t time,
					   size_t most)
{
	if (time != group->time)
		return 0;
	return MIN(group->calls, most);
}

/*
 * `settles`: from now on, no call that began before emitted events will be found late, so the sink
 * is flushed periodically and need not keep the slices.
 */
void timestamp_group_settle(struct timestamp_group *group, bool settles);

/* End the group at the next one's time, after `insns`, and emit all but deferred events. */
void timestamp_group_flush(struct timestamp_group *group, int64_t to_time, uint32_t insns);

/*
 * End a segment at `time`, after `insns`: emit its events, then its deferred ones, and flush the
 * sink. Returns true if the action is deferred to the end of the group, because its calls share a
 * time that is not known yet. Its last event is then watched: the next segment begins with it.
 */
bool timestamp_group_cut(struct timestamp_group *group, int64_t time, uint32_t insns);

/* Emit all events of former groups, then the deferred ones, outermost first. */
void timestamp_group_emit_deferred(struct timestamp_group *group);

/*
 * Events of successive groups of a thread, collected and distributed by another group, whose
 * machine has base time 0.
 */
struct group_stretch {
	const struct slice_event *events; /* borrowed; calls and returns only */
	size_t head;   /* events of the first group, whose time is not distributed yet */
	size_t middle; /* further events, with their final times */
	size_t tail;   /* events of the last group, not distributed either; 0: it is the first */
	size_t past_calls; /* calls of the last middle group that had any; 0: no such group */
	int64_t past_time; /* ns: time of past_calls */
};

/*
 * Add the events of a stretch, which are not earlier than the group, as if they were added one by
 * one. `insns`: the thread's instructions at the stretch's zero. The sink must not use details.
 */
void timestamp_group_join(struct timestamp_group *group, const struct group_stretch *stretch,
			  uint32_t insns);

/* Returns perf's time in ns for a mapped one of the machine; 0 if it would be negative. */
uint64_t callstack_perf_time(const struct callstack_machine *machine, int64_t time);

/* ---- Between the files: timestamp_deferred.c, timestamp_times.c ------------ */

/*
 * Limit of events in a group: it is emitted then without distributing time. Groups are long where
 * timing packets are missing. Deferred calls at mapped time 0 have the same limit.
 */
#define GROUP_LIMIT ((size_t)1 << 18)

/* Values of slice_event.order within a group, for events that are not calls or returns. */
enum { ORDER_MARK = 1, ORDER_UNSEEN_RETURN, ORDER_INLINED };

static inline bool sink_is_immediate(const struct timestamp_group *group)
{
	return group->owner->machine->sink->immediate;
}

/* Emit the deferred events up to index `end`, outermost first. */
void timestamp_group_emit_outer(struct timestamp_group *group, size_t end);

/* Emit all deferred events. */
void timestamp_group_empty_deferred(struct timestamp_group *group);

/* Announce the segment's deferred events so far to a sink with `early`. */
void timestamp_group_announce(struct timestamp_group *group);

/* The group's times are final: copy them to the deferred events that begin with its events. */
void timestamp_group_resolve_watched(struct timestamp_group *group, bool estimated);

/* Reserve the position of a return from an unseen function; returns its index. */
uint32_t timestamp_group_reserve_unseen(struct timestamp_group *group);

/* Defer a return from an unseen function: magic-trace emits it before callers found later. */
void timestamp_group_defer_unseen(struct timestamp_group *group, const struct slice_event *event);

/*
 * Returns whether the group drops a call at a mapped time. magic-trace's file has calls at time 0
 * after their callers; the sorter does not need that order.
 */
bool timestamp_group_defer_initial(struct timestamp_group *group, size_t index, int64_t time);

/*
 * Distribute the time up to `time` among the group's events: `insns` are the instructions of the
 * thread. The second is for simple groups, the most frequent ones.
 */
void timestamp_group_distribute(struct timestamp_group *group, int64_t time, uint32_t insns);
void timestamp_group_distribute_simple(struct timestamp_group *group, int64_t time, uint32_t insns);

/* Returns whether events depend on shares of time: not a last call.  `any`: there may be marks. */
static inline bool timestamp_group_shares_time(const struct timestamp_group *group, bool any)
{
	size_t end = group->count;

	while (any && end > group->distributed && group->events[end - 1].order == ORDER_INLINED)
		end--;
	return group->calls >
	       (end > group->distributed && group->events[end - 1].kind == SLICE_BEGIN);
}
