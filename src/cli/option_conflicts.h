/* SPDX-License-Identifier: MIT */
/* Combinations of options that are wrong usage. */
#ifndef SRC_CLI_OPTION_CONFLICTS_H
#define SRC_CLI_OPTION_CONFLICTS_H

#include <argp.h>

#include "src/options/options.h"

/* Print the first conflict among the options, if there is one, and exit with EXIT_USAGE. */
void option_conflicts_refuse(struct argp_state *state, const struct options *options);

#endif
