/* SPDX-License-Identifier: MIT */
#include "src/report/summary.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/unit.h"

static char text[200];

static const char *hint(uint64_t slices, uint64_t records, uint64_t bytes)
{
	FILE *out = fmemopen(text, sizeof(text), "w");

	perfetto_memory_hint_print(slices, records, bytes, out);
	fclose(out);
	return text;
}

/* Returns the hint's GB. */
static double memory(uint64_t slices, uint64_t records, uint64_t bytes)
{
	const char *about = strstr(hint(slices, records, bytes), "about ");

	return about ? atof(about + strlen("about ")) : 0;
}

START_TEST(a_large_trace_is_reported_with_remedies)
{
	ck_assert_str_eq(hint(10000000, 20000000, 500000000),
			 "ptrace2ftf: 10.0 M slices: about 4.3 GB in Perfetto; "
			 "--time, --min-duration, --split or --fit\n");
}
END_TEST

/* Of trace_processor_shell v58.2, by GNU time: coroutines, and OCaml, also in full. */
START_TEST(the_memory_is_within_15_percent_of_trace_processors)
{
	ck_assert_double_eq_tol(memory(8200517, 16337040, 394308472), 3.35, 0.15 * 3.35);
	ck_assert_double_eq_tol(memory(4910264, 7562962, 306916632), 1.94, 0.15 * 1.94);
	ck_assert_double_eq_tol(memory(4910264, 9834932, 431486416), 2.80, 0.15 * 2.80);
}
END_TEST

START_TEST(a_trace_that_fits_is_not)
{
	text[0] = 0;
	ck_assert_str_eq(hint(4000000, 8000000, 500000000), "");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("size_note");
	TCase *all = tcase_create("size_note");

	tcase_add_test(all, a_large_trace_is_reported_with_remedies);
	tcase_add_test(all, the_memory_is_within_15_percent_of_trace_processors);
	tcase_add_test(all, a_trace_that_fits_is_not);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
