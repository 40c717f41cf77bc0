/* SPDX-License-Identifier: MIT */
#include "decoder/clock/packet_clock.h"

#include "tests/support/unit.h"

/* A crystal tick is 100 TSC ticks, an MTC comes every 8 of them. */
#define PERIOD UINT64_C(800)

static struct packet_clock clock_of(void)
{
	return (struct packet_clock){ .rates = { 200, 2, 3, 25 } };
}

/* Packets at a TSC value. */
static void begin_at(struct packet_clock *clock, uint64_t tsc)
{
	packet_clock_tsc(clock, tsc);
	packet_clock_tma(clock, (uint16_t)(tsc / 100), (uint16_t)(tsc % 100));
}

static void mtc_at(struct packet_clock *clock, uint64_t tsc)
{
	packet_clock_mtc(clock, (uint8_t)(tsc / PERIOD));
}

START_TEST(an_mtc_has_the_time_of_its_crystal_tick)
{
	struct packet_clock clock = clock_of();

	begin_at(&clock, 1000057);
	ck_assert_uint_eq(clock.tsc, 1000057);
	mtc_at(&clock, 1000800);
	ck_assert_uint_eq(clock.tsc, 1000800);
	mtc_at(&clock, 1001600);
	ck_assert_uint_eq(clock.tsc, 1001600);
}
END_TEST

START_TEST(the_mtc_counter_comes_round)
{
	struct packet_clock clock = clock_of();
	uint64_t tsc = 204000; /* 255 periods */

	begin_at(&clock, tsc);
	for (int i = 1; i <= 300; i++) {
		mtc_at(&clock, tsc + (uint64_t)i * PERIOD);
		ck_assert_uint_eq(clock.tsc, tsc + (uint64_t)i * PERIOD);
	}
	/* MTCs were lost. */
	mtc_at(&clock, tsc + 350 * PERIOD);
	ck_assert_uint_eq(clock.tsc, tsc + 350 * PERIOD);
}
END_TEST

/* A TMA has 16 bits of the crystal clock, so with a long period it lacks bits of the MTCs. */
START_TEST(only_the_first_mtc_of_a_long_period_has_bits_that_a_tma_lacks)
{
	struct packet_clock clock = { .rates = { 200, 2, 9, 25 } };
	const uint64_t period = UINT64_C(512) * 100, tsc = 200 * period;

	packet_clock_tsc(&clock, tsc);
	packet_clock_tma(&clock, (uint16_t)(tsc / 100), 0);
	packet_clock_mtc(&clock, 201);
	ck_assert_uint_eq(clock.tsc, tsc + period);
	/* MTCs were lost. */
	packet_clock_mtc(&clock, (uint8_t)(201 + 130));
	ck_assert_uint_eq(clock.tsc, tsc + 131 * period);
}
END_TEST

START_TEST(an_mtc_with_the_last_ones_number_is_a_round_later)
{
	struct packet_clock clock = clock_of();

	begin_at(&clock, 1000000);
	/* The tick of the TMA itself. */
	mtc_at(&clock, 1000000);
	ck_assert_uint_eq(clock.tsc, 1000000);
	mtc_at(&clock, 1000800);
	mtc_at(&clock, 1000800 + 256 * PERIOD);
	ck_assert_uint_eq(clock.tsc, 1000800 + 256 * PERIOD);
}
END_TEST

START_TEST(cycles_count_by_the_bus_ratio_until_they_are_measured)
{
	struct packet_clock clock = clock_of();

	packet_clock_cbr(&clock, 50); /* two cycles a tick */
	begin_at(&clock, 1000000);
	packet_clock_cyc(&clock, 200);
	ck_assert_uint_eq(clock.tsc, 1000100);
	/* 1.6 cycles a tick between two MTCs: CBR gave an average. */
	mtc_at(&clock, 1000800);
	packet_clock_cyc(&clock, 1280);
	mtc_at(&clock, 1001600);
	packet_clock_cyc(&clock, 160);
	ck_assert_uint_eq(clock.tsc, 1001700);
}
END_TEST

