/* SPDX-License-Identifier: MIT */
/* One process of a batch: its start, its conversion, and its end. */
#ifndef SRC_BATCH_BATCH_JOB_H
#define SRC_BATCH_BATCH_JOB_H

#include <time.h>

#include "src/batch/batch_line.h"

struct batch_process {
	pid_t pid;                   /* 0 if absent */
	const struct batch_job *job; /* borrowed */
	int messages; /* owned: a file in memory for its standard error; -1: not redirected */
	int report;   /* owned: a file in memory for its report in JSON: batch_convert_fn */
	struct timespec start; /* CLOCK_MONOTONIC */
};

/*
 * Converts as the options say, and prints messages to standard error.  `report`, an object, gets
 * keys of --json-lines: "error", or "branches" and "slices"; "report"; "skipped".  It may be NULL.
 * Returns the exit status.
 */
typedef enum exit_status batch_convert_fn(const struct options *options, json_t *report);

/* Data that all jobs of a run share. */
struct batch_run {
	const struct options *options; /* borrowed */
	batch_convert_fn *convert;
	unsigned threads;   /* of each process, without --threads; 0: the default of one process */
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
 * Reap a process that ended with `status` (as of wait4()): print its messages,
 * delete its partial output if it was killed, and fill `end`, whose `usage` the
 * caller fills; its `report` is owned by the caller.
 */
void batch_process_finish(struct batch_process *process, int status, struct batch_end *end);

#endif
