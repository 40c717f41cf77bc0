/* SPDX-License-Identifier: MIT */
/*
 * A memo of runs: (basic block, next TNT bits) -> the run of local jumps that the flow follows from
 * there.  Unlike the TNT cache it forgets nothing, because each run is kept by its user, too.
 */
#ifndef DECODER_CODE_RUN_CACHE_H
#define DECODER_CODE_RUN_CACHE_H

#include "base/tables/fibonacci_hash.h"
#include "decoder/jump_run.h"

/* Entries, at most: 8 MiB. */
#define RUN_CACHE_MOST ((size_t)1 << 17)

struct run_entry {
	uint64_t key;         /* run_cache_key(); 0: empty */
	uint64_t steps;       /* packed_counts.h of the way */
	struct jump_run *run; /* borrowed; NULL: no jump on the way */
	uint32_t to;          /* CFG node */
};

struct run_cache {
	struct run_entry *slots; /* owned: a hash table, a power of two */
	size_t room, count;
	unsigned generation; /* of the blocks */
};

/* Release the memory.  Idempotent, also on zeroed memory. */
void run_cache_release(struct run_cache *cache);

/* Forget all entries, if the blocks are of another generation. */
void run_cache_follow(struct run_cache *cache, unsigned generation);

/* Add an entry whose key is not there. */
void run_cache_add(struct run_cache *cache, const struct run_entry *entry);

/* Returns the key of a CFG node and at most 15 TNT bits, with their stop bit (tnt_bits.h). */
static inline uint64_t run_cache_key(uint32_t node, uint64_t bits)
{
	return (uint64_t)node << 16 | bits >> 48;
}

/* Returns the slot of a key, or the empty one where it belongs; the cache has room. */
static inline struct run_entry *run_cache_slot(const struct run_cache *cache, uint64_t key)
{
	size_t at = fibonacci_hash(key, (unsigned)__builtin_ctzll(cache->room));

	while (cache->slots[at].key && cache->slots[at].key != key)
		at = (at + 1) & (cache->room - 1);
	return &cache->slots[at];
}

/* Returns the entry of a key, valid until the next one is added, or NULL. */
static inline const struct run_entry *run_cache_find(const struct run_cache *cache, uint64_t key)
{
	const struct run_entry *entry = cache->room ? run_cache_slot(cache, key) : NULL;

	return entry && entry->key ? entry : NULL;
}

#endif
