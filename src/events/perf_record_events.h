/* SPDX-License-Identifier: MIT */
/*
 * The recording's records other than the trace: samples of other events as
 * instants of the sampled thread, wakeups, and marks where perf lost records.
 */
#ifndef SRC_EVENTS_PERF_RECORD_EVENTS_H
#define SRC_EVENTS_PERF_RECORD_EVENTS_H

#include "base/diag.h"
#include "decoder/perf_data/perf_file.h"
#include "decoder/timeline/sched_points.h"
#include "src/events/event_tracks.h"
#include "src/events/sched_priorities.h"
#include "src/resolve/resolve.h"

struct perf_record_events {
	struct event_tracks *tracks;               /* borrowed */
	const struct perf_file *file;              /* borrowed */
	struct resolver *resolver;                 /* borrowed: names the samples' addresses */
	struct diag *diag;                         /* borrowed */
	bool samples;                              /* write them */
	const struct sched_priorities *priorities; /* borrowed */
	uint64_t untimed;           /* samples without a time, or without thread and CPU */
	uint64_t first_time;        /* ns: the earliest of a record; 0: none has a time */
	struct ftf_name *events;    /* owned, while writing: by attribute */
	struct sched_points points; /* the tracepoints that are not written as instants */
};

/*
 * Read all records of the file and write those that are shown; fill first_time.  Warns of
 * untimed samples.
 */
void perf_record_events_write(struct perf_record_events *records);

/*
 * Write the wall-clock time of `time` (ns, perf's clock), if it is known: `base` is ns
 * since 1970 at the time 0, or WALL_BASE_UNKNOWN.
 */
void wall_clock_write(struct ftf_writer *writer, uint64_t base, uint64_t time);

#endif
