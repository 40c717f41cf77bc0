/* SPDX-License-Identifier: MIT */
/* A hash table with linear probing. */
#include "decoder/code/run_cache.h"

#define FIRST_ROOM 1024

void run_cache_release(struct run_cache *cache)
{
	free(cache->slots);
	*cache = (struct run_cache){ 0 };
}

void run_cache_follow(struct run_cache *cache, unsigned generation)
{
	if (cache->generation == generation)
		return;
	if (cache->count)
		memset(cache->slots, 0, cache->room * sizeof(*cache->slots));
	cache->count = 0;
	cache->generation = generation;
}

static void grow(struct run_cache *cache)
{
	struct run_cache old = *cache;

	cache->room = old.room ? 2 * old.room : FIRST_ROOM;
	cache->slots = alloc_zeroed(cache->room, sizeof(*cache->slots));
	for (size_t i = 0; i < old.room; i++)
		if (old.slots[i].key)
			*run_cache_slot(cache, old.slots[i].key) = old.slots[i];
	free(old.slots);
}

void run_cache_add(struct run_cache *cache, const struct run_entry *entry)
{
	if (2 * cache->count >= cache->room)
		grow(cache);
	*run_cache_slot(cache, entry->key) = *entry;
	cache->count++;
}
