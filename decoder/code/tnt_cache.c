/* SPDX-License-Identifier: MIT */
/* The table of the TNT cache. */
#include "decoder/code/tnt_cache.h"

/*
 * 128 KiB: a larger table would leave the CPU's cache, which costs more than following some
 * blocks again.
 */
#define CACHE_BITS 13

/* 2 KiB, for short traces: there may be thousands at the same time. */
#define CACHE_BITS_SHORT 7

/* Minimum bytes of trace for which the large table pays. */
#define SHORT_TRACE (UINT64_C(128) << 10)

void tnt_cache_init(struct tnt_cache *cache, uint64_t size)
{
	unsigned bits = size < SHORT_TRACE ? CACHE_BITS_SHORT : CACHE_BITS;

	direct_cache_init(&cache->cache, bits, sizeof(struct tnt_cache_entry));
	cache->shift = 32 - bits;
}

void tnt_cache_forget(struct tnt_cache *cache)
{
	memset(cache->cache.slots, 0, sizeof(struct tnt_cache_entry) << (32 - cache->shift));
}
