/* SPDX-License-Identifier: MIT */
/*
 * SIGINT as a request to come to an end.
 *
 * Where a run can stop early and still give something whole, it allows that:
 * from then on the first SIGINT only sets a flag, which the run asks for.  The
 * second ends the program, as the first did before.  The signal handler is that
 * of output_watch_signals(); one run of a program at a time.
 */
#ifndef BASE_IO_INTERRUPT_H
#define BASE_IO_INTERRUPT_H

#include <signal.h>
#include <stdbool.h>

extern volatile sig_atomic_t interrupt_flag;

/*
 * The next SIGINT is a request, and a system call that waits then fails with
 * EINTR; it prints `message` (borrowed; NULL: nothing) to standard error.
 */
void interrupt_allow(const char *message);

/* Returns whether there was a request; costs one load. */
static inline bool interrupt_asked(void)
{
	return interrupt_flag;
}

#endif
