/* SPDX-License-Identifier: MIT */
/* A histogram of durations: buckets of 1 ns below 256 ns, else of at most 1/128 of the duration. */
#pragma once

#include "base/common.h"

/*
 * Returns the class of a value: width 1 below 2^bits, then 2^bits classes per octave. Classes do
 * not decrease with the value.
 */
static inline uint32_t log_class(uint64_t value, unsigned bits)
{
	unsigned octave;

	if (value >> bits == 0)
		return (uint32_t)value;
	octave = 63 - (unsigned)__builtin_clzll(value) - bits;
	return (octave << bits) + (uint32_t)(value >> octave);
}

static inline uint64_t log_class_begin(uint32_t number, unsigned bits)
{
	uint32_t octave = number >> bits, step = number & ((1u << bits) - 1);

	return octave ? (uint64_t)(step | 1u << bits) << (octave - 1) : number;
}

#define DURATION_BITS   7
#define DURATION_STEPS  (1u << DURATION_BITS)
#define DURATION_BLOCKS 58u
/* Buckets, in blocks of DURATION_STEPS. */
#define DURATION_BUCKETS (DURATION_BLOCKS * DURATION_STEPS)

struct durations {
	uint64_t *blocks[DURATION_BLOCKS]; /* owned: DURATION_STEPS buckets each; NULL: all 0 */
	uint64_t count, min, max;
};

static inline void durations_add(struct durations *durations, uint64_t ns)
{
	size_t bucket = log_class(ns, DURATION_BITS);
	uint64_t **block = &durations->blocks[bucket / DURATION_STEPS];

	if (!*block)
		*block = alloc_zeroed(DURATION_STEPS, sizeof(**block));
	(*block)[bucket % DURATION_STEPS]++;
	if (!durations->count || ns < durations->min)
		durations->min = ns;
	if (ns > durations->max)
		durations->max = ns;
	durations->count++;
}

/*
 * Returns a quantile of the durations (nearest rank), as the lowest value of its bucket; 0 without
 * durations. 999000 millionths: the 99.9th percentile.
 */
uint64_t durations_quantile(const struct durations *durations, uint32_t millionths);

static inline uint64_t durations_percentile(const struct durations *durations, unsigned percent)
{
	return durations_quantile(durations, percent * 10000);
}

/* Replace a duration that was added. `max` of the result is 0: unknown. */
void durations_replace(struct durations *durations, uint64_t ns, uint64_t by);

/* Replace durations that were added by as many others. `min` stays a lower bound. */
void durations_replace_all(struct durations *durations, const struct durations *those,
			   const struct durations *by);

/* Fill values[N] with the Nth percentile, and values[0] with the least duration; 0: no durations.
 */
void durations_percentiles(const struct durations *durations, uint64_t values[101]);

/* Returns the number of durations in buckets above the bucket of `ns`. */
uint64_t durations_longer(const struct durations *durations, uint64_t ns);

/* Returns the sum of these, minus `than` each, by the lowest values of their buckets. */
double durations_excess(const struct durations *durations, uint64_t ns, uint64_t than);

/* Fill `to` with a copy, which has its own memory. */
void durations_copy(struct durations *to, const struct durations *from);

void durations_release(struct durations *durations);
