/* SPDX-License-Identifier: MIT */
/*
 * A file next to the recording with the code that processes generated, which perf does not save: an
 * ELF core, read by symbols/files/core_file.h.
 */
#ifndef SRC_RECORD_CODE_FILE_H
#define SRC_RECORD_CODE_FILE_H

#include "base/common.h"

#include <elf.h>
#include <sys/types.h>

struct code_file_writer {
	char *path;          /* owned */
	int fd;              /* owned; -1: no code was found yet, or writing failed */
	Elf64_Phdr *headers; /* owned */
	size_t count, room;
	uint64_t end; /* size of the file so far, in bytes */
};

/* Start the file of a recording; removes an older one. */
void code_file_begin(struct code_file_writer *writer, const char *recording);

/*
 * Add the executable memory of a process that is in no file. The caller must have ptrace access to
 * the process (ptrace(2), "Ptrace access mode checking"); unreadable memory is skipped.
 */
void code_file_add(struct code_file_writer *writer, pid_t pid);

/*
 * Complete the file after the recording is complete. There is no file without code, and no
 * incomplete one.
 */
void code_file_end(struct code_file_writer *writer);

#endif
