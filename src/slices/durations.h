/* SPDX-License-Identifier: MIT */
/*
 * A histogram of durations: buckets of 1 ns up to 256 ns, above that of at most
 * 1/128 of the duration.
 */
#ifndef SRC_SLICES_DURATIONS_H
#define SRC_SLICES_DURATIONS_H

#include <stddef.h>
#include <stdint.h>

#define DURATION_STEPS  128u
#define DURATION_BLOCKS 58u
/* Buckets, in blocks of DURATION_STEPS. */
#define DURATION_BUCKETS (DURATION_BLOCKS * DURATION_STEPS)

struct durations {
	uint64_t *blocks[DURATION_BLOCKS]; /* owned: DURATION_STEPS buckets each; NULL: none counted
					    */
	uint64_t count, min, max;
};

/* Returns the bucket of a duration, below DURATION_BUCKETS.  Longer durations have higher ones. */
size_t durations_bucket(uint64_t ns);

/* Returns the shortest duration of a bucket. */
uint64_t durations_bucket_begin(size_t bucket);

void durations_add(struct durations *durations, uint64_t ns);

/*
 * Returns the duration that `percent` of all are at most as long as (nearest
 * rank), the shortest one of its bucket; 0 if there are none.
 */
uint64_t durations_percentile(const struct durations *durations, unsigned percent);

/* The same of millionths: 999000 is the percentile 99.9. */
uint64_t durations_quantile(const struct durations *durations, uint32_t millionths);

/* Returns how many durations are in buckets of longer ones than `ns`. */
uint64_t durations_longer(const struct durations *durations, uint64_t ns);

/* Idempotent, also on zeroed memory. */
void durations_release(struct durations *durations);

#endif
