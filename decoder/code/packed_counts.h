/* SPDX-License-Identifier: MIT */
/*
 * What steps of a walk take: bits of TNT, jumps and instructions, in one word, so that a sum of
 * them is one addition.  No part runs over into the next: there are at most 63 bits at a time,
 * and who adds stops at PACKED_COUNTS_JUMPS jumps.
 */
#ifndef DECODER_CODE_PACKED_COUNTS_H
#define DECODER_CODE_PACKED_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#define PACKED_COUNTS_JUMPS 4096u

/* Where jumps begin, which have a bit more than that takes, and instructions. */
#define PACKED_COUNTS_JUMPS_AT 8
#define PACKED_COUNTS_INSNS_AT 21

/* Of one step, which is half a word. */
#define PACKED_COUNTS_STEP_INSNS (UINT32_MAX >> PACKED_COUNTS_INSNS_AT)

static inline uint32_t packed_counts(unsigned bits, unsigned jumps, unsigned insns)
{
	return bits | jumps << PACKED_COUNTS_JUMPS_AT | insns << PACKED_COUNTS_INSNS_AT;
}

static inline unsigned packed_counts_bits(uint64_t steps)
{
	return (uint8_t)steps;
}

static inline unsigned packed_counts_jumps(uint64_t steps)
{
	return steps >> PACKED_COUNTS_JUMPS_AT & (2 * PACKED_COUNTS_JUMPS - 1);
}

static inline uint32_t packed_counts_insns(uint64_t steps)
{
	return (uint32_t)(steps >> PACKED_COUNTS_INSNS_AT);
}

/* Returns the same without instructions. */
static inline uint64_t packed_counts_drop_insns(uint64_t steps)
{
	return steps & ((UINT64_C(1) << PACKED_COUNTS_INSNS_AT) - 1);
}

/* Returns whether nothing may be added any more. */
static inline bool packed_counts_full(uint64_t steps)
{
	return steps & PACKED_COUNTS_JUMPS << PACKED_COUNTS_JUMPS_AT;
}

#endif
