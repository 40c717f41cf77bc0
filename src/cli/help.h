/* SPDX-License-Identifier: MIT */
/* The output of --help and --version. */
#ifndef SRC_CLI_HELP_H
#define SRC_CLI_HELP_H

#include "src/cli/option_table.h"

/*
 * Print the help of a command to standard output. `all`: every option; otherwise the common ones,
 * each up to the first semicolon of its help.
 */
void help_print(enum command command, bool all);

/* Print the versions of the program and its libraries, and what this build lacks. */
void versions_print(void);

#endif
