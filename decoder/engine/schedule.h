/* SPDX-License-Identifier: MIT */
/*
 * The thread and address space in one AUX stream at a given time: a cursor over the history.
 *
 * A buffer per CPU follows the context switches; a buffer per thread belongs to that thread, and to
 * the leader after the thread runs exec. A trace event has the time of the last timing packet, so
 * it can be early but not late, while the times of the kernel's records are exact. So if the
 * current thread or its mappings cannot run the given address, the cursor looks one step ahead,
 * unless the clock excludes that step.
 */
#pragma once

#include "decoder/history.h"

#define SCHEDULE_STOPS 64 /* stops of recent threads, by thread index */

struct schedule {
	const struct history *history;     /* borrowed */
	const struct cpu_switch *switches; /* switches of this CPU; borrowed */
	size_t count, next;                /* `next`: first switch not yet in effect */
	const struct thread *thread;       /* runs now; NULL: unknown */
	const struct address_space *space; /* the thread's; NULL: unknown */
	size_t epoch;                      /* index of `space` in the process's epochs */
	bool settled;                      /* the stream has no times */
	uint64_t begin, end;               /* ns: the thread's current run, [begin, end] */
	uint64_t slack;       /* ns by which times of the trace can be early; set by the owner */
	uint64_t clock_bound; /* ns: maximum between MTC packets, also when idle; 0: unknown; set
			       * by the owner */
	/* The position at which a thread's user code stopped on this CPU, and will continue. */
	struct schedule_stop {
		const struct thread *thread;       /* borrowed */
		const struct address_space *space; /* the stopped code's; borrowed */
		uint64_t ip;                       /* 0: unknown */
	} stops[SCHEDULE_STOPS];
	/* Since a start in the middle, a bit per stop: it was set; it was read before. */
	uint64_t fresh, asked;
};

/* Begin before the first switch.  `tid` is -1 for a buffer per CPU; else `cpu` is ignored. */
void schedule_init(struct schedule *schedule, const struct history *history, int32_t cpu,
		   int32_t tid);

/* Start in the middle, as if moved to `time`. `asked` marks reads of earlier stops. */
void schedule_begin_at(struct schedule *schedule, uint64_t time);

/* Returns whether two cursors over the same switches will behave equally, except for stops. */
bool schedule_equals(const struct schedule *a, const struct schedule *b);

/*
 * Copy the stops of `before`, a cursor that reached this cursor's start, unless they were set
 * since. Returns false, with nothing changed, if one of them was read as unknown (`asked`).
 */
bool schedule_join_stops(struct schedule *schedule, const struct schedule *before);

/* Move forward to `time` (ns).  Never goes back. */
void schedule_seek(struct schedule *schedule, uint64_t time);

/* Move to `time`, when user code at `ip` begins to run, and to a thread with a mapping at `ip`. */
void schedule_seek_user(struct schedule *schedule, uint64_t time, uint64_t ip);

/* The traced kernel enters the thread's user code at `time` and ip: move to mappings with ip. */
void schedule_enter_user(struct schedule *schedule, uint64_t time, uint64_t ip);

/*
 * User code of the current thread stops, and will continue at ip (0: unknown). If times are too
 * coarse to identify which of two threads with the same code begins to run, the address does.
 */
void schedule_stop_user(struct schedule *schedule, uint64_t ip);

/*
 * Returns the address space of the next program that the process executes during the thread's run
 * on this CPU; NULL if there is none, or the clock excludes it at `time`.
 */
const struct address_space *schedule_next_program(const struct schedule *schedule, uint64_t time);

/*
 * Returns whether the thread's user code stopped on this CPU in the current address space, but not
 * at ip. If so, it does not resume at ip after an interrupt or fault.
 */
bool schedule_stopped_elsewhere(struct schedule *schedule, uint64_t ip);

/* The process begins its next program: move to schedule_next_program(), which must exist. */
void schedule_begin_program(struct schedule *schedule);

/* The kernel switches threads near `time`: take the next switch if it is within `slack` ns. */
void schedule_switch(struct schedule *schedule, uint64_t time, uint64_t slack);

/*
 * Choose one thread for a stream without timing: the CPU's only thread except idle, or the last of
 * several, in the last epoch of its first program, or of its last program if the stream has only
 * the `end` of the trace. Returns true if the choice is certain.
 */
bool schedule_settle(struct schedule *schedule, bool end);

/* Returns `time` clamped to the current run. */
static inline uint64_t schedule_clamp(const struct schedule *schedule, uint64_t time)
{
	time = MIN(time, schedule->end);
	return MAX(schedule->begin, time);
}
