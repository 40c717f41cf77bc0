/* SPDX-License-Identifier: MIT */
/* Where the shell would find a program. */
#ifndef SRC_RECORD_PATH_SEARCH_H
#define SRC_RECORD_PATH_SEARCH_H

#include "base/common.h"

/*
 * Search the folders of PATH for a program.  Returns false if none has it; else `file` is its
 * path.
 */
bool path_search(const char *name, char file[PATH_MAX]);

#endif
