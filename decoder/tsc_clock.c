/* SPDX-License-Identifier: MIT */
#include "decoder/tsc_clock.h"

typedef unsigned __int128 uint128;

uint64_t tsc_clock_ns(const struct tsc_clock *clock, uint64_t tsc)
{
	uint128 ns = (uint128)tsc * clock->mult >> clock->shift;

	/*
	 * The formula's two halves, whole ticks of 2^shift and the rest, add
	 * up to this, because (whole << shift) * mult >> shift is exact.
	 */
	return clock->zero + (uint64_t)ns;
}

uint64_t tsc_clock_tsc(const struct tsc_clock *clock, uint64_t ns)
{
	/* The difference is modulo 2^64: a clock whose zero is negative is an ordinary one. */
	int64_t since_zero = (int64_t)(ns - clock->zero);
	uint128 scaled, tsc;

	if (since_zero <= 0 || !clock->mult)
		return 0;
	scaled = (uint128)since_zero << clock->shift;
	tsc = (scaled + clock->mult - 1) / clock->mult;
	return tsc > UINT64_MAX ? UINT64_MAX : (uint64_t)tsc;
}

uint64_t tsc_clock_complete(uint64_t low, uint64_t reference)
{
	const uint64_t span = UINT64_C(1) << 56;
	uint64_t tsc = (low & (span - 1)) | (reference & ~(span - 1));

	if (tsc > reference && tsc - reference > span / 2 && tsc >= span)
		return tsc - span;
	if (tsc < reference && reference - tsc > span / 2 && tsc < -span)
		return tsc + span;
	return tsc;
}
