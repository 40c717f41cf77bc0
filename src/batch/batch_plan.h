/* SPDX-License-Identifier: MIT */
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
#ifndef SRC_BATCH_BATCH_PLAN_H
#define SRC_BATCH_BATCH_PLAN_H

#include "src/options/options.h"

struct batch_job {
	char **inputs;   /* borrowed from the options; several: a series */
	int input_count; /* at least 1 */
	char *output;    /* owned: path; "-": stdout; NULL: no output (--format=none) */
	const struct options *options; /* borrowed: its own; NULL: those of the run */
};

struct batch_plan {
	struct batch_job *jobs; /* owned; in the order of the inputs */
	size_t count;
};

/*
 * Make the jobs; `options` (with at least one input) must live as long as the plan.
 * Returns 0; -1 with err filled, and an empty plan: a pattern is wrong, two
 * outputs are the same, or one is an input.
 */
int batch_plan_make(struct batch_plan *plan, const struct options *options, struct error *err);

/* Idempotent, also on zeroed memory. */
void batch_plan_release(struct batch_plan *plan);

#endif
