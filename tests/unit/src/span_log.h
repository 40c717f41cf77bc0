/* SPDX-License-Identifier: MIT */
/* A span sink for tests: one line of text a call, in the order of the calls. */
#ifndef TESTS_UNIT_SRC_SPAN_LOG_H
#define TESTS_UNIT_SRC_SPAN_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/slices/slice_sink.h"

/*
 * "B 5 f", "E 5 f", "C 0-5 f", "I 5 text", "F 2 30" (folded), "S" (segment end).  Flags follow as
 * " inferred" and " deferred".  A track that is not NULL is a string in front.  The
 * end of a slice that is not told is "E 5".
 */
struct span_log {
	struct span_sink sink;
	uint64_t base; /* ns, subtracted from all times */
	size_t edges;  /* how many came by edges() */
	bool hides_ends; /* not told which slice ends */
	char text[1 << 20];
	size_t length;
};

void span_log_init(struct span_log *log);

/* From now on begins and ends may come many at once; they are logged as if they came one by one. */
void span_log_take_edges(struct span_log *log);

/* Returns the text since the last call of this, and forgets it. */
const char *span_log_take(struct span_log *log);

#endif
