/* SPDX-License-Identifier: MIT */
/*
 * A direct-mapped cache: each key has one slot, which the latest of the keys with this slot
 * occupies.  The slots' type belongs to the owner of the cache, who also compares the keys:
 *
 *     struct insn_slot *slots = cache->slots;
 *     struct insn_slot *slot = &slots[direct_cache_index(key, INSN_CACHE_BITS)];
 *
 *     if (slot->key != key)
 *             ... fill the slot ...
 *
 * `bits` should be a constant, so that a look-up is a multiplication and a shift.
 */
#ifndef BASE_TABLES_DIRECT_CACHE_H
#define BASE_TABLES_DIRECT_CACHE_H

#include "base/common.h"

/* Bytes of a line of the processor's cache. */
#define CACHE_LINE 64

struct direct_cache {
	void *slots;  /* in `memory`, at the beginning of a cache line */
	void *memory; /* owned */
};

/* Allocate 2^bits zeroed slots of `size` bytes. */
void direct_cache_init(struct direct_cache *cache, unsigned bits, size_t size);

void direct_cache_release(struct direct_cache *cache);

/* Returns the index of a key's slot, in [0, 2^bits). */
static inline size_t direct_cache_index(uint64_t key, unsigned bits)
{
	return (size_t)fibonacci_hash(key, bits);
}

#endif
