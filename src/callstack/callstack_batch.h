/* SPDX-License-Identifier: MIT */
/*
 * One thread's slices on their way from magic-trace's machine to the sink.
 *
 * Many branches of a PT trace share one timestamp.  Calls and returns of one
 * timestamp are therefore held back as a batch until a later timestamp arrives,
 * and the time between the two is dealt out evenly among the batch's calls, but
 * not more of it than the trace's resolution; returns take no time.
 *
 * Most batches are of nothing but calls and returns, and the sink takes many
 * at once: these are put down as edges, which get their times in place when the
 * next batch begins, and are given out some hundreds at a time.
 *
 * Beside the batch stand the start events: slices that belong before what is
 * already given out, because they were found late (a caller that was returned
 * to but never seen to be called) or, for magic-trace's machine, because they
 * begin at the very start of the run.  They wait until the thread's segment
 * ends, outermost first, and are then given out with SLICE_ORDER_DEFERRED.
 *
 * Times here are "mapped": ns since the run's first timed event, which may be
 * negative.  Arithmetic on them wraps and never traps.
 */
#ifndef SRC_CALLSTACK_CALLSTACK_BATCH_H
#define SRC_CALLSTACK_CALLSTACK_BATCH_H

#include <stddef.h>
#include <stdint.h>

#include "base/io/big_array.h"
#include "src/callstack/callstack.h"
#include "src/slices/slice_sink.h"

enum batch_kind {
	BATCH_CALL,          /* a slice begins */
	BATCH_INFERRED_CALL, /* the same, its call was not seen */
	BATCH_RETURN,        /* the innermost slice ends */
	BATCH_UNSEEN_RETURN, /* a return from a function that was never seen: a whole slice */
	BATCH_MARK,          /* a slice that takes no time */
};

struct batch_event {
	const struct symbol *symbol; /* borrowed */
	uint64_t ip;                 /* of a call: the address it went to */
	int64_t since;              /* of an unseen return: mapped time at which its slice begins */
	struct slice_detail detail; /* of a call or return; passed on if the sink wants it */
	uint8_t kind;               /* enum batch_kind */
	uint16_t flags;             /* enum slice_flags, besides what the kind says */
};

struct start_event {
	int64_t time; /* mapped */
	struct batch_event event;
};

/* An array that only grows; many of them are in a file (base/io/big_array.h). */
struct start_events {
	struct big_array events; /* owned */
	size_t count;
};

/* What waits to be given out at once: edges of former batches, then the batch's own. */
struct batch_edges {
	struct slice_event *edges; /* owned */
	size_t count, room;
	size_t full;   /* at so many there is more to be done than to add one */
	size_t dealt;  /* so many have the times that they are given out with */
	uint64_t time; /* ns, perf's clock: of all others */
};

struct callstack_batch {
	const struct callstack *owner; /* borrowed: where the slices go */
	struct batch_edges edges;      /* in the order of arrival, */
	struct batch_event *pending;   /* or, owned, if something else is among them */
	size_t count, room;
	size_t full;                 /* at so many it needs room, or is given out */
	size_t calls;                /* how many of the batch take time */
	int64_t time;                /* mapped: of all pending events */
	bool keeps_order;            /* calls at mapped time 0 are no start events */
	struct start_events outer;   /* found late; the last one found comes first */
	struct start_events initial; /* calls at mapped time 0, in order, after all of `outer` */
};

/* Release the arrays.  Idempotent, also on zeroed memory. */
void callstack_batch_release(struct callstack_batch *batch);

/* What callstack_batch_edge() does when it is not the same time, or there is no room. */
struct slice_event *callstack_batch_turn(struct callstack_batch *batch, int64_t time);

/*
 * Returns a new edge at a time, to be filled but for its time, and counted if it is a
 * call; a time other than the batch's own deals out the batch's first.
 * NULL: an event is to be added instead.
 */
static inline struct slice_event *callstack_batch_edge(struct callstack_batch *batch, int64_t time)
{
	struct batch_edges *edges = &batch->edges;
	struct slice_event *edge;

	if (time != batch->time || edges->count >= edges->full)
		return callstack_batch_turn(batch, time);
	edge = &edges->edges[edges->count++];
	edge->time = edges->time;
	return edge;
}

/* Add an event at a time; a time other than the batch's own gives the batch out first. */
void callstack_batch_add(struct callstack_batch *batch, int64_t time,
			 const struct batch_event *event);

/*
 * Give out all pending events, the time from the batch's own up to `to_time`
 * dealt out evenly among its calls; the next batch is at `to_time`.
 */
void callstack_batch_flush(struct callstack_batch *batch, int64_t to_time);

/* Pass one event on at a time of its own, past the batch: to the start events or the sink. */
void callstack_batch_pass(struct callstack_batch *batch, int64_t time,
			  const struct batch_event *event);

/* Give out all of former batches and the start events, outermost first, and forget them. */
void callstack_batch_drain_start(struct callstack_batch *batch);

/* Returns how many start events wait. */
size_t callstack_batch_waiting(const struct callstack_batch *batch);

/* Returns perf's time in ns for a mapped one of the machine; 0 if it would be negative. */
uint64_t callstack_perf_time(const struct callstack_machine *machine, int64_t time);

#endif
