/* SPDX-License-Identifier: MIT */
/*
 * Slow calls, as --slow='F>T' finds them in records of perf in rings that the test fills: ends that
 * belong to begins by their stack pointers (perf_event.h, PERF_RECORD_SAMPLE).
 */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/record/record.h"
#include "tests/support/unit.h"

#define RING_SIZE (UINT64_C(1) << 20)
#define CPUS      2

static struct slow_ring rings[CPUS];
static struct slow_watch watch;

static void setup(void)
{
	watch = (struct slow_watch){ .rings = rings, .cpus = CPUS, .slow.longer = 100 };
	for (int cpu = 0; cpu < CPUS; cpu++)
		rings[cpu].page = calloc(1, RING_SIZE + (size_t)sysconf(_SC_PAGESIZE));
}

static void teardown(void)
{
	for (int cpu = 0; cpu < CPUS; cpu++)
		free(rings[cpu].page);
}

static void put(int cpu, uint32_t type, const uint64_t *words, size_t count)
{
	struct perf_event_mmap_page *page = rings[cpu].page;
	uint64_t *data = (uint64_t *)((char *)page + sysconf(_SC_PAGESIZE));
	const uint64_t header = type | (count + 1) * 8 << 48;

	for (size_t i = 0; i <= count; i++, page->data_head += 8)
		data[page->data_head / 8 % (RING_SIZE / 8)] = i ? words[i - 1] : header;
}

/* Put the begin of a call on CPU 0. */
static void begin(uint64_t tid, uint64_t time, uint64_t stack)
{
	put(0, PERF_RECORD_SAMPLE, (uint64_t[]){ 7 | tid << 32, time, 2, stack }, 4);
}

/* Put an end, after the return address was popped. */
static void end(int cpu, uint64_t tid, uint64_t time, uint64_t stack)
{
	put(cpu, PERF_RECORD_SAMPLE,
	    (uint64_t[]){ 7 | tid << 32, time, (uint64_t)cpu, 2, stack + 8 }, 5);
}

/* Read, and compare the numbers up to now, and the slowest call that was read now. */
static void expect(uint64_t calls, uint64_t slow_calls, uint64_t slowest_begin,
		   uint64_t slowest_end)
{
	ck_assert_int_eq(slow_watch_read(&watch, true), slowest_end != 0);
	ck_assert_uint_eq(watch.calls, calls);
	ck_assert_uint_eq(watch.slow_calls, slow_calls);
	ck_assert_uint_eq(watch.slowest.begin, slowest_begin);
	ck_assert_uint_eq(watch.slowest.end, slowest_end);
}

START_TEST(a_call_is_slow_if_it_takes_longer_than_the_bound)
{
	begin(8, 1000, 0x7000);
	end(0, 8, 1100, 0x7000);
	expect(1, 0, 0, 0);
	begin(8, 2000, 0x7000);
	end(0, 8, 2101, 0x7000);
	begin(8, 3000, 0x7000);
	end(0, 8, 3500, 0x7000);
	begin(8, 4000, 0x7000);
	end(0, 8, 4200, 0x7000);
	expect(4, 3, 3000, 3500);
	ck_assert_int_eq(watch.slowest.pid, 7);
	ck_assert_int_eq(watch.slowest.tid, 8);
	expect(4, 3, 0, 0);
}
END_TEST

START_TEST(an_end_belongs_to_the_begin_of_its_stack_pointer)
{
	/* Nested: both are slow. */
	begin(8, 1000, 0x7000);
	begin(8, 1100, 0x6000);
	end(0, 8, 1300, 0x6000);
	end(0, 8, 1500, 0x7000);
	expect(2, 2, 1000, 1500);
	/* longjmp() leaves the inner call. */
	begin(8, 2000, 0x7000);
	begin(8, 2100, 0x6000);
	end(0, 8, 2300, 0x7000);
	expect(3, 3, 2000, 2300);
	/* Another one at its place is a call of its own. */
	begin(8, 3000, 0x6000);
	end(0, 8, 3010, 0x6000);
	expect(4, 3, 0, 0);
	/* The begin was before the watch. */
	end(0, 8, 4000, 0x5000);
	expect(4, 3, 0, 0);
}
END_TEST

START_TEST(calls_of_threads_are_apart)
{
	begin(8, 1000, 0x7000);
	begin(9, 1010, 0x7000);
	end(0, 8, 1050, 0x7000);
	end(1, 9, 1200, 0x7000);
	expect(2, 1, 1010, 1200);
	ck_assert_int_eq(watch.slowest.tid, 9);
}
END_TEST

