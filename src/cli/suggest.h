/* SPDX-License-Identifier: MIT */
/* Usage errors about misspelt words, which name the word that was probably meant. */
#ifndef SRC_CLI_SUGGEST_H
#define SRC_CLI_SUGGEST_H

#include <argp.h>

#include "src/cli/option_table.h"

/*
 * Returns the value of `word` among the choices of an option.  A word that is
 * no choice ends the program with "unknown --OPTION 'WORD'; choose from A, B, C", and
 * the nearest choice.  The shells' completions read the choices from that line.
 */
int choose_value(struct argp_state *state, const struct option_spec *spec, const char *word);

/* If the first word is no file, but near to a command, print the command and exit with EXIT_USAGE.
 */
void suggest_command(int argc, char **argv);

/*
 * If a long option on the command line is misspelt, print the nearest one and
 * exit with EXIT_USAGE.  All other errors are left to argp.
 */
void suggest_option(int argc, char **argv);

#endif
