/* SPDX-License-Identifier: MIT */
/*
 * Hands spans to a sink that works beside the caller.
 *
 * What is called here is put down and called by one of the workers, in the same
 * order, some thousands at a time; when they are behind, the caller does it or
 * waits.  So the sink behind gets just what it would get without, and it, its
 * tracks and its output are the workers' own until span_relay_wait() or _close()
 * returns.  The caller is whoever has a turn (workers.h), or who opened the
 * workers.
 */
#ifndef SRC_SLICES_SLICE_QUEUE_H
#define SRC_SLICES_SLICE_QUEUE_H

#include <stdbool.h>

#include "base/io/output.h"
#include "base/workers.h"
#include "src/slices/slice_sink.h"

struct span_relay;

/*
 * `next`, the `output` that it writes to, and how many `slices` it wrote, are
 * borrowed, as are the workers, who use them.
 * Returns the relay, owned by the caller.
 */
struct span_relay *span_relay_open(const struct span_sink *next, const struct output *output,
				   const uint64_t *slices, struct pt_workers *workers);

/* Returns the sink; valid until span_relay_close(). */
const struct span_sink *span_relay_sink(const struct span_relay *relay);

/* Returns how many slices were written, as far as the workers have come. */
uint64_t span_relay_slices(const struct span_relay *relay);

/* Returns whether the output failed, as far as the workers have come. */
bool span_relay_failed(const struct span_relay *relay);

/* Wait until all is done that was handed over. */
void span_relay_wait(struct span_relay *relay);

/* What was handed over and is not waited for may be left out.  NULL is allowed. */
void span_relay_close(struct span_relay *relay);

#endif
