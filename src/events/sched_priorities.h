/* SPDX-License-Identifier: MIT */
/*
 * The priorities of threads over time, as the scheduler's tracepoints have them: of the kernel,
 * below 100 for real-time threads, 100 to 139 for others (include/linux/sched/prio.h).
 */
#ifndef SRC_EVENTS_SCHED_PRIORITIES_H
#define SRC_EVENTS_SCHED_PRIORITIES_H

#include <stddef.h>
#include <stdint.h>

#include "decoder/perf_data/perf_file.h"

/* Of a thread with the nice value 0: DEFAULT_PRIO. */
#define SCHED_PRIORITY_DEFAULT 120

struct sched_priorities {
	struct sched_priority *all; /* owned; by thread, then time */
	size_t count, room;
};

/* Read the priorities of all samples of the tracepoints; none may be there. */
void sched_priorities_read(struct sched_priorities *priorities, const struct perf_file *file);

/*
 * Returns the priority of a thread at `time` (ns): the last recorded, or else the first;
 * SCHED_PRIORITY_DEFAULT if none was recorded.
 */
int32_t sched_priorities_find(const struct sched_priorities *priorities, int32_t tid,
			      uint64_t time);

/* Idempotent, also on zeroed memory. */
void sched_priorities_release(struct sched_priorities *priorities);

#endif
