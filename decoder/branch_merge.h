/* SPDX-License-Identifier: MIT */
/*
 * Many streams in, one out: events of all CPUs or threads in the order of
 * time, so that a thread that moves between CPUs stays in order.
 *
 * A heap of streams by the time of their next event; at equal times the
 * stream that comes first in the recording goes first.
 */
#ifndef DECODER_BRANCH_MERGE_H
#define DECODER_BRANCH_MERGE_H

#include <stddef.h>

#include "decoder/pt_stream.h"

struct branch_merge_entry;

struct branch_merge {
	struct branch_merge_entry *heap; /* owned; the earliest event on top */
	size_t count;
};

/* Start over `count` streams, which are borrowed and stay open until release. */
void branch_merge_init(struct branch_merge *merge, struct pt_stream *const *streams, size_t count);

/* Release the heap.  Idempotent, also on zeroed memory. */
void branch_merge_release(struct branch_merge *merge);

/* Returns 1 with the next event in *event; 0 when all streams are at their end. */
int branch_merge_next(struct branch_merge *merge, struct branch_event *event);

#endif
