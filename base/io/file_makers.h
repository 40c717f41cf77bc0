/* SPDX-License-Identifier: MIT */
/*
 * Creates, moves and removes the files of outputs: in the process itself, or in a sandbox, which
 * forbids that, by requests to another process (src/sandbox/keeper.c).
 */
#pragma once

enum file_operation {
	FILE_CREATE,          /* open a new file, with the permissions of the file `other` */
	FILE_CREATE_NAMELESS, /* open a file without a name in the folder `path` */
	FILE_MOVE,            /* from `path` to `other` */
	FILE_REMOVE,
	FILE_FOLDERS, /* make the folders above `path`: only another process does */
	FILE_MARK,    /* set the extended attribute FILE_MARK_NAME to `other` */
	/* Requests of cache_file_make(): */
	FILE_CACHE,      /* open a new file with the name `path`; one at a time */
	FILE_CACHE_KEEP, /* give it this name */
	FILE_CACHE_DROP, /* remove it */
	/*
	 * Before the process ends, remove its files that do not have their final names yet; also
	 * called in a signal handler. Only another process can do it: the own function fails.
	 */
	FILE_LEAVE,
};

#define FILE_MARK_NAME "user.ptrace2ftf"

/*
 * The function in use. Texts that the operation does not use may be NULL. Returns 0, or the
 * descriptor that it opened, owned by the caller; -1 with errno.
 */
extern int (*file_make)(enum file_operation operation, const char *path, const char *other);

/* The process's own function. */
int file_make_own(enum file_operation operation, const char *path, const char *other);
