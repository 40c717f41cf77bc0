/* SPDX-License-Identifier: MIT */
/*
 * When a thread was off CPU, what its CPU did, and who woke it, by artificial records of switches
 * and samples of sched_waking and sched_wakeup (tracefs's format of Linux 6.1).
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "decoder/perf_data/perf_file.h"
#include "decoder/timeline/timeline.h"
#include "tests/support/perf_data.h"
#include "tests/support/tracing_data.h"
#include "tests/support/unit.h"

enum { WAKING = 318, WAKEUP = 317, HARDIRQ = 0x08, SOFTIRQ = 0x10 };

#define FIELDS                                                                                     \
	TRACING_COMMON                                                                             \
	"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"                                 \
	"\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"                                     \
	"\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n"                                      \
	"\tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n"

static struct perf_data data;
static struct perf_file file;
static struct timeline *timeline;
static struct diag diag;
static struct off_cpu off;

static void add_event(uint64_t config)
{
	struct perf_data_event event = {
		.attr = {
			.type = PERF_TYPE_TRACEPOINT,
			.config = config,
			.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				       PERF_SAMPLE_CPU | PERF_SAMPLE_RAW,
			.sample_id_all = 1,
		},
		.first_id = 10 * config,
		.attr_bytes = sizeof(struct perf_event_attr),
	};

	perf_data_add_event(&data, &event);
}

static void set_up(void)
{
	static const char *const formats[] = { "name: sched_waking\nID: 318\nformat:\n" FIELDS,
					       "name: sched_wakeup\nID: 317\nformat:\n" FIELDS };
	struct perf_data_buffer bytes =
		tracing_data(&(struct tracing_system){ "sched", formats, 2 }, 1);

	perf_data_init(&data);
	diag_init(&diag);
	memset(&file, 0, sizeof(file));
	perf_data_add_pt_event(&data, 8, 0);
	data.events[0].attr.context_switch = 1;
	perf_data_set_feature(&data, FEATURE_TRACING_DATA, bytes.bytes, bytes.size);
	free(bytes.bytes);
}

static void tear_down(void)
{
	timeline_close(timeline);
	perf_file_close(&file);
	perf_data_release(&data);
	diag_release(&diag);
	timeline = NULL;
}

/* A thread leaves a CPU for another one; 0: idle. */
static void leave(uint64_t time, int32_t cpu, int32_t from, int32_t to)
{
	perf_data_stamp(&data, (struct perf_data_stamp){
				       .time = time, .pid = from, .tid = from, .cpu = cpu });
	perf_data_add_switch(&data, true, to, to);
}

/* linux/perf_event.h, PERF_RECORD_SAMPLE. */
static void wake(uint64_t config, uint64_t time, int32_t waker, uint8_t flags, int32_t tid)
{
	struct {
		uint64_t id;
		int32_t pid, tid;
		uint64_t time;
		int32_t cpu, zero;
		uint32_t size;
		uint16_t type;
		uint8_t flags, preempt_count;
		int32_t common_pid;
		char comm[16];
		int32_t woken, prio, target_cpu;
	} sample = { .id = 10 * config,
		     .pid = waker,
		     .tid = waker,
		     .time = time,
		     .size = 36,
		     .type = (uint16_t)config,
		     .flags = flags,
		     .woken = tid };

	perf_data_add_user_record(&data, PERF_RECORD_SAMPLE, &sample, sizeof(sample));
}

/* Thread 5, in [100, 900). */
static bool find(void)
{
	char path[PERF_DATA_PATH];
	struct error err;

	perf_data_write_temporary(&data, path);
	ck_assert_msg(perf_file_open(&file, path, &diag, &err) == 0, "%s", err.text);
	unlink(path);
	timeline = timeline_open(&file, NULL, 0, &diag);
	return timeline_off_cpu(timeline, 5, 100, 900, &off);
}

static void expect(uint64_t begin, uint64_t end, int32_t instead, uint64_t ns)
{
	ck_assert(find());
	ck_assert_uint_eq(off.begin, begin);
	ck_assert_uint_eq(off.end, end);
	ck_assert_int_eq(off.instead ? off.instead->tid : 0, instead);
	ck_assert_uint_eq(off.instead_ns, ns);
}

