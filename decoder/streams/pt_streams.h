/* SPDX-License-Identifier: MIT */
/*
 * All streams of a recording merged into one, in the order of time (branch_merge.c).
 *
 * A stream takes some 13 KiB while it is decoded, however short it is, and a damaged file may
 * claim to have any number of streams of the same time.  So the size of the trace limits how
 * many are open at once.  If there are more, they are decoded in groups whose events are
 * written to a temporary file (base/io/temp_file.h), and then the groups are merged, with the
 * same result.  No machine has so many buffers with so few bytes.
 */
#ifndef DECODER_STREAMS_PT_STREAMS_H
#define DECODER_STREAMS_PT_STREAMS_H

#include "base/io/big_array.h"
#include "base/io/temp_file.h"
#include "decoder/engine/pt_stream.h"

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

/*
 * Open an AUX stream with the engine that its input asks for.  Returns the stream, owned by the
 * caller (pt_stream_close()); NULL with err filled on failure.
 */
struct pt_stream *pt_stream_open(const struct pt_stream_input *input, struct error *err);

/* Zeroed, it is empty. */
struct pt_streams {
	/* The caller of pt_streams_open() sets these: */
	struct pt_stream_input (*input)(const void *context, size_t index); /* of stream `index` */
	const void *context;
	size_t count;
	bool in_bursts; /* merge them so (branch_merge.c), unless there are too many to be open
			 at once */
	/* The rest is private. */
	struct pt_stream **open; /* owned: all streams, or a stream for each group */
	size_t open_count;
	struct branch_merge merge; /* of `open` */
	/* For groups only: */
	struct big_array stats; /* owned; of each stream of the source */
	struct temp_file file;
	const struct branch_event *events; /* owned mapping of `file` */
};

/*
 * Open all streams; groups are decoded at once.  If no file can be made for them, or the disk
 * is full, all streams are opened at once.  Returns 0; -1 with err filled if a stream cannot be
 * opened.  The caller calls pt_streams_close() in both cases.
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

/* Hand over the counts of code up to now (pt_stream_flush()). */
void pt_streams_flush(const struct pt_streams *streams);

void pt_streams_close(struct pt_streams *streams);

#endif
