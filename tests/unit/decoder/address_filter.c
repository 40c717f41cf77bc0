/* SPDX-License-Identifier: MIT */
/*
 * Filters of kernel addresses as perf writes them into AUXTRACE_INFO; those of files are in
 * errata.c. Expectations: SDM volume 3, "Filtering by IP": tracing is on in a filter range,
 * including its last byte, and goes off in a stop range.
 */
#include "decoder/code/address_filter.h"

#include <stdlib.h>

#include "tests/support/unit.h"

static bool ends(const char *text, uint64_t ip)
{
	struct address_filter filter;

	address_filter_init(&filter, text);
	return address_filter_ends_at(&filter, NULL, ip);
}

START_TEST(a_range_of_the_kernel_is_traced_up_to_its_end)
{
	const char *text = "filter 0xffffffff81000000/0x20";

	ck_assert(!ends(text, UINT64_C(0xffffffff81000000)));
	ck_assert(!ends(text, UINT64_C(0xffffffff8100001f)));
	ck_assert(ends(text, UINT64_C(0xffffffff81000020)));
	ck_assert(ends(text, UINT64_C(0xffffffff80ffffff)));
}
END_TEST

START_TEST(each_of_several_ranges_is_traced)
{
	const char *text = "filter 0x1000/0x10,filter 0x3000/0x10 filter 0x5000/0x10";

	ck_assert(!ends(text, 0x1000));
	ck_assert(!ends(text, 0x3000));
	ck_assert(!ends(text, 0x500f));
	ck_assert(ends(text, 0x2000));
}
END_TEST

/* perf writes "stop" for its user's "tracestop": tools/perf/util/auxtrace.c, parse_action(). */
START_TEST(tracing_goes_off_where_it_is_stopped)
{
	static const char *const texts[] = { "stop 0x2000/0x10", "tracestop 0x2000/0x10" };

	for (int i = 0; i < 2; i++) {
		ck_assert(ends(texts[i], 0x200f));
		ck_assert(!ends(texts[i], 0x2010));
		ck_assert(!ends(texts[i], 0x100000));
	}
}
END_TEST

START_TEST(a_stop_within_a_filter_stops)
{
	const char *text = "filter 0x1000/0x1000,stop 0x1800/0x10";

	ck_assert(!ends(text, 0x1000));
	ck_assert(ends(text, 0x1800));
	ck_assert(ends(text, 0x3000));
}
END_TEST

START_TEST(what_is_no_filter_is_passed_over)
{
	const char *text = "filters 0x1/0x2,filter x/y,stop 0x4000 filter 0x1000/0x10";

	ck_assert(!ends(text, 0x1000));
	ck_assert(ends(text, 0x2000));
	ck_assert(!ends("unknown 0x1000/0x10", 0x2000));
	ck_assert(!ends("", 0x2000));
	ck_assert(!ends(NULL, 0x2000));
}
END_TEST

/* Unknown: the file may be mapped by a lost record. */
START_TEST(a_range_of_a_file_is_no_range_of_addresses)
{
	ck_assert(ends("filter 0x1000/0x10@/bin/x", 0x1000));
	ck_assert(!ends("stop 0x1000/0x10@/bin/x", 0x1000));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("address_filter");
	TCase *tests = tcase_create("all");

	tcase_add_test(tests, a_range_of_the_kernel_is_traced_up_to_its_end);
	tcase_add_test(tests, each_of_several_ranges_is_traced);
	tcase_add_test(tests, tracing_goes_off_where_it_is_stopped);
	tcase_add_test(tests, a_stop_within_a_filter_stops);
	tcase_add_test(tests, what_is_no_filter_is_passed_over);
	tcase_add_test(tests, a_range_of_a_file_is_no_range_of_addresses);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
