/* SPDX-License-Identifier: MIT */
/* Paths of adjacent hops, as in memory. */
#include "decoder/code/tnt_cache.h"

#include "decoder/code/basic_block.h"
#include "tests/support/unit.h"

#define BITS_ALL (1u << TNT_CACHE_BITS)

static struct tnt_cache paths;

static void setup(void)
{
	tnt_cache_init(&paths, 1 << 20);
}

static void teardown(void)
{
	direct_cache_release(&paths.cache);
}

static uint32_t place_of(unsigned run)
{
	return (uint32_t)(run * sizeof(struct cfg_node));
}

static uint32_t id_of(unsigned run, unsigned bits)
{
	return tnt_cache_id(place_of(run), (uint64_t)bits << (64 - TNT_CACHE_BITS));
}

static void keep(unsigned run, unsigned bits)
{
	struct tnt_cache_entry path = { .id = id_of(run, bits),
					.to = place_of(run + 1),
					.steps = bits };

	tnt_cache_keep(&paths, &path);
}

static const struct tnt_cache_entry *find(unsigned run, unsigned bits)
{
	return tnt_cache_find(&paths, id_of(run, bits));
}

START_TEST(a_path_is_found_by_its_run_and_its_bits)
{
	const struct tnt_cache_entry *path;

	keep(1, 0x55);
	path = find(1, 0x55);
	ck_assert_ptr_nonnull(path);
	ck_assert_uint_eq(path->to, place_of(2));
	ck_assert_uint_eq(path->steps, 0x55);
	ck_assert_ptr_null(find(1, 0x54));
	ck_assert_ptr_null(find(2, 0x55));
}
END_TEST

START_TEST(bits_after_those_of_a_path_do_not_matter)
{
	uint64_t bits = UINT64_C(0x54) << (64 - TNT_CACHE_BITS);
	uint64_t after = UINT64_MAX >> TNT_CACHE_BITS;

	keep(1, 0x54);
	ck_assert_ptr_nonnull(find(1, 0x54));
	ck_assert_ptr_eq(tnt_cache_find(&paths, tnt_cache_id(place_of(1), bits | after)),
			 find(1, 0x54));
}
END_TEST

START_TEST(a_new_path_is_always_found_however_many_were_kept)
{
	for (unsigned run = 1; run < 1000; run++)
		for (unsigned bits = 0; bits < BITS_ALL; bits++) {
			keep(run, bits);
			ck_assert_uint_eq(find(run, bits)->to, place_of(run + 1));
		}
}
END_TEST

START_TEST(no_two_paths_have_the_same_number)
{
	uint32_t last = 0;

	for (unsigned run = 1; run <= BASIC_BLOCKS_MAX; run++) {
		ck_assert_uint_gt(id_of(run, 0), last);
		last = id_of(run, BITS_ALL - 1);
	}
}
END_TEST

START_TEST(nothing_is_found_once_all_are_forgotten)
{
	keep(1, 0);
	keep(2, 0);
	tnt_cache_forget(&paths);
	ck_assert_ptr_null(find(1, 0));
	ck_assert_ptr_null(find(2, 0));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("code_paths");
	TCase *all = tcase_create("all");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, a_path_is_found_by_its_run_and_its_bits);
	tcase_add_test(all, bits_after_those_of_a_path_do_not_matter);
	tcase_add_test(all, a_new_path_is_always_found_however_many_were_kept);
	tcase_add_test(all, no_two_paths_have_the_same_number);
	tcase_add_test(all, nothing_is_found_once_all_are_forgotten);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
