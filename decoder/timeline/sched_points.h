/* SPDX-License-Identifier: MIT */
/*
 * The scheduler's tracepoints: a thread begins to run (sched_switch) or is
 * woken (sched_waking, sched_wakeup, sched_wakeup_new).
 *
 * The offsets of a sample's fields come from the recording (tracepoint_formats.h).
 * Without the formats, the samples are treated like those of any other event.
 */
#ifndef DECODER_TIMELINE_SCHED_POINTS_H
#define DECODER_TIMELINE_SCHED_POINTS_H

#include "decoder/perf_data/perf_file.h"

struct perf_sample;

enum sched_kind {
	SCHED_NONE = 0,
	SCHED_SWITCH,
	SCHED_WAKING, /* by the waker; SCHED_WAKEUP follows, on the CPU where it will run */
	SCHED_WAKEUP,
	SCHED_WAKEUP_NEW, /* for the first time; without SCHED_WAKING */
	SCHED_KINDS,
};

/* Bytes of a thread's name (TASK_COMM_LEN), which may lack a NUL. */
#define SCHED_NAME_SIZE 16

/* The fields that are used, the same five for all kinds. */
enum sched_place { PLACE_TID, PLACE_NAME, PLACE_STATE, PLACE_CPU, PLACE_PRIORITY, SCHED_PLACES };

struct sched_points {
	struct {
		bool recorded; /* an event of the recording has this format */
		uint64_t id;   /* perf_event_attr.config of its event */
		struct sched_field {
			uint32_t offset, size; /* bytes in the sample's raw data; size 0: absent */
		} fields[SCHED_PLACES];
	} formats[SCHED_KINDS];
};

struct sched_point {
	enum sched_kind kind;
	int32_t tid;   /* the thread that begins to run, or was woken */
	int32_t cpu;   /* where the woken thread will run; -1: not recorded */
	bool runnable; /* of SCHED_SWITCH: the previous thread was still runnable */
	bool dead;     /* of SCHED_SWITCH: the previous thread has ended */
	bool has_priority;
	int32_t priority; /* of `tid`: below 100 of real-time threads, to 139 of others */
	const char *name; /* of `tid`: SCHED_NAME_SIZE bytes of the sample; NULL: not recorded */
};

/* Find the formats of the scheduler's events that the file recorded. */
void sched_points_init(struct sched_points *points, const struct perf_file *file);

/*
 * Read a sample's tracepoint.
 * Returns its kind; SCHED_NONE if it is of another event, or too short.
 */
enum sched_kind sched_points_read(const struct sched_points *points,
				  const struct perf_sample *sample, struct sched_point *point);

#endif
