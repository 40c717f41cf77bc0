/* SPDX-License-Identifier: MIT */
/*
 * A memo of TNT bits: (basic block, next TNT bits) -> the block that they lead to.  A table of
 * fixed size, where new entries replace old ones.
 */
#ifndef DECODER_CODE_TNT_CACHE_H
#define DECODER_CODE_TNT_CACHE_H

#include "base/tables/direct_cache.h"

/* TNT bits of a key. */
#define TNT_CACHE_BITS 7

/* Four entries are one cache line. */
struct tnt_cache_entry {
	uint32_t id;    /* tnt_cache_id(); 0: empty */
	uint32_t to;    /* CFG node */
	uint64_t steps; /* packed_counts.h of the way there */
};

/* The most jumps of an entry, so that a few entries may be added without a check. */
#define TNT_CACHE_JUMPS 255

struct tnt_cache {
	struct direct_cache cache; /* of entries */
	unsigned shift;            /* from a 32-bit hash to an index */
};

/* Allocate a table for a trace of `size` bytes; direct_cache_release() frees it. */
void tnt_cache_init(struct tnt_cache *cache, uint64_t size);

/* Empty the table. */
void tnt_cache_forget(struct tnt_cache *cache);

/* Returns the key of a CFG node and the highest bits of `bits`. */
static inline uint32_t tnt_cache_id(uint32_t from, uint64_t bits)
{
	return from << TNT_CACHE_BITS | (uint32_t)(bits >> (64 - TNT_CACHE_BITS));
}

/* Returns the first slot of a key; the second one is in the same cache line. */
static inline struct tnt_cache_entry *tnt_cache_at(const struct tnt_cache *cache, uint32_t id)
{
	struct tnt_cache_entry *entries = cache->cache.slots;

	/* Fibonacci hashing in 32 bits. */
	return &entries[id * UINT32_C(0x9e3779b9) >> cache->shift];
}

static inline struct tnt_cache_entry *tnt_cache_beside(const struct tnt_cache *cache,
						       const struct tnt_cache_entry *entry)
{
	struct tnt_cache_entry *entries = cache->cache.slots;

	return &entries[(size_t)(entry - entries) ^ 1];
}

/* Returns the entry of a key, or NULL. */
static inline const struct tnt_cache_entry *tnt_cache_find(const struct tnt_cache *cache,
							   uint32_t id)
{
	const struct tnt_cache_entry *entry = tnt_cache_at(cache, id);

	if (entry->id == id)
		return entry;
	entry = tnt_cache_beside(cache, entry);
	return entry->id == id ? entry : NULL;
}

/* Add an entry.  The entry in its slot moves to the second slot. */
static inline void tnt_cache_keep(const struct tnt_cache *cache,
				  const struct tnt_cache_entry *entry)
{
	struct tnt_cache_entry *slot = tnt_cache_at(cache, entry->id);

	*tnt_cache_beside(cache, slot) = *slot;
	*slot = *entry;
}

#endif
