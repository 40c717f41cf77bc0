/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "src/options/options.h"
#include "tests/support/unit.h"

static struct selection selection;

static void teardown(void)
{
	selection_release(&selection);
	selection_release(&selection);
}

START_TEST(a_list_of_numbers_holds_its_numbers_and_ranges)
{
	ck_assert(number_list_add(&selection.pids, "1,2,5-7"));
	ck_assert(number_list_add(&selection.pids, "2147483647"));
	ck_assert(number_list_has(&selection.pids, 1));
	ck_assert(number_list_has(&selection.pids, 6));
	ck_assert(number_list_has(&selection.pids, 7));
	ck_assert(number_list_has(&selection.pids, INT32_MAX));
	ck_assert(!number_list_has(&selection.pids, 3));
	ck_assert(!number_list_has(&selection.pids, 8));
}
END_TEST

START_TEST(what_is_no_list_of_numbers_is_refused)
{
	static const char *const texts[] = {
		"", ",", "1,", "-1", "1-", "7-5", "a", "1 2", "2147483648", "99999999999999999999"
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		ck_assert_msg(!number_list_add(&selection.pids, texts[i]), "%s", texts[i]);
}
END_TEST

START_TEST(absolute_times_are_exact_to_the_nanosecond)
{
	ck_assert(selection_time(&selection, "8333333.123456789,8333334"));
	ck_assert_int_eq(selection.from.base, TIME_ABSOLUTE);
	ck_assert_uint_eq(selection.from.ns, UINT64_C(8333333123456789));
	ck_assert_uint_eq(selection.to.ns, UINT64_C(8333334000000000));
	ck_assert(selection_time(&selection, ",5.03"));
	ck_assert_int_eq(selection.from.base, TIME_OPEN);
	ck_assert_uint_eq(selection.to.ns, UINT64_C(5030000000));
}
END_TEST

START_TEST(absolute_times_may_have_a_unit)
{
	ck_assert(selection_time(&selection, "20.0016s,20.001600001s"));
	ck_assert_int_eq(selection.from.base, TIME_ABSOLUTE);
	ck_assert_uint_eq(selection.from.ns, 20001600000);
	ck_assert_int_eq(selection.to.base, TIME_ABSOLUTE);
	ck_assert_uint_eq(selection.to.ns, 20001600001);
	/* 2^53 + 1 has no double. */
	ck_assert(selection_time(&selection, "9007199254740993ns,9223372036854775806ns"));
	ck_assert_int_eq(selection.from.base, TIME_ABSOLUTE);
	ck_assert_uint_eq(selection.from.ns, 9007199254740993);
	ck_assert_int_eq(selection.to.base, TIME_ABSOLUTE);
	ck_assert_uint_eq(selection.to.ns, 9223372036854775806);
	ck_assert(selection_time(&selection, "20001600000ns,+1ms"));
	ck_assert_int_eq(selection.to.base, TIME_FROM_FIRST);
}
END_TEST

START_TEST(times_may_count_from_the_start_or_the_end_or_be_percentages)
{
	ck_assert(selection_time(&selection, "+1.5ms,-20us"));
	ck_assert_int_eq(selection.from.base, TIME_FROM_START);
	ck_assert_uint_eq(selection.from.ns, 1500000);
	ck_assert_int_eq(selection.to.base, TIME_FROM_END);
	ck_assert_uint_eq(selection.to.ns, 20000);
	ck_assert(selection_time(&selection, "12.5%,"));
	ck_assert_int_eq(selection.from.base, TIME_PERCENT);
	ck_assert_double_eq(selection.from.percent, 12.5);
	ck_assert_int_eq(selection.to.base, TIME_OPEN);
}
END_TEST

START_TEST(a_second_time_with_a_plus_counts_from_the_first)
{
	static const struct {
		const char *text;
		uint64_t first, last; /* of a trace from 1000 to 9000 */
	} ranges[] = {
		{ "0.000005,+100ns", 5000, 5100 },
		{ "+50ns,+7ns", 1050, 1057 },
		{ "-2us,+10ns", 7000, 7010 },
		{ "50%,+1us", 5000, 6000 },
		{ ",+1us", 0, 2000 },
	};

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		uint64_t first, last;

		ck_assert(selection_time(&selection, ranges[i].text));
		selection_resolve(&selection.from, &selection.to, 1000, 9000, &first, &last);
		ck_assert_uint_eq(first, ranges[i].first);
		ck_assert_uint_eq(last, ranges[i].last);
	}
}
END_TEST

