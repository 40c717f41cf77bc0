/* SPDX-License-Identifier: MIT */
#ifndef SRC_CLI_OPTION_CONFLICTS_H
#define SRC_CLI_OPTION_CONFLICTS_H

#include "src/options/options.h"

/*
 * Choose the format of --slowest and --slow, if either is given. Call before
 * output_suffix_choose(). Exits with EXIT_USAGE if they are incomplete.
 */
void option_conflicts_choose_format(struct options *options);

/* If options conflict, print the first conflict and exit with EXIT_USAGE. */
void option_conflicts_refuse(const struct options *options);

#endif
