/* SPDX-License-Identifier: MIT */
/* The kernel's code by address: the code in a file, and code made at run time. */
#ifndef DECODER_CODE_KERNEL_CODE_H
#define DECODER_CODE_KERNEL_CODE_H

#include <stddef.h>
#include <stdint.h>

struct code_patch;

/* A file of code as the caller found it; borrowed from the caller. */
struct code_file {
	const char *path;     /* to open it by; NULL: not available */
	const uint8_t *bytes; /* the whole file, mapped as long as the code_image lives */
	size_t size;
};

/* A range of kernel addresses and its bytes in a file. */
struct kernel_segment {
	uint64_t begin, end;  /* ip range [begin, end) */
	uint64_t file_offset; /* of `begin` in the file, which holds the whole range */
};

/*
 * A copy of the kernel's memory, or its relocated file; and code made at run time, at
 * addresses that the file does not have: modules, and code that only patches contain.
 * kernel_text.h applies the patches.
 */
struct kernel_code {
	struct code_file file;
	const struct kernel_segment *segments; /* sorted by begin, not overlapping */
	size_t count;
	const struct kernel_segment
		*runtime_segments; /* sorted, too; offsets are in runtime_bytes */
	size_t runtime_count;
	const uint8_t *runtime_bytes; /* zeros where only patches have the code */
	size_t runtime_size;
	const struct code_patch *patches; /* in time order: timeline.h */
	size_t patch_count;
};

/*
 * Find the segment that holds ip, in the file or made at run time.
 * Returns NULL if there is none; else the segment, with *bytes at its first byte.
 */
const struct kernel_segment *kernel_code_find(const struct kernel_code *kernel, uint64_t ip,
					      const uint8_t **bytes);

#endif