/* Without MTCs, or with far too few or many cycles, it is unknown how long the core ran. */
START_TEST(only_successive_mtcs_with_likely_cycles_measure_the_core_clock)
{
	static const struct {
		uint64_t periods, cycles, ticks; /* ticks: of 100 cycles after the MTC */
	} steps[] = { { 1, 1000, 80 }, { 2, 2000, 100 }, { 1, 500, 100 }, { 1, 1300, 100 } };
	struct packet_clock clock = clock_of();
	uint64_t tsc = 1000000 + PERIOD + steps[_i].periods * PERIOD;

	packet_clock_cbr(&clock, 25);
	begin_at(&clock, 1000000);
	mtc_at(&clock, 1000000 + PERIOD);
	packet_clock_many_cycles(&clock, steps[_i].cycles);
	mtc_at(&clock, tsc);
	packet_clock_cyc(&clock, 100);
	ck_assert_uint_eq(clock.tsc, tsc + steps[_i].ticks);
}
END_TEST

/* Linux, "perf intel-pt: Fix CYC timestamps after standalone CBR". */
START_TEST(a_new_bus_ratio_leaves_the_cycles_before_it_alone)
{
	struct packet_clock clock = { .rates.max_ratio = 25 };

	packet_clock_cbr(&clock, 25);
	packet_clock_tsc(&clock, 1000000);
	packet_clock_cyc(&clock, 1000000);
	packet_clock_cbr(&clock, 20); /* 1.25 ticks a cycle */
	ck_assert_uint_eq(clock.tsc, 2000000);
	packet_clock_cyc(&clock, 100);
	ck_assert_uint_eq(clock.tsc, 2000125);
	packet_clock_cbr(&clock, 50);
	packet_clock_cbr(&clock, 10);
	packet_clock_cbr(&clock, 10);
	packet_clock_cyc(&clock, 100);
	ck_assert_uint_eq(clock.tsc, 2000375);
	/* A TSC sets the time, but not the ratio. */
	packet_clock_tsc(&clock, 3000000);
	packet_clock_cyc(&clock, 100);
	ck_assert_uint_eq(clock.tsc, 3000250);
}
END_TEST

/* Between two MTCs, part of the period is left for the new ratio. */
START_TEST(a_new_bus_ratio_does_not_move_the_next_mtc)
{
	struct packet_clock clock = clock_of();

	packet_clock_cbr(&clock, 25);
	begin_at(&clock, 1000000);
	mtc_at(&clock, 1000800);
	packet_clock_cyc(&clock, 500);
	packet_clock_cbr(&clock, 5);
	packet_clock_cyc(&clock, 20);
	ck_assert_uint_eq(clock.tsc, 1001400);
	packet_clock_cyc(&clock, 200);
	ck_assert_uint_eq(clock.tsc, 1001600);
	/* 720 cycles in a period fit neither ratio. */
	mtc_at(&clock, 1001600);
	packet_clock_cyc(&clock, 20);
	ck_assert_uint_eq(clock.tsc, 1001700);
}
END_TEST

/* The time of the CBR is an estimate. */
START_TEST(cycles_between_a_new_bus_ratio_and_an_mtc_measure_nothing)
{
	struct packet_clock clock = clock_of();

	packet_clock_cbr(&clock, 25);
	begin_at(&clock, 1000000);
	mtc_at(&clock, 1000800);
	packet_clock_cyc(&clock, 400);
	packet_clock_cbr(&clock, 20);
	packet_clock_cyc(&clock, 400);
	mtc_at(&clock, 1001600);
	packet_clock_cyc(&clock, 100); /* 1.25 ticks each, not 1 */
	ck_assert_uint_eq(clock.tsc, 1001725);
}
END_TEST

START_TEST(the_first_mtc_after_a_tsc_is_due_at_its_crystal_tick)
{
	struct packet_clock clock = clock_of();

	packet_clock_cbr(&clock, 25);
	begin_at(&clock, 1000700); /* 100 ticks before an MTC */
	packet_clock_cyc(&clock, 700);
	ck_assert_uint_eq(clock.tsc, 1000800);
	mtc_at(&clock, 1000800);
	packet_clock_cyc(&clock, 700);
	ck_assert_uint_eq(clock.tsc, 1001500);
}
END_TEST

