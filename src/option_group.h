/* SPDX-License-Identifier: MIT */
/*
 * What the groups of options share: each group of --help is an argp parser of
 * its own, a child of the one in options.c, which hands `struct options` down.
 */
#ifndef SRC_OPTION_GROUP_H
#define SRC_OPTION_GROUP_H

#include <argp.h>

#include "options.h"

/* A word that an option takes, and what it means; lists end with a NULL word. */
struct option_choice {
	const char *word;
	int value;
};

/* Returns the value of a word; a word that is none ends the program with the choices. */
int option_choose(struct argp_state *state, const struct option_choice *choices, const char *option,
		  const char *word);

/* The groups; state->input is the struct options. */
extern const struct argp option_group_batch;
extern const struct argp option_group_overlays;

#endif
