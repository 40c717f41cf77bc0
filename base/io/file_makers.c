/* SPDX-License-Identifier: MIT */
/* Creates, moves and removes files in the process itself. */
#include "base/io/file_makers.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/common.h"

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

static int mark(const char *path, const char *attribute, const char *text)
{
	return setxattr(path, attribute, text, strlen(text), 0);
}

const struct file_makers file_makers_own = {
	create, create_nameless, rename, unlink, mark, NULL,
};

const struct file_makers *file_makers = &file_makers_own;
