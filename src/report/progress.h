/* SPDX-License-Identifier: MIT */
/*
 * The progress bar: a line on standard error, if that is a terminal. It appears after a second, is
 * redrawn at most ten times per second, and is erased at the end.
 */
#pragma once

#include "base/common.h"

/* Events between two reads of the clock. */
#define PROGRESS_EVENTS 4096

struct progress {
	bool enabled, drawn;
	size_t events;
	uint64_t begin_ns, drawn_ns; /* CLOCK_MONOTONIC */
};

/* Returns ns of CLOCK_MONOTONIC. */
uint64_t progress_now(void);

/* Start; shows nothing if `quiet`, or unless standard error is a terminal that is not dumb. */
void progress_init(struct progress *progress, bool quiet);

/* Count events. Returns whether to call progress_show(): seldom, and without reading the clock. */
static inline bool progress_due(struct progress *progress, size_t count)
{
	if (!progress->enabled)
		return false;
	progress->events += count;
	if (progress->events < PROGRESS_EVENTS)
		return false;
	progress->events = 0;
	return true;
}

/*
 * Redraw the line if it is due. `done` and `total` are bytes of trace, `slices` the slices so far.
 */
void progress_show(struct progress *progress, uint64_t done, uint64_t total, uint64_t slices);

/* Erase the line. */
void progress_end(struct progress *progress);
