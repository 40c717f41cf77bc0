/* SPDX-License-Identifier: MIT */
/* The paths in options: files and directories to read, and outputs, which must not replace them. */
#pragma once

#include "src/options/options.h"

/* From now on, no output may replace a file that the options name as input. */
void file_roles_read(const struct options *options);

/*
 * Check the path of an output before the recording is read; NULL and "": no output. `what`,
 * borrowed forever, is its option or its input. Returns 0; -1 with err filled if the file cannot be
 * created, is also an input (under any name), or is another output.
 */
int file_roles_write(const char *path, const char *what, struct error *err);

/* Do both for the inputs, --output and --json of a command. */
int file_roles_check(const struct options *options, struct error *err);

/* Maximum number of these paths. */
#define INPUT_PATHS_MAX 9

enum input_path_kind { INPUT_PATH_FILE, INPUT_PATH_DIRECTORY, INPUT_PATH_EITHER };

struct input_path {
	const char *option; /* a constant, without "--" */
	const char *path;   /* borrowed from the options */
	enum input_path_kind kind;
};

/* List the paths in the options. Returns their number. */
size_t input_paths_list(const struct options *options, struct input_path paths[INPUT_PATHS_MAX]);

/* Returns 0; -1 with err filled if a path is missing, of the wrong kind, or not readable. */
int input_paths_check(const struct options *options, struct error *err);

/* Returns whether an input is trace.json: LLDB's description of the traces beside it. */
bool input_paths_is_bundle(const char *path);

/*
 * Returns the ELF core with generated code: --core's, or `path` beside the input, also without its
 * .gz or .zst; NULL: none.
 */
const char *input_paths_core(const struct options *options, char path[PATH_MAX]);
