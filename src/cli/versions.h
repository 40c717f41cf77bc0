/* SPDX-License-Identifier: MIT */
/* --version: the program and the libraries that it runs with. */
#ifndef SRC_CLI_VERSIONS_H
#define SRC_CLI_VERSIONS_H

#include <argp.h>
#include <stdio.h>

/* Print "ptrace2ftf X" and a line per library; of the type of argp_program_version_hook. */
void versions_print(FILE *out, struct argp_state *state);

#endif
