/* SPDX-License-Identifier: MIT */
/* The time stamp counter as a trace's clock. */
#include <time.h>

#ifdef __x86_64__
#include <x86intrin.h>
#endif

#include "writer/ftf.h"

#define NS_PER_S   UINT64_C(1000000000)
#define MEASURE_NS UINT64_C(20000000)
#define TRIES      20

/* The counter and a clock at the same time. */
struct reading {
	uint64_t tsc, ns;
};

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec;
}

uint64_t ftf_tsc(void)
{
#ifdef __x86_64__
	return __rdtsc();
#else
	return clock_ns(CLOCK_MONOTONIC);
#endif
}

/* Use the shortest of several attempts: it was not interrupted. */
static struct reading read_both(clockid_t clock)
{
	struct reading best = { 0 };
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t before = ftf_tsc(), ns = clock_ns(clock), took = ftf_tsc() - before;

		if (took >= least)
			continue;
		least = took;
		best = (struct reading){ before + took / 2, ns };
	}
	return best;
}

struct ftf_clock ftf_tsc_clock(void)
{
	struct reading first = read_both(CLOCK_MONOTONIC), last, wall;
	unsigned __int128 ticks;

	do {
		last = read_both(CLOCK_MONOTONIC);
	} while (last.ns - first.ns < MEASURE_NS);
	wall = read_both(CLOCK_REALTIME);
	ticks = (unsigned __int128)(last.tsc - first.tsc) * NS_PER_S;
	return (struct ftf_clock){
		.ticks_per_second = (uint64_t)(ticks / (last.ns - first.ns)),
		.has_base = true,
		.base_ticks = wall.tsc,
		.base_time = wall.ns,
	};
}
