/* SPDX-License-Identifier: MIT */
/* Creates, moves and removes files in the process itself. */
#include "base/io/file_makers.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/common.h"

int (*file_make)(enum file_operation, const char *, const char *) = file_make_own;

/* O_EXCL, so that nobody can plant a file or link at the path. */
static int create(const char *path, const char *like)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	struct stat old;

	/* The new file must not be readable by more users than the old file. */
	if (fd >= 0 && stat(like, &old) == 0)
		fchmod(fd, old.st_mode & 0777);
	return fd;
}

/* Use O_TMPFILE; where the file system lacks it, unlink a named file immediately. */
static int create_nameless(const char *folder)
{
	char path[PATH_MAX];
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0 || snprintf(path, sizeof(path), "%s/ptrace2ftf-XXXXXX", folder) >= PATH_MAX)
		return fd;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

int file_make_own(enum file_operation operation, const char *path, const char *other)
{
	switch (operation) {
	case FILE_CREATE:
		return create(path, other);
	case FILE_CREATE_NAMELESS:
		return create_nameless(path);
	case FILE_MOVE:
		return rename(path, other);
	case FILE_REMOVE:
		return unlink(path);
	case FILE_MARK:
		return setxattr(path, FILE_MARK_NAME, other, strlen(other), 0);
	default:
		errno = EINVAL;
		return -1;
	}
}