START_TEST(times_may_be_those_of_a_hit)
{
	ck_assert(selection_time(&selection, "-1ms@hit,+100us@hit:3"));
	ck_assert_int_eq(selection.from.base, TIME_BEFORE_HIT);
	ck_assert_uint_eq(selection.from.ns, 1000000);
	ck_assert_uint_eq(selection.from.hit, 1);
	ck_assert_int_eq(selection.to.base, TIME_AFTER_HIT);
	ck_assert_uint_eq(selection.to.ns, 100000);
	ck_assert_uint_eq(selection.to.hit, 3);
	ck_assert(selection_time(&selection, "@hit:2,@hit"));
	ck_assert_int_eq(selection.from.base, TIME_AFTER_HIT);
	ck_assert_uint_eq(selection.from.ns, 0);
	ck_assert_uint_eq(selection.from.hit, 2);
	ck_assert_uint_eq(selection.to.hit, 1);
}
END_TEST

START_TEST(times_may_be_those_of_the_wall_clock)
{
	ck_assert(selection_time(&selection, "2026-11-29T22:35:49.000000001,2038-01-19T03:14:08"));
	ck_assert_int_eq(selection.from.base, TIME_WALL);
	ck_assert_uint_eq(selection.from.ns, 1795991749000000001);
	ck_assert_int_eq(selection.to.base, TIME_WALL);
	ck_assert_uint_eq(selection.to.ns, 2147483648000000000);
	ck_assert(!selection_time(&selection, "2026-11-29T22:35,"));
	ck_assert(!selection_time(&selection, "2026-11-29T22:35:61,"));
	ck_assert(!selection_time(&selection, "2026-11-29T22:35:49s,"));
	ck_assert(!selection_time(&selection, "9999-11-29T22:35:49,"));
}
END_TEST

START_TEST(what_is_no_time_is_refused)
{
	static const char *const texts[] = { "",
					     "1",
					     "a,b",
					     "1..2,3",
					     "+,1",
					     "+1h,2",
					     "101%,",
					     "-5%,",
					     "1e3,2",
					     "1,2,3",
					     "99999999999999999999,",
					     "+1e9s,",
					     "nan,",
					     "1.2.3,",
					     "9223372037,",
					     "1.1234567891,",
					     "1ms@hit,",
					     "+@hit,",
					     "-1ms@hits,",
					     "@hit:,",
					     "@hit:0,",
					     "@hit:1x,",
					     "@,",
					     "1ms,",
					     "1us,",
					     "1.5ns,",
					     "ns,",
					     "1ss,",
					     "1 s,",
					     "9223372036854775808ns,",
					     "50%@hit," };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		ck_assert_msg(!selection_time(&selection, texts[i]), "%s", texts[i]);
}
END_TEST

START_TEST(durations_are_rounded_to_the_nearest_nanosecond)
{
	uint64_t ns;

	ck_assert(selection_duration("1.005us", &ns)); /* as a double a bit less */
	ck_assert_uint_eq(ns, 1005);
	ck_assert(selection_duration("500", &ns));
	ck_assert_uint_eq(ns, 500);
	ck_assert(!selection_duration("9223372037s", &ns)); /* no signed 64 bits hold it */
}
END_TEST

START_TEST(between_has_two_names)
{
	char both[] = "begin,commit", more[] = "a,b,c";
	char none[] = "begin", no_start[] = ",commit", no_stop[] = "begin,";

	ck_assert(!selection_between(&selection, none));
	ck_assert(!selection_between(&selection, no_start));
	ck_assert(!selection_between(&selection, no_stop));
	ck_assert(selection_between(&selection, both));
	ck_assert_str_eq(selection.start, "begin");
	ck_assert_str_eq(selection.stop, "commit");
	ck_assert_str_eq(both, "begin,commit"); /* `diff` parses a word twice */
	ck_assert(selection_between(&selection, more));
	ck_assert_str_eq(selection.stop, "b,c"); /* in a template's name, say */
}
END_TEST

START_TEST(within_has_a_function_and_a_bound)
{
	const char both[] = "parse>1us";

	ck_assert(!selection_within(&selection, "parse"));
	ck_assert(!selection_within(&selection, ">1us"));
	ck_assert(!selection_within(&selection, "parse>soon"));
	ck_assert(!selection_within(&selection, "parse>#0"));
	ck_assert(!selection_within(&selection, "parse>#1x"));
	ck_assert(selection_within(&selection, "parse>#12"));
	ck_assert_uint_eq(selection.within.slow.most, 12);
	ck_assert(selection_within(&selection, both));
	ck_assert_str_eq(selection.within.function, "parse");
	ck_assert_uint_eq(selection.within.slow.most, 0);
	ck_assert_uint_eq(selection.within.slow.longer, 1000);
	ck_assert_str_eq(both, "parse>1us"); /* `diff` parses a word twice */
	ck_assert(selection_within(&selection, "operator>>p99"));
	ck_assert_str_eq(selection.within.function, "operator>");
	ck_assert_uint_eq(selection.within.slow.percentile, 990000);
}
END_TEST

