/* SPDX-License-Identifier: MIT */
/* The choice of kept slices: longest, outermost, spread; between half of a limit and the limit. */
#include "src/formats/ftf/fit_ranks.h"

#include <stdlib.h>

#include "tests/support/unit.h"

#define SLICES 5000u

static struct fit_ranks ranks;
static uint32_t rank_of[SLICES];

static void teardown(void)
{
	fit_ranks_release(&ranks);
	fit_ranks_release(&ranks);
	ranks = (struct fit_ranks){ 0 };
}

/* Returns how many of the first slices stay. */
static uint64_t staying(const struct fit_ranks *of, size_t count)
{
	uint64_t stay = 0;

	for (size_t i = 0; i < count; i++)
		stay += rank_of[i] >= of->least;
	return stay;
}

/* Kinds of durations: any, all equal, few distinct ones, all but one equal. */
static uint64_t duration_of(int kind, unsigned i)
{
	const uint64_t durations[] = { (uint64_t)i * i * i, 0, i % 3 * 1000u, i == 77 ? 5 : 4 };

	return durations[kind];
}

START_TEST(of_any_durations_and_depths_between_half_and_all_of_the_limit_stay)
{
	for (unsigned limit = 1; limit <= SLICES + 1; limit += 1 + limit / 10) {
		uint64_t stay;

		for (unsigned i = 0; i < SLICES; i++)
			rank_of[i] = fit_ranks_add(&ranks, duration_of(_i / 3, i),
						   _i % 3 ? i % (_i % 3 * 500) : 1);
		fit_ranks_choose(&ranks, limit);
		stay = staying(&ranks, SLICES);
		ck_assert_uint_le(stay, limit);
		ck_assert_uint_ge(2 * stay, limit < SLICES ? limit : SLICES);
		fit_ranks_release(&ranks);
	}
}
END_TEST

START_TEST(no_shorter_slice_stays_than_one_that_goes)
{
	uint64_t longest_gone = 0;

	for (unsigned i = 0; i < SLICES; i++)
		rank_of[i] = fit_ranks_add(&ranks, i * 31 % SLICES, 1 + i % 7);
	fit_ranks_choose(&ranks, 1000);
	for (unsigned i = 0; i < SLICES; i++)
		if (rank_of[i] < ranks.least && i * 31 % SLICES > longest_gone)
			longest_gone = i * 31 % SLICES;
	for (unsigned i = 0; i < SLICES; i++)
		if (rank_of[i] >= ranks.least)
			ck_assert_uint_gt(i * 31 % SLICES, longest_gone);
	ck_assert_uint_gt(fit_ranks_shortest(&ranks), longest_gone);
}
END_TEST

/* Durations of one bucket, nested: all enclosing slices of a kept one stay. */
START_TEST(of_equal_slices_inner_ones_go_first)
{
	for (unsigned i = 0; i < SLICES; i++)
		rank_of[i] = fit_ranks_add(&ranks, 40, 1 + i % 10);
	fit_ranks_choose(&ranks, 3 * SLICES / 10 + 1);
	for (unsigned i = 0; i < SLICES; i++)
		ck_assert_uint_eq(rank_of[i] >= ranks.least, i % 10 < 3);
}
END_TEST

START_TEST(of_equal_slices_those_that_stay_are_spread)
{
	for (unsigned i = 0; i < 4096; i++)
		rank_of[i] = fit_ranks_add(&ranks, 40, 1);
	fit_ranks_choose(&ranks, _i);
	for (unsigned i = 0; i < 4096; i++)
		ck_assert_uint_eq(rank_of[i] >= ranks.least, i % 8 == 0);
	ck_assert_uint_eq(fit_ranks_shortest(&ranks), 41);
}
END_TEST

START_TEST(what_is_gone_stays_gone_when_more_is_known)
{
	uint32_t least = 0;

	for (unsigned i = 0; i < SLICES; i++) {
		rank_of[i] = fit_ranks_add(&ranks, i * 131 % 977, i % 4);
		fit_ranks_choose(&ranks, 100);
		ck_assert_uint_ge(ranks.least, least);
		least = ranks.least;
	}
	ck_assert_uint_ge(staying(&ranks, SLICES), 50);
	ck_assert_uint_le(staying(&ranks, SLICES), 100);
}
END_TEST

