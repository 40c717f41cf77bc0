/* SPDX-License-Identifier: MIT */
#include "decoder/clock/tsc_clock.h"

#include "tests/support/unit.h"

#define SECOND UINT64_C(1000000000)

/* The results were computed from perf_event.h's formula with Python's unbounded integers. */
static const struct {
	struct tsc_clock clock;
	uint64_t tsc, ns;
} cases[] = {
	{ { 0, 858993459, 31 }, UINT64_C(2177462505642500), UINT64_C(870985002054208) },
	{ { 123, UINT32_MAX, 32 }, UINT64_MAX, UINT64_C(18446744069414584442) },
	{ { -5 * SECOND, 858993459, 31 }, 25 * SECOND, UINT64_C(4999999997) },
	{ { 7, 1, 63 }, UINT64_C(1) << 63, 8 },
	{ { 7, 1, 63 }, (UINT64_C(1) << 63) - 1, 7 },
	{ { 0, 3, 0 }, 10, 30 },
};

START_TEST(ticks_become_nanoseconds_without_overflow)
{
	ck_assert_uint_eq(tsc_clock_ns(&cases[_i].clock, cases[_i].tsc), cases[_i].ns);
}
END_TEST

/* After a suspend, or in a guest, time_zero is negative. */
START_TEST(the_inverse_is_the_first_tick_that_reaches_the_time)
{
	static const struct tsc_clock clocks[] = {
		{ 0, 858993459, 31 },
		{ -5 * SECOND, 858993459, 31 },
		{ 77 * SECOND, 3000000000, 31 },
		{ 1, 1, 40 },
	};
	const struct tsc_clock *clock = &clocks[_i];

	for (uint64_t tsc = 1; tsc < UINT64_C(1) << 54; tsc = tsc * 5 + 3) {
		uint64_t ns = tsc_clock_ns(clock, tsc);
		uint64_t first = tsc_clock_tsc(clock, ns);

		ck_assert_uint_le(first, tsc);
		ck_assert_uint_eq(tsc_clock_ns(clock, first), ns);
		if (first)
			ck_assert_int_lt((int64_t)(tsc_clock_ns(clock, first - 1) - ns), 0);
	}
}
END_TEST

START_TEST(a_time_before_tick_zero_is_tick_zero)
{
	struct tsc_clock clock = { 77 * SECOND, 858993459, 31 };

	ck_assert_uint_eq(tsc_clock_tsc(&clock, 0), 0);
	ck_assert_uint_eq(tsc_clock_tsc(&clock, 77 * SECOND), 0);
	ck_assert_uint_eq(tsc_clock_tsc(&clock, 77 * SECOND + 1), 3);
}
END_TEST

START_TEST(a_stopped_clock_has_no_ticks)
{
	struct tsc_clock clock = { 5, 0, 10 };

	ck_assert_uint_eq(tsc_clock_ns(&clock, 1000), 5);
	ck_assert_uint_eq(tsc_clock_tsc(&clock, 1000), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tsc_clock");
	TCase *all = tcase_create("tsc_clock");

	tcase_add_loop_test(all, ticks_become_nanoseconds_without_overflow, 0, 6);
	tcase_add_loop_test(all, the_inverse_is_the_first_tick_that_reaches_the_time, 0, 4);
	tcase_add_test(all, a_time_before_tick_zero_is_tick_zero);
	tcase_add_test(all, a_stopped_clock_has_no_ticks);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
