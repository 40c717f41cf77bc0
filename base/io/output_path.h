/* SPDX-License-Identifier: MIT */
/* Paths of outputs: made from names of inputs, and checked. */
#pragma once

#include "base/common.h"

/* Returns the length of the path of an input without slashes and ".data" at its end. */
size_t output_path_base(const char *path);

/*
 * Returns INPUT.SUFFIX, owned by the caller, with output_path_base() as INPUT: the output of a
 * directory is beside it, not in it.
 */
char *output_path_beside(const char *input, const char *suffix);

/*
 * Returns the path of a part of an output, owned by the caller. The number precedes the extension,
 * .gz and .zst: a/out.ftf.gz becomes a/out.007.ftf.gz.
 */
char *output_path_part(const char *path, size_t part);

/* Returns the bytes of `path` without slashes at its end; at least 1 unless it is empty. */
size_t output_path_length(const char *path);

/* Returns whether the user means a directory: `path` ends with a slash, or is one. */
bool output_path_is_directory(const char *path);

/* Returns "-" if `path` is a name of standard output, as /dev/stdout is; otherwise `path`. */
const char *output_path_standard(const char *path);

/*
 * Make the directories above `path` that are missing, with mode 0777 and the umask.
 * Returns 0; -1 with err filled.
 */
int output_path_make_parents(const char *path, struct error *err);

/*
 * Before long work: check whether output_open() (output.h) can succeed; nothing is created.
 * Returns 0; -1 with err filled.
 */
int output_path_check(const char *path, struct error *err);
