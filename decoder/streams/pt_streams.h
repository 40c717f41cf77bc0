/* SPDX-License-Identifier: MIT */
/*
 * All streams of a recording merged into one, in the order of time (branch_merge.c).
 *
 * Decoding a stream needs about 13 KiB, even for a short stream, and a damaged file can contain any
 * number of streams of the same time. So the size of the trace limits the number of open streams.
 * Further streams are decoded in groups: the events of all groups are stored in a file
 * (base/io/big_array.h), then the groups are merged, with the same result. This only happens to
 * damaged files: real machines have fewer buffers with more bytes.
 */
#pragma once

#include "base/io/big_array.h"
#include "decoder/engine/pt_stream.h"

/*
 * Merges the events of all CPUs or threads by time, so that a thread that moves between CPUs stays
 * in order. At equal times, the stream that is first in the recording precedes.
 *
 * If only the order within a thread matters for calls, returns and jumps, they are merged in
 * bursts. A burst is the near branches of one thread in one quantum of time (BRANCH_MERGE_QUANTUM);
 * it is emitted as a whole, at the time of its first event. All other events (system calls, gaps,
 * CPU events) are ordered by time. Bursts depend only on the events, not on how many are decoded;
 * they are sorted by the times of their first events. A thread leaves a CPU by a system call, an
 * interrupt or a gap. These end its burst, so the thread stays in order on all CPUs. Only a damaged
 * recording shows a thread on two CPUs at once; its order then depends on the bursts.
 */

/* ns, a power of two: less than the time in which a CPU writes a segment's trace. */
#define BRANCH_MERGE_QUANTUM ((uint64_t)1 << 14)

struct branch_merge_entry;

struct branch_merge {
	struct branch_merge_entry *heap; /* owned; the earliest event on top */
	size_t count;                    /* streams in the heap */
	size_t unseen; /* streams after the heap, whose first event is not known yet */
	bool asked;    /* each stream was asked once */
	bool in_bursts;
	size_t lent; /* events of the top stream that the reader has */
	bool waits;  /* for events that other threads decode */
};

/*
 * Merge `count` streams event by event, or in bursts. The streams are borrowed and must stay open
 * until release. Decoding starts at the first branch_merge_next().
 */
void branch_merge_init(struct branch_merge *merge, struct pt_stream *const *streams, size_t count,
		       bool in_bursts);

void branch_merge_release(struct branch_merge *merge);

/*
 * Returns the number of the next events in *events, all of one stream, borrowed until the next
 * call. Returns 0 when all streams have ended or, in the ordered stage (base/workers.h), if the
 * merge `waits`.
 */
size_t branch_merge_next(struct branch_merge *merge, const struct branch_event **events);

/* Zeroed memory is empty. */
struct pt_streams {
	/* The caller of pt_streams_open() sets these: */
	struct pt_stream_input (*input)(const void *context,
					size_t index); /* input of stream `index` */
	const void *context;
	size_t count;
	bool in_bursts; /* merge in bursts (branch_merge.c), unless streams are in groups */
	/* The rest is private. */
	struct pt_stream **open; /* owned: all streams, or a stream for each group */
	size_t open_count;
	struct event_pool *pool;   /* owned; NULL: no stream has segments */
	struct branch_merge merge; /* merges `open` */
	/* For groups only: */
	struct big_array stats;  /* owned; of each stream of the source */
	struct big_array events; /* owned; of one group after the other */
};

/*
 * Open all streams, and decode groups, if any. Returns 0; -1 with err filled if a stream cannot be
 * opened. The caller calls pt_streams_close() in both cases.
 */
int pt_streams_open(struct pt_streams *streams, struct error *err);

/* As branch_merge_next(). */
size_t pt_streams_next(struct pt_streams *streams, const struct branch_event **events);

/* Returns whether pt_streams_next() returned 0 because other threads decode the next events. */
static inline bool pt_streams_wait(const struct pt_streams *streams)
{
	return streams->merge.waits;
}

/* Returns the statistics of a stream up to now, borrowed. */
const struct pt_stream_stats *pt_streams_stats(const struct pt_streams *streams, size_t index);

/* Pass on the counts of code so far (pt_stream_flush()). */
void pt_streams_flush(const struct pt_streams *streams);

void pt_streams_close(struct pt_streams *streams);
