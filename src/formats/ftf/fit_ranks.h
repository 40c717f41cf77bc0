/* SPDX-License-Identifier: MIT */
/*
 * --fit: the choice of slices that stay.
 *
 * Each slice has a rank, and slices of at least the chosen rank stay. Longer slices rank higher, by
 * the buckets of src/slices/durations.h. In a bucket, outer slices rank above inner ones, so that a
 * slice stays only if all slices around it stay. At one depth of a bucket, every second slice ranks
 * above the others, every fourth above these, and so on, so that the remaining slices are spread
 * over the trace.
 *
 * A limit splits a bucket, or the slices of one depth, only if otherwise fewer than half of the
 * allowed slices would stay.
 */
#pragma once

#include "src/slices/durations.h"

struct fit_bucket;

/* The counted slices of one thread.  Zeroed memory is empty. */
struct fit_ranks {
	struct fit_bucket *blocks[DURATION_BLOCKS]; /* owned: DURATION_STEPS each; NULL: empty */
	uint64_t count;                             /* slices */
	uint32_t least;                             /* the lowest rank that stays */
	uint32_t number; /* the thread's number: order of threads with equal counts */
};

/* Count a slice with `depth` slices around it.  Returns its rank. */
uint32_t fit_ranks_add(struct fit_ranks *ranks, uint64_t duration, size_t depth);

/*
 * Raise `least` so that at most `most` slices stay, and at least half of `most` if that many exist.
 * Never lowers it.
 */
void fit_ranks_choose(struct fit_ranks *ranks, uint64_t most);

/*
 * Share `most` slices among `count` threads: threads with few slices keep all, the others get equal
 * shares. Reorders the array.
 */
void fit_ranks_share(struct fit_ranks **threads, size_t count, uint64_t most);

/* Returns the shortest duration (ns) at which all slices stay, or UINT64_MAX. */
uint64_t fit_ranks_shortest(const struct fit_ranks *ranks);

/*
 * Choose among outermost slices, then share the rest of `limit` among inner slices, by thread. The
 * `others`, which stay anyway, use up to half of the limit. Returns the maximum
 * fit_ranks_shortest() of the threads. Reorders the array.
 */
uint64_t fit_ranks_choose_all(struct fit_ranks *roots, struct fit_ranks **threads, size_t count,
			      uint64_t limit, uint64_t others);

void fit_ranks_release(struct fit_ranks *ranks);
