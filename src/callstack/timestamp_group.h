/* SPDX-License-Identifier: MIT */
/*
 * One thread's slices on their way from a call-stack machine to the sink.
 *
 * Many branches of a PT trace have the same timestamp.  The calls and returns of one
 * timestamp are therefore collected as a group until a later timestamp arrives.  The
 * time between the two, but not more than the trace's resolution, is then distributed
 * by the instructions between the group's events, as perf estimates times between timing
 * packets (util/intel-pt-decoder, intel_pt_est_timestamp()), with 1 ns at least for each call.
 * Where instructions are not known, and for magic-trace's machine, each call has an equal share,
 * and returns take no time.
 *
 * Groups are mostly small, so events of former groups wait in the same array until some
 * hundreds can be emitted at once, unless the order of the machine's emissions counts.
 *
 * A gap in the trace is one of the calls: if it has the time of the events before it, it began
 * some time after them, and has an equal share of the time up to its end, or to the next event with
 * another time.  What comes before an open gap has no more time than the calls of the
 * last group before took.  Slices of such a group have SLICE_ESTIMATED_TIME; so have those of any
 * group of several calls if the sink uses details and the trace has cycles, else nearly all would.
 *
 * Core cycles are known at some branches only.  Those between two of them are spread by
 * instructions as well: all events in between wait for the second one, and the shares add up to
 * what was counted.
 *
 * Deferred events are slices that enclose what is already emitted, because they were found
 * late (a caller that was returned to but never seen to be called) or, for magic-trace's
 * machine, because they begin at the very start of the run.  They wait until the
 * thread's segment ends, and are then emitted with SLICE_ORDER_DEFERRED.
 *
 * Times here are "mapped": ns since the run's first timed event, which may be
 * negative.  Arithmetic on them wraps and never traps.
 */
#ifndef SRC_CALLSTACK_TIMESTAMP_GROUP_H
#define SRC_CALLSTACK_TIMESTAMP_GROUP_H

#include "base/io/big_array.h"
#include "src/callstack/callstack.h"
#include "src/slices/slice_sink.h"

/* What a thread has executed up to some event. */
struct counts {
	uint64_t insns, cycles;
};

/* A list that only grows; of a long one most is in a file (base/io/big_array.h). */
struct deferred_events {
	struct big_array events; /* owned: of struct deferred_event */
	size_t count;
};

/* Where a segment ended at the group's time: its events are those before. */
struct group_cut {
	size_t at;    /* of `events` */
	size_t outer; /* of `outer` */
};

struct timestamp_group {
	const struct callstack *owner; /* borrowed: where the slices go */
	/*
	 * In order of arrival.  The first `distributed` have their final times.  Until they are
	 * emitted, `detail` is the thread's instructions up to then, modulo 2^32.
	 */
	struct slice_event *events;
	struct slice_detail *details; /* owned; by event, if the sink uses them */
	size_t count, distributed;
	struct group_cut *cuts; /* owned; each has a call of the group before it */
	size_t cut_count, cut_room;
	size_t room, detail_room;
	size_t full; /* while there are fewer events, one can be added at once; often 0 */
	/*
	 * Cycles are known at some events (CYC packets).  Events from `uncosted` on have no cycles
	 * yet: they come after `costed`.
	 */
	struct counts costed, before; /* where cycles were known last, and before that */
	uint64_t pace;                /* cycles an instruction between them, in 2^-32 */
	size_t uncosted;
	size_t calls;       /* how many of the group take time */
	size_t past_calls;  /* of the last group whose time was distributed; 0: none */
	int64_t past_time;  /* ns: theirs */
	int64_t time;       /* mapped: the group's */
	uint64_t perf_time; /* the same, of perf's clock */
	bool sorted; /* times do not decrease, and what encloses a slice may be emitted behind it */
	bool last;   /* what is deferred from now on is lost */
	bool simple; /* only calls and returns in their order, none of them a gap, without details
		      */
	bool has_inlined;
	bool has_gap; /* one of the calls is a gap */
	bool has_mark;
	bool in_gap;    /* the last gap has no end yet */
	size_t watched; /* 1 + which of the group's own events is watched; 0: its time is known */
	size_t floor;   /* the first of these events of the watched one's segment */
	size_t unresolved;     /* of `outer`: from here on times may depend on those of events */
	uint64_t watched_time; /* if `watched` is 0: perf's clock, and the order of what encloses it
				*/
	int8_t watched_order;
	bool watched_estimated;
	struct deferred_events outer;   /* found late; the last one found comes first */
	size_t outer_done;              /* of `outer`: they are emitted */
	struct deferred_events initial; /* calls at mapped time 0, in order, after all of `outer` */
	int64_t since;                  /* mapped: a call that is found late began then, or later */
	bool settles;                   /* none will be: see timestamp_group_settle() */
	size_t emitted;                 /* events since the sink was flushed, if it settles */
	int64_t settled; /* mapped: slices that begin earlier cannot be emitted any more */
};

/* Release the arrays.  Idempotent, also on zeroed memory. */
void timestamp_group_release(struct timestamp_group *group);

/* The part of timestamp_group_next() for another time than the group's, or a full array. */
struct slice_event *timestamp_group_next_slow(struct timestamp_group *group, int64_t time,
					      uint32_t insns);

/*
 * Returns a new event at a time, to be filled but for its time and `detail`, and counted in
 * `calls` if it is a call; another time than the group's own begins a new group.
 * `insns`: the thread's instructions up to now, modulo 2^32.
 * NULL: the sink uses details, so timestamp_group_add() must be called instead.
 */
