/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/io/big_array.h"
#include "base/io/temp_file.h"
#include "tests/support/unit.h"

enum { MOST = 1 << 20, COUNT = 1 << 20 };

static struct big_array array;

static void fill(size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (i >= array.room)
			big_array_grow(&array, i + 1, sizeof(uint64_t), MOST);
		((uint64_t *)array.items)[i] = i * 7;
	}
}

static void ck_assert_filled(size_t count)
{
	size_t wrong = 0;

	for (size_t i = 0; i < count; i++)
		wrong += ((uint64_t *)array.items)[i] != i * 7;
	ck_assert_uint_eq(wrong, 0);
}

START_TEST(items_stay_when_the_array_moves_into_a_file)
{
	fill(MOST / sizeof(uint64_t));
	ck_assert_uint_eq(array.mapped, 0);
	fill(COUNT);
	ck_assert_uint_gt(array.mapped, 0);
	ck_assert_filled(COUNT);
	big_array_release(&array);
	big_array_release(&array);
}
END_TEST

START_TEST(where_there_is_room_nothing_is_done)
{
	void *items;
	size_t room;

	fill(COUNT);
	items = array.items;
	room = array.room;
	big_array_grow(&array, room, sizeof(uint64_t), MOST);
	ck_assert_uint_eq(array.room, room);
	ck_assert_ptr_eq(array.items, items);
	big_array_release(&array);
}
END_TEST

static size_t resident(void)
{
	size_t count = 0;
	FILE *statm = fopen("/proc/self/statm", "r");

	ck_assert_int_eq(fscanf(statm, "%*u %zu", &count), 1);
	fclose(statm);
	return count * (size_t)sysconf(_SC_PAGESIZE);
}

START_TEST(what_rests_takes_no_memory_and_comes_back)
{
	size_t before;

	fill(COUNT);
	before = resident();
	big_array_rest(&array, 0, COUNT, sizeof(uint64_t));
	ck_assert_uint_le(resident() + 6 * MOST, before);
	ck_assert_filled(COUNT);
	big_array_release(&array);
}
END_TEST

START_TEST(without_a_place_for_files_it_stays_in_memory)
{
	setenv("TMPDIR", "/dev/null", 1);
	fill(COUNT);
	unsetenv("TMPDIR");
	ck_assert_uint_eq(array.mapped, 0);
	ck_assert_filled(COUNT);
	big_array_release(&array);
}
END_TEST

/* RLIMIT_FSIZE acts like a full disk: space cannot be reserved. */
START_TEST(when_the_file_cannot_grow_it_comes_back_into_memory)
{
	const struct rlimit limit = { 4 * MOST, 4 * MOST };

	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	fill(2 * MOST / sizeof(uint64_t));
	ck_assert_uint_gt(array.mapped, 0);
	fill(COUNT);
	ck_assert_uint_eq(array.mapped, 0);
	ck_assert_filled(COUNT);
	big_array_release(&array);
}
END_TEST

START_TEST(near_the_budget_it_grows_in_small_steps)
{
	size_t first = 3 * MOST / sizeof(uint64_t);

	temp_files_limit(6 * MOST);
	fill(first);
	ck_assert(!temp_files_full());
	ck_assert_uint_le(array.mapped, 6 * MOST);
	fill(8 * MOST / sizeof(uint64_t));
	ck_assert(temp_files_full());
	ck_assert(temp_files_spent());
	ck_assert_uint_lt(array.mapped, 8 * MOST + 65536);
	ck_assert_filled(8 * MOST / sizeof(uint64_t));
	big_array_release(&array);
	/* The end of the input cannot be undone. */
	ck_assert(temp_files_full());
	ck_assert_uint_eq(temp_files_room(), 0);
}
END_TEST

START_TEST(a_share_of_the_budget_is_kept)
{
	temp_files_limit(12 * MOST);
	fill(3 * MOST / sizeof(uint64_t));
	temp_files_keep_rest(2);
	ck_assert(!temp_files_spent());
	temp_files_keep_rest(4);
	ck_assert(temp_files_spent());
	ck_assert(!temp_files_full());
	big_array_release(&array);
	ck_assert_uint_eq(temp_files_room(), 12 * MOST);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("big_array");
	TCase *all = tcase_create("all");

	tcase_add_test(all, items_stay_when_the_array_moves_into_a_file);
	tcase_add_test(all, where_there_is_room_nothing_is_done);
	tcase_add_test(all, what_rests_takes_no_memory_and_comes_back);
	tcase_add_test(all, without_a_place_for_files_it_stays_in_memory);
	tcase_add_test(all, when_the_file_cannot_grow_it_comes_back_into_memory);
	tcase_add_test(all, near_the_budget_it_grows_in_small_steps);
	tcase_add_test(all, a_share_of_the_budget_is_kept);
	suite_add_tcase(suite, all);
	return unit_run_apart(suite);
}
