/* SPDX-License-Identifier: MIT */
/*
 * The thread that ended a wait, and its calls meanwhile: by the branches of all threads.
 *
 * A system call of another thread of the process ended the wait if it is the last one by which a
 * thread wakes others (futex, write, send) before the wait ended.  This is likely, not proven.
 */
#ifndef SRC_FORMATS_ANSWERS_OTHER_THREAD_H
#define SRC_FORMATS_ANSWERS_OTHER_THREAD_H

#include "decoder/branch_event.h"
#include "src/callstack/precise/syscall_symbols.h"
#include "src/resolve/location.h"

/* Calls, returns and pauses of all threads, in the order of time. */
struct thread_log {
	struct thread_event {
		uint64_t time;                  /* ns */
		const struct thread *thread;    /* borrowed; not NULL */
		const struct symbol *from, *to; /* borrowed; NULL: not traced */
		uint64_t offset;                /* of the branch, bytes from the start of `from` */
		int32_t cpu;                    /* -1: unknown */
		uint8_t kind, flags;            /* enum branch_kind, enum branch_flags */
	} * events;                             /* owned */
	size_t count, room;
};

/* Events of a log, at most; a longer one has no answer. */
#define THREAD_LOG_MOST 200000

struct thread_wait {
	const struct thread *other; /* borrowed; NULL: not found */
	const struct thread
		*instead; /* borrowed: ran on its CPU for a third of the time; or NULL */
	bool held;        /* it held a lock all the time, and then unlocked it */
	char *path;       /* owned: calls of `other` meanwhile; may be NULL */
};

void thread_log_add(struct thread_log *log, const struct branch_event *event,
		    const struct location_pair *places);

/*
 * Find the thread that ended a wait of thread `tid` from `begin` to `end` (ns).
 * The path names functions of `dso`, and the first callee outside of it.  Returns whether the
 * thread is found; the caller frees wait->path.
 */
bool thread_wait_find(struct thread_wait *wait, const struct thread_log *log, int32_t tid,
		      uint64_t begin, uint64_t end, const struct dso *dso,
		      struct syscall_symbols *syscalls);

/* Idempotent, also on zeroed memory. */
void thread_log_release(struct thread_log *log);

#endif
