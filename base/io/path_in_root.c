/* SPDX-License-Identifier: MIT */
/* Resolve paths below a directory, without leaving it by links or "..". */
#include "base/io/path_in_root.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Returns what is behind the directory in a path; NULL: the path does not begin with it. */
static const char *behind(const char *path, const char *root)
{
	size_t length = strlen(root);

	while (length && root[length - 1] == '/')
		length--;
	return strncmp(path, root, length) == 0 && path[length] == '/' ? path + length : NULL;
}

static int open_in_root(const char *root, const char *path)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC,
				.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	int directory = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC), fd, kept;

	if (directory < 0)
		return -1;
	fd = (int)syscall(SYS_openat2, directory, path, &how, sizeof(how));
	kept = errno;
	close(directory);
	errno = kept;
	return fd;
}

/* Write the name of an open file; returns false if it has none that fits. */
static bool name_of(int fd, char path[BENEATH_PATH])
{
	char link[40];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, BENEATH_PATH);
	if (length <= 0 || length >= BENEATH_PATH)
		return false;
	path[length] = 0;
	return true;
}

bool path_in_root_resolve(const char *root, char path[BENEATH_PATH])
{
	char *real = realpath(root, NULL), *target = NULL;
	char found[BENEATH_PATH];
	const char *rest = behind(path, root);
	bool inside;
	int fd;

	if (!rest && real)
		rest = behind(path, real);
	if (!rest || !real) {
		free(real);
		return !rest;
	}
	fd = open_in_root(root, rest);
	if (fd >= 0) {
		inside = name_of(fd, found) && behind(found, real);
		close(fd);
	} else {
		inside = errno == ENOSYS && (target = realpath(path, NULL)) && behind(target, real);
		snprintf(found, sizeof(found), "%s", inside ? target : "");
	}
	/* Without links the path is what the user knows. */
	if (inside && strcmp(behind(found, real), rest) != 0)
		memcpy(path, found, strlen(found) + 1);
	free(target);
	free(real);
	return inside;
}
