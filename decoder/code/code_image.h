/* SPDX-License-Identifier: MIT */
/* The code of address spaces, as bytes. */
#pragma once

#include "decoder/code/insn.h"
#include "decoder/code/kernel_text.h"
#include "decoder/mappings/address_space.h"

/* Returns whether code of some kind is around a byte of a file, at offsets [*begin, *end). */
typedef bool find_code_around(void *context, const struct mapped_file *file, uint64_t offset,
			      uint64_t *begin, uint64_t *end);

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
};

/* Bytes of code at an address; NULL and an empty range without code. */
struct code_view {
	const uint8_t *bytes;          /* the code from `begin` */
	uint64_t begin, end;           /* ip range [begin, end) */
	const struct mapping *mapping; /* borrowed; NULL: unknown (kernel code only) */
	bool seam;                     /* a copy of one instruction in several mappings */
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
