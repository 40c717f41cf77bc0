/* SPDX-License-Identifier: MIT */
/*
 * Whose code one AUX stream shows at a time: a cursor over the timeline.
 *
 * For a buffer per CPU the context switches tell; for a buffer per thread it
 * is always that thread.  The time of a trace event is only known to a timing
 * packet and never too late (packets name a time that has passed), while the
 * kernel's records are exact.  So where the thread or the code that was
 * current at the given time cannot run the given address, the cursor looks one
 * step ahead.
 */
#ifndef DECODER_TIMELINE_SCHEDULE_H
#define DECODER_TIMELINE_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decoder/timeline/timeline.h"

/* Where a thread's user code stopped on this CPU, and will go on. */
struct schedule_stop {
	const struct thread *thread; /* borrowed */
	uint64_t ip;                 /* 0: unknown */
};

#define SCHEDULE_STOPS 64 /* of the threads seen last, by their index */

struct schedule {
	const struct timeline *timeline;   /* borrowed */
	const struct cpu_switch *switches; /* of this CPU; borrowed */
	size_t count, next;                /* `next`: first switch that has not taken effect */
	const struct thread *thread;       /* who runs; NULL: unknown */
	const struct address_space *space; /* what is mapped; NULL: unknown */
	size_t epoch;                      /* index of `space` in the process's epochs */
	uint64_t begin, end;               /* ns: this run of the thread, [begin, end] */
	uint64_t slack; /* ns: that a time of the trace may be too early; set by the owner */
	struct schedule_stop stops[SCHEDULE_STOPS];
	/*
	 * Of a cursor that began in the middle, a bit per stop: `fresh`, it was set
	 * since; `asked`, it was asked for before that, and taken for unknown.
	 */
	uint64_t fresh, asked;
};

/* Begin before the first switch.  `tid` is -1 for a buffer per CPU; else `cpu` is not looked at. */
void schedule_init(struct schedule *schedule, const struct timeline *timeline, int32_t cpu,
		   int32_t tid);

/*
 * Begin in the middle, as if schedule_seek() had been called with `time` only.
 * Where threads stopped before is not known, and is noted as `asked` if needed.
 */
void schedule_begin_at(struct schedule *schedule, uint64_t time);

/*
 * Returns whether two cursors over the same switches will give the same answers
 * from now on; where threads stopped is not compared.
 */
bool schedule_equals(const struct schedule *a, const struct schedule *b);

/*
 * A cursor that began in the middle is at its end; `before` is one that came to
 * where it began.  Take over what that one knew of stops.
 * Returns false, and changes nothing, if it knew one that was asked for.
 */
bool schedule_join_stops(struct schedule *schedule, const struct schedule *before);

/* Move forward to `time` (ns).  Never goes back. */
void schedule_seek(struct schedule *schedule, uint64_t time);

/*
 * Move forward to `time` where user code at `ip` begins to run: the idle
 * thread cannot run it, and neither can one that has nothing mapped there.
 */
void schedule_seek_user(struct schedule *schedule, uint64_t time, uint64_t ip);

/*
 * User code of the current thread stops, and will go on at ip (0: unknown).  So where the
 * time is too coarse to tell which of two threads begins to run, the address
 * does, if they have the same code.
 */
void schedule_stop_user(struct schedule *schedule, uint64_t ip);

/*
 * The kernel's flow goes from one thread to the next, at about `time`: take the
 * switch if one is at most `slack` ns away.
 */
void schedule_switch(struct schedule *schedule, uint64_t time, uint64_t slack);

/*
 * Settle on one thread for a stream without any timing: the only thread (but
 * idle) that the CPU ran, or the last one of several, in its last epoch.
 * Returns true if the choice was certain.
 */
bool schedule_settle(struct schedule *schedule);

/* Returns `time` moved into the current run, so that no event lies outside it. */
static inline uint64_t schedule_clamp(const struct schedule *schedule, uint64_t time)
{
	if (time > schedule->end)
		time = schedule->end;
	return time < schedule->begin ? schedule->begin : time;
}

#endif
