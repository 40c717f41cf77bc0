/* SPDX-License-Identifier: MIT */
/*
 * Bounds how far an overlay's clock is ahead of perf's by the order of events.
 *
 * A program's events come after its exec and before its exit.  Each domain of OCaml 5 makes its
 * backup thread just before it reports domain_spawn, and reports domain_terminate before its thread
 * exits (runtime/domain.c: domain_thread_func).  Every such pair of a record of perf and an event
 * bounds the offset from one side.
 */
#ifndef SRC_OVERLAYS_OVERLAY_SIDEBAND_H
#define SRC_OVERLAYS_OVERLAY_SIDEBAND_H

#include "decoder/timeline/timeline.h"
#include "src/overlays/overlay_input.h"

/* ns by which the overlay's clock is ahead of perf's: low <= ahead <= high. */
struct overlay_bounds {
	int64_t low, high;
};

/*
 * Bound the clock of an overlay by the history of its process.
 * Returns whether there are bounds from both sides and they do not contradict each other.
 */
bool overlay_sideband(struct overlay_bounds *bounds, const struct timeline *timeline,
		      const struct overlay_input *input);

/*
 * Find the threads of the rings that have none in input->tids, and add them: ring 0
 * is the main thread's, others by the forks of backup threads.  The overlay's clock
 * is `ahead` ns ahead of perf's.
 */
void overlay_sideband_tids(struct overlay_input *input, const struct timeline *timeline,
			   int64_t ahead);

#endif