START_TEST(between_is_from_the_first_call_of_start_to_the_next_of_stop)
{
	watch.between = true;
	end(0, 8, 900, 0x100);
	begin(8, 1000, 0x7000);
	begin(8, 1200, 0x5000);
	end(0, 8, 1250, 0x100);
	end(0, 8, 1900, 0x100);
	begin(8, 2000, 0x7000);
	end(0, 8, 2010, 0x300);
	expect(2, 1, 1000, 1250);
}
END_TEST

START_TEST(an_event_waits_for_earlier_ones_of_other_cpus)
{
	begin(8, 1000, 0x7000);
	begin(8, 2000, 0x7000);
	end(0, 8, 2500, 0x7000);
	ck_assert(!slow_watch_read(&watch, false));
	/* The end of the first call was on another CPU, whose ring is read later. */
	end(1, 8, 1010, 0x7000);
	ck_assert(slow_watch_read(&watch, false));
	ck_assert_uint_eq(watch.calls, 2);
	ck_assert_uint_eq(watch.slow_calls, 1);
	ck_assert_uint_eq(watch.slowest.begin, 2000);
}
END_TEST

START_TEST(calls_around_lost_records_are_forgotten)
{
	begin(8, 1000, 0x7000);
	expect(0, 0, 0, 0);
	put(0, PERF_RECORD_LOST, (uint64_t[]){ 0, 3 }, 2);
	begin(8, 4000, 0x6000);
	expect(0, 0, 0, 0);
	end(0, 8, 4500, 0x6000);
	end(0, 8, 5000, 0x7000);
	expect(0, 0, 0, 0);
	ck_assert_uint_eq(watch.lost, 3);
	begin(8, 6000, 0x7000);
	end(0, 8, 6200, 0x7000);
	expect(1, 1, 6000, 6200);
}
END_TEST

START_TEST(a_percentile_is_that_of_the_first_thousand_calls)
{
	watch.slow = (struct slow_choice){ .percentile = 500000 };
	for (uint64_t i = 1; i <= 1000; i++) {
		begin(8, i * 10000, 0x7000);
		end(0, 8, i * 10000 + i, 0x7000);
		expect(i, 0, 0, 0);
		ck_assert_int_eq(watch.bound != 0, i == 1000);
	}
	/* Durations are exact to 1/128. */
	ck_assert_uint_ge(watch.bound, 496);
	ck_assert_uint_le(watch.bound, 508);
	begin(8, 20000000, 0x7000);
	end(0, 8, 20000510, 0x7000);
	begin(8, 30000000, 0x7000);
	end(0, 8, 30000490, 0x7000);
	expect(1002, 1, 20000000, 20000510);
}
END_TEST

/* A begin and an end have 11 words, so that records are cut by the end of the ring. */
START_TEST(a_ring_is_read_around_its_end)
{
	for (uint64_t i = 0; i < 3 * RING_SIZE / (11 * 8); i++) {
		begin(8, i * 1000, 0x7000);
		end(0, 8, i * 1000 + 101, 0x7000);
		if (i % 1000 == 0)
			slow_watch_read(&watch, true);
	}
	slow_watch_read(&watch, true);
	ck_assert_uint_eq(watch.calls, 3 * RING_SIZE / (11 * 8));
	ck_assert_uint_eq(watch.slow_calls, watch.calls);
}
END_TEST

START_TEST(calls_that_never_return_take_bounded_memory)
{
	for (uint64_t i = 0; i < 100000; i++) {
		begin(8, i, 0x700000 - i);
		if (i % 1000 == 0)
			slow_watch_read(&watch, true);
	}
	begin(8, 200000, 0x1000);
	end(0, 8, 200200, 0x1000);
	expect(1, 1, 200000, 200200);
	ck_assert_uint_le(watch.open[0].room, 8192);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("slow_watch");
	TCase *all = tcase_create("all");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, a_call_is_slow_if_it_takes_longer_than_the_bound);
	tcase_add_test(all, an_end_belongs_to_the_begin_of_its_stack_pointer);
	tcase_add_test(all, calls_of_threads_are_apart);
	tcase_add_test(all, between_is_from_the_first_call_of_start_to_the_next_of_stop);
	tcase_add_test(all, an_event_waits_for_earlier_ones_of_other_cpus);
	tcase_add_test(all, calls_around_lost_records_are_forgotten);
	tcase_add_test(all, a_percentile_is_that_of_the_first_thousand_calls);
	tcase_add_test(all, a_ring_is_read_around_its_end);
	tcase_add_test(all, calls_that_never_return_take_bounded_memory);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
