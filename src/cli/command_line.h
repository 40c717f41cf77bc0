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

/*
 * Parse the command line of `ptrace2ftf diff`, once for each recording: --NAME-a and --NAME-b are
 * --NAME of one of them.  As command_line_parse() otherwise; the texts belong to the program until
 * its end.
 */
void command_line_parse_diff(struct options sides[2], int argc, char **argv);

#endif
