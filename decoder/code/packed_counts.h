/* SPDX-License-Identifier: MIT */
/*
 * What steps of a walk take: bits of TNT, jumps and instructions, in one word, so that a sum of
 * them is one addition.  No part runs over into the next: there are at most 63 bits at a time,
 * and who adds stops at CODE_STEPS_JUMPS jumps.
 */
#ifndef DECODER_CODE_PACKED_COUNTS_H
#define DECODER_CODE_PACKED_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#define CODE_STEPS_JUMPS 4096u

/* Where jumps begin, which have a bit more than that takes, and instructions. */
#define CODE_STEPS_JUMPS_AT 8
#define CODE_STEPS_INSNS_AT 21

/* Of one step, which is half a word. */
#define CODE_STEP_INSNS_MAX (UINT32_MAX >> CODE_STEPS_INSNS_AT)

static inline uint32_t code_step(unsigned bits, unsigned jumps, unsigned insns)
{
	return bits | jumps << CODE_STEPS_JUMPS_AT | insns << CODE_STEPS_INSNS_AT;
}

static inline unsigned code_steps_bits(uint64_t steps)
{
	return (uint8_t)steps;
}

static inline unsigned code_steps_jumps(uint64_t steps)
{
	return steps >> CODE_STEPS_JUMPS_AT & (2 * CODE_STEPS_JUMPS - 1);
}

static inline uint32_t code_steps_insns(uint64_t steps)
{
	return (uint32_t)(steps >> CODE_STEPS_INSNS_AT);
}

/* Returns the same without instructions. */
static inline uint64_t code_steps_drop_insns(uint64_t steps)
{
	return steps & ((UINT64_C(1) << CODE_STEPS_INSNS_AT) - 1);
}

/* Returns whether nothing may be added any more. */
static inline bool code_steps_full(uint64_t steps)
{
	return steps & CODE_STEPS_JUMPS << CODE_STEPS_JUMPS_AT;
}

#endif
