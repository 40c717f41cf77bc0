/* SPDX-License-Identifier: MIT */
/*
 * Finds dense ids (1, 2, 3, ...) by the hash of what they stand for: 16 bytes
 * an id, for tens of millions of them.  The owner compares the things.
 */
#ifndef WRITER_FTF_INDEX_H
#define WRITER_FTF_INDEX_H

#include <stddef.h>
#include <stdint.h>

struct ftf_index {
	uint64_t *cells;    /* owned; hash in the high 32 bits, id in the low; 0: empty */
	size_t count, room; /* room: a power of two, or 0 */
};

/* Idempotent, also on zeroed memory, which is an empty index. */
void ftf_index_release(struct ftf_index *index);

/*
 * Find ids of a hash, one after the other: *probe is 0 at first, and kept by
 * the caller in between.
 * Returns the next candidate; 0: there are no more.
 */
uint32_t ftf_index_next(const struct ftf_index *index, uint32_t hash, size_t *probe);

/* Add an id that is not in the index. */
void ftf_index_add(struct ftf_index *index, uint32_t hash, uint32_t id);

/* Returns the hash of bytes. */
uint32_t ftf_hash(const void *bytes, size_t size);

#endif
