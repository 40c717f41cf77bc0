/* SPDX-License-Identifier: MIT */
/*
 * Spans that a program marked by name, laid out on tracks where slices nest.
 *
 * A program may end its slices in any order, but slices of one track must nest.  So
 * begins and ends are paired by name first, the innermost of a name first; then each
 * slice goes to the first of a few lanes where it nests.  Each begin takes a slice of
 * memory, a small multiple of the input.
 */
#ifndef SRC_OVERLAYS_OVERLAY_SLICES_H
#define SRC_OVERLAYS_OVERLAY_SLICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Only broken programs have so many slices that cross each other. */
#define OVERLAY_LANES 16

/* Deeper slices are left out; Perfetto's limit is 512. */
#define OVERLAY_DEPTH 500

struct overlay_slice {
	uint64_t begin, end; /* ns */
	uint32_t name;       /* the caller's number */
	bool unfinished;     /* no end was seen */
	bool placed;         /* on a lane */
};

struct overlay_slices {
	struct overlay_slice *slices; /* owned; in the order of begin */
	size_t count, room;
	size_t *open; /* owned: indices of those without an end, in order */
	size_t open_count, open_room;
	uint64_t unmatched_ends, left_out;
};

/* Gets a lane's slices in program order with times that do not decrease. */
struct overlay_lane_sink {
	void (*begin)(void *context, unsigned lane, const struct overlay_slice *slice);
	void (*end)(void *context, unsigned lane, const struct overlay_slice *slice, uint64_t time);
	void *context;
};

/* Begin a slice; times do not decrease. */
void overlay_slices_begin(struct overlay_slices *slices, uint64_t time, uint32_t name);

/* End the innermost open slice of a name; if none is open, count the end. */
void overlay_slices_end(struct overlay_slices *slices, uint64_t time, uint32_t name);

/* End the open slices at `time` and emit all slices, lane by lane. */
void overlay_slices_finish(struct overlay_slices *slices, uint64_t time,
			   const struct overlay_lane_sink *sink);

/* Idempotent, also on zeroed memory. */
void overlay_slices_release(struct overlay_slices *slices);

#endif
