/* SPDX-License-Identifier: MIT */
/* Paths that must not leave a directory, not even by symbolic links. */
#ifndef BASE_IO_PATH_IN_ROOT_H
#define BASE_IO_PATH_IN_ROOT_H

#include "base/common.h"

#define BENEATH_PATH 4096 /* PATH_MAX */

/*
 * Follow the links of a path as if `root`, with which it begins, were the root
 * of the file system (as RESOLVE_IN_ROOT of openat2(2)).  A path that
 * does not begin with root, under either of its names, stays as it is.
 * Returns true, with `path` replaced by where it leads if links are in it;
 * false if nothing is there, or it is outside.
 */
bool path_in_root_resolve(const char *root, char path[BENEATH_PATH]);

#endif
