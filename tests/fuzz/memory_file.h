/* SPDX-License-Identifier: MIT */
/* Files in memory, for code that opens files by name. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Zeroed memory is one that is not made yet. */
struct memory_file {
	int fd;
	char path[32]; /* empty: not made */
};

/*
 * Replace the file's contents.  Returns its path, valid while `file` is, which must live to the end
 * of the program.  Any failure ends the program.
 */
const char *memory_file_set(struct memory_file *file, const void *bytes, size_t size);
