/* SPDX-License-Identifier: MIT */
/*
 * Keeps a thread's stack at each of its latest system calls. A forked child starts with one of
 * them: its first instruction follows the parent's system call. Times do not identify the call: an
 * event has the time of the last timing packet before it, so calls after the fork may seem to
 * precede it.
 *
 * A new thread (clone(2), CLONE_THREAD) also begins after a call of its creator, but on a stack of
 * its own: the function there has no caller. After lost trace, the thread's first address in the
 * trace may be a later one. So it is compared with the creator's calls, which are kept without
 * stacks.
 */
#pragma once

#include "src/callstack/callstack.h"

struct address_space;

/* Limits of kept pauses, of all and per address: a child may begin long after the fork. */
#define FORK_PAUSES_MOST 64
#define FORK_PAUSES_SAME 16

struct fork_pauses {
	struct fork_pause {
		uint64_t number;         /* from 1, in the thread's order */
		uint64_t time;           /* ns: of the system call's event */
		uint64_t resume_ip;      /* after the system call instruction; 0: a gap */
		bool left_out;           /* the stack was too deep to be copied */
		struct callstack *stack; /* owned: a copy, empty for a gap; NULL: not kept */
		const struct address_space *space; /* borrowed; NULL: unknown */
	} pauses[FORK_PAUSES_MOST];                /* in the thread's order */
	size_t count;
	uint64_t last_number;
	uint64_t credit; /* frames that may be copied: one per event */
};

/*
 * Returns whether a child that begins at ip can have been forked in a pause. In the 32-bit vdso,
 * SYSENTER or SYSCALL precedes an INT 0x80 for other processors, and the kernel resumes after both
 * (arch/x86/entry/vdso/vdso32/system_call.S).
 */
static inline bool fork_pause_resumes_at(const struct fork_pause *pause, uint64_t ip)
{
	return pause->resume_ip && (ip == pause->resume_ip || ip == pause->resume_ip + 2);
}

/*
 * Note a system call or gap that was fed to the stack (NULL: keep no copy of it, in any pause). A
 * stack that is too deep for the number of events since the last copy is not copied, so that
 * copying costs no more than the events.
 */
void fork_pauses_add(struct fork_pauses *pauses, const struct callstack *stack,
		     const struct branch_event *event);

/* A fork, as a search key for its pause. */
struct fork_query {
	uint64_t time;       /* ns: of the fork */
	uint64_t ip;         /* target of the child's first branch into user code; 0: unknown */
	uint64_t after;      /* number of the pause of an earlier fork with this ip; 0: unknown */
	uint64_t resolution; /* ns: maximum delay of times; 0: unknown */
	const uint64_t *earlier; /* borrowed: ns, ascending: times of forks after `after` whose ip
				    is unknown */
	size_t earlier_count;
};

/*
 * Returns the pause in which a child was forked, borrowed until the next change; NULL: no pause.
 * Forks from one address are in the order of their pauses, so each takes the first possible pause
 * that no earlier fork took. If no pause resumes at the child's address, returns the last one
 * before the fork.
 */
const struct fork_pause *fork_pauses_find(const struct fork_pauses *pauses,
					  const struct fork_query *query);

/* Returns whether a kept call can have created a child, by the query's time, ip and resolution. */
bool fork_pauses_have(const struct fork_pauses *pauses, const struct fork_query *query);

void fork_pauses_release(struct fork_pauses *pauses);
