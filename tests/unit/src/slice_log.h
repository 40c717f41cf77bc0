/* SPDX-License-Identifier: MIT */
/* A slice sink for tests: one line of text a call, in the order of the calls. */
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
struct slice_log {
	struct slice_sink sink;
	uint64_t base;   /* ns, subtracted from all times */
	size_t edges;    /* how many came by edges() */
	bool hides_ends; /* not told which slice ends */
	char text[1 << 20];
	size_t length;
};

void slice_log_init(struct slice_log *log);

/* From now on begins and ends may come many at once; they are logged as if they came one by one. */
void slice_log_take_events(struct slice_log *log);

/* Returns the text since the last call of this, and forgets it. */
const char *slice_log_take(struct slice_log *log);

#endif
