/* SPDX-License-Identifier: MIT */
/*
 * Signals that end the program: they first remove its temporary files.  For main() only: libraries
 * leave signals alone.
 *
 * A run that can stop early with a complete result allows SIGINT as a request: then the first
 * SIGINT only sets a flag, which the run polls, and the second ends the program.  Only one run at a
 * time can do so.
 */
#pragma once

#include <stdatomic.h>

#include "base/common.h"

/*
 * Remove the temporary files when a signal from outside (except SIGKILL), exit() or a lack of
 * memory ends the process.
 */
void output_watch_signals(void);

/*
 * If a mapped file becomes shorter, or the disk fails, an access raises SIGBUS (mmap(2)).  Then
 * report the file, remove the temporary files and exit with status 1.  Any other SIGBUS is a bug
 * and dumps core.
 */
void fault_watch(void);

/*
 * If the error is ERROR_NO_READER, remove the temporary files and end without a message, like the
 * default action of SIGPIPE: `| head` has read enough.
 */
void output_obey_closed_pipe(const struct error *err);

/* Atomic: the handler runs in any thread, and other threads poll the flag. */
extern atomic_int interrupt_flag;

/*
 * Make the next SIGINT a request to end the run early with a valid output: it prints a message,
 * unless `quiet`, and makes a blocked system call fail with EINTR.
 */
void interrupt_allow(bool quiet);

/* Returns whether there was a request; costs one load. */
static inline bool interrupt_asked(void)
{
	return atomic_load_explicit(&interrupt_flag, memory_order_relaxed);
}
