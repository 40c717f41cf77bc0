/* SPDX-License-Identifier: MIT */
/*
 * Many conversions in one run, each in a process of its own: a crash or a lack of memory fails one
 * conversion only.  The messages of a process are printed together when it ends, each with the
 * input in front.  SIGINT, SIGTERM and SIGHUP end the running processes, and no other is started.
 */
#ifndef SRC_BATCH_BATCH_H
#define SRC_BATCH_BATCH_H

#include "src/batch/batch_job.h"

/* Returns whether the options need batch_run(), if only for one conversion. */
bool batch_wanted(const struct options *options);

/*
 * Convert all inputs.  Returns the worst exit status of all: EXIT_FAILED, then EXIT_WITH_GAPS, then
 * EXIT_WHOLE; EXIT_USAGE if outputs cannot be named; 128 + N if signal N ended the batch.
 */
int batch_run(const struct options *options, batch_convert_fn *convert);

/*
 * Make a trace of each slow call (--slowest, --slow with -o DIR/).  One process finds the calls in
 * the recording; then one more for each call decodes it with its context, of all threads and CPUs.
 * Each has its own sandbox, --max-output and --timeout.  DIR gets call-001.ftf, the slowest one,
 * and so on, and the index of all in index.tsv and index.jsonl.  Returns the worst exit status of
 * all processes, as batch_run(); 128 + N if signal N ended it, without an index.
 */
int slow_traces_run(const struct options *options, batch_convert_fn *convert);

/* Returns whether the options are those of `ptrace2ftf why` with several recordings, or --merge. */
bool why_many_wanted(const struct options *options);

/*
 * Find the causes that several recordings have in common, each in a process of its own, and print
 * them, as JSON if options->json_answer.  Returns the worst exit status, as batch_run().
 */
int why_many_run(const struct options *options, batch_convert_fn *convert);

#endif
