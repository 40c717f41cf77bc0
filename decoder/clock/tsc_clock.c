/* SPDX-License-Identifier: MIT */
/* Convert ticks of the time-stamp counter to ns of perf's clock and back. */
#include "decoder/clock/tsc_clock.h"

typedef unsigned __int128 uint128;

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
