/* SPDX-License-Identifier: MIT */
/*
 * --fit: the choice of the slices that stay.
 *
 * Each slice has a rank, and slices of at least the chosen rank stay.  Longer slices rank
 * higher, in the buckets of src/slices/durations.h.  In a bucket, outer slices rank above inner
 * ones: a slice stays only if all slices around it stay.  At one depth of a bucket, every second
 * slice ranks above the others, every fourth above these, and so on: the slices that stay are
 * spread over the trace.
 *
 * A limit splits a bucket, or the slices of one depth, only if fewer than half of the slices that
 * it allows would stay otherwise.
 */
#ifndef SRC_FORMATS_FTF_FIT_RANKS_H
#define SRC_FORMATS_FTF_FIT_RANKS_H

#include "src/slices/durations.h"

struct fit_bucket;

/* The counted slices of one thread.  Zeroed memory is empty. */
struct fit_ranks {
	struct fit_bucket *blocks[DURATION_BLOCKS]; /* owned: DURATION_STEPS each; NULL: empty */
	uint64_t count;                             /* slices */
	uint32_t least;                             /* the lowest rank that stays */
	uint32_t number; /* of the thread: orders threads with equal counts */
};

/* Count a slice with `depth` slices around it.  Returns its rank. */
uint32_t fit_ranks_add(struct fit_ranks *ranks, uint64_t duration, size_t depth);

/*
 * Raise `least` so that at most `most` slices stay, and at least half as many if there are
 * that many.  It never sinks.
 */
void fit_ranks_choose(struct fit_ranks *ranks, uint64_t most);

/*
 * Share `most` slices among `count` threads: a thread with few slices keeps all of them, the
 * others get equal shares.  Reorders the array.
 */
void fit_ranks_share(struct fit_ranks **threads, size_t count, uint64_t most);

/* Returns the shortest duration (ns) at which all slices stay, or UINT64_MAX. */
uint64_t fit_ranks_shortest(const struct fit_ranks *ranks);

/*
 * Choose among outermost slices, then share the rest of `limit` among the slices in others, by
 * thread.  `others` that stay anyway take what they need, up to half of the limit.  Returns the
 * longest fit_ranks_shortest() of the threads.  Reorders the array.
 */
uint64_t fit_ranks_choose_all(struct fit_ranks *roots, struct fit_ranks **threads, size_t count,
			      uint64_t limit, uint64_t others);

/* Idempotent. */
void fit_ranks_release(struct fit_ranks *ranks);

#endif
