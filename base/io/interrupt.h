/* SPDX-License-Identifier: MIT */
/*
 * Signals that end a program: its temporary files are removed before.  For main(): libraries leave
 * signals alone.
 *
 * A run that can stop early with a complete result allows SIGINT as a request: afterwards the
 * first one only sets a flag, which the run polls.  The second ends the program.  One run of a
 * program at a time.
 */
#ifndef BASE_IO_INTERRUPT_H
#define BASE_IO_INTERRUPT_H

#include <stdatomic.h>

#include "base/common.h"

/*
 * Have the signals that end a process from outside, but for SIGKILL, remove the temporary files
 * before they do, and exit() and a lack of memory, too.
 */
void output_watch_signals(void);

/*
 * A mapped file that becomes shorter, or a disk that fails, ends an access in SIGBUS (mmap(2)).
 * Have that name the file, remove the temporary files and end the program with status 1.  Any
 * other SIGBUS is a bug and keeps its core.
 */
void fault_watch(void);

/*
 * If the error is ERROR_NO_READER, end as the default action of SIGPIPE does, without a message,
 * and remove the temporary files: `| head` has all that it wants.
 */
void output_obey_closed_pipe(const struct error *err);

/* Atomic, as the handler runs in any thread, and others poll. */
extern atomic_int interrupt_flag;

/*
 * Make the next SIGINT a request: it prints `message` (borrowed; NULL: nothing) to
 * standard error, and a system call that waits then fails with EINTR.
 */
void interrupt_allow(const char *message);

/* Returns whether there was a request; costs one load. */
static inline bool interrupt_asked(void)
{
	return atomic_load_explicit(&interrupt_flag, memory_order_relaxed);
}

#endif
