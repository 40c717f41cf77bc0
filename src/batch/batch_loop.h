/* SPDX-License-Identifier: MIT */
/* Starts the processes of jobs, one or several at a time, and waits for them. */
#ifndef SRC_BATCH_BATCH_LOOP_H
#define SRC_BATCH_BATCH_LOOP_H

#include "src/batch/batch_job.h"

/*
 * Run the conversion and wait for it; signals to this process are passed on to it, and regain
 * their usual effect afterwards.
 * Returns an exit status, 128 + the number of a signal that came; EXIT_FAILED with err filled:
 * there was no process.  `report` gets the conversion's report, owned by the caller, or NULL.
 */
int batch_one_run(const struct batch_run *run, const struct batch_job *job, json_t **report,
		  struct error *err);

struct batch_loop {
	struct batch_run run;          /* `threads` is set by batch_loop_run() */
	const struct batch_plan *plan; /* borrowed */
	/* A job has ended, or could not be started; all is borrowed for the call. */
	void (*finished)(void *context, const struct batch_job *job, const struct batch_end *end);
	void *context;
	size_t begun; /* jobs, in the plan's order */
	/* Private to batch_loop_run(): */
	struct batch_process *processes; /* owned */
	size_t process_count, running;
};

/* Run all jobs, options->jobs at a time.  Returns the signal that ended the loop, or 0. */
int batch_loop_run(struct batch_loop *loop);

#endif
