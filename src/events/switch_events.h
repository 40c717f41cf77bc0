/* SPDX-License-Identifier: MIT */
/*
 * Context switches as scheduling records, from which Perfetto makes a track of
 * each CPU and the states of threads.
 */
#ifndef SRC_EVENTS_SWITCH_EVENTS_H
#define SRC_EVENTS_SWITCH_EVENTS_H

#include "decoder/perf_data/perf_file.h"
#include "src/events/event_tracks.h"
#include "src/events/sched_priorities.h"

/* Returns how many switches switch_events_write() could write. */
uint64_t switch_events_count(const struct timeline *timeline, const struct perf_file *file);

/*
 * Write the selected switches, if the recording has all switches
 * (perf_event_attr.context_switch, or the tracepoint sched_switch), with the priorities of
 * the threads that come: Perfetto takes a thread without for a real-time one.
 * Returns how many have no time, and are not shown.
 */
uint64_t switch_events_write(struct event_tracks *tracks, const struct perf_file *file,
			     const struct sched_priorities *priorities);

#endif