START_TEST(threads_share_what_fits_and_small_ones_keep_all)
{
	const unsigned counts[] = { 5000, 20, 1000, 0, 100 };
	struct fit_ranks of[5] = { 0 }, *all[5];
	uint64_t shared = 0;

	for (unsigned i = 0; i < 5; i++) {
		all[i] = &of[i];
		of[i].number = i;
		for (unsigned k = 0; k < counts[i]; k++)
			fit_ranks_add(&of[i], k, 1);
	}
	fit_ranks_share(all, 5, 620);
	for (unsigned i = 0; i < 5; i++) {
		for (unsigned k = 0; k < counts[i]; k++)
			rank_of[k] = fit_ranks_add(&ranks, k, 1);
		if (counts[i] > 100)
			shared += staying(&of[i], counts[i]);
		else
			ck_assert_uint_eq(staying(&of[i], counts[i]), counts[i]);
		if (counts[i] > 100)
			ck_assert_uint_le(staying(&of[i], counts[i]), 250);
		fit_ranks_release(&of[i]);
		fit_ranks_release(&ranks);
	}
	ck_assert_uint_ge(shared, 250);
}
END_TEST

START_TEST(the_longest_duration_has_a_bucket)
{
	rank_of[0] = fit_ranks_add(&ranks, UINT64_MAX, 5000);
	rank_of[1] = fit_ranks_add(&ranks, UINT64_MAX, 0);
	fit_ranks_choose(&ranks, 1);
	ck_assert(rank_of[0] < ranks.least && rank_of[1] >= ranks.least);
	fit_ranks_choose(&ranks, 0);
	ck_assert_uint_gt(ranks.least, rank_of[1]);
	ck_assert_uint_lt(ranks.least, UINT32_MAX);
	ck_assert_uint_eq(fit_ranks_shortest(&ranks), UINT64_MAX);
}
END_TEST

/*
 * Slices with the durations 1, 2, ... up to a number, in buckets of their own: the longest stay,
 * and exactly as many as may.
 */
static void add_distinct(struct fit_ranks *to, unsigned count)
{
	for (unsigned i = 1; i <= count; i++)
		fit_ranks_add(to, i, 1);
}

/* Returns how many of `count` such slices stay, by the shortest duration at which all stay. */
static uint64_t longest_of(const struct fit_ranks *of, uint64_t count)
{
	uint64_t shortest = fit_ranks_shortest(of);

	return shortest ? count + 1 - shortest : count;
}

/*
 * Outermost slices come first; the threads share the rest, those with few slices before the others,
 * and of threads with equal counts the first. Other slices take up to half of the limit.
 */
static const struct {
	unsigned limit, others, roots, threads[3];
	unsigned roots_stay, stay[3];
	uint64_t shortest; /* ns: slices of all threads stay from this duration on */
} choices[] = {
	{ 100, 0, 10, { 20, 30, 40 }, 10, { 20, 30, 40 }, 0 },
	{ 99, 0, 10, { 20, 30, 40 }, 10, { 20, 30, 39 }, 2 },
	{ 70, 0, 10, { 20, 30, 40 }, 10, { 20, 20, 20 }, 21 },
	{ 49, 0, 10, { 20, 30, 40 }, 10, { 13, 13, 13 }, 28 },
	{ 50, 0, 10, { 40, 20, 30 }, 10, { 14, 13, 13 }, 27 },
	{ 51, 0, 10, { 40, 40, 40 }, 10, { 13, 14, 14 }, 28 },
	{ 11, 0, 10, { 20, 30, 40 }, 10, { 0, 0, 1 }, 40 },
	{ 10, 0, 10, { 20, 30, 40 }, 10, { 0, 0, 0 }, 41 },
	{ 9, 0, 10, { 20, 30, 40 }, 9, { 0, 0, 0 }, 41 },
	{ 100, 20, 10, { 20, 30, 40 }, 10, { 20, 25, 25 }, 16 },
	{ 100, 49, 10, { 20, 30, 40 }, 10, { 13, 14, 14 }, 27 },
	{ 100, 50, 10, { 20, 30, 40 }, 10, { 13, 13, 14 }, 27 },
	{ 100, 51, 10, { 20, 30, 40 }, 10, { 13, 13, 14 }, 27 },
	{ 100, 5000, 60, { 20, 30, 40 }, 50, { 0, 0, 0 }, 41 },
	{ 60, 0, 0, { 20, 0, 40 }, 0, { 20, 0, 40 }, 0 },
};

START_TEST(outermost_slices_stay_before_those_that_threads_share)
{
	struct fit_ranks of[3] = { 0 }, *all[3];
	uint64_t shortest;

	add_distinct(&ranks, choices[_i].roots);
	for (uint32_t i = 0; i < 3; i++) {
		all[i] = &of[i];
		of[i].number = i;
		add_distinct(&of[i], choices[_i].threads[i]);
	}
	shortest = fit_ranks_choose_all(&ranks, all, 3, choices[_i].limit, choices[_i].others);
	ck_assert_uint_eq(longest_of(&ranks, choices[_i].roots), choices[_i].roots_stay);
	for (uint32_t i = 0; i < 3; i++) {
		ck_assert_uint_eq(longest_of(&of[i], choices[_i].threads[i]), choices[_i].stay[i]);
		fit_ranks_release(&of[i]);
	}
	ck_assert_uint_eq(shortest, choices[_i].shortest);
}
END_TEST

