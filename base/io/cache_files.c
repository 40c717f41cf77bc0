/* SPDX-License-Identifier: MIT */
/* Reads and writes files of the user's cache, and limits their total size. */
#include "base/io/cache_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FOLDER_BYTES_MAX ((uint64_t)256 << 20)
#define FILE_BYTES_MAX   ((off_t)8 << 20)

static int refuse(int errnum)
{
	errno = errnum;
	return -1;
}

static bool is_own(const struct stat *status)
{
	return status->st_uid == geteuid() && !(status->st_mode & (S_IWGRP | S_IWOTH));
}

/* Returns a descriptor of the folder, owned by the caller; -1 with errno. */
static int open_folder(bool make)
{
	const char *base = getenv("XDG_CACHE_HOME"), *below = "";
	char path[PATH_MAX];
	struct stat status;
	int length, fd;

	/* The specification ignores relative paths. */
	if (!base || base[0] != '/') {
		base = getenv("HOME");
		below = "/.cache";
	}
	if (!base || base[0] != '/')
		return refuse(ENOENT);
	length = snprintf(path, sizeof(path), "%s%s", base, below);
	if (length + sizeof("/ptrace2ftf") > sizeof(path))
		return refuse(ENAMETOOLONG);
	/* Root with a user's HOME must not leave folders there that the user cannot write. */
	if (make && stat(base, &status) == 0 && status.st_uid != geteuid())
		return refuse(EPERM);
	if (make)
		mkdir(path, 0700);
	strcpy(path + length, "/ptrace2ftf");
	if (make)
		mkdir(path, 0700);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || (fstat(fd, &status) == 0 && is_own(&status)))
		return fd;
	close(fd);
	return refuse(EPERM);
}

/* ---- Reading ------------------------------------------------------------- */

static uint8_t *read_whole(int fd, size_t *size)
{
	struct stat status;
	uint8_t *bytes;

	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || !is_own(&status) ||
	    status.st_size <= 0 || status.st_size > FILE_BYTES_MAX)
		return NULL;
	*size = (size_t)status.st_size;
	bytes = alloc_bytes(*size);
	if (read(fd, bytes, *size) == (ssize_t)*size)
		return bytes;
	free(bytes);
	return NULL;
}

uint8_t *cache_file_read(const char *name, size_t *size)
{
	int folder = open_folder(false), fd;
	uint8_t *bytes = NULL;

	if (folder < 0)
		return NULL;
	fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	close(folder);
	if (fd < 0)
		return NULL;
	bytes = read_whole(fd, size);
	close(fd);
	return bytes;
}

/* ---- Writing ------------------------------------------------------------- */

/* The file that is written; its name is free in all processes. */
static char temporary[CACHE_FILE_NAME + 48];

static int create(const char *name)
{
	int folder = (strspn(name, "0123456789abcdef") == CACHE_FILE_NAME && !name[CACHE_FILE_NAME])
			     ? open_folder(true)
			     : refuse(EINVAL),
	    fd;
	struct timespec now;

	if (folder < 0)
		return -1;
	clock_gettime(CLOCK_REALTIME, &now);
	snprintf(temporary, sizeof(temporary), "%s.%d.%ld", name, (int)getpid(), now.tv_nsec);
	fd = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	close(folder);
	if (fd < 0)
		temporary[0] = 0;
	return fd;
}

struct cached_file {
	char name[sizeof(temporary)];
	int64_t seconds; /* time of its last change */
	uint64_t size;
};

COMPARE_BY(compare_age, struct cached_file, seconds)

static void remove_oldest(int folder)
{
	struct cached_file *files = NULL;
	size_t count = 0, room = 0;
	struct dirent *entry;
	struct stat status;
	uint64_t total = 0;
	DIR *all = fdopendir(dup(folder));

	while (all && (entry = readdir(all))) {
		struct cached_file file;

		if (strlen(entry->d_name) < CACHE_FILE_NAME ||
		    strlen(entry->d_name) >= sizeof(file.name) ||
		    fstatat(folder, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		strcpy(file.name, entry->d_name);
		file.seconds = status.st_mtim.tv_sec;
		file.size = (uint64_t)status.st_size;
		total += file.size;
		*ARRAY_ADD(files, count, room) = file;
	}
	if (all)
		closedir(all);
	SORT(files, count, compare_age);
	for (size_t i = 0; i < count && total > FOLDER_BYTES_MAX; i++) {
		unlinkat(folder, files[i].name, 0);
		total -= files[i].size;
	}
	free(files);
}

static int finish(bool whole)
{
	char name[CACHE_FILE_NAME + 1] = "";
	int folder = temporary[0] ? open_folder(false) : refuse(ENOENT), status = 0, errnum;

	if (folder < 0)
		return -1;
	memcpy(name, temporary, CACHE_FILE_NAME);
	if (whole)
		status = renameat(folder, temporary, folder, name);
	errnum = errno;
	if (!whole || status < 0)
		unlinkat(folder, temporary, 0);
	else
		remove_oldest(folder);
	temporary[0] = 0;
	close(folder);
	return status < 0 ? refuse(errnum) : 0;
}

int cache_file_make(enum file_operation operation, const char *name)
{
	return operation == FILE_CACHE ? create(name) : finish(operation == FILE_CACHE_KEEP);
}

static int make(enum file_operation operation, const char *name)
{
	return file_make == file_make_own ? cache_file_make(operation, name)
					  : file_make(operation, name, NULL);
}

int cache_file_write(const char *name, const void *bytes, size_t size)
{
	int fd = make(FILE_CACHE, name), errnum = 0;

	if (fd < 0)
		return -1;
	if (size > (size_t)FILE_BYTES_MAX)
		errnum = EFBIG;
	else if (write(fd, bytes, size) != (ssize_t)size)
		errnum = ENOSPC;
	close(fd);
	if (make(errnum ? FILE_CACHE_DROP : FILE_CACHE_KEEP, NULL) < 0)
		return -1;
	return errnum ? refuse(errnum) : 0;
}
