/* SPDX-License-Identifier: MIT */
/*
 * Writes the CPU events of the trace (decoder/cpu_event.h):
 *
 *   frequency    a counter of the CPU
 *   sleep, wake  a slice on the CPU's track, with what MWAIT asked for
 *   transaction  a slice on a track beside the thread's, with how it ended
 *   guest        a slice on the CPU's track, from entry to exit
 *   control      a mark on the CPU's track: the event and its vector
 *
 * Values that the program wrote (CPU_EVENT_PTWRITE) are shown among its calls
 * (thread_stacks_mark()).
 */
#ifndef SRC_EVENTS_CPU_EVENT_SINK_H
#define SRC_EVENTS_CPU_EVENT_SINK_H

#include "decoder/cpu_event.h"
#include "src/events/event_tracks.h"

struct transaction_track;

struct cpu_event_sink {
	struct event_tracks *tracks;            /* borrowed */
	const struct pt_info *info;             /* borrowed: the clocks */
	struct transaction_track *transactions; /* owned: hash by thread */
	uint64_t untimed; /* events before any time was known, or with an impossible one: not
			   * shown */
};

/* Both are borrowed until cpu_event_sink_release(). */
void cpu_event_sink_init(struct cpu_event_sink *sink, struct event_tracks *tracks,
			 const struct pt_info *info);

/* Write an event; those of a CPU come in order of time. */
void cpu_event_sink_add(struct cpu_event_sink *sink, const struct cpu_event *event);

/* The trace ends at `time` (ns): end the open slices there, with a note. */
void cpu_event_sink_finish(struct cpu_event_sink *sink, uint64_t time);

void cpu_event_sink_release(struct cpu_event_sink *sink);

/*
 * Returns the MHz of a core whose clock is `ratio` bus clocks, as perf
 * computes it (tools/perf/util/intel-pt.c, cbr2khz); 0: the file has no clock.
 */
uint32_t core_clock_mhz(const struct pt_info *info, uint64_t ratio);

#endif
