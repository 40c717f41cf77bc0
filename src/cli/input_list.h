/* SPDX-License-Identifier: MIT */
/* The inputs that --files0-from names. */
#ifndef SRC_CLI_INPUT_LIST_H
#define SRC_CLI_INPUT_LIST_H

#include "src/options/options.h"

/*
 * Read the file of --files0-from, whose names end with a NUL each, and append
 * them to the inputs.  Errors are usage errors, which end the program.
 */
void input_list_read(struct options *options);

#endif
