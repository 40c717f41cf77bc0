/* SPDX-License-Identifier: MIT */
/* Checks the places of outputs, and compares them with each input by device and inode. */
#include "src/options/output_check.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io/output_path.h"
#include "src/options/input_paths.h"

static bool is_file(const char *path, const struct stat *file)
{
	struct stat status;

	return path && stat(path, &status) == 0 && status.st_dev == file->st_dev &&
	       status.st_ino == file->st_ino;
}

/* An overlay's argument is FILE,WORD,...; FILE may contain commas, too: try each. */
static bool is_overlay(const char *text, const struct stat *file)
{
	char path[4096];
	char *comma;

	if ((size_t)snprintf(path, sizeof(path), "%s", text) >= sizeof(path))
		return false;
	do {
		if (is_file(path, file))
			return true;
		comma = strrchr(path, ',');
		if (comma)
			*comma = '\0';
	} while (comma);
	return false;
}

/* Returns the name of the input that is this file; NULL: none. */
static const char *find_input(const struct options *options, const struct stat *file)
{
	struct input_path named[INPUT_PATHS_MAX];
	size_t count = input_paths_list(options, named);

	for (int i = 0; i < options->input_count; i++)
		if (is_file(options->inputs[i], file))
			return options->inputs[i];
	for (size_t i = 0; i < count; i++)
		if (is_file(named[i].path, file))
			return named[i].path;
	for (size_t i = 0; i < options->overlay_count; i++)
		if (is_overlay(options->overlays[i].text, file))
			return options->overlays[i].text;
	return NULL;
}

int output_check(const struct options *options, const char *output, struct error *err)
{
	const char *input;
	struct stat file;

	if (!output || !*output)
		return 0;
	if (output_path_check(output, err) < 0)
		return -1;
	if (strcmp(output, "-") == 0 ? fstat(STDOUT_FILENO, &file) != 0 : stat(output, &file) != 0)
		return 0;
	/* Only regular files are replaced. */
	input = S_ISREG(file.st_mode) ? find_input(options, &file) : NULL;
	if (!input)
		return 0;
	return error_set(err, ERROR_SYSTEM, "cannot write to %s: it is the input %s", output,
			 input);
}
