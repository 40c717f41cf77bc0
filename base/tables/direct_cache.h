/* SPDX-License-Identifier: MIT */
/*
 * A direct-mapped cache: each key has one slot, which holds the latest key that maps to it.  The
 * cache's owner defines the type of the slots and compares the keys:
 *
 *     struct insn_slot *slots = cache->slots;
 *     struct insn_slot *slot = &slots[direct_cache_index(cache, key)];
 *
 *     if (slot->key != key)
 *             ... fill the slot ...
 */
#pragma once

#include "base/common.h"

/* Bytes of a line of the processor's cache. */
#define CACHE_LINE 64

struct direct_cache {
	void *slots;    /* in `memory`, at the beginning of a cache line */
	void *memory;   /* owned */
	size_t mapped;  /* bytes of `memory` if it is of pages_alloc(), or 0 */
	unsigned shift; /* from a 64-bit hash to an index */
};

/*
 * Bound the slots of the caches that the process opens from now on, for an input of `size` bytes:
 * in a large table, each of the few keys of a small input would touch a separate page.
 */
void direct_cache_expect(uint64_t size);

/* Returns the bound, as a power of two. */
unsigned direct_cache_bits_most(void);

/* Allocate zeroed slots of `size` bytes: 2^bits, or fewer for a small input. */
void direct_cache_init(struct direct_cache *cache, unsigned bits, size_t size);

void direct_cache_release(struct direct_cache *cache);

/* Returns the number of slots, a power of two. */
static inline size_t direct_cache_count(const struct direct_cache *cache)
{
	return (size_t)1 << (64 - cache->shift);
}

/* Returns the index of a key's slot. */
static inline size_t direct_cache_index(const struct direct_cache *cache, uint64_t key)
{
	return (size_t)(key * FIBONACCI_FACTOR >> cache->shift);
}
