/* SPDX-License-Identifier: MIT */
/* Signals to a process that waits for processes of conversions. */
#ifndef SRC_BATCH_BATCH_SIGNALS_H
#define SRC_BATCH_BATCH_SIGNALS_H

#include <stddef.h>

#include "src/batch/batch_job.h"

/*
 * From now on SIGINT, SIGTERM and SIGHUP are passed on to `processes` (borrowed), unless they
 * come from a terminal, which sends them to all itself, and wait4() returns then.
 */
void batch_signals_watch(struct batch_process *processes, size_t count);

/* No process is left; what was watched stays so.  Returns the last signal; 0: none came. */
int batch_signals_end(void);

/* Returns the last signal that came; 0: none. */
int batch_signals_last(void);

/*
 * As batch_process_start(), into `process`, one of those that are watched: no signal comes
 * before the process is known, or to the handler in the child.
 */
int batch_signals_start(struct batch_process *process, const struct batch_run *run,
			const struct batch_job *job, struct error *err);

#endif
