/* SPDX-License-Identifier: MIT */
/*
 * --counters=TIME: the activity of each thread and each CPU in each stretch of that time:
 * instructions and calls a second, instructions per cycle, taken branches per instruction.
 *
 * Every instruction and call is in exactly one stretch, that of the event which reports it, so
 * the sum of a counter times TIME is the thread's total.
 */
#ifndef SRC_EVENTS_PERIOD_COUNTERS_H
#define SRC_EVENTS_PERIOD_COUNTERS_H

#include "base/io/big_array.h"
#include "base/io/output.h"
#include "src/events/event_tracks.h"

struct counted_owner;

struct period_counters {
	uint64_t length;                    /* ns; 0: nothing is counted */
	struct counted_owner *owners;       /* owned: hash of threads and CPUs */
	struct counted_owner *thread, *cpu; /* borrowed: of the last event */
	struct big_array stretches;         /* owned: struct counted_stretch, of all owners */
	size_t count;
};

/* Count branches and gaps, in order of time. */
void period_counters_add(struct period_counters *counters, const struct branch_event *events,
			 size_t count);

/* Write the counters, until `output` is full.  Nothing else may use the tracks' writer. */
void period_counters_write(struct period_counters *counters, struct event_tracks *tracks,
			   const struct output *output);

/* Idempotent, also on zeroed memory. */
void period_counters_release(struct period_counters *counters);

#endif
