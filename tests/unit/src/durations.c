/* SPDX-License-Identifier: MIT */
#include "src/slices/durations.h"

#include "tests/support/unit.h"

static struct durations durations;

static void teardown(void)
{
	durations_release(&durations);
	durations_release(&durations);
}

START_TEST(percentiles_are_nearest_ranks)
{
	for (unsigned i = 1; i <= 200; i++)
		durations_add(&durations, 201 - i);
	ck_assert_uint_eq(durations_percentile(&durations, 50), 100);
	ck_assert_uint_eq(durations_percentile(&durations, 99), 198);
	ck_assert_uint_eq(durations_percentile(&durations, 100), 200);
	ck_assert_uint_eq(durations.min, 1);
	ck_assert_uint_eq(durations.max, 200);
}
END_TEST

START_TEST(one_duration_is_all_its_percentiles)
{
	durations_add(&durations, 123456789);
	ck_assert_uint_eq(durations_percentile(&durations, 1), 123456789);
	ck_assert_uint_eq(durations_percentile(&durations, 99), 123456789);
}
END_TEST

START_TEST(long_durations_are_known_to_one_part_in_128)
{
	for (uint64_t ns = 1; ns < UINT64_MAX / 3; ns = ns * 3 + 1) {
		uint64_t median;

		durations_add(&durations, 0);
		durations_add(&durations, ns);
		durations_add(&durations, ns);
		median = durations_percentile(&durations, 50);
		ck_assert_uint_le(median, ns);
		ck_assert_uint_ge(median, ns - ns / 128);
		durations_release(&durations);
	}
}
END_TEST

START_TEST(nothing_has_no_duration)
{
	ck_assert_uint_eq(durations_percentile(&durations, 50), 0);
	durations_add(&durations, UINT64_MAX);
	ck_assert_uint_eq(durations_percentile(&durations, 50), UINT64_MAX);
}
END_TEST

/* The classes of 2 bits: 0, 1, 2, 3, 4, 5, 6, 7, 8 to 9, 10 to 11, 12 to 13, 14 to 15, 16 to 19. */
START_TEST(an_octave_has_equal_classes)
{
	static const uint64_t begins[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28 };

	for (uint32_t i = 0; i < 15; i++) {
		ck_assert_uint_eq(log_class_begin(i, 2), begins[i]);
		for (uint64_t value = begins[i]; value < begins[i + 1]; value++)
			ck_assert_uint_eq(log_class(value, 2), i);
	}
}
END_TEST

START_TEST(each_class_begins_where_the_one_before_ends)
{
	for (unsigned bits = 2; bits <= 7; bits++) {
		uint32_t last = log_class(UINT64_MAX, bits);

		ck_assert_uint_eq(last, ((64 - bits) << bits) + (1u << bits) - 1);
		for (uint32_t i = 1; i <= last; i++) {
			ck_assert_uint_eq(log_class(log_class_begin(i, bits), bits), i);
			ck_assert_uint_eq(log_class(log_class_begin(i, bits) - 1, bits), i - 1);
		}
	}
}
END_TEST

START_TEST(quantiles_have_fractions_of_a_percent)
{
	for (unsigned i = 1; i <= 200; i++)
		durations_add(&durations, i);
	ck_assert_uint_eq(durations_quantile(&durations, 995000), 199);
	ck_assert_uint_eq(durations_quantile(&durations, 995001), 200);
	ck_assert_uint_eq(durations_quantile(&durations, 1), 1);
}
END_TEST

START_TEST(a_copy_has_its_own_memory)
{
	struct durations copy;

	for (unsigned i = 1; i <= 200; i++)
		durations_add(&durations, i);
	durations_copy(&copy, &durations);
	durations_add(&durations, 1);
	ck_assert_uint_eq(durations_quantile(&copy, 500000), 100);
	ck_assert_uint_eq(durations_longer(&copy, 0), 200);
	durations_release(&copy);
}
END_TEST

START_TEST(longer_durations_are_counted_by_buckets)
{
	for (unsigned i = 1; i <= 200; i++)
		durations_add(&durations, i);
	durations_add(&durations, 1000000);
	ck_assert_uint_eq(durations_longer(&durations, 0), 201);
	ck_assert_uint_eq(durations_longer(&durations, 150), 51);
	ck_assert_uint_eq(durations_longer(&durations, 999999), 0);
	ck_assert_uint_eq(durations_longer(&durations, UINT64_MAX), 0);
}
END_TEST

START_TEST(durations_are_replaced_by_as_many_others)
{
	struct durations those = { 0 }, by = { 0 };

	for (unsigned i = 1; i <= 100; i++)
		durations_add(&durations, i);
	for (unsigned i = 91; i <= 100; i++) {
		durations_add(&those, i);
		durations_add(&by, 1000000 + i);
	}
	durations_replace_all(&durations, &those, &by);
	ck_assert_uint_eq(durations.count, 100);
	ck_assert_uint_eq(durations.max, 1000100);
	ck_assert_uint_eq(durations_longer(&durations, 90), 10);
	ck_assert_uint_eq(durations_longer(&durations, 500000), 10);
	ck_assert_uint_eq(durations_quantile(&durations, 900000), 90);
	durations_release(&those);
	durations_release(&by);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("durations");
	TCase *all = tcase_create("durations");

	tcase_add_checked_fixture(all, NULL, teardown);
	tcase_add_test(all, percentiles_are_nearest_ranks);
	tcase_add_test(all, one_duration_is_all_its_percentiles);
	tcase_add_test(all, long_durations_are_known_to_one_part_in_128);
	tcase_add_test(all, nothing_has_no_duration);
	tcase_add_test(all, quantiles_have_fractions_of_a_percent);
	tcase_add_test(all, an_octave_has_equal_classes);
	tcase_add_test(all, each_class_begins_where_the_one_before_ends);
	tcase_add_test(all, a_copy_has_its_own_memory);
	tcase_add_test(all, longer_durations_are_counted_by_buckets);
	tcase_add_test(all, durations_are_replaced_by_as_many_others);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
