/* SPDX-License-Identifier: MIT */
/* The files and directories that options name to be read, beside INPUT and overlays. */
#ifndef SRC_OPTIONS_INPUT_PATHS_H
#define SRC_OPTIONS_INPUT_PATHS_H

#include <stddef.h>

#include "base/error.h"
#include "src/options/options.h"

/* Most of them. */
#define INPUT_PATHS_MAX 8

enum input_path_kind { INPUT_PATH_FILE, INPUT_PATH_DIRECTORY, INPUT_PATH_EITHER };

struct input_path {
	const char *option; /* a constant, without "--" */
	const char *path;   /* borrowed from the options */
	enum input_path_kind kind;
};

/* List the paths that the options name.  Returns how many there are. */
size_t input_paths_list(const struct options *options, struct input_path paths[INPUT_PATHS_MAX]);

/*
 * Returns 0; -1 with err filled if a path is not there, is of the wrong kind, or may not
 * be read.
 */
int input_paths_check(const struct options *options, struct error *err);

#endif
