/* SPDX-License-Identifier: MIT */
/* Compares the output with each input by device and inode. */
#include "src/options/output_check.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
	const char *const named[] = { options->vdso, options->kcore, options->vmlinux,
				      options->kallsyms, options->clock_sync };

	for (int i = 0; i < options->input_count; i++)
		if (is_file(options->inputs[i], file))
			return options->inputs[i];
	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++)
		if (is_file(named[i], file))
			return named[i];
	for (size_t i = 0; i < options->overlay_count; i++)
		if (is_overlay(options->overlays[i].text, file))
			return options->overlays[i].text;
	return NULL;
}

int output_check(const struct options *options, struct error *err)
{
	const char *output = options->output, *input;
	struct stat file;

	if (!output)
		return 0;
	if (strcmp(output, "-") == 0 ? fstat(STDOUT_FILENO, &file) != 0 : stat(output, &file) != 0)
		return 0;
	/* Only regular files are replaced. */
	input = S_ISREG(file.st_mode) ? find_input(options, &file) : NULL;
	if (!input)
		return 0;
	return error_set(err, ERROR_SYSTEM, "cannot write to %s: it is the input %s", output,
			 input);
}
