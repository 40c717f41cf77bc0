/* SPDX-License-Identifier: MIT */
/*
 * Hands spans to a sink that works in a thread of its own.
 *
 * What is called here is put down and called there, in the same order, some
 * thousands at a time; when the thread is behind, the caller waits.  So the
 * sink behind gets just what it would get without, and it, its tracks and its
 * output are the thread's own until span_relay_wait() or _close() returns.
 */
#ifndef SRC_SPAN_RELAY_H
#define SRC_SPAN_RELAY_H

#include <stdbool.h>

#include "base/output.h"
#include "span_sink.h"

struct span_relay;

/*
 * `next`, the `output` that it writes to, and how many `slices` it wrote, are
 * borrowed; the thread uses them.
 * Returns the relay, owned by the caller; NULL if no thread can be started.
 */
struct span_relay *span_relay_open(const struct span_sink *next, const struct output *output,
				   const uint64_t *slices);

/* Returns the sink; valid until span_relay_close(). */
const struct span_sink *span_relay_sink(const struct span_relay *relay);

/* Returns how many slices were written, as far as the thread has come. */
uint64_t span_relay_slices(const struct span_relay *relay);

/* Returns whether the output failed, as far as the thread has come. */
bool span_relay_failed(const struct span_relay *relay);

/* Wait until all is done that was handed over. */
void span_relay_wait(struct span_relay *relay);

/* End the thread; what was handed over and is not waited for may be left out.  NULL is allowed. */
void span_relay_close(struct span_relay *relay);

#endif
