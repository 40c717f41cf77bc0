/* SPDX-License-Identifier: MIT */
/*
 * Merges the events of all CPUs or threads in the order of time, so that a thread
 * that moves between CPUs stays in order.  At equal times the stream that comes first in
 * the recording goes first.
 */
#ifndef DECODER_STREAMS_BRANCH_MERGE_H
#define DECODER_STREAMS_BRANCH_MERGE_H

#include <stdbool.h>
#include <stddef.h>

#include "decoder/engine/pt_stream.h"

struct branch_merge_entry;

struct branch_merge {
	struct branch_merge_entry *heap; /* owned; the earliest event on top */
	size_t count;                    /* streams in the heap */
	size_t unseen; /* streams behind the heap, not asked for their first event yet */
	bool asked;    /* each was asked once */
	size_t lent;   /* events of the stream on top that the reader has */
	bool waits;    /* for events that other threads decode */
};

/*
 * Merge `count` streams, which are borrowed and stay open until release.  Nothing is
 * decoded before the first branch_merge_next().
 */
void branch_merge_init(struct branch_merge *merge, struct pt_stream *const *streams, size_t count);

/* Idempotent, also on zeroed memory. */
void branch_merge_release(struct branch_merge *merge);

/*
 * Returns the number of the next events in *events, all of one stream; 0 when all streams are at
 * their end or, in the ordered stage (base/workers.h), the merge `waits`.  They are borrowed until
 * the next call.
 */
size_t branch_merge_next(struct branch_merge *merge, const struct branch_event **events);

#endif
