/* SPDX-License-Identifier: MIT */
/*
 * Paths over runs: where a few decisions lead, to be gone again at once.
 *
 * Where they lead depends on the run where they begin and their bits of TNT.  So what a walk
 * did is kept, in a table of fixed size where new paths overwrite old ones.
 */
#ifndef DECODER_CODE_TNT_CACHE_H
#define DECODER_CODE_TNT_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decisions of a path at most. */
#define TNT_CACHE_BITS 7

/* Four of them are a line of the processor's cache. */
struct tnt_cache_entry {
	uint32_t id;    /* tnt_cache_id(); 0: no path */
	uint32_t to;    /* hop */
	uint64_t steps; /* what going there takes: packed_counts.h */
};

/* Of more jumps than that no path is kept, so that a few may be added without a look. */
#define TNT_CACHE_JUMPS 255

struct tnt_cache {
	void *memory;                  /* owned: */
	struct tnt_cache_entry *cache; /* by hash */
	unsigned shift;                /* from a hash of 32 bits to a path's place in `paths` */
};

/* For a trace of `size` bytes. */
void tnt_cache_init(struct tnt_cache *cache, uint64_t size);

/* Release the memory.  Idempotent, also on zeroed memory. */
void tnt_cache_release(struct tnt_cache *cache);

/* There is no path any more. */
void tnt_cache_forget(struct tnt_cache *cache);

/* Returns what no other path has: the hop where it begins, and its bits, the highest of `bits`. */
static inline uint32_t tnt_cache_id(uint32_t from, uint64_t bits)
{
	return from << TNT_CACHE_BITS | (uint32_t)(bits >> (64 - TNT_CACHE_BITS));
}

/* Returns where a path is kept first; the second place is in the same line of the cache. */
static inline struct tnt_cache_entry *tnt_cache_at(const struct tnt_cache *cache, uint32_t id)
{
	/* Fibonacci hashing: neighbours in memory spread over the table. */
	return &cache->cache[id * UINT32_C(0x9e3779b9) >> cache->shift];
}

static inline struct tnt_cache_entry *tnt_cache_beside(const struct tnt_cache *cache,
						       const struct tnt_cache_entry *entry)
{
	return &cache->cache[(size_t)(entry - cache->cache) ^ 1];
}

/* Returns the path that is asked for; NULL: it is not kept. */
static inline const struct tnt_cache_entry *tnt_cache_find(const struct tnt_cache *cache,
							   uint32_t id)
{
	const struct tnt_cache_entry *entry = tnt_cache_at(cache, id);

	if (entry->id == id)
		return entry;
	entry = tnt_cache_beside(cache, entry);
	return entry->id == id ? entry : NULL;
}

/* Keep a path: the one that was in its place moves beside it. */
static inline void tnt_cache_keep(const struct tnt_cache *cache,
				  const struct tnt_cache_entry *entry)
{
	struct tnt_cache_entry *slot = tnt_cache_at(cache, entry->id);

	*tnt_cache_beside(cache, slot) = *slot;
	*slot = *entry;
}

#endif
