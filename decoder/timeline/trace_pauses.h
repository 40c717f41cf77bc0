/* SPDX-License-Identifier: MIT */
/*
 * Times at which another event paused the trace (perf record with aux-action=pause, resume or
 * start-paused; since Linux and perf 6.13).
 *
 * In the trace itself, a pause looks like an entry into the kernel or a disabled event. But
 * attributes identify the events that pause and resume, and each such event has a sample: the
 * kernel pauses before it takes the time of the sample, and resumes after the sample
 * (kernel/events/core.c, __perf_event_overflow()). Part of a timeline.
 */
#pragma once

#include "base/common.h"

struct perf_file;
struct perf_record;
struct cpu_switch;

struct trace_pauses {
	/* A sample that paused or resumed. */
	struct pause_point {
		uint64_t time; /* ns */
		int32_t cpu, tid;
		bool resumes;
	} * points; /* owned, while building */
	size_t point_count, point_room;
	/* A thread ran while the trace was paused. */
	struct trace_pause {
		int32_t tid;
		int32_t cpu;
		uint64_t begin; /* ns: of the pause, or of the thread's start on a paused CPU */
		/*
		 * 0: the thread itself was interrupted, so the pause is certain. Else the time at
		 * which the CPU's trace resumed (ns; UINT64_MAX: never): a trace that begins
		 * earlier was not paused, because each thread has its own trace.
		 */
		uint64_t until;
	} * pauses; /* owned; after trace_pauses_finish() by thread, then time */
	size_t count, room;
};

/* Note a sample, if its event pauses or resumes.  Zeroed pauses are empty. */
void trace_pauses_note(struct trace_pauses *pauses, const struct perf_file *file,
		       const struct perf_record *sample);

/* Call after the last trace_pauses_note(), with the finished switches of a timeline. */
void trace_pauses_finish(struct trace_pauses *pauses, const struct cpu_switch *switches,
			 size_t count);

void trace_pauses_release(struct trace_pauses *pauses);

/*
 * Returns the time (ns) of the pause in a thread's trace that ended at `off` and began again at
 * `on`, on a CPU (-1: unknown); 0: the samples show no pause.
 */
uint64_t trace_pauses_find(const struct trace_pauses *pauses, int32_t tid, int32_t cpu,
			   uint64_t off, uint64_t on);
