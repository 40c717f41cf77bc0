/* SPDX-License-Identifier: MIT */
/* Search PATH. */
#include "src/record/perf_command.h"

#include <unistd.h>

bool path_search(const char *name, char file[PATH_MAX])
{
	const char *path = getenv("PATH");

	for (size_t length; path && *path; path += length + (path[length] == ':')) {
		length = strcspn(path, ":");
		if (snprintf(file, PATH_MAX, "%.*s/%s", (int)length, path, name) < PATH_MAX &&
		    access(file, X_OK) == 0)
			return true;
	}
	return false;
}
