/* SPDX-License-Identifier: MIT */
/*
 * A file next to the recording with the code that processes generated, which perf does not save: an
 * ELF core, read by symbols/files/core_file.h.
 */
#ifndef SRC_RECORD_CODE_FILE_H
#define SRC_RECORD_CODE_FILE_H

#include <sys/types.h>

#include "base/tables/pair_table.h"

#define CODE_PAGE_SIZE 4096

/* The newest bytes of a page. */
struct code_page {
	pid_t pid;
	uint64_t address;
	bool changed; /* other code was there before */
	uint8_t bytes[CODE_PAGE_SIZE];
};

struct code_file_writer {
	char *path;              /* owned */
	struct code_page *pages; /* owned */
	size_t count, room;
	struct pair_table index; /* of the pages' processes and addresses */
};

/* Start the file of a recording; removes an older one. */
void code_file_begin(struct code_file_writer *writer, const char *recording);

/*
 * Add the memory of a process that is executable and of no file, as it is now; what was added of it
 * before is kept where it is gone.  What the caller may not read is left out (ptrace(2), "Ptrace
 * access mode checking").
 */
void code_file_add(struct code_file_writer *writer, pid_t pid);

/* The same for its children, and theirs. */
void code_file_add_children(struct code_file_writer *writer, pid_t pid);

/*
 * Write the file, when the recording is complete.  Without any code there is no file; nor is there
 * one that is not whole.
 */
void code_file_end(struct code_file_writer *writer);

#endif