START_TEST(cycles_do_not_pass_the_next_tsc)
{
	struct packet_clock clock = { .rates.max_ratio = 25 };

	/*
	 * By the ratios, the 1000 cycles before the CBR last 1,000 ticks and the 1000 after it
	 * 5,000.
	 */
	packet_clock_tsc(&clock, 1000000);
	packet_clock_fit(&clock, 1003000, 1006000);
	packet_clock_cbr(&clock, 25);
	packet_clock_cyc(&clock, 1000);
	ck_assert_uint_eq(clock.tsc, 1000500);
	packet_clock_cbr(&clock, 5);
	packet_clock_cyc(&clock, 1000);
	ck_assert_uint_eq(clock.tsc, 1003000);
	/* They fit again; in the remaining time the core slept. */
	packet_clock_tsc(&clock, 1003000);
	packet_clock_fit(&clock, 1020000, 1008000);
	packet_clock_cyc(&clock, 1000);
	ck_assert_uint_eq(clock.tsc, 1008000);
}
END_TEST

START_TEST(cycles_do_not_pass_a_bound_before_the_next_mtc)
{
	struct packet_clock clock = clock_of();

	packet_clock_cbr(&clock, 25);
	begin_at(&clock, 1000000);
	packet_clock_bound(&clock, 1000300);
	packet_clock_cyc(&clock, 200);
	ck_assert_uint_eq(clock.tsc, 1000200);
	ck_assert(!packet_clock_is_bound(&clock));
	packet_clock_cyc(&clock, 200);
	ck_assert_uint_eq(clock.tsc, 1000300);
	ck_assert(packet_clock_is_bound(&clock));
	/* Later packets have another bound: all cycles count. */
	packet_clock_bound(&clock, 0);
	packet_clock_cyc(&clock, 100);
	ck_assert_uint_eq(clock.tsc, 1000500);
	packet_clock_bound(&clock, 1000900);
	packet_clock_cyc(&clock, 1000);
	ck_assert_uint_eq(clock.tsc, 1000000 + PERIOD);
	/* A damaged bound lies before the time. */
	packet_clock_bound(&clock, 999000);
	packet_clock_cyc(&clock, 10);
	ck_assert_uint_eq(clock.tsc, 1000000 + PERIOD);
}
END_TEST

START_TEST(without_an_mtc_its_time_has_not_come)
{
	struct packet_clock clock = clock_of();

	packet_clock_cbr(&clock, 25);
	begin_at(&clock, 1000000);
	packet_clock_cyc(&clock, 5000);
	ck_assert_uint_eq(clock.tsc, 1000000 + PERIOD);
}
END_TEST

/* Found by fuzzing: a conversion beyond the range of integers. */
START_TEST(cycles_that_no_time_could_hold_are_none)
{
	struct packet_clock clock = { .rates.max_ratio = 255 };

	packet_clock_cbr(&clock, 1);
	packet_clock_tsc(&clock, 1000000);
	packet_clock_many_cycles(&clock, UINT64_MAX / 256);
	ck_assert_uint_eq(clock.tsc, 1000000);
}
END_TEST

/* The fast path follows the slow one, which also counts cycles without a speed. */
START_TEST(cycles_near_the_end_of_their_count_move_no_clock)
{
	struct packet_clock clock = { .rates.max_ratio = 255 };

	packet_clock_tsc(&clock, 1000000);
	packet_clock_many_cycles(&clock, INT64_MAX - 1);
	packet_clock_cyc(&clock, 100);
	packet_clock_cbr(&clock, 1);
	packet_clock_many_cycles(&clock, INT64_MAX - 1);
	packet_clock_cyc(&clock, 100);
	ck_assert_uint_le(clock.tsc, 1000000 + 200 * 255);
}
END_TEST

