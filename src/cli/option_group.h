/* SPDX-License-Identifier: MIT */
/*
 * What the groups of options share: each group of --help is an argp parser of
 * its own, a child of the one in options.c, which hands `struct options` down.
 *
 * --help sorts by the `group` of struct argp_option: 1 Input, 2 Selection,
 * 3 Stacks, 4 Symbols, 5 Output, 6 OCaml, 7 Diagnostics, 8 Decoding,
 * 9 Batches.
 */
#ifndef SRC_CLI_OPTION_GROUP_H
#define SRC_CLI_OPTION_GROUP_H

#include <argp.h>

#include "src/options/options.h"

/* A word that an option takes, and what it means; lists end with a NULL word. */
struct option_choice {
	const char *word;
	int value;
};

/*
 * Returns the value of a word.  A word that is none ends the program: the error
 * is "--OPTION: 'WORD' is none of: A, B, C", with the one that was probably
 * meant behind it.  The shells' completions read the choices from that line.
 */
int option_choose(struct argp_state *state, const struct option_choice *choices, const char *option,
		  const char *word);

/*
 * If a long option on the command line is none of those of `argp` and its
 * children, but nearly one, say which one was meant and exit with EXIT_USAGE.
 * All else is left to argp.
 */
void option_suggest(const struct argp *argp, int argc, char **argv);

/* The groups; state->input is the struct options. */
extern const struct argp option_group_batch, option_group_overlays, option_group_report,
	option_group_sandbox, option_group_select, option_group_speed, option_group_timing;

#endif
