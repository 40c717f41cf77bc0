/* SPDX-License-Identifier: MIT */
/* Memory of direct-mapped caches. */
#include "base/tables/direct_cache.h"

#include "base/pages.h"

/* Bytes of trace per slot: a small program has a new branch every 10 bytes or so. */
#define SLOT_SHARE 32

/* The minimum number of slots, as a power of two. */
#define BITS_LEAST 6

/* Minimum bytes of a cache in huge pages. */
#define MAPPED_LEAST ((size_t)1 << 20)

static unsigned bits_most = 63;

void direct_cache_expect(uint64_t size)
{
	bits_most = BITS_LEAST;
	while (bits_most < 63 && size / SLOT_SHARE >> bits_most)
		bits_most++;
}

unsigned direct_cache_bits_most(void)
{
	return bits_most;
}

void direct_cache_init(struct direct_cache *cache, unsigned bits, size_t size)
{
	bits = MIN(bits, bits_most);
	cache->shift = 64 - bits;
	cache->mapped = size << bits >= MAPPED_LEAST ? size << bits : 0;
	cache->memory = cache->mapped ? pages_alloc(cache->mapped)
				      : alloc_zeroed(1, (size << bits) + CACHE_LINE);
	cache->slots =
		(unsigned char *)cache->memory + (-(uintptr_t)cache->memory & (CACHE_LINE - 1));
}

void direct_cache_release(struct direct_cache *cache)
{
	if (cache->mapped)
		pages_free(cache->memory, cache->mapped);
	else
		free(cache->memory);
	*cache = (struct direct_cache){ 0 };
}
