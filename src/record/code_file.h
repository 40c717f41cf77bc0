/* SPDX-License-Identifier: MIT */
/*
 * A file of the code that processes made, which perf does not save: an ELF core that
 * symbols/files/core_file.h reads, beside the recording.
 */
#ifndef SRC_RECORD_CODE_FILE_H
#define SRC_RECORD_CODE_FILE_H

#include "base/common.h"

#include <elf.h>
#include <sys/types.h>

struct code_file_writer {
	char *path;          /* owned */
	int fd;              /* owned; -1: no code was found yet, or it cannot be written */
	Elf64_Phdr *headers; /* owned */
	size_t count, room;
	uint64_t end; /* bytes of the file up to now */
};

/* Begin the file of a recording, and remove an older one. */
void code_file_begin(struct code_file_writer *writer, const char *recording);

/*
 * Add the memory of a process that is executable and of no file.  The caller may read it
 * (ptrace(2), "Ptrace access mode checking"): what may not be read is left out.
 */
void code_file_add(struct code_file_writer *writer, pid_t pid);

/*
 * Complete the file, when the recording is complete.  Without any code there is no file; nor is
 * there one that is not whole.
 */
void code_file_end(struct code_file_writer *writer);

#endif
