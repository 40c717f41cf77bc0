/* SPDX-License-Identifier: MIT */
/*
 * The latest system calls of a thread that creates threads.
 *
 * A new thread begins behind the system call that created it, on a stack of its own: nothing has
 * called the function there (clone(2), CLONE_THREAD).  Its trace may begin later, where trace is
 * lost; so its first address is compared with the calls that its creator made up to its begin.
 */
#ifndef SRC_CALLSTACK_CLONE_CALLS_H
#define SRC_CALLSTACK_CLONE_CALLS_H

#include "decoder/branch_event.h"

/* Calls that are kept: a thread may begin long after it was created. */
#define CLONE_CALLS_MOST 64

struct clone_call {
	uint64_t time;      /* ns: of the system call's event */
	uint64_t resume_ip; /* behind the system call */
};

/* Zeroed, it is empty. */
struct clone_calls {
	struct clone_call calls[CLONE_CALLS_MOST]; /* a ring buffer */
	size_t count;                              /* of all calls so far */
};

/* Note a system call of the thread; any other event is left out. */
void clone_calls_add(struct clone_calls *calls, const struct branch_event *event);

/*
 * Returns whether a thread that was created at `time` (ns) and begins at `ip` can have been created
 * by a kept call: by the last one before that time, or as many as `resolution` (ns) leaves open, as
 * events have the time of the last timing packet before them.  A resolution of 0 leaves all open.
 */
bool clone_calls_have(const struct clone_calls *calls, uint64_t ip, uint64_t time,
		      uint64_t resolution);

#endif
