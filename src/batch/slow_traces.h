/* SPDX-License-Identifier: MIT */
/*
 * A trace of each slow call (--slowest, --slow with -o DIR/).
 *
 * The recording is read by one process that finds the calls; then one more for each call decodes
 * it with its context, of all threads and CPUs.  Each has its own sandbox, --max-output and
 * --timeout.  DIR gets call-001.ftf, the slowest one, and so on, and the index of all in
 * index.tsv and index.jsonl.
 */
#ifndef SRC_BATCH_SLOW_TRACES_H
#define SRC_BATCH_SLOW_TRACES_H

#include "src/batch/batch_job.h"
#include "src/options/options.h"

/*
 * Make the traces and the index.
 * Returns the worst exit status of all processes: EXIT_FAILED, then EXIT_WITH_GAPS, then
 * EXIT_WHOLE; 128 + N if signal N ended it, without an index.
 */
int slow_traces_run(const struct options *options, batch_convert_fn *convert);

#endif
