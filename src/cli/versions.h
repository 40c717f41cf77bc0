/* SPDX-License-Identifier: MIT */
#ifndef SRC_CLI_VERSIONS_H
#define SRC_CLI_VERSIONS_H

#include "base/common.h"

/* Print "ptrace2ftf X" and a line for each library. */
void versions_print(FILE *out);

#endif
