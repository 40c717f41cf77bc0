/* SPDX-License-Identifier: MIT */
/*
 * Lines of source files that debug information names.
 *
 * The names come from an untrusted file, and the lines go into answers that are passed on. So a
 * file is read only if it looks like a source: a regular file outside of /proc, /sys and /dev,
 * whose name ends as a source's or which is a header without a suffix in a folder `include`, and
 * whose content is text (SECURITY.md).
 */
#pragma once

#include "base/common.h"

/* Zeroed memory has no lines. */
struct source_file {
	char *path;         /* owned; NULL: no file */
	char *bytes;        /* owned */
	const char **lines; /* owned; each ends with '\n', '\r' or '\0' */
	size_t count, room;
	size_t total; /* bytes of all files so far */
};

/* Read the lines of another file, unless it is the same; none if it may not be read. */
void source_file_read(struct source_file *source, const char *path);

/* Returns a line (1: the first) in *length bytes, borrowed until the next read; NULL: none. */
const char *source_file_line(const struct source_file *source, uint64_t number, size_t *length);

void source_file_release(struct source_file *source);
