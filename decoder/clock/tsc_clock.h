/* SPDX-License-Identifier: MIT */
/*
 * Convert between TSC ticks and ns of perf's clock.
 *
 * The relation is perf's (struct perf_event_mmap_page in linux/perf_event.h, time_zero): ns = zero
 * + (tsc >> shift) * mult + (((tsc & mask) * mult) >> shift). 128-bit arithmetic prevents overflow
 * of intermediate values.
 */
#pragma once

#include "base/common.h"

/* The clocks of timing packets. */
struct clock_rates {
	uint32_t ratio_n, ratio_d; /* TSC : crystal clock (CPUID leaf 15H); 0: unknown */
	uint8_t mtc_shift;         /* an MTC period is 2^n crystal ticks */
	uint8_t max_ratio;         /* TSC clock : bus clock; 0: unknown */
};

struct tsc_clock {
	uint64_t zero; /* ns */
	uint32_t mult;
	uint16_t shift; /* below 64 */
};

/*
 * Returns ns of perf's clock, modulo 2^64. This equals the sum of the formula's two halves, whole
 * units of 2^shift ticks and the rest, because (whole << shift) * mult >> shift is exact.
 */
static inline uint64_t tsc_clock_ns(const struct tsc_clock *clock, uint64_t tsc)
{
	return clock->zero + (uint64_t)((unsigned __int128)tsc * clock->mult >> clock->shift);
}

/* Returns the smallest tsc at or after `ns`; 0 before tick 0 and if mult is 0. */
uint64_t tsc_clock_tsc(const struct tsc_clock *clock, uint64_t ns);

/*
 * Returns all 8 bytes of a TSC packet's 7-byte value (SDM volume 3, "TSC Packet"): the value
 * nearest to `reference`.
 */
static inline uint64_t tsc_clock_complete(uint64_t low, uint64_t reference)
{
	const uint64_t slice = UINT64_C(1) << 56;
	uint64_t tsc = (low & (slice - 1)) | (reference & ~(slice - 1));

	if (tsc - reference + slice / 2 <= slice) /* nearly always */
		return tsc;
	if (tsc > reference && tsc - reference > slice / 2 && tsc >= slice)
		return tsc - slice;
	if (tsc < reference && reference - tsc > slice / 2 && tsc < -slice)
		return tsc + slice;
	return tsc;
}
