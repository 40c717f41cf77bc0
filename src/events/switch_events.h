/* SPDX-License-Identifier: MIT */
/*
 * Context switches as scheduling records, from which Perfetto makes a track of
 * each CPU and the states of threads.
 */
#ifndef SRC_EVENTS_SWITCH_EVENTS_H
#define SRC_EVENTS_SWITCH_EVENTS_H

#include "decoder/perf_data/perf_file.h"
#include "src/events/event_tracks.h"

/*
 * Write the selected switches, if the recording has all switches
 * (perf_event_attr.context_switch, or the tracepoint sched_switch).
 */
void switch_events_write(struct event_tracks *tracks, const struct perf_file *file);

#endif
