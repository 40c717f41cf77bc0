/* SPDX-License-Identifier: MIT */
#ifndef SRC_CLI_COMMAND_LINE_H
#define SRC_CLI_COMMAND_LINE_H

#include "src/options/options.h"

/*
 * Parse the command line of a command (its first word) into `options`, which borrows its strings;
 * the caller releases it. Prints usage errors, --help and --version itself and exits, with status
 * 64 for usage errors and 0 for the others.
 */
void command_line_parse(struct options *options, enum command command, int argc, char **argv);

/*
 * Parse the command line of `ptrace2ftf diff`, once per recording: --NAME-a and --NAME-b are --NAME
 * for one of them. Otherwise as command_line_parse(); the strings live until the program exits.
 */
void command_line_parse_diff(struct options sides[2], int argc, char **argv);

/*
 * Parse the command line of `ptrace2ftf help` and `ptrace2ftf clock-sync`, which take no options.
 * Returns the named command, or COMMAND_CONVERT.
 */
enum command command_line_parse_words(enum command command, int argc, char **argv);

#endif
