/* SPDX-License-Identifier: MIT */
/* `ptrace2ftf record`: perf record, run and watched. */
#ifndef SRC_RECORD_RECORD_H
#define SRC_RECORD_RECORD_H

#include "src/options/options.h"

enum record_result {
	RECORD_DONE,  /* options->input is a recording, to be converted */
	RECORD_ENDED, /* there is nothing to convert: --dry-run, or it failed */
};

/*
 * Check the machine, print the command, and run it until perf ends.  SIGINT is perf's meanwhile.
 * `status` gets what this program ends with: perf's status, which is that of the recorded program;
 * EXIT_FAILED with messages if it did not run.
 */
enum record_result record_run(const struct options *options, int *status);

#endif