START_TEST(a_thread_is_on_the_cpu_that_it_was_switched_to)
{
	leave(50, 0, 0, 5);
	leave(200, 0, 5, 6);
	leave(300, 1, 0, 5);
	find();
	ck_assert_int_eq(timeline_cpu_at(timeline, 5, 49), -1);
	ck_assert_int_eq(timeline_cpu_at(timeline, 5, 50), 0);
	ck_assert_int_eq(timeline_cpu_at(timeline, 5, 199), 0);
	ck_assert_int_eq(timeline_cpu_at(timeline, 5, 200), -1);
	ck_assert_int_eq(timeline_cpu_at(timeline, 5, 300), 1);
	ck_assert_int_eq(timeline_cpu_at(timeline, 6, 300), 0);
	ck_assert_int_eq(timeline_cpu_at(NULL, 5, 100), -1);
}
END_TEST

/* The longest of four times; threads run in turn; the last time ends later. */
START_TEST(the_longest_time_counts_and_who_ran_most_in_it)
{
	leave(50, 0, 0, 5);
	leave(60, 0, 5, 8);
	leave(99, 0, 8, 5);
	leave(200, 0, 5, 6);
	leave(260, 0, 6, 7);
	leave(350, 0, 7, 6);
	leave(400, 0, 6, 9);
	leave(470, 0, 9, 0);
	leave(480, 0, 0, 5);
	leave(500, 0, 5, 8);
	leave(590, 0, 8, 5);
	leave(_i ? 800 : 600, 0, 5, 8);
	leave(2000, 0, 8, 5);
	if (_i)
		expect(200, 480, 6, 60 + 50);
	else
		expect(600, 900, 8, 300);
}
END_TEST

START_TEST(a_thread_may_continue_on_another_cpu)
{
	leave(50, 1, 0, 5);
	leave(_i ? 170 : 120, 1, 5, 6);
	leave(130, 0, 7, 0);
	leave(180, 0, 0, 5);
	leave(300, 1, 6, 7);
	leave(310, 0, 5, 7);
	leave(_i ? 400 : 311, 1, 7, 5);
	leave(500, 0, 7, 5);
	leave(950, 0, 5, 7);
	expect(_i ? 310 : 120, _i ? 400 : 180, _i ? 7 : 6, _i ? 90 : 60);
	ck_assert_int_eq(off.cpu, !_i);
}
END_TEST

START_TEST(a_cpu_may_be_idle_and_a_thread_may_run_all_the_time)
{
	leave(50, 0, 0, 5);
	if (_i)
		leave(120, 0, 5, 0);
	leave(180, 0, 0, 5);
	leave(950, 0, 5, 7);
	if (_i)
		expect(120, 180, 0, 0);
	else
		ck_assert(!find());
}
END_TEST

START_TEST(a_preempted_thread_does_not_wait)
{
	leave(50, 0, 0, 5);
	perf_data_stamp(&data, (struct perf_data_stamp){ .time = 120, .pid = 5, .tid = 5 });
	perf_data_add_record(&data, PERF_RECORD_SWITCH_CPU_WIDE,
			     PERF_RECORD_MISC_SWITCH_OUT |
				     (_i ? PERF_RECORD_MISC_SWITCH_OUT_PREEMPT : 0),
			     (int32_t[]){ 6, 6 }, 8);
	leave(180, 0, 6, 5);
	expect(120, 180, 6, 60);
	ck_assert_int_eq(off.preempted, _i);
}
END_TEST

