/* SPDX-License-Identifier: MIT */
/*
 * Hands slices to a sink that works beside the caller.
 *
 * What is called here is put down and called by one of the workers, in the same
 * order, some thousands at a time; when they are behind, the caller does it or
 * waits.  So the sink behind gets just what it would get without, and it, its
 * tracks and its output are the workers' own until slice_queue_wait() or _close()
 * returns.  The caller is whoever has a turn (workers.h), or who opened the
 * workers.
 */
#ifndef SRC_SLICES_SLICE_QUEUE_H
#define SRC_SLICES_SLICE_QUEUE_H

#include <stdbool.h>

#include "base/io/output.h"
#include "base/workers.h"
#include "src/slices/slice_sink.h"

struct slice_queue;

/*
 * `next`, the `output` that it writes to, and how many `slices` it wrote, are
 * borrowed, as are the workers, who use them.
 * Returns the queue, owned by the caller.
 */
struct slice_queue *slice_queue_open(const struct slice_sink *next, const struct output *output,
				     const uint64_t *slices, struct workers *workers);

/* Returns the sink; valid until slice_queue_close(). */
const struct slice_sink *slice_queue_sink(const struct slice_queue *queue);

/* Returns how many slices were written, as far as the workers have come. */
uint64_t slice_queue_slices(const struct slice_queue *queue);

/* Returns whether the output failed, as far as the workers have come. */
bool slice_queue_failed(const struct slice_queue *queue);

/* Wait until all is done that was handed over. */
void slice_queue_wait(struct slice_queue *queue);

/* What was handed over and is not waited for may be left out.  NULL is allowed. */
void slice_queue_close(struct slice_queue *queue);

#endif
