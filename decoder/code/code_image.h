/* SPDX-License-Identifier: MIT */
/*
 * The code bytes behind address spaces, in libipt's terms.
 *
 * A section is a piece of a file mapped at an address; libipt caches decoded
 * blocks per section, so equal sections of several address spaces are one
 * section here.  An image (struct pt_image) is made for an address space when
 * it is first asked for.  Everything lives until code_image_close().
 */
#ifndef DECODER_CODE_CODE_IMAGE_H
#define DECODER_CODE_CODE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "decoder/code/kernel_code.h"
#include "decoder/mappings/address_space.h"

struct pt_image;
struct code_image;

/* How the decoder gets files: it knows only their recorded names. */
struct code_source {
	struct code_file (*find)(void *context, const struct mapped_file *file);
	/*
	 * Tell the code around a byte of a file that is one function, or is taken for one where
	 * nobody can tell functions apart, as file offsets [*begin, *end).  Returns false if
	 * there is none.  May be NULL.
	 */
	bool (*find_function)(void *context, const struct mapped_file *file, uint64_t offset,
			      uint64_t *begin, uint64_t *end);
	void *context;
	/* Where kernel code is looked for, before the mapped files.  NULL: only there. */
	const struct kernel_code *kernel;
};

struct kernel_text;

/* `source` and `diag` are borrowed.  Never NULL. */
struct code_image *code_image_open(const struct code_source *source, size_t space_count,
				   struct diag *diag);

/* Release all images and sections.  NULL is allowed. */
void code_image_close(struct code_image *code);

/* Returns the image of an address space (NULL: an image without code), borrowed; never NULL. */
struct pt_image *code_image_borrow(struct code_image *code, const struct address_space *space);

/* Returns the kernel's code as the source gave it; NULL: none. */
const struct kernel_code *code_image_kernel(const struct code_image *code);

/*
 * If the kernel's code changes, images read it from `text` from now on, which
 * must stay as long as they are used, or until the next call.
 */
void code_image_use_text(struct code_image *code, const struct kernel_text *text);

/* Bytes of code at an address; NULL and an empty range if there are none. */
struct code_view {
	const uint8_t *bytes;          /* of `begin` */
	uint64_t begin, end;           /* ip range [begin, end) */
	const struct mapping *mapping; /* borrowed; NULL: none is known (kernel code only) */
};

/* Returns what no view of other code has: one of the same mapping reaches as far. */
static inline const void *code_view_key(const struct code_view *view)
{
	return view->mapping ? (const void *)view->mapping : (const void *)view->bytes;
}

/* Returns the mapped bytes around ip in an address space (NULL: none). */
struct code_view code_image_view(const struct code_image *code, const struct address_space *space,
				 uint64_t ip);

/*
 * Find the function that holds ip, which lies in the view, by the source.
 * Returns its ip range in *begin and *end; an empty one if it is not known.
 */
void code_image_function(const struct code_image *code, const struct code_view *view, uint64_t ip,
			 uint64_t *begin, uint64_t *end);

/*
 * Find the bytes of an address within a section.
 * Returns a view that ends with the section's file, *size bytes of it; NULL
 * (and *size 0) if `isid` is no section of ours or does not hold ip.
 */
const uint8_t *code_image_bytes(const struct code_image *code, int isid, uint64_t ip, size_t *size);

#endif
