/* SPDX-License-Identifier: MIT */
/*
 * How far a run is, for who waits at a terminal: after a second, a line on
 * standard error that is drawn anew at most ten times a second and erased at
 * the end.  Nothing on anything but a terminal.
 */
#ifndef SRC_REPORT_PROGRESS_H
#define SRC_REPORT_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Events from one look at the clock to the next. */
#define PROGRESS_EVENTS 4096

struct progress {
	bool enabled, drawn;
	size_t events;
	uint64_t begin_ns, drawn_ns; /* CLOCK_MONOTONIC */
};

/* Start; shows nothing if `quiet`, or if standard error is no terminal, or a dumb one. */
void progress_init(struct progress *progress, bool quiet);

/* Count events.  Returns whether it is time for progress_show(): seldom, and without a clock. */
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

/* Draw, if it is time to: `done` of `total` bytes of trace, and the slices written up to now. */
void progress_show(struct progress *progress, uint64_t done, uint64_t total, uint64_t slices);

/* Erase the line.  Idempotent, also on zeroed memory. */
void progress_end(struct progress *progress);

#endif