static inline struct slice_event *timestamp_group_next(struct timestamp_group *group, int64_t time,
						       uint32_t insns)
{
	struct slice_event *event;

	if (time != group->time || group->count >= group->full)
		return timestamp_group_next_slow(group, time, insns);
	event = &group->events[group->count++];
	event->time = group->perf_time;
	event->detail = insns;
	return event;
}

/*
 * Add a begin, of a call, or an end at a time, with its detail (NULL: unknown), whose cycles the
 * group fills in.  The event's own
 * `detail` is the thread's instructions up to now, here and below.
 */
void timestamp_group_add(struct timestamp_group *group, int64_t time,
			 const struct slice_event *event, const struct slice_detail *detail);

/*
 * Add the begin of a gap's slice, which is a call like others, or its end.  Nothing but marks
 * comes between.
 */
void timestamp_group_add_gap(struct timestamp_group *group, int64_t time,
			     const struct slice_event *event, const struct slice_detail *detail);

/* Add a slice of no length, which takes no time of the group. */
void timestamp_group_add_mark(struct timestamp_group *group, int64_t time,
			      const struct slice_event *mark, const struct slice_detail *detail);

/*
 * Add the begin or end of an inlined call at a time, not before the group's: it takes no time of
 * the group.  Its own time is found, by instructions, between those of the calls and returns around
 * it, and is not before `time`.
 */
void timestamp_group_add_inlined(struct timestamp_group *group, int64_t time,
				 const struct slice_event *event,
				 const struct slice_detail *detail);

/*
 * The last slice that began, and has not ended, gets another name, and more enum slice_flags.
 * Returns false if that is too late, as its begin is emitted already.
 */
bool timestamp_group_rename(struct timestamp_group *group, const struct symbol *symbol,
			    uint16_t flags);

/* Add a return from an unseen function, whose slice has symbol and order, since a mapped time. */
void timestamp_group_add_unseen_return(struct timestamp_group *group, int64_t time,
				       const struct slice_event *begin, int64_t since);

/* Defer the call of a function that has been open since a mapped time, with its order and flags. */
void timestamp_group_infer(struct timestamp_group *group, int64_t time,
			   const struct slice_event *begin, const struct slice_detail *detail);

/*
 * Watch the event that was added last: timestamp_group_infer_watched() is timestamp_group_infer()
 * at its time, which is known when the group ends, until another event is watched.
 */
void timestamp_group_watch(struct timestamp_group *group);
void timestamp_group_infer_watched(struct timestamp_group *group, const struct slice_event *begin,
				   const struct slice_detail *detail);

/*
 * The thread has run for `cycles` more, and `insns` in all: spread the cycles over the
 * instructions since the last time.
 */
void timestamp_group_count_cycles(struct timestamp_group *group, uint64_t insns, uint32_t cycles);

/*
 * Cycles that are counted later come after these instructions, so that no two stacks share them.
 * Returns the cycles so far.
 */
uint64_t timestamp_group_split(struct timestamp_group *group, uint64_t insns);

/* Emit the events of former groups. */
void timestamp_group_emit(struct timestamp_group *group);

/*
 * Mark a call that was deferred as the `number`-th of those that are not emitted, from 1 on, with
 * SLICE_UNCERTAIN_LEVEL.  Returns whether it is one of them.
 */
bool timestamp_group_mark_uncertain(struct timestamp_group *group, size_t number);

/* Returns how many calls a time has up to now, at most `most`. */
static inline size_t timestamp_group_calls(const struct timestamp_group *group, int64_t time,
					   size_t most)
{
	if (time != group->time)
		return 0;
	return group->calls < most ? group->calls : most;
}

/*
 * From now on no call will be found late that began before what is emitted (or it may again): flush
 * the sink now and then, which need not keep the slices.
 */
void timestamp_group_settle(struct timestamp_group *group, bool settles);

/*
 * Emit all events but deferred ones.  The group ends at `to_time`, where the next one is, behind
 * `insns` instructions of the thread.
 */
void timestamp_group_flush(struct timestamp_group *group, int64_t to_time, uint32_t insns);

/*
 * A segment ends at `time`, behind `insns`, with all its slices: emit its events, deferred ones
 * behind the others, and flush the sink.  Returns true if that is done when the group ends, as its
 * calls share a time that is not known yet; its last event is then watched, with which the next
 * segment begins.
 */
bool timestamp_group_cut(struct timestamp_group *group, int64_t time, uint32_t insns);

/* Emit all events of former groups, then the deferred ones, outermost first. */
void timestamp_group_emit_deferred(struct timestamp_group *group);

/*
 * Events of a thread's successive groups that another group has collected and distributed, whose
 * machine has base time 0.
 */
struct group_stretch {
	const struct slice_event *events; /* borrowed; calls and returns alone */
	size_t head;       /* events of the first group, whose time is not distributed yet */
	size_t middle;     /* events behind them, with their final times */
	size_t tail;       /* events of the last group, as those of the first; 0: it is that */
	size_t past_calls; /* of the last of the middle groups that had calls; 0: none had */
	int64_t past_time; /* ns: theirs */
};

/*
 * Add the events of a stretch, which are not earlier than the group, as if they were added one by
 * one.  The thread had `insns` where the stretch counts them from.  The sink uses no details.
 */
void timestamp_group_join(struct timestamp_group *group, const struct group_stretch *stretch,
			  uint32_t insns);

/* Returns perf's time in ns for a mapped one of the machine; 0 if it would be negative. */
uint64_t callstack_perf_time(const struct callstack_machine *machine, int64_t time);

#endif
