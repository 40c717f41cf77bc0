/* SPDX-License-Identifier: MIT */
/*
 * The latest system calls of a thread that creates threads.
 *
 * A new thread begins after the system call that created it, on a stack of its own, so the function
 * there has no caller (clone(2), CLONE_THREAD). If trace was lost, the thread's first address may
 * be a later one; so it is compared with the calls that its creator made before the thread began.
 */
#ifndef SRC_CALLSTACK_CLONE_CALLS_H
#define SRC_CALLSTACK_CLONE_CALLS_H

#include "decoder/branch_event.h"

/* Calls kept: a thread may begin long after its creation. */
#define CLONE_CALLS_MOST 64

/* Zeroed memory is empty. */
struct clone_calls {
	struct clone_call {
		uint64_t time;      /* ns: of the system call's event */
		uint64_t resume_ip; /* after the system call instruction */
	} calls[CLONE_CALLS_MOST];  /* a ring buffer */
	size_t count;               /* of all calls so far */
};

/* Note a system call of the thread; ignores other events. */
void clone_calls_add(struct clone_calls *calls, const struct branch_event *event);

/*
 * Returns whether a kept call can have created the thread that was created at `time` (ns) and
 * begins at `ip`. Events have the time of the last timing packet before them, so the call is the
 * last one before `time`, or any within `resolution` (ns) of it. A resolution of 0 excludes no
 * call.
 */
bool clone_calls_have(const struct clone_calls *calls, uint64_t ip, uint64_t time,
		      uint64_t resolution);

#endif
