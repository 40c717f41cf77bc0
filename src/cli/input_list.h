/* SPDX-License-Identifier: MIT */
#ifndef SRC_CLI_INPUT_LIST_H
#define SRC_CLI_INPUT_LIST_H

#include "src/options/options.h"

/*
 * Read the NUL-terminated names in the file of --files0-from and append them to the inputs. Errors
 * are usage errors, which exit.
 */
void input_list_read(struct options *options);

#endif
