/* SPDX-License-Identifier: MIT */
/*
 * Puts the spans of each track into program order for outputs that need it.
 *
 * A call-stack machine finds callers late (span_sink.h, SPAN_DEFERRED), while
 * a trace that people open wants begins and ends of a thread in order.  So the
 * spans of a track are held until its segment ends, then given to the next
 * sink:
 *
 *  - sorted by time; at equal times deferred ones first, else as they came;
 *  - a whole slice becomes a begin and an end;
 *  - time does not go back, also not between segments: what is earlier is
 *    moved up to the latest time given out;
 *  - an end without an open begin is dropped;
 *  - begins deeper than SPAN_DEPTH_MAX are left out, with their ends;
 *  - what is open at the end of the trace is ended at the last time.
 *
 * Memory grows with the longest segment, 32 bytes a span.
 */
#ifndef SRC_SPAN_SORTER_H
#define SRC_SPAN_SORTER_H

#include <stddef.h>
#include <stdint.h>

#include "span_sink.h"

/* Perfetto keeps 512 slices open per thread and mixes up the ends of deeper ones. */
#define SPAN_DEPTH_MAX 512

struct sorted_span;

struct span_sorter {
	const struct span_sink *next; /* borrowed */
	uint64_t slices;              /* begins given out */
	uint64_t too_deep;            /* begins left out */
	uint64_t unmatched_ends;      /* dropped */
	uint64_t moved;               /* spans whose time would have gone back */
	size_t deepest;               /* most spans open at a time, those left out included */
};

/* One track: its spans on the way.  A zeroed one, with `sorter` and `next_track` set, is ready. */
struct span_sorter_track {
	struct span_sorter *sorter; /* borrowed */
	void *next_track;           /* borrowed: the next sink's track */
	struct sorted_span *spans;  /* owned */
	size_t count, room;
	size_t depth;               /* open spans, those left out included */
	uint64_t last_time;         /* of what was given out */
};

/* Returns the sink; its tracks are struct span_sorter_track. */
struct span_sink span_sorter_sink(void);

/* The trace has ended: give out all spans and end what is open. */
void span_sorter_track_finish(struct span_sorter_track *track);

/* Release the memory.  Idempotent, also on zeroed memory. */
void span_sorter_track_release(struct span_sorter_track *track);

#endif
