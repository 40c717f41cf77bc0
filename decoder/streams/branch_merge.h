/* SPDX-License-Identifier: MIT */
/*
 * Many streams in, one out: events of all CPUs or threads in the order of
 * time, so that a thread that moves between CPUs stays in order.
 *
 * A heap of streams by the time of their next event; at equal times the
 * stream that comes first in the recording goes first.
 */
#ifndef DECODER_STREAMS_BRANCH_MERGE_H
#define DECODER_STREAMS_BRANCH_MERGE_H

#include <stdbool.h>
#include <stddef.h>

#include "decoder/engine/pt_stream.h"

struct branch_merge_entry;

#define BRANCH_MERGE_MOST 256

struct branch_merge {
	struct branch_merge_entry *heap; /* owned; the earliest event on top */
	size_t count;
	size_t given; /* events of the stream on top that are its reader's */
	bool waits;   /* for more of the stream on top */
};

/* Start over `count` streams, which are borrowed and stay open until release; not in a turn. */
void branch_merge_init(struct branch_merge *merge, struct pt_stream *const *streams, size_t count);

/* Release the heap.  Idempotent, also on zeroed memory. */
void branch_merge_release(struct branch_merge *merge);

/*
 * Returns how many events come next, all of one stream, at most
 * BRANCH_MERGE_MOST; 0 when all streams are at their end or, in a turn
 * (workers.h), `waits`.  They are borrowed until the next call.
 */
size_t branch_merge_next(struct branch_merge *merge, const struct branch_event **events);

#endif
