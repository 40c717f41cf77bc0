/* SPDX-License-Identifier: MIT */
/* Matches an overlay's clock with the trace's in the best of the possible ways. */
#ifndef SRC_OVERLAYS_OVERLAY_CLOCK_CHOICE_H
#define SRC_OVERLAYS_OVERLAY_CLOCK_CHOICE_H

#include "base/diag.h"
#include "decoder/aux/auxtrace.h"
#include "decoder/perf_data/perf_file.h"
#include "decoder/timeline/timeline.h"
#include "src/overlays/overlay_calls.h"
#include "src/overlays/overlay_clock.h"
#include "src/overlays/overlay_input.h"

/* The recording below the overlays; all borrowed. */
struct overlay_recording {
	const struct perf_file *file;
	const struct timeline *timeline;
	const struct pt_info *info;
	const struct overlay_calls *calls;
};

/*
 * Match the clock of an overlay with perf's, in the first of these ways that is
 * possible: --clock-offset, --clock-sync, perf's use of a system clock, calls seen
 * by PT, the order of forks and exits.  If none is, warn, and assume that memtrace's
 * events end with the process, and that the clock of runtime events is perf's.
 */
struct overlay_clock overlay_clock_choice_recording(const struct overlay_clocks *clocks,
						    struct overlay_input *input,
						    const struct overlay_recording *recording,
						    struct diag *diag);

/*
 * Returns the wall-clock time, ns since 1970, of the time 0 of perf's clock, by
 * --clock-offset, --clock-sync, or perf's own record of it; or WALL_BASE_UNKNOWN.
 */
uint64_t overlay_clock_wall(const struct overlay_clocks *clocks,
			    const struct overlay_recording *recording);

/*
 * The same without a recording, for the clock of the runtime events, or of memtrace if
 * there are none.
 */
uint64_t overlay_clock_wall_alone(const struct overlay_clocks *clocks,
				  const struct overlay_input *inputs, size_t count);

/*
 * Match the clock of inputs[index] with that of the runtime events, if there are any,
 * by --clock-offset or --clock-sync; else warn, and assume that memtrace's events end
 * with the last runtime event of their process.
 */
struct overlay_clock overlay_clock_choice_alone(const struct overlay_clocks *clocks,
						const struct overlay_input *inputs, size_t count,
						size_t index, struct diag *diag);

#endif
