/* SPDX-License-Identifier: MIT */
/*
 * Code in ELF cores: of core(5), gcore(1), and `ptrace2ftf record`, whose file contains several
 * processes: each one's segments follow its notes, and have ticks of the TSC as p_paddr.
 *
 * Sources: System V ABI, "Program Header"; the kernel's fs/binfmt_elf.c (fill_note(),
 * NT_PRPSINFO) and <sys/procfs.h>.
 */
#pragma once

#include "base/cursor.h"

/* Suffix that `ptrace2ftf record` appends to the path of the recording. */
#define CORE_FILE_SUFFIX ".code"

/* Name of the note with the size of the recording, 64 bits. */
#define CORE_FILE_NOTE "ptrace2ftf"

/*
 * Type of the note, of the same name, with the path of a process's file, a perf map or a jitdump;
 * and type of the next segment, which has the file's bytes.
 */
#define CORE_FILE_PATH 2
#define CORE_FILE_COPY (PT_LOOS + 0x70)

/* Segment flag (PF_MASKOS): the code replaced other code, or was replaced. */
#define CORE_FILE_CHANGED (UINT32_C(1) << 20)

/* A part of a process's memory that is executable. */
struct core_segment {
	int32_t pid;
	bool changed;         /* CORE_FILE_CHANGED */
	uint64_t saved;       /* TSC ticks at which its bytes were first seen; 0: unknown */
	uint64_t begin, end;  /* ip range [begin, end), not empty */
	uint64_t file_offset; /* the file has all bytes */
};

struct core_file {
	struct core_segment *segments; /* owned; sorted by pid and address */
	size_t count, room;
	/* The files of processes. */
	struct core_copy {
		int32_t pid;
		const char *path;       /* borrowed, as the next: as the process sees it */
		struct byte_view bytes; /* bytes; all together have at most as many as the core */
	} * copies;                     /* owned */
	size_t copy_count, copy_room;
	uint64_t recording; /* size, bytes; 0: unknown */
	bool cut;           /* there were more copies; or more notes: the rest is left out */
};

/* Read an ELF core of 64-bit processes; *core is zeroed if the file is none. */
void core_file_read(const uint8_t *bytes, size_t size, struct core_file *core);

void core_file_release(struct core_file *core);
