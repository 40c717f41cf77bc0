/* SPDX-License-Identifier: MIT */
/* The paths that options name: files and directories to be read, and outputs, which replace none of
 * them. */
#ifndef SRC_OPTIONS_INPUT_PATHS_H
#define SRC_OPTIONS_INPUT_PATHS_H

#include "src/options/options.h"

/* All files that the options name to be read may be written by nobody from now on. */
void file_roles_read(const struct options *options);

/*
 * Before the recording is read: check the path of an output; NULL and "": none.  `what`,
 * borrowed for ever, is its option or its input.
 * Returns 0; -1 with err filled if it cannot be created, is, under whatever name, one of
 * the files to be read, or has the place of another output.
 */
int file_roles_write(const char *path, const char *what, struct error *err);

/* Most of them. */
#define INPUT_PATHS_MAX 9

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

/*
 * Returns the path of the ELF core with the code that the recorded processes made: that of
 * --core, else `path`, filled with the one beside the input; NULL: there is none.
 */
const char *input_paths_core(const struct options *options, char path[PATH_MAX]);

#endif
