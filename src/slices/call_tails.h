/* SPDX-License-Identifier: MIT */
/*
 * Finds functions of which few calls take much longer than the others, without a histogram of each:
 * the first calls of a function give a bound, and only calls longer than it are counted.  A bound
 * that more than a twentieth of the calls exceeds is doubled.
 *
 * Stops of the thread outside of system calls are no part of a call.  Recursive functions do not
 * count.
 */
#ifndef SRC_SLICES_CALL_TAILS_H
#define SRC_SLICES_CALL_TAILS_H

#include "src/slices/call_tree.h"

/* Calls that give a bound. */
#define TAIL_FIRST 32

struct call_tails {
	struct call_tail {
		uint64_t first[TAIL_FIRST]; /* ns of the first calls, in order */
		uint32_t first_count;
		bool given_up;
		uint64_t bound;
		uint64_t since;      /* calls of the function when the bound was doubled */
		uint64_t count, sum; /* of calls longer than the bound since then */
	} * *tails;                  /* owned; by node; NULL: no call yet */
	size_t room;
	struct track_stops *stops; /* owned; by index of the track */
	size_t stop_room;
};

/*
 * A call of a node ended that is longer than slowest.rank of the node, or the first one: count it,
 * and set the rank that the next call must exceed to be the slowest one or to count.  The node's
 * calls and slowest.duration are up to date.
 */
void call_tails_add(struct call_tails *tails, const struct call_tree *tree,
		    const struct call_thread *thread, uint32_t node,
		    const struct slowest_call *call);

/* A stop outside of system calls ended. */
void call_tails_add_stop(struct call_tails *tails, const struct slowest_call *stop);

/* Returns the tail of a node; NULL: it has none. */
const struct call_tail *call_tails_borrow(const struct call_tails *tails,
					  const struct call_tree *tree, uint32_t node);

/* Returns by what the calls of a tail exceed the median together. */
static inline uint64_t call_tail_excess(const struct call_tail *tail)
{
	return tail->sum - tail->count * tail->first[TAIL_FIRST / 2 - 1];
}

/* Idempotent, also on zeroed memory. */
void call_tails_release(struct call_tails *tails);

#endif
