/* SPDX-License-Identifier: MIT */
/* Files that live in memory, for what reads files by name only. */
#ifndef TESTS_FUZZ_MEMORY_FILE_H
#define TESTS_FUZZ_MEMORY_FILE_H

#include <stddef.h>
#include <stdint.h>

/* Zeroed memory is one that is not made yet. */
struct memory_file {
	int fd;
	char path[32]; /* empty: not made */
};

/*
 * Give the file these contents.  Returns its path, valid as long as `file`,
 * which lives as long as the program.  Any failure ends the program.
 */
const char *memory_file_set(struct memory_file *file, const void *bytes, size_t size);

#endif
