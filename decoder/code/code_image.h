/* SPDX-License-Identifier: MIT */
/* The code of address spaces, as bytes. */
#pragma once

#include "base/cursor.h"
#include "decoder/address_space.h"
#include "decoder/code/insn.h"

/*
 * The kernel's code at a given time. A running kernel changes its code (static keys, ftrace,
 * kprobes), and generates code (BPF programs, out-of-line slots).
 *
 * Each stream applies these patches to its own copy of the kernel's bytes, because streams are at
 * different times, and can go back. Unpatched pages are shared with the file.
 */

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
	const struct code_patch *patches; /* sorted by time */
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

/* Returns whether code of some kind is around a byte of a file, at offsets [*begin, *end). */
typedef bool find_code_around(void *context, const struct mapped_file *file, uint64_t offset,
			      uint64_t *begin, uint64_t *end);

/* Bytes of code at an address; NULL and an empty range without code. */
struct code_view {
	const uint8_t *bytes;          /* the code from `begin` */
	uint64_t begin, end;           /* ip range [begin, end) */
	const struct mapping *mapping; /* borrowed; NULL: unknown (kernel code only) */
	bool seam;                     /* a copy of one instruction in several mappings */
};

/* Access to files by their recorded names. All members except `find` may be NULL. */
struct code_source {
	/* Returns the whole file; empty if it is not available. */
	struct byte_view (*find)(void *context, const struct mapped_file *file);
	/* Code that is one function, or is treated as one if functions are unknown. */
	find_code_around *find_function;
	/* Returns whether a byte of the file is the entry of a program or its loader. */
	bool (*is_entry)(void *context, const struct mapped_file *file, uint64_t offset);
	void *context;
	const struct kernel_code *kernel; /* kernel code, preferred to mapped files */
	find_code_around *find_piece;     /* code with equal inlined calls */
	/* Instead of all of these: returns the code of the only address space around ip. */
	struct code_view (*view)(void *context, uint64_t ip);
};

/* Returns the mapped bytes around ip in an address space, which may be NULL. */
struct code_view code_image_view(const struct code_source *source,
				 const struct address_space *space, uint64_t ip);

/*
 * Copy the code of the longest instruction at ip, from adjacent mappings too. `text`: the kernel's
 * current code. Returns the number of bytes, fewer if the code ends before.
 */
size_t code_image_read(const struct code_source *source, const struct address_space *space,
		       const struct kernel_text *text, uint64_t ip, uint8_t to[INSN_LENGTH_MAX]);

/* Find the ip range of the function at ip, which is in the view; empty if unknown. */
void code_image_function(const struct code_source *source, const struct code_view *view,
			 uint64_t ip, uint64_t *begin, uint64_t *end);

/* The same for code with equal inlined calls around it (find_piece()). */
void code_image_piece(const struct code_source *source, const struct code_view *view, uint64_t ip,
		      uint64_t *begin, uint64_t *end);

/* Returns whether ip is the entry of an address space's program or of its loader. */
bool code_image_is_entry(const struct code_source *source, const struct address_space *space,
			 uint64_t ip);