/* Small counts take a faster path. */
START_TEST(cycles_give_the_same_time_however_they_are_counted)
{
	struct packet_clock few = clock_of(), many = clock_of();
	uint32_t cycles = 1;

	for (unsigned i = 0; i < 5000; i++) {
		cycles = cycles * 1103515245 + 12345;
		if (i % 1000 == 10) { /* another ratio, and sometimes no MTC for long */
			packet_clock_cbr(&few, (uint8_t)(10 + i / 100));
			packet_clock_cbr(&many, (uint8_t)(10 + i / 100));
		}
		if (i % 500 == 20) {
			begin_at(&few, 1000000 + i * PERIOD);
			begin_at(&many, 1000000 + i * PERIOD);
		}
		if (i % 50 == 30 && i % 1000 < 700) {
			packet_clock_mtc(&few, (uint8_t)(few.last_mtc + 1));
			packet_clock_mtc(&many, (uint8_t)(many.last_mtc + 1));
		}
		packet_clock_cyc(&few, cycles >> 20 & 63);
		packet_clock_many_cycles(&many, cycles >> 20 & 63);
		ck_assert_uint_eq(few.tsc, many.tsc);
		ck_assert_uint_eq(few.cycles, many.cycles);
	}
}
END_TEST

START_TEST(before_the_first_tsc_there_is_no_time)
{
	struct packet_clock clock = clock_of();

	packet_clock_cbr(&clock, 25);
	packet_clock_cyc(&clock, 100);
	packet_clock_mtc(&clock, 7);
	ck_assert_uint_eq(clock.tsc, 0);
}
END_TEST

/*
 * Linux's perf allows a TSC to slip past an MTC; a TSC of 7 bytes has no errors that small. Cycles
 * by a bus ratio are estimates: a TSC before them is right.
 */
START_TEST(a_tsc_long_before_the_last_packet_with_a_time_is_damage)
{
	struct packet_clock clock = clock_of();

	begin_at(&clock, 1000000);
	mtc_at(&clock, 1000000 + 3 * PERIOD);
	ck_assert(!packet_clock_tsc(&clock, 1000000 + 2 * PERIOD));
	ck_assert(packet_clock_tsc(&clock, 1000000 + PERIOD - 1));
	ck_assert(!packet_clock_tsc(&clock, 1000000 + PERIOD));
	clock = (struct packet_clock){ .rates.max_ratio = 25 };
	ck_assert(!packet_clock_tsc(&clock, 1000000));
	packet_clock_cbr(&clock, 25);
	packet_clock_cyc(&clock, 1000000);
	packet_clock_cbr(&clock, 20);
	ck_assert(!packet_clock_tsc(&clock, 1100000));
	ck_assert(packet_clock_tsc(&clock, 1000000));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("packet_clock");
	TCase *all = tcase_create("packet_clock");

	tcase_add_test(all, an_mtc_has_the_time_of_its_crystal_tick);
	tcase_add_test(all, the_mtc_counter_comes_round);
	tcase_add_test(all, only_the_first_mtc_of_a_long_period_has_bits_that_a_tma_lacks);
	tcase_add_test(all, an_mtc_with_the_last_ones_number_is_a_round_later);
	tcase_add_test(all, cycles_count_by_the_bus_ratio_until_they_are_measured);
	tcase_add_loop_test(all, only_successive_mtcs_with_likely_cycles_measure_the_core_clock, 0,
			    4);
	tcase_add_test(all, a_new_bus_ratio_leaves_the_cycles_before_it_alone);
	tcase_add_test(all, a_new_bus_ratio_does_not_move_the_next_mtc);
	tcase_add_test(all, cycles_between_a_new_bus_ratio_and_an_mtc_measure_nothing);
	tcase_add_test(all, the_first_mtc_after_a_tsc_is_due_at_its_crystal_tick);
	tcase_add_test(all, cycles_do_not_pass_the_next_tsc);
	tcase_add_test(all, cycles_do_not_pass_a_bound_before_the_next_mtc);
	tcase_add_test(all, without_an_mtc_its_time_has_not_come);
	tcase_add_test(all, cycles_that_no_time_could_hold_are_none);
	tcase_add_test(all, cycles_near_the_end_of_their_count_move_no_clock);
	tcase_add_test(all, cycles_give_the_same_time_however_they_are_counted);
	tcase_add_test(all, before_the_first_tsc_there_is_no_time);
	tcase_add_test(all, a_tsc_long_before_the_last_packet_with_a_time_is_damage);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
