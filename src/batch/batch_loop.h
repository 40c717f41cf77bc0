/* SPDX-License-Identifier: MIT */
/* The loop that starts the processes of jobs, so many at a time, and waits for them. */
#ifndef SRC_BATCH_BATCH_LOOP_H
#define SRC_BATCH_BATCH_LOOP_H

#include <stddef.h>

#include "src/batch/batch_job.h"

struct batch_loop {
	struct batch_run run;          /* `threads` is set by batch_loop_run() */
	const struct batch_plan *plan; /* borrowed */
	/* A job has ended, or could not be started; all is borrowed for the call. */
	void (*finished)(void *context, const struct batch_job *job, const struct batch_end *end);
	void *context;
	size_t begun; /* jobs, in the plan's order */
};

/* Run all jobs, options->jobs at a time.  Returns the signal that ended the loop; 0: none did. */
int batch_loop_run(struct batch_loop *loop);

#endif