/* The first waking in the time off CPU counts: a waker of -1 is not known. */
static const struct {
	uint64_t event, time;
	int32_t waker;
	uint8_t flags;
	int32_t woken, expected;
	bool both; /* events are recorded */
} wakings[] = {
	{ WAKING, 350, 6, 0, 5, 6, false },
	{ WAKING, 350, 6, 1, 5, 6, true },
	{ WAKING, 350, 6, 0, 7, -1, false },
	{ WAKING, 290, 6, 0, 5, -1, false },
	{ WAKING, 401, 6, 0, 5, -1, false },
	{ WAKING, 350, 6, HARDIRQ, 5, 0, false },
	{ WAKING, 350, 6, HARDIRQ | SOFTIRQ, 5, 0, false },
	{ WAKING, 350, 0, 0, 5, 0, false },
	{ WAKING, 350, 6, SOFTIRQ, 5, -1, false },
	{ WAKEUP, 350, 6, 0, 5, 6, false },
	{ WAKEUP, 350, 6, 0, 5, -1, true },
	{ WAKEUP, 350, 6, HARDIRQ, 5, -1, false },
	{ WAKEUP, 350, 0, 0, 5, -1, false },
};

START_TEST(who_woke_the_thread_is_as_recorded)
{
	add_event(wakings[_i].event);
	if (wakings[_i].both)
		add_event(WAKING + WAKEUP - wakings[_i].event);
	leave(50, 0, 0, 5);
	leave(300, 0, 5, 6);
	wake(wakings[_i].event, 380, 7, SOFTIRQ, 5);
	wake(wakings[_i].event, wakings[_i].time, wakings[_i].waker, wakings[_i].flags,
	     wakings[_i].woken);
	leave(400, 0, 6, 5);
	expect(300, 400, 6, 100);
	ck_assert_int_eq(off.waking ? off.waking->waker : -1, wakings[_i].expected);
	ck_assert(!off.waking || off.waking->time == wakings[_i].time);
}
END_TEST

START_TEST(wakings_may_be_in_any_order)
{
	add_event(WAKING);
	leave(50, 0, 0, 5);
	leave(300, 0, 5, 6);
	wake(WAKING, 380, 7, 0, 5);
	wake(WAKING, 350, 6, 0, 5);
	leave(400, 0, 6, 5);
	expect(300, 400, 6, 100);
	ck_assert_int_eq(off.waking->waker, 6);
}
END_TEST

/* Thread 5 is off CPU in [120, 180), [300, 420) across CPUs, and from 600 on. */
START_TEST(times_off_cpu_add_up_within_bounds)
{
	static const struct {
		uint64_t begin, end, ns;
	} spans[] = {
		{ 50, 600, 180 }, { 120, 180, 60 },  { 130, 170, 40 }, { 180, 300, 0 },
		{ 170, 310, 20 }, { 599, 700, 100 }, { 650, 700, 50 }, { 400, 2000, 1420 },
	};

	leave(50, 0, 0, 5);
	leave(120, 0, 5, 6);
	leave(180, 0, 6, 5);
	leave(300, 0, 5, 6);
	leave(420, 1, 7, 5);
	leave(430, 0, 6, 0);
	leave(600, 1, 5, 0);
	find();
	for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++)
		ck_assert_uint_eq(timeline_off_ns(timeline, 5, spans[i].begin, spans[i].end),
				  spans[i].ns);
	ck_assert_uint_eq(timeline_off_ns(timeline, 4, 0, 1000), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("off_cpu");
	TCase *all = tcase_create("all");

	tcase_add_checked_fixture(all, set_up, tear_down);
	tcase_add_test(all, a_thread_is_on_the_cpu_that_it_was_switched_to);
	tcase_add_loop_test(all, the_longest_time_counts_and_who_ran_most_in_it, 0, 2);
	tcase_add_loop_test(all, a_thread_may_continue_on_another_cpu, 0, 2);
	tcase_add_loop_test(all, a_cpu_may_be_idle_and_a_thread_may_run_all_the_time, 0, 2);
	tcase_add_loop_test(all, a_preempted_thread_does_not_wait, 0, 2);
	tcase_add_loop_test(all, who_woke_the_thread_is_as_recorded, 0,
			    (int)(sizeof(wakings) / sizeof(wakings[0])));
	tcase_add_test(all, wakings_may_be_in_any_order);
	tcase_add_test(all, times_off_cpu_add_up_within_bounds);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
