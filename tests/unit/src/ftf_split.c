/* SPDX-License-Identifier: MIT */
/* Names of the parts that --split makes: ptrace2ftf(1). */
#include "src/formats/ftf/ftf_split.h"

#include <stdlib.h>

#include "tests/support/unit.h"

static void expect(const char *path, size_t part, const char *expected)
{
	char *made = ftf_split_path(path, part);

	ck_assert_str_eq(made, expected);
	free(made);
}

START_TEST(the_number_precedes_the_endings)
{
	expect("out.ftf", 0, "out.000.ftf");
	expect("a.b/out.ftf.gz", 12, "a.b/out.012.ftf.gz");
	expect("x.zst", 1000, "x.1000.zst");
	expect("a.b.ftf", 1, "a.b.001.ftf");
}
END_TEST

START_TEST(a_name_without_an_ending_gets_it_at_its_end)
{
	expect("out", 3, "out.003");
	expect("a.b/out", 3, "a.b/out.003");
	expect(".hidden", 3, ".hidden.003");
	expect("a/.hidden", 3, "a/.hidden.003");
	expect(".hidden.ftf", 3, ".hidden.003.ftf");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ftf_split");
	TCase *all = tcase_create("ftf_split");

	tcase_add_test(all, the_number_precedes_the_endings);
	tcase_add_test(all, a_name_without_an_ending_gets_it_at_its_end);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
