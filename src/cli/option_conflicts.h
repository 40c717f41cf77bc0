/* SPDX-License-Identifier: MIT */
/* Combinations of options that are wrong usage. */
#ifndef SRC_CLI_OPTION_CONFLICTS_H
#define SRC_CLI_OPTION_CONFLICTS_H

#include "src/options/options.h"

/*
 * Choose the format of --slowest and --slow, if one is given; before
 * output_suffix_choose(). Exits with EXIT_USAGE if they are incomplete.
 */
void option_conflicts_choose_format(struct options *options);

/* Print the first conflict among the options, if there is one, and exit with EXIT_USAGE. */
void option_conflicts_refuse(const struct options *options);

#endif
