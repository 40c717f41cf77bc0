/* SPDX-License-Identifier: MIT */
/*
 * The thread and address space that one AUX stream traces at a time: a cursor over the timeline.
 *
 * A buffer per CPU follows the context switches; a buffer per thread is of that
 * thread, and of the leader once the thread has run exec.  The time of a trace event is as exact as
 * the last timing packet and never too late (packets carry a time that has passed), while the
 * kernel's records are exact.  So if the current thread or its mappings cannot run the
 * given address, the cursor looks one step ahead, unless the clock excludes that step.
 */
#ifndef DECODER_TIMELINE_SCHEDULE_H
#define DECODER_TIMELINE_SCHEDULE_H

#include "decoder/timeline/timeline.h"

#define SCHEDULE_STOPS 64 /* of the threads seen last, by their index */

struct schedule {
	const struct timeline *timeline;   /* borrowed */
	const struct cpu_switch *switches; /* of this CPU; borrowed */
	size_t count, next;                /* `next`: first switch that has not taken effect */
	const struct thread *thread;       /* runs now; NULL: unknown */
	const struct address_space *space; /* of the thread; NULL: unknown */
	size_t epoch;                      /* index of `space` in the process's epochs */
	bool settled;                      /* there are no times */
	uint64_t begin, end;               /* ns: this run of the thread, [begin, end] */
	uint64_t slack; /* ns by which times of the trace may be too early; set by the owner */
	uint64_t clock_bound; /* ns: most between MTC packets, even when idle; 0: unknown; as
				 `slack` */
	/* Where a thread's user code stopped on this CPU, and will continue. */
	struct schedule_stop {
		const struct thread *thread;       /* borrowed */
		const struct address_space *space; /* of the code that stopped; borrowed */
		uint64_t ip;                       /* 0: unknown */
	} stops[SCHEDULE_STOPS];
	/* A bit per stop, since a cursor began in the middle: it was set; it was read before. */
	uint64_t fresh, asked;
};

/* Begin before the first switch.  `tid` is -1 for a buffer per CPU; else `cpu` is ignored. */
void schedule_init(struct schedule *schedule, const struct timeline *timeline, int32_t cpu,
		   int32_t tid);

/* Begin in the middle, as if moved to `time`.  Reads of earlier stops are marked in `asked`. */
void schedule_begin_at(struct schedule *schedule, uint64_t time);

/* Returns whether two cursors over the same switches will give the same answers, but for stops. */
bool schedule_equals(const struct schedule *a, const struct schedule *b);

/*
 * Copy the stops of `before`, a cursor that reached the point where this one began, unless they
 * were set since.  Returns false, and changes nothing, if one of them was read as unknown
 * (`asked`).
 */
bool schedule_join_stops(struct schedule *schedule, const struct schedule *before);

/* Move forward to `time` (ns).  Never goes back. */
void schedule_seek(struct schedule *schedule, uint64_t time);

/* Move to `time`, when user code at `ip` begins to run: in a thread that has a mapping there. */
void schedule_seek_user(struct schedule *schedule, uint64_t time, uint64_t ip);

/* The traced kernel enters user code of the thread at `time` and ip: move to the mappings there. */
void schedule_enter_user(struct schedule *schedule, uint64_t time, uint64_t ip);

/*
 * User code of the current thread stops, and will continue at ip (0: unknown).  Where the time is
 * too coarse to decide which of two threads with the same code begins to run, the address decides.
 */
void schedule_stop_user(struct schedule *schedule, uint64_t ip);

/*
 * Returns the address space of the next program that the thread's process ran by exec while the
 * thread was on this CPU; NULL if there is no such program, or the clock excludes it at `time`.
 */
const struct address_space *schedule_next_program(const struct schedule *schedule, uint64_t time);

/*
 * Returns whether user code of the thread stopped on this CPU in the present address space,
 * elsewhere than at ip: it does not resume there after an interrupt or fault.
 */
bool schedule_stopped_elsewhere(struct schedule *schedule, uint64_t ip);

/* The process begins its next program: move to schedule_next_program(), which there is. */
void schedule_begin_program(struct schedule *schedule);

/* The kernel switches threads at about `time`: take the next switch if it is within `slack` ns. */
void schedule_switch(struct schedule *schedule, uint64_t time, uint64_t slack);

/*
 * Settle on one thread for a stream without any timing: the only thread (but idle) that the CPU
 * ran, or the last one of several, in the last epoch of its first program, or if the stream has the
 * `end` of the trace only, of its last one.  Returns true if the choice was certain.
 */
bool schedule_settle(struct schedule *schedule, bool end);

/* Returns `time` moved into the current run, so that no event lies outside it. */
static inline uint64_t schedule_clamp(const struct schedule *schedule, uint64_t time)
{
	time = MIN(time, schedule->end);
	return MAX(schedule->begin, time);
}

#endif
