/* SPDX-License-Identifier: MIT */
/* The rules of perf's clock, as decoder/clock/perf_clock.h states them; numbers by hand. */
#include <intel-pt.h>

#include "decoder/clock/perf_clock.h"
#include "tests/support/unit.h"

/* A crystal tick is 100 TSC ticks, an MTC comes every 8 of them. */
#define PERIOD UINT64_C(800)
#define START  UINT64_C(1000000)

static struct perf_clock clock_of(void)
{
	return (struct perf_clock){ .rates = { 200, 2, 3, 25 } };
}

static void begin_at(struct perf_clock *clock, uint64_t tsc)
{
	perf_clock_tsc(clock, tsc, false);
	perf_clock_tma(clock, (uint16_t)(tsc / 100), (uint16_t)(tsc % 100));
}

static uint8_t mtc_of(uint64_t tsc)
{
	return (uint8_t)(tsc / PERIOD);
}

static struct pt_packet cyc(uint64_t cycles)
{
	return (struct pt_packet){ .type = ppt_cyc, .payload.cyc.value = cycles };
}

static struct pt_packet mtc(uint64_t tsc)
{
	return (struct pt_packet){ .type = ppt_mtc, .payload.mtc.ctc = mtc_of(tsc) };
}

/* Returns how many packets were read ahead. */
static unsigned look_ahead(struct perf_clock *clock, const struct pt_packet *packets,
			   unsigned count)
{
	struct perf_ahead ahead;
	unsigned used = 0;

	perf_ahead_init(&ahead, clock);
	while (used < count && perf_ahead_packet(&ahead, clock, &packets[used++]))
		;
	return used;
}

START_TEST(cycles_count_by_the_speed_up_to_the_next_mtc)
{
	struct perf_clock clock = clock_of();
	const struct pt_packet packets[] = {
		cyc(100), { .type = ppt_tnt_8 }, cyc(300), mtc(START + 2 * PERIOD), cyc(999)
	};

	perf_clock_cbr(&clock, 25);
	begin_at(&clock, START);
	ck_assert(perf_clock_mtc(&clock, mtc_of(START + PERIOD), true));
	ck_assert_uint_eq(clock.tsc, START + PERIOD);
	ck_assert_uint_eq(look_ahead(&clock, packets, 5), 4);
	/* 800 ticks for 400 cycles: faster than CBR says by too much. */
	perf_clock_cyc(&clock, 100);
	ck_assert_uint_eq(clock.tsc, START + PERIOD + 100);

	clock = clock_of(); /* and without any CBR */
	begin_at(&clock, START);
	perf_clock_mtc(&clock, mtc_of(START + PERIOD), true);
	look_ahead(&clock, packets, 5);
	perf_clock_cyc(&clock, 100);
	ck_assert_uint_eq(clock.tsc, START + PERIOD + 200);
}
END_TEST

START_TEST(an_mtc_that_no_cyc_precedes_is_passed_over)
{
	struct perf_clock clock = clock_of();
	const struct pt_packet packets[] = { cyc(700),
					     { .type = ppt_tnt_8 },
					     mtc(START + 2 * PERIOD),
					     cyc(900),
					     mtc(START + 3 * PERIOD) };

	begin_at(&clock, START);
	ck_assert(!perf_clock_mtc(&clock, mtc_of(START + PERIOD), false));
	clock = clock_of();
	begin_at(&clock, START);
	perf_clock_mtc(&clock, mtc_of(START + PERIOD), true);
	ck_assert_uint_eq(look_ahead(&clock, packets, 5), 5);
	perf_clock_cyc(&clock, 800);
	ck_assert_uint_eq(clock.tsc, START + PERIOD + 800);
}
END_TEST

START_TEST(where_time_may_stop_nothing_is_measured)
{
	static const enum pt_packet_type ends[] = { ppt_tip_pgd, ppt_tsc, ppt_ovf, ppt_pwre };

	for (unsigned i = 0; i < 4; i++) {
		struct perf_clock clock = clock_of();
		const struct pt_packet packets[] = {
			cyc(1600), { .type = ends[i] }, cyc(1), mtc(START + 2 * PERIOD)
		};

		perf_clock_cbr(&clock, 50);
		begin_at(&clock, START);
		perf_clock_mtc(&clock, mtc_of(START + PERIOD), true);
		ck_assert_uint_eq(look_ahead(&clock, packets, 4), 2);
		perf_clock_cyc(&clock, 100);
		ck_assert_uint_eq(clock.tsc, START + PERIOD + 50);
	}
}
END_TEST

START_TEST(a_tsc_that_slipped_back_is_no_earlier_time)
{
	struct perf_clock clock = clock_of();

	begin_at(&clock, START);
	perf_clock_tsc(&clock, START - 0xffff, false);
	ck_assert_uint_eq(clock.tsc, START);
	/* The 7 bytes came round. */
	perf_clock_tsc(&clock, UINT64_C(0xfffffffffffff0), false);
	perf_clock_tsc(&clock, 5, false);
	ck_assert_uint_eq(clock.tsc, 5);
}
END_TEST

START_TEST(the_bits_that_a_tma_lacks_are_those_of_the_next_mtc)
{
	struct perf_clock clock = clock_of();

	clock.rates.mtc_shift = 9; /* an MTC has bits 9 to 16, a TMA 0 to 15 */
	perf_clock_tsc(&clock, START, false);
	perf_clock_tma(&clock, 0xfe00, 0);
	/* One period later, and bit 16 is known for the first time. */
	perf_clock_mtc(&clock, 0x80, false);
	ck_assert_uint_eq(clock.tsc, START + 512 * 100);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("perf_clock");
	TCase *all = tcase_create("perf_clock");

	tcase_add_test(all, cycles_count_by_the_speed_up_to_the_next_mtc);
	tcase_add_test(all, an_mtc_that_no_cyc_precedes_is_passed_over);
	tcase_add_test(all, where_time_may_stop_nothing_is_measured);
	tcase_add_test(all, a_tsc_that_slipped_back_is_no_earlier_time);
	tcase_add_test(all, the_bits_that_a_tma_lacks_are_those_of_the_next_mtc);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
