/* SPDX-License-Identifier: MIT */
/* `ptrace2ftf diff A B`: compare two recordings. */
#ifndef SRC_DIFF_DIFF_COMMAND_H
#define SRC_DIFF_DIFF_COMMAND_H

#include "src/batch/batch_job.h"
#include "src/diff/diff_rows.h"

/*
 * Convert both recordings, each with its own options in a process of its own, and print the
 * difference according to A's options: a table, or stacks (--format=folded), and --json. Returns
 * the exit status; EXIT_EXCEEDED: a condition of --fail-if is met.
 */
int diff_command(const struct options sides[SIDES], batch_convert_fn *convert);

#endif