START_TEST(percentiles_are_above_0_and_below_100_with_up_to_four_decimals)
{
	static const char *const others[] = { "p",         "p0",   "p50.12345", "p100",
					      "p99.99999", "p50x", "p-1",       "p1us" };
	struct slow_choice choice;

	ck_assert(slow_choice_read(&choice, "p99.9999"));
	ck_assert_uint_eq(choice.percentile, 999999);
	ck_assert(slow_choice_read(&choice, "p0.0001"));
	ck_assert_uint_eq(choice.percentile, 1);
	for (size_t i = 0; i < COUNT_OF(others); i++)
		ck_assert_msg(!slow_choice_read(&choice, others[i]), "%s", others[i]);
}
END_TEST

START_TEST(the_unit_of_a_part_distinguishes_slices_bytes_and_times)
{
	struct split_size split;

	ck_assert(selection_split(&split, "1.5M"));
	ck_assert_int_eq(split.unit, SPLIT_SLICES);
	ck_assert_uint_eq(split.amount, 1500000);
	ck_assert(selection_split(&split, "500MB"));
	ck_assert_int_eq(split.unit, SPLIT_BYTES);
	ck_assert_uint_eq(split.amount, 500000000);
	ck_assert(selection_split(&split, "10ms"));
	ck_assert_int_eq(split.unit, SPLIT_NS);
	ck_assert_uint_eq(split.amount, 10000000);
	ck_assert(!selection_split(&split, "0"));
	ck_assert(!selection_split(&split, "5X"));
	ck_assert(!selection_split(&split, "M"));
}
END_TEST

START_TEST(sizes_in_bytes_have_units_of_1000_and_of_1024)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} sizes[] = { { "500MB", 500000000 }, { "500M", 500000000 }, { "100KB", 100000 },
		      { "1.5kB", 1500 },      { "2G", 2000000000 },  { "1TB", 1000000000000 },
		      { "64MiB", 67108864 },  { "1GiB", 1073741824 } };
	uint64_t bytes;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		ck_assert(selection_bytes(sizes[i].text, &bytes));
		ck_assert_uint_eq(bytes, sizes[i].bytes);
	}
	ck_assert(!selection_bytes("0MB", &bytes));
	ck_assert(!selection_bytes("4096", &bytes)); /* of no file */
	ck_assert(!selection_bytes("GB", &bytes));
	ck_assert(!selection_bytes("1ms", &bytes));
}
END_TEST

/* Times of day need more bits than a double has. */
START_TEST(offsets_of_clocks_are_exact_and_have_a_sign)
{
	struct clock_offsets offsets = { 0 };

	ck_assert(clock_offsets_read(&offsets, "real=-1700000000123456789"));
	ck_assert(offsets.has_real && !offsets.has_mono);
	ck_assert_int_eq(offsets.real, INT64_C(-1700000000123456789));
	ck_assert(clock_offsets_read(&offsets, "mono=+1.5ms"));
	ck_assert(offsets.has_mono);
	ck_assert_int_eq(offsets.mono, 1500000);
	ck_assert(!clock_offsets_read(&offsets, "tsc=1"));
	ck_assert(!clock_offsets_read(&offsets, "mono="));
	ck_assert(!clock_offsets_read(&offsets, "mono=--1"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("selection");
	TCase *tests = tcase_create("selection");

	tcase_add_checked_fixture(tests, NULL, teardown);
	tcase_add_test(tests, a_list_of_numbers_holds_its_numbers_and_ranges);
	tcase_add_test(tests, what_is_no_list_of_numbers_is_refused);
	tcase_add_test(tests, absolute_times_are_exact_to_the_nanosecond);
	tcase_add_test(tests, absolute_times_may_have_a_unit);
	tcase_add_test(tests, times_may_count_from_the_start_or_the_end_or_be_percentages);
	tcase_add_test(tests, a_second_time_with_a_plus_counts_from_the_first);
	tcase_add_test(tests, times_may_be_those_of_a_hit);
	tcase_add_test(tests, times_may_be_those_of_the_wall_clock);
	tcase_add_test(tests, what_is_no_time_is_refused);
	tcase_add_test(tests, durations_are_rounded_to_the_nearest_nanosecond);
	tcase_add_test(tests, between_has_two_names);
	tcase_add_test(tests, percentiles_are_above_0_and_below_100_with_up_to_four_decimals);
	tcase_add_test(tests, within_has_a_function_and_a_bound);
	tcase_add_test(tests, the_unit_of_a_part_distinguishes_slices_bytes_and_times);
	tcase_add_test(tests, sizes_in_bytes_have_units_of_1000_and_of_1024);
	tcase_add_test(tests, offsets_of_clocks_are_exact_and_have_a_sign);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
