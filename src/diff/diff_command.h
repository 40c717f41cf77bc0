/* SPDX-License-Identifier: MIT */
/* `ptrace2ftf diff A B`: what changed from one recording to another. */
#ifndef SRC_DIFF_DIFF_COMMAND_H
#define SRC_DIFF_DIFF_COMMAND_H

#include "src/batch/batch_job.h"
#include "src/diff/diff_rows.h"

/*
 * Convert both recordings, each as its options say in a process of its own, and print the
 * difference as those of A say: a table, or stacks (--format=folded), and --json.
 * Returns the exit status; EXIT_EXCEEDED: a condition of --fail-if.
 */
int diff_command(const struct options sides[SIDES], batch_convert_fn *convert);

#endif
