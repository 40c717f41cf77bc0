/* SPDX-License-Identifier: MIT */
/*
 * A file next to the recording with the code that processes generated, which perf does not save: an
 * ELF core, read by symbols/files/core_file.h.
 */
#pragma once

#include <sys/types.h>

#include "base/tables/pair_table.h"
#include "symbols/files/elf_file.h"

#define CODE_PAGE_SIZE 4096

struct code_file_writer {
	char *path;              /* owned */
	uint64_t (*ticks)(void); /* the TSC of the trace; NULL: unknown */
	/* The newest bytes of a page. */
	struct code_page {
		pid_t pid;
		uint64_t address;
		bool changed;   /* other code was there before */
		uint64_t saved; /* ticks at which these bytes were first seen */
		uint8_t bytes[CODE_PAGE_SIZE];
	} * pages; /* owned */
	size_t count, room;
	struct pair_table index; /* pages by process and address */
	/* A perf map or a jitdump; open, as it may be removed before the end. */
	struct code_names {
		pid_t pid;
		char *path; /* owned: in the process's mount namespace */
		struct file_identity identity;
		int fd;
	} * names; /* owned */
	size_t name_count, name_room;
	uint64_t names_most; /* bytes of each that are copied, as its process may write without end
			      */
	bool lacks_names;    /* descriptors or a limit were used up */
};

/*
 * The file of the recording that was at this path before. perf renames such a recording to
 * PATH.old: give the file the name that belongs to it. Remove the file if PATH.old is not the
 * recording with the inode number `before` (0: there was none).
 */
void code_file_retire(const char *recording, ino_t before);

/* Start the file of a recording. */
void code_file_begin(struct code_file_writer *writer, const char *recording);

/*
 * Add the executable memory of a process that maps no file, or a deleted one, and its private
 * copies of other files' pages, which were written to. Newer bytes of a page replace older
 * ones; pages that were unmapped since are kept. Also the newest perf map of its pid inside of its
 * pid namespace (NSpid of proc(5)), and the jitdumps that it maps, found in its mount namespace,
 * if they are root's or of the process's user. The caller needs ptrace access to the process
 * (ptrace(2), "Ptrace access mode checking"); unreadable memory is skipped.
 */
void code_file_add(struct code_file_writer *writer, pid_t pid);

/* Do the same for all descendants of a process. */
void code_file_add_children(struct code_file_writer *writer, pid_t pid);

/*
 * Write the file after the recording is complete. No file is left if there is no code, or if
 * writing fails.
 */
void code_file_end(struct code_file_writer *writer);
