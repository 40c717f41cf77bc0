/* SPDX-License-Identifier: MIT */
/* Search PATH as the shell does. */
#ifndef SRC_RECORD_PATH_SEARCH_H
#define SRC_RECORD_PATH_SEARCH_H

#include "base/common.h"

/* Search PATH for a program. Returns false if it is not found; otherwise `file` is its path. */
bool path_search(const char *name, char file[PATH_MAX]);

#endif
