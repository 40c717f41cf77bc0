/* SPDX-License-Identifier: MIT */
/* The table of options that name a path to read, and the check of these paths. */
#include "src/options/input_paths.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

size_t input_paths_list(const struct options *options, struct input_path paths[INPUT_PATHS_MAX])
{
	const struct input_path all[INPUT_PATHS_MAX] = {
		{ "symfs", options->symfs, INPUT_PATH_DIRECTORY },
		{ "vdso", options->vdso, INPUT_PATH_FILE },
		{ "kcore", options->kcore, INPUT_PATH_EITHER },
		{ "vmlinux", options->vmlinux, INPUT_PATH_FILE },
		{ "kallsyms", options->kallsyms, INPUT_PATH_FILE },
		{ "debug-dir", options->debug_dir, INPUT_PATH_DIRECTORY },
		{ "perf-map-dir", options->perf_map_dir, INPUT_PATH_DIRECTORY },
		{ "clock-sync", options->clock_sync, INPUT_PATH_FILE },
	};
	size_t count = 0;

	for (size_t i = 0; i < INPUT_PATHS_MAX; i++)
		if (all[i].path)
			paths[count++] = all[i];
	return count;
}

/* Returns 0, or the errno of opening the path as a file or directory, as its option asks. */
static int find_obstacle(const struct input_path *input)
{
	struct stat status;
	bool directory;

	if (stat(input->path, &status) < 0)
		return errno;
	directory = S_ISDIR(status.st_mode);
	if (directory && input->kind == INPUT_PATH_FILE)
		return EISDIR;
	if (!directory && input->kind == INPUT_PATH_DIRECTORY)
		return ENOTDIR;
	/* Files in a directory are opened by name. */
	return access(input->path, directory ? X_OK : R_OK) < 0 ? errno : 0;
}

int input_paths_check(const struct options *options, struct error *err)
{
	struct input_path paths[INPUT_PATHS_MAX];
	size_t count = input_paths_list(options, paths);

	for (size_t i = 0; i < count; i++) {
		int errnum = find_obstacle(&paths[i]);

		if (errnum)
			return error_set_system(err, errnum, "cannot read --%s=%s", paths[i].option,
						paths[i].path);
	}
	return 0;
}
