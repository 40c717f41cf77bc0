/* SPDX-License-Identifier: MIT */
/* Memory of direct-mapped caches. */
#include "base/tables/direct_cache.h"

void direct_cache_init(struct direct_cache *cache, unsigned bits, size_t size)
{
	/* Not aligned_alloc(): zeroing would touch every page of a large cache. */
	cache->memory = alloc_zeroed(1, (size << bits) + CACHE_LINE);
	cache->slots =
		(unsigned char *)cache->memory + (-(uintptr_t)cache->memory & (CACHE_LINE - 1));
}

void direct_cache_release(struct direct_cache *cache)
{
	free(cache->memory);
	*cache = (struct direct_cache){ 0 };
}
