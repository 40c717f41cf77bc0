/* SPDX-License-Identifier: MIT */
/*
 * Memory of libftf, from the caller's allocator.  A lack of it is a sticky error of the
 * trace, as all errors are.
 */
#ifndef WRITER_FTF_MEMORY_H
#define WRITER_FTF_MEMORY_H

#include "base/common.h"
#include "writer/ftf.h"

/* realloc(3) and free(3). */
extern const struct ftf_allocator ftf_memory_of_c;

/* Returns count * size zeroed bytes, owned by the caller; NULL, and an error of the trace. */
void *ftf_memory_get(struct ftf_low *low, size_t count, size_t size);

/* Free memory of ftf_memory_get() and ftf_memory_grow(); NULL is allowed. */
void ftf_memory_free(struct ftf_low *low, void *memory);

/*
 * Make the array at `array`, a pointer to a pointer to elements of `size` bytes, hold at least
 * `need` of them; *room is its capacity.  The new room is zeroed. Returns whether it holds them; if
 * not, it is as it was, and the trace has an error.
 */
bool ftf_memory_grow(struct ftf_low *low, void *array, size_t *room, size_t need, size_t size);

/* Texts that are freed together. */
struct ftf_texts {
	struct ftf_text_block *blocks; /* owned; newest first */
	size_t used;                   /* bytes of the newest block */
};

/*
 * Returns a copy of `length` bytes of text, with a NUL, owned by `texts`; NULL, and an error of
 * the trace.
 */
const char *ftf_texts_copy(struct ftf_low *low, struct ftf_texts *texts, const char *text,
			   size_t length);

void ftf_texts_release(struct ftf_low *low, struct ftf_texts *texts);

#endif
