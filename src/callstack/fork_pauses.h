/* SPDX-License-Identifier: MIT */
/*
 * A thread's stack at its latest system calls, one of which forked a child.
 *
 * The child begins in the call that forked it: its first instruction is the one behind the
 * parent's system call.  The times do not show which call that was: events have the time
 * of the last timing packet before them, so calls behind the fork may seem to come before it.
 */
#ifndef SRC_CALLSTACK_FORK_PAUSES_H
#define SRC_CALLSTACK_FORK_PAUSES_H

#include "src/callstack/callstack.h"

struct address_space;

/* Pauses that are kept, and those of one address: a child may begin long after the fork. */
#define FORK_PAUSES_MOST 32
#define FORK_PAUSES_SAME 16

struct fork_pause {
	uint64_t number;                   /* from 1 on, in the thread's order */
	uint64_t time;                     /* ns: of the system call's event */
	uint64_t resume_ip;                /* behind the system call; 0: a gap */
	bool left_out;                     /* the stack was too deep to be copied */
	struct callstack *stack;           /* owned: a copy; empty for a gap */
	const struct address_space *space; /* borrowed; NULL: unknown */
};

struct fork_pauses {
	struct fork_pause pauses[FORK_PAUSES_MOST]; /* in the thread's order */
	size_t count;
	uint64_t last_number;
	uint64_t credit; /* frames that may be copied: as many as events came */
};

/*
 * Returns whether a child that begins at ip can have been forked in a pause.  In a 32-bit vdso an
 * INT 0x80, for other processors, is behind SYSENTER or SYSCALL, and the kernel resumes behind
 * both (arch/x86/entry/vdso/vdso32/system_call.S).
 */
static inline bool fork_pause_resumes_at(const struct fork_pause *pause, uint64_t ip)
{
	return pause->resume_ip && (ip == pause->resume_ip || ip == pause->resume_ip + 2);
}

/*
 * Note a system call or a gap that the thread's stack has been fed.  The stack of a system
 * call is copied if its depth is in proportion to the events since the last copy, so that the
 * copies take no more time than the events; else the copy is empty.
 */
void fork_pauses_add(struct fork_pauses *pauses, const struct callstack *stack,
		     const struct branch_event *event);

/* A fork whose pause is wanted. */
struct fork_query {
	uint64_t time;           /* ns: of the fork */
	uint64_t ip;             /* where the child's first branch enters user code; 0: unknown */
	uint64_t after;          /* number of the pause of an earlier fork from there; 0: none */
	uint64_t resolution;     /* ns: how late times may be; 0: unknown */
	const uint64_t *earlier; /* ns, ascending: forks behind `after` of unknown ip; borrowed */
	size_t earlier_count;
};

/*
 * Returns the pause in which a child was forked, borrowed until the next change: forks from one
 * address have their pauses there in their order, so each takes the first possible pause that
 * no earlier fork took.  If no pause resumes at the child's address,
 * it is the last one up to the fork's time; NULL: there is none.
 */
const struct fork_pause *fork_pauses_find(const struct fork_pauses *pauses,
					  const struct fork_query *query);

/* Release the copies.  Idempotent, also on zeroed memory. */
void fork_pauses_release(struct fork_pauses *pauses);

#endif
