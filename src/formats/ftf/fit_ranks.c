/* SPDX-License-Identifier: MIT */
/* Ranks of slices: duration's bucket, depth, and turn among slices with equal bucket and depth. */
#include "src/formats/ftf/fit_ranks.h"

/* Low bits of a rank: the turn, then the nearness to the outermost slice. */
#define TURN_BITS  5u
#define DEPTH_BITS 10u
#define TURN_MAX   ((1u << TURN_BITS) - 1)
#define DEPTH_MAX  ((1u << DEPTH_BITS) - 1)

/* The slices of a bucket by depth, at most DEPTH_MAX. */
struct fit_bucket {
	uint64_t *at_depth; /* owned */
	size_t depths;
};

static uint32_t rank_of(size_t bucket, size_t depth, unsigned turn)
{
	return (uint32_t)((bucket << DEPTH_BITS | (DEPTH_MAX - depth)) << TURN_BITS | turn);
}

/* The first slice has the highest turn, and every 2^N-th slice a turn of at least N. */
static unsigned turn_of(uint64_t number)
{
	return number ? (unsigned)__builtin_ctzll(number | 1u << (TURN_MAX - 1)) : TURN_MAX;
}

/* Returns how many of `count` slices have at least this turn. */
static uint64_t count_of_turn(uint64_t count, unsigned turn)
{
	return turn < TURN_MAX ? ((count - 1) >> turn) + 1 : 1;
}

/* fit_ranks_add() to a bucket without room for the depth. */
static __attribute__((noinline)) uint32_t add_first(struct fit_ranks *ranks, uint64_t duration,
						    size_t depth)
{
	size_t bucket = log_class(duration, DURATION_BITS);
	struct fit_bucket **block = &ranks->blocks[bucket / DURATION_STEPS], *found;

	if (!*block)
		*block = alloc_zeroed(DURATION_STEPS, sizeof(**block));
	found = &(*block)[bucket % DURATION_STEPS];
	found->at_depth = alloc_grow_zeroed(found->at_depth, &found->depths, depth + 1,
					    sizeof(*found->at_depth));
	return fit_ranks_add(ranks, duration, depth);
}

static const struct fit_bucket *find_bucket(const struct fit_ranks *ranks, size_t bucket)
{
	const struct fit_bucket *block = ranks->blocks[bucket / DURATION_STEPS];

	return block ? &block[bucket % DURATION_STEPS] : NULL;
}

uint32_t fit_ranks_add(struct fit_ranks *ranks, uint64_t duration, size_t depth)
{
	size_t bucket = log_class(duration, DURATION_BITS);
	const struct fit_bucket *found = find_bucket(ranks, bucket);

	depth = MIN(depth, DEPTH_MAX);
	if (!found || depth >= found->depths)
		return add_first(ranks, duration, depth);
	ranks->count++;
	return rank_of(bucket, depth, turn_of(found->at_depth[depth]++));
}

/* ---- The choice ---------------------------------------------------------- */

/* Returns whether at least half of `most` slices stay, with room for `left` more. */
static bool is_enough(uint64_t most, uint64_t left)
{
	return most - left >= left;
}

/* Returns the lowest rank that stays in a bucket of which at most `left` slices may stay. */
static uint32_t split_bucket(const struct fit_bucket *slices, size_t bucket, uint64_t most,
			     uint64_t left)
{
	unsigned turn = 0;
	size_t depth = 0;

	for (; slices->at_depth[depth] <= left; depth++)
		left -= slices->at_depth[depth];
	if (is_enough(most, left))
		return rank_of(bucket, depth, TURN_MAX) + 1;
	while (count_of_turn(slices->at_depth[depth], turn) > left)
		turn++;
	return rank_of(bucket, depth, turn);
}

void fit_ranks_choose(struct fit_ranks *ranks, uint64_t most)
{
	uint64_t left = most;
	uint32_t least;

	if (ranks->count <= most)
		return;
	for (size_t bucket = DURATION_BUCKETS; bucket-- > 0;) {
		const struct fit_bucket *slices = find_bucket(ranks, bucket);
		uint64_t count = 0;

		for (size_t depth = 0; slices && depth < slices->depths; depth++)
			count += slices->at_depth[depth];
		if (count <= left) {
			left -= count;
			continue;
		}
		least = is_enough(most, left) ? rank_of(bucket + 1, DEPTH_MAX, 0)
					      : split_bucket(slices, bucket, most, left);
		ranks->least = MAX(ranks->least, least);
		return;
	}
}

COMPARE_WITH(compare_counts, struct fit_ranks *,
	     COMPARE((*a)->count, (*b)->count) ?: COMPARE((*a)->number, (*b)->number))

void fit_ranks_share(struct fit_ranks **threads, size_t count, uint64_t most)
{
	SORT(threads, count, compare_counts);
	for (size_t i = 0; i < count; i++) {
		uint64_t share = most / (count - i);

		fit_ranks_choose(threads[i], share);
		most -= threads[i]->count < share ? threads[i]->count : share;
	}
}

uint64_t fit_ranks_shortest(const struct fit_ranks *ranks)
{
	uint64_t bucket =
		((uint64_t)ranks->least + rank_of(1, DEPTH_MAX, 0) - 1) >> (DEPTH_BITS + TURN_BITS);

	return bucket < DURATION_BUCKETS ? log_class_begin((uint32_t)bucket, DURATION_BITS)
					 : UINT64_MAX;
}

uint64_t fit_ranks_choose_all(struct fit_ranks *roots, struct fit_ranks **threads, size_t count,
			      uint64_t limit, uint64_t others)
{
	uint64_t most = limit - (others < limit / 2 ? others : limit / 2), longest = 0;

	fit_ranks_choose(roots, most);
	fit_ranks_share(threads, count, roots->count < most ? most - roots->count : 0);
	for (size_t i = 0; i < count; i++) {
		uint64_t shortest = fit_ranks_shortest(threads[i]);

		longest = MAX(shortest, longest);
	}
	return longest;
}

void fit_ranks_release(struct fit_ranks *ranks)
{
	for (size_t i = 0; i < DURATION_BUCKETS; i++) {
		struct fit_bucket *block = ranks->blocks[i / DURATION_STEPS];

		if (block)
			free(block[i % DURATION_STEPS].at_depth);
	}
	for (size_t i = 0; i < DURATION_BLOCKS; i++)
		free(ranks->blocks[i]);
	*ranks = (struct fit_ranks){ 0 };
}
