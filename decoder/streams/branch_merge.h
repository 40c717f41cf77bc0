/* SPDX-License-Identifier: MIT */
/*
 * Merges the events of all CPUs or threads in the order of time, so that a thread
 * that moves between CPUs stays in order.  At equal times the stream that comes first in
 * the recording goes first.
 *
 * Where only a thread's own order matters for its calls, returns and jumps, they need not wait for
 * those of other CPUs: a burst, the near branches of one thread in one quantum of time
 * (BRANCH_MERGE_QUANTUM), comes as a whole, at the time of its first event.  All other events, such
 * as system calls, gaps and CPU events, come in the order of time.  Bursts depend on the events
 * alone, and not on the number decoded; they are sorted by their first times.  A thread leaves a
 * CPU by a system call, an interrupt or a gap, which end its burst, so it is in order wherever it
 * runs.
 */
#ifndef DECODER_STREAMS_BRANCH_MERGE_H
#define DECODER_STREAMS_BRANCH_MERGE_H

#include "decoder/engine/pt_stream.h"

/* ns, a power of two: less than a CPU takes for a segment's bytes of trace. */
#define BRANCH_MERGE_QUANTUM ((uint64_t)1 << 14)

/* Returns whether a near branch is in the burst of an earlier one, if all between them are near. */
static inline bool branch_merge_is_burst(const struct branch_event *first,
					 const struct branch_event *event)
{
	return event->thread == first->thread && (event->time ^ first->time) < BRANCH_MERGE_QUANTUM;
}

struct branch_merge_entry;

struct branch_merge {
	struct branch_merge_entry *heap; /* owned; the earliest event on top */
	size_t count;                    /* streams in the heap */
	size_t unseen; /* streams after the heap, not asked for their first event yet */
	bool asked;    /* each was asked once */
	bool in_bursts;
	size_t lent; /* events of the stream on top that the reader has */
	bool waits;  /* for events that other threads decode */
};

/*
 * Merge `count` streams, which are borrowed and stay open until release: event by event, or in
 * bursts.  Nothing is decoded before the first branch_merge_next().
 */
void branch_merge_init(struct branch_merge *merge, struct pt_stream *const *streams, size_t count,
		       bool in_bursts);

void branch_merge_release(struct branch_merge *merge);

/*
 * Returns the number of the next events in *events, all of one stream; 0 when all streams are at
 * their end or, in the ordered stage (base/workers.h), the merge `waits`.  They are borrowed until
 * the next call.
 */
size_t branch_merge_next(struct branch_merge *merge, const struct branch_event **events);

#endif
