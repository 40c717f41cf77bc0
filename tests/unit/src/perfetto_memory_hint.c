/* SPDX-License-Identifier: MIT */
#include "src/report/perfetto_memory_hint.h"

#include <stdlib.h>

#include "tests/support/unit.h"

static char text[200];

static const char *note(uint64_t slices, enum option_args args)
{
	FILE *out = fmemopen(text, sizeof(text), "w");

	perfetto_memory_hint_print(slices, args, out);
	fclose(out);
	return text;
}

START_TEST(a_large_trace_is_reported_with_remedies)
{
	ck_assert_str_eq(note(5200000, OPTION_ARGS_FULL),
			 "ptrace2ftf: 5.2 M slices: about 2.4 GB in Perfetto; "
			 "--time, --min-duration, --split or --fit\n");
	ck_assert_str_eq(note(10000000, OPTION_ARGS_LINE),
			 "ptrace2ftf: 10.0 M slices: about 3.5 GB in Perfetto; "
			 "--time, --min-duration, --split or --fit\n");
}
END_TEST

START_TEST(a_trace_that_fits_is_not)
{
	text[0] = 0;
	ck_assert_str_eq(note(4000000, OPTION_ARGS_FULL), "");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("size_note");
	TCase *all = tcase_create("size_note");

	tcase_add_test(all, a_large_trace_is_reported_with_remedies);
	tcase_add_test(all, a_trace_that_fits_is_not);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
