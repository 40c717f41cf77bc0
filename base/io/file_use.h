/* SPDX-License-Identifier: MIT */
/*
 * Which files the run reads and which it writes.
 *
 * No file may be both, or be written twice: a mistake in a command line must not destroy an input.
 * Files that are read are identified by device and inode of the descriptor that reads them, so all
 * of them are opened here.  An output is identified by its directory and name, because a new file
 * replaces the old one there; an output that is written directly (standard output, --json-lines)
 * also by device and inode.  Devices and pipes lose no data and are not compared.
 *
 * The lists belong to the process; fork() copies them.  All functions are thread-safe.
 */
#pragma once

#include "base/io/output.h"

/*
 * Open a file for reading; "-": a duplicate of standard input.
 * Returns the descriptor, owned by the caller; -1 with errno.
 */
int file_use_open(const char *path);

/* As file_use_open(), for a file that the recording names: does not block on a fifo. */
int file_use_open_at_once(const char *path);

/* As file_use_open(), but returns a stream, owned by the caller; NULL with errno. */
FILE *file_use_open_stream(const char *path);

/* Returns whether an errno means a lack of descriptors or memory, not a fault of the file. */
bool file_use_is_shortage(int errnum);

/*
 * A missing file means missing names, or a gap.  A file that could not be opened for lack of
 * descriptors or memory must not be mistaken for a missing one.  Returns 0; -1 with err filled if
 * an opening function above has failed for this reason.
 */
int file_use_shortage(struct error *err);

/*
 * The file at `path` will be read, or those in the directory at `path` and its
 * subdirectories; missing files are ignored.
 */
void file_use_read(const char *path);

enum file_use_way { FILE_REPLACED, FILE_APPENDED };

/*
 * `path` will be written; "-": standard output.  `what` names the option or the input, for
 * messages.  Both are borrowed for the life of the process.  Another call with the same pointer
 * `path` is for the same output.  Returns 0; -1 with err filled if the file is also read, or if
 * another output has the same path.
 */
int file_use_write(const char *path, const char *what, enum file_use_way way, struct error *err);

/*
 * Check again before a file is renamed to `path`: files that are read may have become known
 * since.  Returns 0; -1 with err filled if it would replace one.
 */
int file_use_check(const char *path, struct error *err);

/* As file_use_write() for another output; a callback for output_ask(). */
int file_use_open_output(const char *path, struct error *err);

/*
 * Close all descriptors from `first` up, like closefrom(3), which some C libraries lack.
 */
void close_from(int first);

/* Returns the part of a path after the directory, or NULL if the path does not begin with it. */
const char *path_after_prefix(const char *path, const char *directory);

/* Paths that must not leave a directory, not even by symbolic links. */

#define BENEATH_PATH 4096 /* PATH_MAX */

/*
 * Follow the links of a path as if `root`, with which it begins, were the root of the file system
 * (as RESOLVE_IN_ROOT of openat2(2)).  A path that does not begin with root, under either of its
 * names, stays as it is.  Returns true, with `path` replaced by its target if it contains links;
 * false if nothing is there, or the target is outside.
 */
bool path_in_root_resolve(const char *root, char path[BENEATH_PATH]);
