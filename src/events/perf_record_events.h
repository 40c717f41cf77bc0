/* SPDX-License-Identifier: MIT */
/*
 * What the recording has beside the trace: samples of other events as instants
 * of the thread that was sampled, and marks where perf lost records.
 */
#ifndef SRC_EVENTS_PERF_RECORD_EVENTS_H
#define SRC_EVENTS_PERF_RECORD_EVENTS_H

#include "base/diag.h"
#include "decoder/perf_data/perf_file.h"
#include "decoder/timeline/sched_points.h"
#include "src/events/event_tracks.h"
#include "src/resolve/resolve.h"

struct record_events {
	struct event_tracks *tracks;  /* borrowed */
	const struct perf_file *file; /* borrowed */
	struct resolver *resolver;    /* borrowed: names the samples' addresses */
	struct diag *diag;            /* borrowed */
	bool samples;                 /* write them */
	uint64_t sample_count, untimed;
	struct ftf_name *events;    /* owned, while writing: by attribute */
	struct sched_points points; /* samples of these are scheduling records, and no instants */
};

/*
 * Read all records of the file and write what is to be shown.  Samples that say
 * neither when nor where they were taken are counted in a warning.
 */
void record_events_write(struct record_events *records);

/*
 * Write, at `time` (ns, perf's clock), what the clock on the wall said then, if
 * the recording knows (perf record -k: the feature CLOCK_DATA).
 */
void side_clock_write(struct ftf_writer *writer, const struct perf_features *features,
		      uint64_t time);

#endif
