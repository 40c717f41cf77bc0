/* SPDX-License-Identifier: MIT */
/* Which of the ways to match an overlay's clock is the best that there is. */
#ifndef SRC_OVERLAYS_OVERLAY_CLOCK_CHOICE_H
#define SRC_OVERLAYS_OVERLAY_CLOCK_CHOICE_H

#include "src/overlays/overlays.h"

/*
 * Match the clock of one overlay with perf's, by the first of these that there
 * is: --clock-offset, --clock-sync, a clock of the system that perf was told
 * to use, calls seen by PT, the order of forks and exits.  If there is none,
 * memtrace's clock is assumed to end with the process, and that of runtime
 * events to be perf's; that is warned about.
 */
struct overlay_clock overlay_clock_choice_recording(struct overlays *overlays,
						    struct overlay_input *input,
						    const struct overlay_recording *recording);

/*
 * Match the clock of one overlay with that of the runtime events, if any
 * overlay is, by --clock-offset or --clock-sync; else memtrace's file is
 * assumed to end with the last runtime event of its process, with a warning.
 */
struct overlay_clock overlay_clock_choice_alone(struct overlays *overlays,
						const struct overlay_input *input);

#endif
