/* SPDX-License-Identifier: MIT */
/*
 * Code in ELF cores: of core(5), gcore(1), and `ptrace2ftf record`, whose file contains several
 * processes: each one's segments follow its notes, and have ticks of the TSC as p_paddr.
 *
 * Sources: System V ABI, "Program Header"; the kernel's fs/binfmt_elf.c (fill_note(),
 * NT_PRPSINFO) and <sys/procfs.h>.
 */
#pragma once

#include "base/common.h"

/* Suffix that `ptrace2ftf record` appends to the path of the recording. */
#define CORE_FILE_SUFFIX ".code"

/* Name of the note with the size of the recording, 64 bits. */
#define CORE_FILE_NOTE "ptrace2ftf"

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

/*
 * Returns the segments of an ELF core of a 64-bit process, sorted by pid and address, owned by the
 * caller (free()), and their number in *count; NULL and 0 if the file is not a core or has no code.
 *  *recording gets the size of its recording, bytes; 0: unknown.
 */
struct core_segment *core_file_read(const uint8_t *bytes, size_t size, size_t *count,
				    uint64_t *recording);
