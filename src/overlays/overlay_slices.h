/* SPDX-License-Identifier: MIT */
/*
 * Spans that a program marked by name, laid out on tracks where slices nest.
 *
 * Nothing makes a program end its spans in the order in which it began them,
 * but slices of one track must nest.  So begins and ends are paired by name
 * first, the innermost of a name first; then each span goes to the first of a
 * few lanes where it nests.  Memory is a small multiple of the input's: a span
 * is held for each begin.
 */
#ifndef SRC_OVERLAYS_OVERLAY_SLICES_H
#define SRC_OVERLAYS_OVERLAY_SLICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* More spans than that cross each other only in broken programs. */
#define OVERLAY_LANES 16

/* Slices deeper than that are left out; Perfetto's limit is 512. */
#define OVERLAY_DEPTH 500

struct overlay_span {
	uint64_t begin, end; /* ns */
	uint32_t name;       /* the caller's number */
	bool unfinished;     /* no end was seen */
	bool placed;         /* on a lane */
};

struct overlay_spans {
	struct overlay_span *spans; /* owned; in the order of begin */
	size_t count, room;
	size_t *open;               /* owned: indices of those without an end, in order */
	size_t open_count, open_room;
	uint64_t unmatched_ends, left_out;
};

/* What is done with a lane's slices, in program order with times that do not go back. */
struct overlay_lane_sink {
	void (*begin)(void *context, unsigned lane, const struct overlay_span *span);
	void (*end)(void *context, unsigned lane, const struct overlay_span *span, uint64_t time);
	void *context;
};

/* A span begins; times do not go back. */
void overlay_spans_begin(struct overlay_spans *spans, uint64_t time, uint32_t name);

/* The innermost open span of that name ends; none is open: it is counted. */
void overlay_spans_end(struct overlay_spans *spans, uint64_t time, uint32_t name);

/* End what is open at `time` and give out all spans, lane by lane. */
void overlay_spans_finish(struct overlay_spans *spans, uint64_t time,
			  const struct overlay_lane_sink *sink);

/* Idempotent, also on zeroed memory. */
void overlay_spans_release(struct overlay_spans *spans);

#endif
