/* SPDX-License-Identifier: MIT */
/*
 * TNT bits that are not consumed yet: the next bit is the highest, and a stop bit follows the last,
 * so that the word also encodes their number. Private to the fast engine.
 */
#pragma once

#include "base/common.h"

#define TNT_BITS_NONE (UINT64_C(1) << 63)

/* Returns the lowest `count` of `bits`, at most 63; the oldest bit is the highest. */
static inline uint64_t tnt_bits(uint64_t bits, unsigned count)
{
	return (bits << 1 | 1) << (63 - count);
}

static inline unsigned tnt_bits_count(uint64_t bits)
{
	return 63 - (unsigned)__builtin_ctzll(bits);
}

/* Returns the next bit; there must be one. */
static inline bool tnt_bits_next(uint64_t bits)
{
	return bits >> 63;
}

/*
 * Returns the bits of a one-byte packet, and their number in *count.  The stop bit is the
 * highest bit set, and the lowest bit is 0 (SDM volume 3, "Taken/Not-taken (TNT) Packet").
 */
static inline uint64_t tnt_bits_of_byte(uint8_t byte, unsigned *count)
{
	unsigned stop = 31 - (unsigned)__builtin_clz(byte);

	*count = stop - 1;
	return (uint64_t)(byte | 1) << (64 - stop);
}
