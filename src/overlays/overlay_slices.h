/* SPDX-License-Identifier: MIT */
/*
 * Spans that a program marked by name, laid out on tracks where slices nest.
 *
 * Nothing makes a program end its slices in the order in which it began them,
 * but slices of one track must nest.  So begins and ends are paired by name
 * first, the innermost of a name first; then each slice goes to the first of a
 * few lanes where it nests.  Memory is a small multiple of the input's: a slice
 * is held for each begin.
 */
#ifndef SRC_OVERLAYS_OVERLAY_SLICES_H
#define SRC_OVERLAYS_OVERLAY_SLICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* More slices than that cross each other only in broken programs. */
#define OVERLAY_LANES 16

/* Slices deeper than that are left out; Perfetto's limit is 512. */
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

/* What is done with a lane's slices, in program order with times that do not go back. */
struct overlay_lane_sink {
	void (*begin)(void *context, unsigned lane, const struct overlay_slice *slice);
	void (*end)(void *context, unsigned lane, const struct overlay_slice *slice, uint64_t time);
	void *context;
};

/* A slice begins; times do not go back. */
void overlay_slices_begin(struct overlay_slices *slices, uint64_t time, uint32_t name);

/* The innermost open slice of that name ends; none is open: it is counted. */
void overlay_slices_end(struct overlay_slices *slices, uint64_t time, uint32_t name);

/* End what is open at `time` and give out all slices, lane by lane. */
void overlay_slices_finish(struct overlay_slices *slices, uint64_t time,
			   const struct overlay_lane_sink *sink);

/* Idempotent, also on zeroed memory. */
void overlay_slices_release(struct overlay_slices *slices);

#endif
