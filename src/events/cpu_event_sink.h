/* SPDX-License-Identifier: MIT */
/*
 * Side events (decoder/cpu_event.h) into the trace:
 *
 *   frequency    a counter of the CPU
 *   sleep, wake  a slice on the CPU's track, with what MWAIT asked for
 *   transaction  a slice on a track beside the thread's, with how it ended
 *   guest        a slice on the CPU's track, from entry to exit
 *   control      a mark on the CPU's track: the event and its vector
 *
 * Values that the program wrote (CPU_EVENT_PTWRITE) belong among its calls: the
 * thread's call stack gives them a place (side_marks.h).
 */
#ifndef SRC_EVENTS_CPU_EVENT_SINK_H
#define SRC_EVENTS_CPU_EVENT_SINK_H

#include "decoder/aux/auxtrace.h"
#include "decoder/cpu_event.h"
#include "src/events/event_tracks.h"

struct side_transactions;

struct event_sink {
	struct event_tracks *tracks;            /* borrowed */
	const struct pt_info *info;             /* borrowed: the clocks */
	struct side_transactions *transactions; /* owned: hash by thread */
	uint64_t untimed;                       /* events before any time was known: not shown */
};

/* Both are borrowed until event_sink_release(). */
void event_sink_init(struct event_sink *sink, struct event_tracks *tracks,
		     const struct pt_info *info);

/* Take one event, in the order of time of its CPU. */
void event_sink_event(struct event_sink *sink, const struct cpu_event *event);

/* The trace has ended at `time` (ns): what goes on ends there, and says so. */
void event_sink_finish(struct event_sink *sink, uint64_t time);

/* Idempotent, also on zeroed memory. */
void event_sink_release(struct event_sink *sink);

/*
 * Returns the MHz of a core whose clock is `ratio` bus clocks, as perf
 * computes it (tools/perf/util/intel-pt.c, cbr2khz); 0: the file does not tell.
 */
uint32_t side_core_mhz(const struct pt_info *info, uint64_t ratio);

#endif
