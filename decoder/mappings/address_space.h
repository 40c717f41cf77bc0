/* SPDX-License-Identifier: MIT */
/*
 * The code that one process has mapped during one epoch.
 *
 * An address space never changes after the timeline is built.  When code is
 * mapped over other code, the process gets a new epoch: another address space
 * that is valid from a later time.  Mappings that replace nothing are visible in
 * the whole epoch, so that a coarse time does not make them unreachable.
 */
#ifndef DECODER_MAPPINGS_ADDRESS_SPACE_H
#define DECODER_MAPPINGS_ADDRESS_SPACE_H

#include "decoder/perf_data/perf_record.h"

/* A file that was mapped as code, as the recording names it.  One per path and build id. */
struct mapped_file {
	const char *path; /* as recorded: "/usr/bin/ls", "[vdso]", "//anon"; bytes from the file.
			     "[vdso32]" is that of ELF class 32 */
	uint8_t build_id[BUILD_ID_MAX];
	uint8_t build_id_size; /* bytes; 0: unknown */
	uint32_t index;        /* dense, for the consumer's own arrays */
};

struct mapping {
	uint64_t begin, end;            /* ip range [begin, end) */
	uint64_t file_offset;           /* byte in `file` that is mapped at `begin` */
	const struct mapped_file *file; /* borrowed from the timeline */
};

struct address_space {
	const struct mapping *mappings; /* sorted by begin, not overlapping */
	size_t count;
	uint32_t index; /* dense over the timeline, for the consumer's own arrays */
	const struct address_space *kernel; /* shared by all processes; NULL in itself */
};

/*
 * Returns the mapping that covers ip, in the space or else in its kernel's,
 * borrowed, or NULL (also if space is NULL).
 */
const struct mapping *address_space_borrow_mapping(const struct address_space *space, uint64_t ip);

#endif
