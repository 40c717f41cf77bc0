/* SPDX-License-Identifier: MIT */
/* The line of JSON per job that --json-lines writes. */
#ifndef SRC_BATCH_BATCH_LINE_H
#define SRC_BATCH_BATCH_LINE_H

#include <jansson.h>
#include <sys/resource.h>

#include "src/options/options.h"

/*
 * The jobs of a run: which inputs are converted to which output.
 *
 * Inputs are the files of one recording, and one job, unless options name
 * outputs by a rule (options_is_batch()): then each input is a job of its own.
 *
 * Outputs in a directory are named after their inputs: the file's name without
 * ".data", or the directory's if the file is called perf.data.  Equal names are
 * extended by the next directory above, with "-" between, until they differ.
 */

struct batch_plan {
	struct batch_job {
		char **inputs;   /* borrowed from the options; several: a series */
		int input_count; /* at least 1 */
		char *output;    /* owned: path; "-": stdout; NULL: no output (--format=none) */
		const struct options *options; /* borrowed: its own; NULL: those of the run */
	} * jobs;                              /* owned; in the order of the inputs */
	size_t count;
};

/*
 * Make the jobs; `options` (with at least one input) must live as long as the plan.
 * Returns 0; -1 with err filled, and an empty plan: a pattern is wrong, two
 * outputs are the same, or one is an input.
 */
int batch_plan_make(struct batch_plan *plan, const struct options *options, struct error *err);

void batch_plan_release(struct batch_plan *plan);

/* How a job's process ended. */
struct batch_end {
	int status;     /* enum exit_status */
	int signal;     /* the signal that ended it; 0 if absent */
	double seconds; /* from start to end */
	struct rusage usage;
	json_t *report; /* owned: the process's own report (batch_job.h); may be NULL */
};

/*
 * Returns `text` as a JSON string, owned by the caller.  If it is not UTF-8, its
 * bytes above 0x7f are written as \xNN and its backslashes as \x5c.
 */
json_t *batch_line_text(const char *text);

/* Returns the object for a finished job, owned by the caller. */
json_t *batch_line_make(const struct batch_job *job, const struct batch_end *end);

#endif
