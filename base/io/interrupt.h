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

#include <signal.h>
#include <stdbool.h>

extern volatile sig_atomic_t interrupt_flag;

/*
 * Make the next SIGINT a request: it prints `message` (borrowed; NULL: nothing) to
 * standard error, and a system call that waits then fails with EINTR.
 */
void interrupt_allow(const char *message);

/* Returns whether there was a request; costs one load. */
static inline bool interrupt_asked(void)
{
	return interrupt_flag;
}

#endif
