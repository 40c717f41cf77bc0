/* SPDX-License-Identifier: MIT */
#include "decoder/code/tnt_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/*
 * 128 KiB: a larger table would leave the CPU's cache, which costs more than following some
 * blocks again.
 */
#define CACHE_BITS 13

/* 2 KiB, for short traces: there may be thousands at the same time. */
#define CACHE_BITS_SHORT 7

/* Bytes of trace from which on the large table pays. */
#define SHORT_TRACE (UINT64_C(128) << 10)

#define CACHE_LINE 64

void tnt_cache_init(struct tnt_cache *cache, uint64_t size)
{
	unsigned bits = size < SHORT_TRACE ? CACHE_BITS_SHORT : CACHE_BITS;
	unsigned char *memory = alloc_zeroed(1, (sizeof(*cache->cache) << bits) + CACHE_LINE);

	*cache = (struct tnt_cache){ .memory = memory, .shift = 32 - bits };
	cache->cache = (void *)(memory + (-(uintptr_t)memory & (CACHE_LINE - 1)));
}

void tnt_cache_release(struct tnt_cache *cache)
{
	free(cache->memory);
	*cache = (struct tnt_cache){ 0 };
}

void tnt_cache_forget(struct tnt_cache *cache)
{
	memset(cache->cache, 0, sizeof(*cache->cache) << (32 - cache->shift));
}
