/* SPDX-License-Identifier: MIT */
/* The parser of the command line. */
#ifndef SRC_CLI_COMMAND_LINE_H
#define SRC_CLI_COMMAND_LINE_H

#include "src/options/options.h"

/*
 * Parse the command line into `options`, which borrow its texts; the caller
 * releases them.  Prints usage errors, --help and --version itself, and exits
 * then (status 64 for usage errors, 0 for the others).
 */
void command_line_parse(struct options *options, int argc, char **argv);

#endif
