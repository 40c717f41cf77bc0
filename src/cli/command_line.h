/* SPDX-License-Identifier: MIT */
/* The parser of the command line. */
#ifndef SRC_CLI_COMMAND_LINE_H
#define SRC_CLI_COMMAND_LINE_H

#include "src/options/options.h"

/*
 * Parse the command line of a command, which is its first word, into `options`, which borrow its
 * texts; the caller releases them.  Prints usage errors, --help and --version itself, and exits
 * then (status 64 for usage errors, 0 for the others).
 */
void command_line_parse(struct options *options, enum command command, int argc, char **argv);

/*
 * Parse the command line of `ptrace2ftf diff`, once for each recording: --NAME-a and --NAME-b are
 * --NAME of one of them.  As command_line_parse() otherwise; the texts belong to the program until
 * its end.
 */
void command_line_parse_diff(struct options sides[2], int argc, char **argv);

/*
 * Parse the command line of `ptrace2ftf help` and `ptrace2ftf clock-sync`, which take no options.
 * Returns the command that is named; COMMAND_CONVERT: none is.
 */
enum command command_line_parse_words(enum command command, int argc, char **argv);

#endif
