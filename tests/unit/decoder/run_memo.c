/* SPDX-License-Identifier: MIT */
/* Runs of adjacent nodes, as in memory. */
#include "decoder/code/run_memo.h"

#include "decoder/code/basic_block.h"
#include "tests/support/unit.h"

#define BITS_ALL (1u << RUN_BITS)

static struct run_memo memo;

static void setup(void)
{
	run_memo_init(&memo, 1 << 20);
}

static void teardown(void)
{
	run_memo_release(&memo);
}

static uint32_t node_number(unsigned number)
{
	return (uint32_t)(number * sizeof(struct cfg_node));
}

/* Bits as in tests/unit/decoder/tnt_bits.c: the next one highest, then a stop bit. */
static uint64_t bits_of(unsigned bits, unsigned count)
{
	return ((uint64_t)bits << 1 | 1) << (63 - count);
}

static void keep(uint64_t id, unsigned branches)
{
	struct run_branch list[RUN_BRANCHES] = { 0 };
	struct run run = { .id = id, .to = run_id_node(id) + 1, .count = (uint8_t)branches };

	for (unsigned i = 0; i < branches; i++)
		list[i].insns = (uint32_t)id + i;
	run_memo_keep(&memo, &run, list);
}

START_TEST(a_key_has_the_first_bits_and_no_others)
{
	const uint32_t node = node_number(7);
	const unsigned bits = BITS_ALL / 3;
	uint64_t id = run_id(node, bits_of(bits, RUN_BITS));

	ck_assert_uint_eq(run_id_node(id), node);
	ck_assert_uint_eq(run_id_bits(id), bits_of(bits, RUN_BITS));
	for (unsigned more = 1; more < 63 - RUN_BITS; more++) {
		uint64_t after = (uint64_t)bits << (64 - RUN_BITS) | bits_of(0, RUN_BITS + more);

		ck_assert_uint_eq(run_id(node, after), id);
		ck_assert_uint_eq(run_id(node, after | bits_of(1, RUN_BITS + 1) << 1 >> 1), id);
	}
	ck_assert_uint_ne(run_id(node, bits_of(bits ^ 1, RUN_BITS)), id);
	ck_assert_uint_ne(run_id(node_number(8), bits_of(bits, RUN_BITS)), id);
}
END_TEST

START_TEST(fewer_bits_are_another_key_whatever_they_are)
{
	uint64_t all = run_id(node_number(1), bits_of(0, RUN_BITS));

	for (unsigned count = 0; count < RUN_BITS; count++) {
		uint64_t id = run_id(node_number(1), bits_of(0, count));

		ck_assert_uint_ne(id, all);
		ck_assert_uint_ne(id, 0);
		ck_assert_uint_eq(run_id_bits(id), bits_of(0, count));
	}
}
END_TEST

START_TEST(the_last_node_has_keys_of_its_own)
{
	uint64_t last = run_id(node_number(BASIC_BLOCKS_MAX), bits_of(0, 0));

	ck_assert_uint_eq(run_id_node(last), node_number(BASIC_BLOCKS_MAX));
}
END_TEST

START_TEST(a_new_run_is_always_found_with_its_branches)
{
	for (unsigned node = 1; node < 50000; node++) {
		uint64_t id = run_id(node_number(node), bits_of(node, 7));
		const struct run *run;

		keep(id, node % RUN_BRANCHES);
		run = run_memo_find(&memo, id, 0);
		ck_assert_ptr_nonnull(run);
		ck_assert_uint_eq(run->to, node_number(node) + 1);
		ck_assert_uint_eq(run->count, node % RUN_BRANCHES);
		for (unsigned i = 0; i < run->count; i++)
			ck_assert_uint_eq(memo.branches[run->first + i].insns, (uint32_t)id + i);
	}
}
END_TEST

static uint64_t id_of(unsigned number)
{
	return run_id(node_number(number), bits_of(number % 4096, 12));
}

START_TEST(nine_tenths_of_runs_for_two_thirds_of_the_table_stay)
{
	const unsigned all = (unsigned)direct_cache_count(&memo.table) * 2 / 3;
	unsigned found = 0;

	for (unsigned number = 1; number <= all; number++)
		keep(id_of(number), 0);
	for (unsigned number = 1; number <= all; number++)
		found += run_memo_find(&memo, id_of(number), 0) != NULL;
	ck_assert_uint_gt(found, all / 10 * 9);
}
END_TEST

START_TEST(a_run_replaces_that_of_its_key)
{
	uint64_t id = run_id(node_number(1), bits_of(1, 1));

	keep(id, 2);
	keep(id, 3);
	ck_assert_uint_eq(run_memo_find(&memo, id, 0)->count, 3);
	ck_assert_ptr_eq(run_memo_room(&memo, id, 0), run_memo_find(&memo, id, 0));
}
END_TEST

START_TEST(nothing_is_found_once_all_are_forgotten)
{
	uint64_t id = run_id(node_number(1), bits_of(1, 1));

	keep(id, 3);
	run_memo_forget(&memo);
	ck_assert_ptr_null(run_memo_find(&memo, id, 0));
	ck_assert_uint_eq(memo.branch_count, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("run_memo");
	TCase *all = tcase_create("all");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, a_key_has_the_first_bits_and_no_others);
	tcase_add_test(all, fewer_bits_are_another_key_whatever_they_are);
	tcase_add_test(all, the_last_node_has_keys_of_its_own);
	tcase_add_test(all, a_new_run_is_always_found_with_its_branches);
	tcase_add_test(all, nine_tenths_of_runs_for_two_thirds_of_the_table_stay);
	tcase_add_test(all, a_run_replaces_that_of_its_key);
	tcase_add_test(all, nothing_is_found_once_all_are_forgotten);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
