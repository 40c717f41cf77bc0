/* SPDX-License-Identifier: MIT */
/*
 * Counts of TNT bits, jumps and instructions in one word, so that one addition updates all. No
 * count overflows into the next: there are at most 63 TNT bits, and callers stop at
 * PACKED_COUNTS_JUMPS jumps.
 */
#pragma once

#include "base/common.h"

#define PACKED_COUNTS_JUMPS 4096u

/* Bit positions; jumps need one bit more than PACKED_COUNTS_JUMPS. */
#define PACKED_COUNTS_JUMPS_AT 8
#define PACKED_COUNTS_INSNS_AT 21

/* Maximum instructions of one step, which has 32 bits. */
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

/* Returns the counts without instructions. */
static inline uint64_t packed_counts_drop_insns(uint64_t steps)
{
	return steps & ((UINT64_C(1) << PACKED_COUNTS_INSNS_AT) - 1);
}

/* Returns whether no more jumps may be added. */
static inline bool packed_counts_full(uint64_t steps)
{
	return steps & PACKED_COUNTS_JUMPS << PACKED_COUNTS_JUMPS_AT;
}
