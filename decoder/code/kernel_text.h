/* SPDX-License-Identifier: MIT */
/*
 * The kernel's code at a given time. A running kernel changes its code (static keys, ftrace,
 * kprobes), and generates code (BPF programs, out-of-line slots).
 *
 * Each stream applies these patches to its own copy of the kernel's bytes, because streams are at
 * different times, and can go back. Unpatched pages are shared with the file.
 */
#pragma once

#include "base/common.h"

struct code_patch;

/*
 * A copy of the kernel's memory, or its relocated file; and run-time code at other addresses:
 * modules, and code that only patches contain.
 */
struct kernel_code {
	/* A file of code, borrowed from the caller. */
	struct code_file {
		const char *path;     /* path to open; NULL: not available */
		const uint8_t *bytes; /* the whole file, mapped as long as the code is used */
		size_t size;
	} file;
	/* A range of kernel addresses and its bytes in a file. */
	const struct kernel_segment {
		uint64_t begin, end;  /* ip range [begin, end) */
		uint64_t file_offset; /* offset of `begin` in the file, which has the whole range */
	} * segments;                 /* sorted by begin, not overlapping */
	size_t count;
	const struct kernel_segment *runtime_segments; /* also sorted; offsets in runtime_bytes */
	size_t runtime_count;
	const uint8_t *runtime_bytes; /* zeros for code that only patches contain */
	size_t runtime_size;
	const struct code_patch *patches; /* in time order (timeline.h) */
	size_t patch_count;
};

/* Returns the segment of ip, or NULL; sets *bytes to the segment's first byte. */
const struct kernel_segment *kernel_code_find(const struct kernel_code *kernel, uint64_t ip,
					      const uint8_t **bytes);

struct kernel_text {
	const struct kernel_code *kernel; /* borrowed; NULL: the code never changes */
	uint8_t *copy; /* owned (mmap): the file's bytes at the current time; may be NULL */
	uint8_t *runtime_segments; /* owned: the same for run-time code; may be NULL */
	size_t next;               /* index of the first patch that is not applied */
};

/* Start before the first patch, even if the file is later. Borrows `kernel`, which may be NULL. */
void kernel_text_init(struct kernel_text *text, const struct kernel_code *kernel);

void kernel_text_release(struct kernel_text *text);

/* Apply patches up to `time` (ns, perf's clock), undo later ones.  Returns whether bytes changed.
 */
bool kernel_text_advance(struct kernel_text *text, uint64_t time);

/* Returns the time from which kernel_text_advance() changes bytes; UINT64_MAX: never. */
uint64_t kernel_text_due(const struct kernel_text *text);

/* Returns the current bytes of kernel code at `bytes`; other pointers unchanged. */
const uint8_t *kernel_text_bytes(const struct kernel_text *text, const uint8_t *bytes);
