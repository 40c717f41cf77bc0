/* SPDX-License-Identifier: MIT */
/* Closes all descriptors from N up, with close_range(2) or by reading /proc/self/fd. */
#include "base/io/file_use.h"

#include <dirent.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Before Linux 5.9. */
static void close_listed(int first)
{
	DIR *folder = ALLOC_CHECKED(opendir("/proc/self/fd"));
	const struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		int fd = atoi(entry->d_name); /* 0: "." and ".." */

		if (fd >= first && fd != dirfd(folder))
			close(fd);
	}
	if (folder)
		closedir(folder);
}

void close_from(int first)
{
	if (syscall(SYS_close_range, (unsigned)first, ~0U, 0) != 0)
		close_listed(first);
}
