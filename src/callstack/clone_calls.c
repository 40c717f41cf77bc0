/* SPDX-License-Identifier: MIT */
/* A ring of system calls, searched from the latest backwards. */
#include "src/callstack/fork_pauses.h"

void clone_calls_add(struct clone_calls *calls, const struct branch_event *event)
{
	if (event->kind != BRANCH_SYSCALL && event->kind != BRANCH_SOFTINT)
		return;
	calls->calls[calls->count++ % CLONE_CALLS_MOST] =
		(struct clone_call){ event->time, event->from + event->from_length };
}

bool clone_calls_have(const struct clone_calls *calls, uint64_t ip, uint64_t time,
		      uint64_t resolution)
{
	size_t oldest = calls->count > CLONE_CALLS_MOST ? calls->count - CLONE_CALLS_MOST : 0;
	uint64_t next = UINT64_MAX; /* time of the call after it */

	for (size_t i = calls->count; i-- > oldest;) {
		const struct clone_call *call = &calls->calls[i % CLONE_CALLS_MOST];

		/* This call and all earlier ones precede the thread's creation. */
		if (resolution && next < time && time - next > resolution)
			return false;
		if (call->time <= time && call->resume_ip == ip)
			return true;
		next = call->time;
	}
	return false;
}
