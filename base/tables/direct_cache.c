/* SPDX-License-Identifier: MIT */
/* Memory of direct-mapped caches. */
#include "base/tables/direct_cache.h"

/* Bytes of trace per slot: a small program has a new branch every 10 bytes or so. */
#define SLOT_SHARE 32

/* The minimum number of slots, as a power of two. */
#define BITS_LEAST 6

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
