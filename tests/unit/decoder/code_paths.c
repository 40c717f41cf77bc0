/* SPDX-License-Identifier: MIT */
/* Paths from runs that lie side by side, as they do in memory; of a mapping or another. */
#include "decoder/code_paths.h"

#include <check.h>

#include "decoder/code_runs.h"
#include "tests/support/unit.h"

static struct code_paths paths;
static struct code_run runs[1000];
static const char mapping, other;

static void setup(void)
{
	code_paths_init(&paths, 1 << 20);
}

static void teardown(void)
{
	code_paths_release(&paths);
}

static void keep(unsigned run, unsigned bits, const void *where)
{
	struct code_path path = { .id = code_path_id(&runs[run], bits), .where = where,
				  .to = &runs[run + 1], .insns = bits };

	code_paths_keep(&paths, &path);
}

static const struct code_path *find(unsigned run, unsigned bits, const void *where)
{
	return code_paths_find(&paths, code_path_id(&runs[run], bits), where);
}

START_TEST(a_path_is_found_by_its_run_and_its_bits)
{
	const struct code_path *path;

	keep(1, 0x55, &mapping);
	path = find(1, 0x55, &mapping);
	ck_assert_ptr_nonnull(path);
	ck_assert_ptr_eq(path->to, &runs[2]);
	ck_assert_uint_eq(path->insns, 0x55);
	ck_assert_ptr_null(find(1, 0x54, &mapping));
	ck_assert_ptr_null(find(2, 0x55, &mapping));
}
END_TEST

START_TEST(another_mapping_of_the_same_code_has_paths_of_its_own)
{
	keep(1, 0, &mapping);
	ck_assert_ptr_null(find(1, 0, &other));
	keep(1, 0, &other);
	ck_assert_ptr_nonnull(find(1, 0, &mapping));
	ck_assert_ptr_nonnull(find(1, 0, &other));
}
END_TEST

START_TEST(a_new_path_is_always_found_however_many_were_kept)
{
	for (unsigned run = 0; run < 999; run++)
		for (unsigned bits = 0; bits <= 0x7f; bits++) {
			keep(run, bits, &mapping);
			ck_assert_ptr_eq(find(run, bits, &mapping)->to, &runs[run + 1]);
		}
}
END_TEST

START_TEST(nothing_is_found_once_all_are_forgotten)
{
	keep(1, 0, &mapping);
	keep(1, 0, &other);
	code_paths_forget(&paths);
	ck_assert_ptr_null(find(1, 0, &mapping));
	ck_assert_ptr_null(find(1, 0, &other));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("code_paths");
	TCase *all = tcase_create("all");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, a_path_is_found_by_its_run_and_its_bits);
	tcase_add_test(all, another_mapping_of_the_same_code_has_paths_of_its_own);
	tcase_add_test(all, a_new_path_is_always_found_however_many_were_kept);
	tcase_add_test(all, nothing_is_found_once_all_are_forgotten);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
