/* SPDX-License-Identifier: MIT */
/*
 * SIGINT as a request to finish early.
 *
 * A run that can stop early with a complete result allows such requests: from then
 * on the first SIGINT only sets a flag, which the run polls.  The second ends the
 * program, as the first did before.  The signal handler is that
 * of output_watch.h; one run of a program at a time.
 */
#ifndef BASE_IO_INTERRUPT_H
#define BASE_IO_INTERRUPT_H

#include <stdatomic.h>
#include <stdbool.h>

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
