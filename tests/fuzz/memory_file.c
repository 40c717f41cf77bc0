/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/memory_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

const char *memory_file_set(struct memory_file *file, const void *bytes, size_t size)
{
	if (!file->path[0]) {
		file->fd = memfd_create("fuzz", MFD_CLOEXEC);
		snprintf(file->path, sizeof(file->path), "/proc/self/fd/%d", file->fd);
	}
	if (file->fd < 0 || ftruncate(file->fd, 0) < 0 ||
	    pwrite(file->fd, bytes, size, 0) != (ssize_t)size)
		abort();
	return file->path;
}
