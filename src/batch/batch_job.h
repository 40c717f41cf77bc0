/* SPDX-License-Identifier: MIT */
/* One process of a batch: starting it, what it does, and how it ended. */
#ifndef SRC_BATCH_BATCH_JOB_H
#define SRC_BATCH_BATCH_JOB_H

#include <stdbool.h>
#include <time.h>

#include "src/batch/batch.h"
#include "src/batch/batch_line.h"
#include "src/batch/batch_plan.h"

struct batch_process {
	pid_t pid;                   /* 0: none */
	const struct batch_job *job; /* borrowed */
	int messages;          /* owned: a file in memory for what it prints; -1: none is kept */
	int told;              /* owned: one for what it tells, as JSON */
	struct timespec begin; /* CLOCK_MONOTONIC */
};

/* What all jobs of a run have in common. */
struct batch_run {
	const struct options *options; /* borrowed */
	batch_convert_fn *convert;
	unsigned threads;   /* of each process that is not told how many; 0: as many as it likes */
	bool keep_messages; /* until the process ends */
	bool stamped;       /* outputs get stamps */
};

/*
 * Start the process of a job; in the child this does not return.
 * Returns 0; -1 with err filled.
 */
int batch_process_start(struct batch_process *process, const struct batch_run *run,
			const struct batch_job *job, struct error *err);

/*
 * The process has ended with `status` (as of wait4()): print what it printed, and
 * remove what a process that was killed left of its output.
 * `end` gets how it ended; what it told is owned by the caller.
 */
void batch_process_finish(struct batch_process *process, int status, struct batch_end *end);

#endif
