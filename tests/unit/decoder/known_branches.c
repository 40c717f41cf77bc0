/* SPDX-License-Identifier: MIT */
/* Branches that are looked up, by one and by several threads. */
#include "decoder/known_branches.h"

#include "tests/support/unit.h"

#define MOST    ((1u << KNOWN_BRANCHES_BITS) - 1) /* entry 0 is unused */
#define THREADS 4
#define SHARED  20000u

static struct known_branches *known;

static void setup(void)
{
	known = known_branches_open();
}

static void teardown(void)
{
	known_branches_close(known);
}

static const struct address_space *space_number(uintptr_t number)
{
	return (const struct address_space *)number;
}

static struct known_branch *find(uint64_t number)
{
	return known_branches_find(known, NULL, 16 * number, 16 * number + 8);
}

START_TEST(a_branch_is_one_of_its_space_and_both_ends)
{
	struct known_branch *branch = known_branches_find(known, space_number(8), 0x1000, 0x2000);

	ck_assert_ptr_eq(branch->space, space_number(8));
	ck_assert_uint_eq(branch->locations.from.ip, 0x1000);
	ck_assert_uint_eq(branch->locations.to.ip, 0x2000);
	ck_assert_uint_eq(branch->locations.call, 0);
	ck_assert_ptr_eq(known_branches_find(known, space_number(8), 0x1000, 0x2000), branch);
	ck_assert_ptr_ne(known_branches_find(known, space_number(8), 0x1000, 0x2001), branch);
	ck_assert_ptr_ne(known_branches_find(known, space_number(8), 0x1001, 0x2000), branch);
	ck_assert_ptr_ne(known_branches_find(known, space_number(9), 0x1000, 0x2000), branch);
	ck_assert_ptr_ne(known_branches_find(known, NULL, 0x1000, 0x2000), branch);
}
END_TEST

START_TEST(nowhere_is_a_place_as_others)
{
	struct known_branch *branch = known_branches_find(known, NULL, 0, 0);

	ck_assert_ptr_nonnull(branch);
	ck_assert_ptr_eq(known_branches_find(known, NULL, 0, 0), branch);
	ck_assert_ptr_ne(known_branches_find(known, NULL, 0, 1), branch);
}
END_TEST

START_TEST(branches_of_one_first_slot_are_different_ones)
{
	uint32_t slot = known_branch_slot(known, NULL, 0, 0);
	struct known_branch *first = known_branches_find(known, NULL, 0, 0), *second;
	uint64_t to = 1;

	while (known_branch_slot(known, NULL, 0, to) != slot)
		to++;
	second = known_branches_find(known, NULL, 0, to);
	ck_assert_ptr_ne(second, first);
	ck_assert_uint_eq(second->locations.to.ip, to);
	ck_assert_ptr_eq(known_branches_find(known, NULL, 0, 0), first);
	ck_assert_ptr_eq(known_branches_find(known, NULL, 0, to), second);
}
END_TEST

START_TEST(where_no_more_are_kept_those_that_are_stay)
{
	struct known_branch *first = find(0);

	for (unsigned i = 1; i < MOST; i++)
		ck_assert_ptr_nonnull(find(i));
	ck_assert_ptr_null(find(MOST));
	ck_assert_ptr_null(find(MOST + 1));
	ck_assert_ptr_eq(find(0), first);
	ck_assert_uint_eq(find(MOST - 1)->locations.to.ip, 16 * (MOST - 1) + 8);
}
END_TEST

struct finder {
	unsigned first; /* each thread begins elsewhere, and adds branches that others look up */
	struct known_branch *found[SHARED];
};

static void *find_all(void *argument)
{
	struct finder *finder = argument;

	for (unsigned i = 0; i < SHARED; i++) {
		unsigned number = (finder->first + i) % SHARED;

		finder->found[number] = find(number);
	}
	return NULL;
}

START_TEST(threads_find_the_same_branches)
{
	static struct finder finders[THREADS];
	pthread_t threads[THREADS];

	for (unsigned i = 0; i < THREADS; i++) {
		finders[i].first = i * 100;
		ck_assert_int_eq(pthread_create(&threads[i], NULL, find_all, &finders[i]), 0);
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (unsigned i = 0; i < SHARED; i++) {
		ck_assert_uint_eq(finders[0].found[i]->locations.from.ip, 16 * i);
		for (unsigned thread = 1; thread < THREADS; thread++)
			ck_assert_ptr_eq(finders[thread].found[i], finders[0].found[i]);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("known_branches");
	TCase *all = tcase_create("all");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, a_branch_is_one_of_its_space_and_both_ends);
	tcase_add_test(all, nowhere_is_a_place_as_others);
	tcase_add_test(all, branches_of_one_first_slot_are_different_ones);
	tcase_add_test(all, where_no_more_are_kept_those_that_are_stay);
	tcase_add_test(all, threads_find_the_same_branches);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
