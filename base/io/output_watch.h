/* SPDX-License-Identifier: MIT */
/* What removes temporary files when a program ends early.  For main(): libraries leave it alone. */
#ifndef BASE_IO_OUTPUT_WATCH_H
#define BASE_IO_OUTPUT_WATCH_H

#include <stdbool.h>

#include "base/error.h"

/*
 * Have the signals that end a process from outside, but for SIGKILL, remove the temporary files
 * before they do, and exit() and a lack of memory, too; but SIGINT may be taken as a request
 * (base/io/interrupt.h).
 */
void output_watch_signals(void);

/*
 * If the error is ERROR_NO_READER, end as the default action of SIGPIPE does, without a message,
 * and remove the temporary files: `| head` has all that it wants.
 */
void output_obey_closed_pipe(const struct error *err);

/* Called by the handler of SIGINT: if it returns true, the handler does nothing else.  NULL: none.
 */
extern bool (*volatile output_interrupt_hook)(void);

#endif
