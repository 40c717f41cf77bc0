/* SPDX-License-Identifier: MIT */
/*
 * A queue of slice events: lets worker threads run the next sink.
 *
 * Events are copied into blocks of about a thousand, which one worker at a time passes
 * to the next sink, in order; if no worker is free, the caller does so, or waits.  So
 * the next sink gets the same events as without a queue.  It, its tracks and its output
 * belong to the workers until slice_queue_wait() or _close() returns.  The queue is
 * filled by one thread at a time: the one that runs the ordered stage (base/workers.h), or opened
 * the workers, or the one that empties the queue in front.
 */
#ifndef SRC_SLICES_SLICE_QUEUE_H
#define SRC_SLICES_SLICE_QUEUE_H

#include "base/io/output.h"
#include "base/workers.h"
#include "src/slices/slice_sink.h"

struct slice_queue;

/*
 * Open a queue in front of `next`.  The workers use `next`, the `output` that it writes
 * to, and its count of written `slices`; all are borrowed, as are the workers.  `output` and
 * `slices` are NULL if another queue comes behind, which has them.
 * Returns the queue, owned by the caller.
 */
struct slice_queue *slice_queue_open(const struct slice_sink *next, const struct output *output,
				     const uint64_t *slices, struct workers *workers);

/* Returns the sink; valid until slice_queue_close(). */
const struct slice_sink *slice_queue_sink(const struct slice_queue *queue);

/* Returns how many slices were written after the latest finished block. */
uint64_t slice_queue_slices(const struct slice_queue *queue);

/* Returns whether the output had failed after the latest finished block. */
bool slice_queue_failed(const struct slice_queue *queue);

/* Returns whether the output had been cut at its limit after the latest finished block. */
bool slice_queue_full(const struct slice_queue *queue);

/* Wait until the next sink has got all events.  Behind that the queue may be filled again. */
void slice_queue_wait(struct slice_queue *queue);

/* Release the queue; the next sink may miss events that were not waited for.  NULL is allowed. */
void slice_queue_close(struct slice_queue *queue);

#endif
