/* SPDX-License-Identifier: MIT */
/*
 * The offset between an overlay's clock and the trace's.
 *
 * Runtime events have times of CLOCK_MONOTONIC, memtrace of the wall clock, perf of
 * the scheduler's clock; no two of them agree, and perf does not record how they
 * differ.  overlay_clock_choice.h has the sources of the offset.
 */
#ifndef SRC_OVERLAYS_OVERLAY_CLOCK_H
#define SRC_OVERLAYS_OVERLAY_CLOCK_H

#include "src/options/options.h"

enum overlay_clock_method {
	OVERLAY_CLOCK_OWN = 0,  /* the trace's clock is the overlay's own */
	OVERLAY_CLOCK_EXPLICIT, /* --clock-offset */
	OVERLAY_CLOCK_SYNC,     /* --clock-sync */
	OVERLAY_CLOCK_RECORDED, /* perf used a clock of the system, and recorded which */
	OVERLAY_CLOCK_PT,       /* calls of the program into the runtime */
	OVERLAY_CLOCK_SIDEBAND, /* forks and exits bound it */
	OVERLAY_CLOCK_ASSUMED,
};

struct overlay_clock {
	enum overlay_clock_method method;
	int64_t offset;       /* ns: the trace's time less the overlay's */
	uint64_t uncertainty; /* ns, of the offset; UINT64_MAX: unknown */
};

/* Returns the name of a method, for the user. */
const char *overlay_clock_method_name(enum overlay_clock_method method);

/*
 * Print "OVERLAY: clock: ..." with the method and the uncertainty.  `path` is the overlay's file.
 */
void overlay_clock_print(const struct overlay_clock *clock, const char *path, FILE *out);

/* Returns an overlay's time (ns of its clock) on the trace's clock, not before 0. */
static inline uint64_t overlay_clock_time(const struct overlay_clock *clock, uint64_t time)
{
	uint64_t moved = time + (uint64_t)clock->offset;

	if (clock->offset < 0)
		return time < (uint64_t)-clock->offset ? 0 : moved;
	return moved < time || moved > INT64_MAX ? INT64_MAX : moved;
}

/* Clocks read at the same time: a line of `ptrace2ftf clock-sync`. */
struct overlay_sync {
	uint64_t tsc;       /* ticks; 0: not on this machine */
	int64_t mono, real; /* ns: CLOCK_MONOTONIC, CLOCK_REALTIME */
};

/* The user's information on the clocks of a run. */
struct overlay_clocks {
	struct clock_offsets offsets;
	struct overlay_sync *syncs; /* owned; lines of --clock-sync */
	size_t sync_count;
};

/*
 * Read the lines "tsc=N mono=N real=N" of a file; other lines are skipped.
 * Returns 0; -1 with err filled: not readable, or no such line.
 */
int overlay_clocks_read(struct overlay_clocks *clocks, const char *path, struct error *err);

/* Idempotent, also on zeroed memory. */
void overlay_clocks_release(struct overlay_clocks *clocks);

/* Read the clocks of this machine at the same time: the fastest of a few tries. */
void overlay_sync_now(struct overlay_sync *sync);

#endif