/*
 * Slices of one duration at up to three depths, beside longer ones. They are split by depth, or at
 * one depth by every 2^N-th, only if fewer than half of the limit stay without that.
 */
static const struct {
	unsigned limit, longer, depths[3], stay;
} splits[] = {
	{ 8, 4, { 100 }, 4 },
	{ 8, 3, { 100 }, 3 + 4 },
	{ 9, 4, { 100 }, 4 + 4 },
	{ 9, 5, { 100 }, 5 },
	{ 104, 4, { 100 }, 104 },
	{ 103, 4, { 100 }, 4 + 50 },
	{ 60, 0, { 50, 50 }, 50 },
	{ 40, 0, { 50, 50 }, 25 },
	{ 100, 0, { 50, 50 }, 100 },
	{ 99, 0, { 50, 50 }, 50 },
	{ 20, 0, { 10, 100 }, 10 },
	{ 21, 0, { 10, 100 }, 10 + 7 },
	{ 30, 0, { 10, 100 }, 10 + 13 },
	{ 23, 0, { 10, 100 }, 10 + 13 },
	{ 22, 0, { 10, 100 }, 10 + 7 },
	{ 50, 0, { 10, 20, 100 }, 10 + 20 },
	{ 70, 0, { 10, 20, 100 }, 10 + 20 + 25 },
	{ 1, 0, { 100 }, 1 },
	{ 2, 0, { 100 }, 2 },
	{ 3, 0, { 100 }, 2 },
	{ 4, 0, { 100 }, 4 },
	{ 25, 0, { 100 }, 25 },
	{ 24, 0, { 100 }, 13 },
	{ 0, 0, { 100 }, 0 },
	{ 1, 1, { 100 }, 1 },
};

START_TEST(a_duration_is_split_only_if_fewer_than_half_stay_otherwise)
{
	size_t count = 0;

	for (unsigned i = 0; i < splits[_i].longer; i++)
		rank_of[count++] = fit_ranks_add(&ranks, 200 + i, 1);
	for (unsigned depth = 0; depth < 3; depth++)
		for (unsigned i = 0; i < splits[_i].depths[depth]; i++)
			rank_of[count++] = fit_ranks_add(&ranks, 40, depth);
	fit_ranks_choose(&ranks, splits[_i].limit);
	ck_assert_uint_eq(staying(&ranks, count), splits[_i].stay);
	for (unsigned i = 1; i < splits[_i].longer; i++)
		ck_assert_uint_gt(rank_of[i], rank_of[i - 1]);
}
END_TEST

/* Slices deeper than ranks distinguish are equally deep. */
START_TEST(depths_above_1023_are_one_depth)
{
	rank_of[0] = fit_ranks_add(&ranks, 40, 1022);
	rank_of[1] = fit_ranks_add(&ranks, 40, 1023);
	rank_of[2] = fit_ranks_add(&ranks, 40, 1024);
	rank_of[3] = fit_ranks_add(&ranks, 40, 70000);
	rank_of[4] = fit_ranks_add(&ranks, 39, 0);
	ck_assert_uint_gt(rank_of[0], rank_of[1]);
	ck_assert_uint_gt(rank_of[1], rank_of[3]);
	ck_assert_uint_gt(rank_of[3], rank_of[2]); /* every second one ranks higher */
	ck_assert_uint_gt(rank_of[2], rank_of[4]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("fit_ranks");
	TCase *all = tcase_create("fit_ranks");

	tcase_add_checked_fixture(all, NULL, teardown);
	tcase_add_loop_test(all, of_any_durations_and_depths_between_half_and_all_of_the_limit_stay,
			    0, 12);
	tcase_add_test(all, no_shorter_slice_stays_than_one_that_goes);
	tcase_add_test(all, of_equal_slices_inner_ones_go_first);
	tcase_add_loop_test(all, of_equal_slices_those_that_stay_are_spread, 512, 514);
	tcase_add_test(all, what_is_gone_stays_gone_when_more_is_known);
	tcase_add_test(all, threads_share_what_fits_and_small_ones_keep_all);
	tcase_add_test(all, the_longest_duration_has_a_bucket);
	tcase_add_loop_test(all, outermost_slices_stay_before_those_that_threads_share, 0,
			    COUNT_OF(choices));
	tcase_add_loop_test(all, a_duration_is_split_only_if_fewer_than_half_stay_otherwise, 0,
			    COUNT_OF(splits));
	tcase_add_test(all, depths_above_1023_are_one_depth);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
