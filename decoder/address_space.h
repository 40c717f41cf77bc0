/* SPDX-License-Identifier: MIT */
/*
 * The code mapped by one process during one epoch.
 *
 * An address space never changes after the timeline is built. When code is mapped over other code,
 * the process enters a new epoch: another address space, valid from a later time. Mappings that
 * replace nothing are valid in the whole epoch, so that a coarse time does not hide them.
 */
#pragma once

#include "base/common.h"

#define BUILD_ID_MAX 20 /* maximum bytes of a build id in a record of perf */

/* A file that was mapped as code, by its recorded name. One per path and build id. */
struct mapped_file {
	const char *path; /* as recorded: "/usr/bin/ls", "[vdso]", "//anon"; arbitrary bytes.
			   * "[vdso32]": the vdso of ELF class 32 */
	uint8_t build_id[BUILD_ID_MAX];
	uint8_t build_id_size; /* bytes; 0: unknown */
	uint32_t index;        /* dense, for arrays of the consumer */
	uint64_t begin, end; /* offsets in the file between which code was mapped; 0, 0: unknown */
	uint64_t inode;      /* 0: unknown */
	uint32_t major;      /* device number */
	bool several;        /* files of other inodes had this path, too */
};

/*
 * The page that probes call since Linux 6.18 (arch/x86/kernel/uprobes.c), and the offset of the
 * instruction after its system call.
 */
#define MAPPED_PROBES        "[uprobes-trampoline]"
#define MAPPED_PROBES_RETURN 13

struct mapping {
	uint64_t begin, end;            /* ip range [begin, end) */
	uint64_t file_offset;           /* offset in `file` that is mapped at `begin` */
	const struct mapped_file *file; /* borrowed from the timeline */
};

struct address_space {
	const struct mapping *mappings; /* sorted by begin, not overlapping */
	size_t count;
	uint32_t index;                     /* dense in the timeline, for arrays of the consumer */
	bool probed;                        /* has a mapping of MAPPED_PROBES */
	const struct address_space *kernel; /* shared by all processes; NULL in the kernel's own */
};

/*
 * Returns the mapping at ip in the space, else in its kernel's; borrowed. NULL if there is none, or
 * if space is NULL.
 */
const struct mapping *address_space_borrow_mapping(const struct address_space *space, uint64_t ip);

/*
 * PERF_RECORD_TEXT_POKE: the kernel changed its own code. The new bytes are at the address since
 * `time` (ns).
 */
struct code_patch {
	uint64_t time;
	uint64_t address;
	const uint8_t *old_bytes, *new_bytes; /* borrowed; either may be empty */
	uint32_t old_size, new_size;
	uint64_t order; /* among patches of one time; set by the caller */
};
