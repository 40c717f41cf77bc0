/* SPDX-License-Identifier: MIT */
/* `ptrace2ftf record`: run perf record and watch it. */
#ifndef SRC_RECORD_RECORD_H
#define SRC_RECORD_RECORD_H

#include "src/options/options.h"

enum record_result {
	RECORD_DONE,  /* options->input is a recording to convert */
	RECORD_ENDED, /* nothing to convert: --dry-run, or an error */
};

/*
 * Check the machine, print the command, and run it until perf ends. Meanwhile SIGINT is ignored
 * here and ends perf. Sets `status` to the exit status of this program: perf's, which is the
 * recorded program's; EXIT_FAILED with messages if perf did not run.
 */
enum record_result record_run(const struct options *options, int *status);

#endif
