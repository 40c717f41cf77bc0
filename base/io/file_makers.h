/* SPDX-License-Identifier: MIT */
/*
 * Functions that create, move and remove the files of outputs: the process's own, or in a sandbox,
 * which forbids those, requests to another process (src/sandbox/keeper.c).
 */
#pragma once

/* On failure, all return -1 with errno set. */
struct file_makers {
	/*
	 * Returns a descriptor of the new file `path`, owned by the caller; with the
	 * permissions of the file `like`, if there is one.
	 */
	int (*create)(const char *path, const char *like);
	/* Returns a descriptor of a file without a name in `folder`, owned by the caller. */
	int (*create_nameless)(const char *folder);
	int (*move)(const char *from, const char *to);
	int (*remove)(const char *path);
	/* Set an extended attribute of a file to a text. */
	int (*mark)(const char *path, const char *attribute, const char *text);
	/*
	 * Before the process ends, remove its files that do not have their final names yet;
	 * also called in a signal handler.  NULL: the process removes them itself.
	 */
	void (*leave)(void);
};

/* The process's own functions. */
extern const struct file_makers file_makers_own;

/* The functions in use. */
extern const struct file_makers *file_makers;
