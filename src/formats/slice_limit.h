/* SPDX-License-Identifier: MIT */
/*
 * Ends the slices of an output that has reached its limit (--max-output).
 *
 * Up to the limit it forwards all events.  Afterwards it drops slices and marks that begin,
 * and ends open slices with the last event of their thread that was written.
 */
#ifndef SRC_FORMATS_SLICE_LIMIT_H
#define SRC_FORMATS_SLICE_LIMIT_H

#include "base/io/output.h"
#include "src/slices/slice_sink.h"

struct slice_limit {
	struct slice_sink sink;        /* its tracks are struct track */
	const struct slice_sink *next; /* borrowed: writes to the output */
	struct output *output;         /* borrowed; is marked as cut once a slice is left out */
};

/* Begin in front of `next`.  The limit borrows itself: it must not move. */
void slice_limit_init(struct slice_limit *limit, const struct slice_sink *next,
		      struct output *output);

#endif
