/* SPDX-License-Identifier: MIT */
/* Expectations by hand: the number of different letters. */
#include <stdlib.h>
#include <string.h>

#include "base/spelling.h"
#include "tests/support/unit.h"

static const char *nearest(const char *word)
{
	static const char *const known[] = { "format", "force-dso", "symfs", "mode",
					     "kernel", "inline",    "input" };
	struct nearest search;

	spelling_init(&search, word, strlen(word));
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		spelling_consider(&search, known[i]);
	return search.best;
}

START_TEST(swapped_missing_doubled_and_wrong_letters_are_near)
{
	ck_assert_str_eq(nearest("fromat"), "format");
	ck_assert_str_eq(nearest("frmat"), "format");
	ck_assert_str_eq(nearest("formatt"), "format");
	ck_assert_str_eq(nearest("simfs"), "symfs");
	ck_assert_str_eq(nearest("forcedso"), "force-dso");
	ck_assert_str_eq(nearest("kernal"), "kernel");
}
END_TEST

START_TEST(a_beginning_is_near_whatever_is_missing)
{
	ck_assert_str_eq(nearest("k"), "kernel");
	ck_assert_str_eq(nearest("force"), "force-dso");
}
END_TEST

START_TEST(what_has_little_in_common_is_near_to_none)
{
	ck_assert_ptr_null(nearest("nonsense"));
	ck_assert_ptr_null(nearest(""));
	ck_assert_ptr_null(nearest("mxxe"));
	ck_assert_ptr_null(nearest("ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
				   "ffffffffffffffffffffffffffff"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("nearest");
	TCase *all = tcase_create("all");

	tcase_add_test(all, swapped_missing_doubled_and_wrong_letters_are_near);
	tcase_add_test(all, a_beginning_is_near_whatever_is_missing);
	tcase_add_test(all, what_has_little_in_common_is_near_to_none);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
