/* SPDX-License-Identifier: MIT */
/* Derive output names from input names, and check where outputs go. */
#include "base/io/output_path.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io/output.h"

size_t output_path_length(const char *path)
{
	size_t length = strlen(path);

	while (length > 1 && path[length - 1] == '/')
		length--;
	return length;
}

size_t output_path_base(const char *path)
{
	static const char suffix[] = ".data";
	size_t length = output_path_length(path), rest = length - strlen(suffix);

	return length > strlen(suffix) && path[rest - 1] != '/' &&
			       memcmp(path + rest, suffix, strlen(suffix)) == 0
		       ? rest
		       : length;
}

char *output_path_beside(const char *input, const char *suffix)
{
	return alloc_text("%.*s.%s", (int)output_path_base(input), input, suffix);
}

char *output_path_part(const char *path, size_t part)
{
	size_t length = strlen(path), end = length, size = length + 32;
	size_t base = (size_t)(base_name(path) - path);
	char *made = alloc_zeroed(1, size);

	if (compression_of_path(path) != COMPRESSION_NONE)
		end = (size_t)(strrchr(path, '.') - path);
	for (size_t i = end; i > base + 1; i--) {
		if (path[i - 1] != '.')
			continue;
		end = i - 1;
		break;
	}
	snprintf(made, size, "%.*s.%03zu%s", (int)end, path, part, path + end);
	return made;
}

bool output_path_is_directory(const char *path)
{
	size_t length = strlen(path);
	struct stat status;

	return (length && path[length - 1] == '/') ||
	       (stat(path, &status) == 0 && S_ISDIR(status.st_mode));
}

int output_path_make_parents(const char *path, struct error *err)
{
	char *parent = alloc_text("%s", path);
	int status = 0;

	for (char *slash = strchr(parent + (*parent != 0), '/'); slash && status == 0;
	     slash = strchr(slash + 1, '/')) {
		*slash = 0;
		/* A concurrent process may make the directory first. */
		if (mkdir(parent, 0777) < 0 && errno != EEXIST)
			status = error_set_system(err, errno, "%s: cannot make the directory",
						  parent);
		*slash = '/';
	}
	free(parent);
	return status;
}

const char *output_path_standard(const char *path)
{
	static const char *const names[] = { "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1" };

	for (size_t i = 0; path && i < COUNT_OF(names); i++)
		if (strcmp(path, names[i]) == 0)
			return "-";
	return path;
}

/* Returns 0, or the errno of creating a file in the directory of `path`. */
static int find_obstacle_beside(const char *path)
{
	char *folder = alloc_text("%s", path), *slash = strrchr(folder, '/');
	struct stat status;
	int errnum = 0;

	if (slash)
		slash[slash == folder] = '\0';
	if (stat(slash ? folder : ".", &status) < 0)
		errnum = errno;
	else if (!S_ISDIR(status.st_mode))
		errnum = ENOTDIR;
	else if (access(slash ? folder : ".", W_OK | X_OK) < 0)
		errnum = errno;
	free(folder);
	return errnum;
}

int output_path_check(const char *path, struct error *err)
{
	struct stat status;
	int errnum = 0;

	if (strcmp(path, "-") == 0)
		errnum = (fcntl(STDOUT_FILENO, F_GETFL) & O_ACCMODE) == O_RDONLY ? EBADF : 0;
	else if (stat(path, &status) < 0)
		errnum = errno == ENAMETOOLONG ? errno : find_obstacle_beside(path);
	else if (S_ISREG(status.st_mode) && !output_is_system_link(path))
		errnum = find_obstacle_beside(path);
	else if (S_ISDIR(status.st_mode))
		errnum = EISDIR;
	else if (access(path, W_OK) < 0)
		errnum = errno;
	return errnum ? error_set_system(err, errnum, "cannot write to %s",
					 strcmp(path, "-") == 0 ? "standard output" : path)
		      : 0;
}
