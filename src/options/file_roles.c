/* SPDX-License-Identifier: MIT */
/* Makes the paths of the options known as files that are read or written. */
#include "src/options/file_roles.h"

#include <stdlib.h>
#include <string.h>

#include "base/io/file_use.h"
#include "base/io/output_path.h"
#include "src/options/input_paths.h"

/* An overlay's argument is FILE,WORD,...; FILE may contain commas, too: try each. */
static void read_overlay(const char *text)
{
	char *path = output_path_copy(text), *comma;

	do {
		file_use_read(path);
		comma = strrchr(path, ',');
		if (comma)
			*comma = '\0';
	} while (comma);
	free(path);
}

void file_roles_read(const struct options *options)
{
	struct input_path named[INPUT_PATHS_MAX];
	size_t count = input_paths_list(options, named);

	for (int i = 0; i < options->input_count; i++)
		file_use_read(options->inputs[i]);
	/* Of directories of other options few files are read, which are known once they are. */
	for (size_t i = 0; i < count; i++)
		if (named[i].kind != INPUT_PATH_DIRECTORY)
			file_use_read(named[i].path);
	for (size_t i = 0; i < options->overlay_count; i++)
		read_overlay(options->overlays[i].text);
}

int file_roles_write(const char *path, const char *what, struct error *err)
{
	if (!path || !*path)
		return 0;
	if (output_path_check(path, err) < 0)
		return -1;
	return file_use_write(path, what, FILE_REPLACED, err);
}
