/* SPDX-License-Identifier: MIT */
/* Helpers that the measuring programs share. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* Returns the seconds of a monotonic clock. */
double child_clock(void);

/*
 * Returns a child that executes the program `arguments[0]`, found in PATH; a NULL ends the
 * arguments.  `traced`: this process is its tracer (ptrace(2)), and the child stops before the
 * exec. Exits with 1 if fork() fails; the child exits with 127 if there is no such program.
 */
pid_t child_start(char **arguments, bool traced);
