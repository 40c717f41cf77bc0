/* SPDX-License-Identifier: MIT */
/*
 * A queue of slice events that worker threads pass to the next sink.
 *
 * The caller copies events into blocks of about a thousand. One worker at a time passes these to
 * the next sink, in order; if no worker is free, the caller does, or waits. So the next sink gets
 * the same events as without a queue. The sink, its tracks and its output belong to the workers
 * until slice_queue_wait() or _close() returns. One thread at a time fills the queue: the thread
 * that runs the ordered stage (base/workers.h) or opened the workers, or that empties the previous
 * queue.
 */
#pragma once

#include "base/io/output.h"
#include "base/workers.h"
#include "src/slices/slice_sink.h"

struct slice_queue;

/*
 * Open a queue before `next`. The workers use `next`, the `output` that it writes to, and its count
 * of written `slices`; these and the workers are borrowed. `output` and `slices` are NULL if they
 * belong to a following queue. Returns the queue, owned by the caller.
 */
struct slice_queue *slice_queue_open(const struct slice_sink *next, const struct output *output,
				     const uint64_t *slices, struct workers *workers);

/* Returns the sink; valid until slice_queue_close(). */
const struct slice_sink *slice_queue_sink(const struct slice_queue *queue);

/* Returns the number of slices written up to the latest finished block. */
uint64_t slice_queue_slices(const struct slice_queue *queue);

/* Returns whether the output had failed or was full by the end of the latest finished block. */
bool slice_queue_stopped(const struct slice_queue *queue);

/* Wait until the next sink has all events. The queue may then be filled again. */
void slice_queue_wait(struct slice_queue *queue);

/* Release the queue; without slice_queue_wait(), events can be lost. NULL is allowed. */
void slice_queue_close(struct slice_queue *queue);
