/* SPDX-License-Identifier: MIT */
/* What the programs that measure others share. */
#ifndef TESTS_BENCH_CHILD_H
#define TESTS_BENCH_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

/* Returns seconds of a clock that never goes back. */
double child_clock(void);

/*
 * Returns a child that executes a program, found in PATH, with its arguments up to a NULL;
 * `traced`: it stops before that, with this process as its tracer (ptrace(2)).  Exits with 1
 * if there is no child to be had; the child exits with 127 if there is no such program.
 */
pid_t child_start(char **arguments, bool traced);

#endif
