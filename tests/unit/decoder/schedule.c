/* SPDX-License-Identifier: MIT */
/* Which thread runs at a time, when the trace's time is coarser than the kernel's. */
#include <string.h>
#include <unistd.h>

#include "decoder/engine/schedule.h"
#include "decoder/perf_data/perf_file.h"
#include "decoder/timeline/timeline.h"
#include "tests/support/sample.h"
#include "tests/support/unit.h"

#define OTHER_PID  2000
#define OTHER_CODE UINT64_C(0x700000)
#define NEWER_CODE UINT64_C(0x6ff000) /* ends in other code */

static struct perf_file file;
static struct timeline *timeline;
static struct diag diag;

static void at(struct perf_data *data, uint64_t time, int32_t pid)
{
	perf_data_stamp(data, (struct perf_data_stamp){ .time = time, .pid = pid, .tid = pid });
}

static void switch_to(struct perf_data *data, uint64_t time, int32_t from, int32_t to)
{
	at(data, time, from);
	perf_data_add_switch(data, true, to, to);
}

static void open_data(struct perf_data *data)
{
	char path[PERF_DATA_PATH];

	perf_data_write_temporary(data, path);
	diag_init(&diag);
	ck_assert_int_eq(perf_file_open(&file, path, &diag, NULL), 0);
	timeline = timeline_open(&file, NULL, 0, &diag);
	unlink(path);
	perf_data_release(data);
}

/*
 * The sample runs from 100; idle from 2000; another process from 3000, which maps over its code at
 * 4000.
 */
static void open_timeline(void)
{
	struct perf_data_mmap map = { .pid = OTHER_PID,
				      .tid = OTHER_PID,
				      .address = OTHER_CODE,
				      .length = 0x1000,
				      .path = "/other",
				      .prot = 5 };
	struct perf_data data;

	sample_begin(&data);
	at(&data, 150, OTHER_PID);
	perf_data_add_comm(&data, 0, OTHER_PID, OTHER_PID, "other");
	perf_data_add_mmap2(&data, 0, &map);
	switch_to(&data, 2000, SAMPLE_PID, 0);
	switch_to(&data, 3000, 0, OTHER_PID);
	at(&data, 4000, OTHER_PID);
	map.path = "/newer";
	perf_data_add_mmap2(&data, 0, &map);
	open_data(&data);
}

static void close_timeline(void)
{
	timeline_close(timeline);
	perf_file_close(&file);
	diag_release(&diag);
}

static const char *mapped(const struct schedule *schedule, uint64_t ip)
{
	const struct mapping *mapping = address_space_borrow_mapping(schedule->space, ip);

	return mapping ? mapping->file->path : "";
}

START_TEST(the_thread_of_the_last_switch_runs)
{
	struct schedule schedule;

	open_timeline();
	schedule_init(&schedule, &timeline->history, 0, -1);
	ck_assert_ptr_null(schedule.thread);
	ck_assert_ptr_null(schedule_next_program(&schedule, 50));
	ck_assert_uint_eq(schedule_clamp(&schedule, 1000), 100); /* ITRACE_START */
	schedule_seek(&schedule, 1999);
	ck_assert_int_eq(schedule.thread->tid, SAMPLE_PID);
	schedule_seek(&schedule, 2000);
	ck_assert_int_eq(schedule.thread->tid, 0);
	schedule_seek(&schedule, 3500);
	ck_assert_int_eq(schedule.thread->tid, OTHER_PID);
	close_timeline();
}
END_TEST

/* From then on, a cursor that begins in the middle finds what one from the start does. */
START_TEST(a_start_in_the_middle_finds_the_same_thread)
{
	struct schedule whole, middle;

	open_timeline();
	for (uint64_t begin = 0; begin <= 4500; begin += 250) {
		schedule_init(&whole, &timeline->history, 0, -1);
		schedule_init(&middle, &timeline->history, 0, -1);
		schedule_seek(&whole, begin);
		schedule_begin_at(&middle, begin);
		ck_assert(schedule_equals(&whole, &middle));
		for (uint64_t time = begin; time <= 4500; time += 250) {
			schedule_seek(&whole, time);
			schedule_seek(&middle, time);
			ck_assert(schedule_equals(&whole, &middle));
			ck_assert_uint_eq(schedule_clamp(&middle, 0), middle.begin);
			ck_assert_uint_eq(schedule_clamp(&middle, UINT64_MAX), middle.end);
			ck_assert_uint_eq(schedule_clamp(&middle, time), time);
		}
	}
	close_timeline();
}
END_TEST

/* Cursors are equal if they find the same from then on. */
START_TEST(other_cursors_are_not_equal)
{
	static const struct thread thread;
	static const struct address_space space;
	struct schedule a, b;

	open_timeline();
	schedule_init(&a, &timeline->history, 0, -1);
	schedule_seek(&a, 3500);
	b = a;
	ck_assert(schedule_equals(&a, &b));
	b.next += _i == 0;
	b.thread = _i == 1 ? &thread : b.thread;
	b.space = _i == 2 ? &space : b.space;
	b.epoch += _i == 3;
	b.begin += _i == 4;
	b.end -= _i == 5;
	ck_assert(!schedule_equals(&a, &b));
	close_timeline();
}
END_TEST

START_TEST(user_code_in_idle_time_is_the_next_threads)
{
	struct schedule schedule;

	open_timeline();
	schedule_init(&schedule, &timeline->history, 0, -1);
	schedule_seek_user(&schedule, 2990, OTHER_CODE);
	ck_assert_int_eq(schedule.thread->tid, OTHER_PID);
	/* Its events cannot precede its start. */
	ck_assert_uint_eq(schedule_clamp(&schedule, 2990), 3000);
	close_timeline();
}
END_TEST

START_TEST(code_that_only_the_next_epoch_has_is_found_a_little_early)
{
	struct schedule schedule;

	open_timeline();
	schedule_init(&schedule, &timeline->history, 0, -1);
	schedule_seek_user(&schedule, 3999, OTHER_CODE);
	ck_assert_str_eq(mapped(&schedule, OTHER_CODE), "/other");
	schedule_seek_user(&schedule, 4000, OTHER_CODE);
	ck_assert_str_eq(mapped(&schedule, OTHER_CODE), "/newer");
	close_timeline();
}
END_TEST

START_TEST(a_buffer_per_thread_is_that_threads)
{
	struct schedule schedule;

	open_timeline();
	schedule_init(&schedule, &timeline->history, -1, OTHER_PID);
	ck_assert_str_eq(mapped(&schedule, OTHER_CODE), "/other"); /* before any time is known */
	schedule_seek_user(&schedule, 200, SAMPLE_CODE);
	ck_assert_int_eq(schedule.thread->tid, OTHER_PID);
	schedule_seek(&schedule, 5000);
	ck_assert_int_eq(schedule.thread->tid, OTHER_PID);
	ck_assert_str_eq(mapped(&schedule, OTHER_CODE), "/newer");
	close_timeline();
}
END_TEST

/* Two threads of one process; the second runs from 2000 to 3000. */
static void open_two_threads(void)
{
	struct perf_data data;

	sample_begin(&data);
	at(&data, 150, SAMPLE_PID);
	perf_data_add_fork(&data, SAMPLE_PID, SAMPLE_PID + 1, SAMPLE_PID);
	at(&data, 2000, SAMPLE_PID);
	perf_data_add_switch(&data, true, SAMPLE_PID, SAMPLE_PID + 1);
	perf_data_stamp(&data, (struct perf_data_stamp){
				       .time = 3000, .pid = SAMPLE_PID, .tid = SAMPLE_PID + 1 });
	perf_data_add_switch(&data, true, SAMPLE_PID, SAMPLE_PID);
	open_data(&data);
}

/*
 * Both threads have the same code, and the time is 100 ns late: their stop addresses show which
 * thread continues.
 */
START_TEST(the_place_of_a_stop_separates_a_thread_from_its_neighbour)
{
	struct schedule schedule;

	open_two_threads();
	schedule_init(&schedule, &timeline->history, 0, -1);
	schedule.slack = 300;
	schedule_seek_user(&schedule, 1000, SAMPLE_MAIN);
	schedule_stop_user(&schedule, SAMPLE_MAIN + 5);
	schedule_seek_user(&schedule, 2500, SAMPLE_LEAF);
	ck_assert_int_eq(schedule.thread->tid, SAMPLE_PID + 1);
	schedule_stop_user(&schedule, SAMPLE_WORK);
	/* An interrupt: the thread continues at the same address. */
	schedule_seek_user(&schedule, 2850, SAMPLE_WORK);
	ck_assert_int_eq(schedule.thread->tid, SAMPLE_PID + 1);
	schedule_stop_user(&schedule, SAMPLE_WORK);
	schedule_seek_user(&schedule, 2900, SAMPLE_MAIN + 5);
	ck_assert_int_eq(schedule.thread->tid, SAMPLE_PID);
	close_timeline();
}
END_TEST

/* Counted cycles may lead past a switch, here to idle or to a thread without the code. */
START_TEST(a_clock_that_is_late_takes_no_code_from_its_thread)
{
	const uint64_t late = _i ? 3500 : 2500;
	struct schedule schedule;

	open_timeline();
	schedule_init(&schedule, &timeline->history, 0, -1);
	schedule_seek_user(&schedule, 1000, SAMPLE_MAIN);
	schedule_stop_user(&schedule, SAMPLE_MAIN + 5);
	schedule_seek_user(&schedule, late, SAMPLE_MAIN + 5);
	ck_assert_int_eq(schedule.thread->tid, SAMPLE_PID);
	ck_assert_uint_eq(schedule_clamp(&schedule, late), 2000);
	/* Elsewhere the thread is unknown. */
	schedule_stop_user(&schedule, SAMPLE_MAIN + 5);
	schedule_seek_user(&schedule, late, SAMPLE_MAIN);
	ck_assert_int_ne(schedule.thread->tid, SAMPLE_PID);
	close_timeline();
}
END_TEST

/* A cursor that began in the middle decides by stops it does not know: it joins none that has them.
 */
START_TEST(a_start_in_the_middle_is_refused_if_the_clock_was_late)
{
	struct schedule before, schedule;

	open_timeline();
	schedule_init(&before, &timeline->history, 0, -1);
	schedule_seek_user(&before, 1000, SAMPLE_MAIN);
	schedule_init(&schedule, &timeline->history, 0, -1);
	schedule_begin_at(&schedule, 1000);
	schedule_seek_user(&schedule, 2500, SAMPLE_MAIN + 5);
	ck_assert_int_ne(schedule.thread->tid, SAMPLE_PID);
	ck_assert(schedule_join_stops(&schedule, &before));
	schedule_init(&schedule, &timeline->history, 0, -1);
	schedule_begin_at(&schedule, 1000);
	schedule_seek_user(&schedule, 2500, SAMPLE_MAIN + 5);
	schedule_stop_user(&before, SAMPLE_MAIN + 5);
	ck_assert(!schedule_join_stops(&schedule, &before));
	close_timeline();
}
END_TEST

START_TEST(a_switch_that_is_too_far_away_is_not_the_reason)
{
	struct schedule schedule;

	open_two_threads();
	schedule_init(&schedule, &timeline->history, 0, -1);
	schedule.slack = 300;
	schedule_seek_user(&schedule, 1000, SAMPLE_MAIN);
	schedule_stop_user(&schedule, SAMPLE_MAIN + 5);
	schedule_seek_user(&schedule, 2100, SAMPLE_WORK);
	schedule_stop_user(&schedule, SAMPLE_WORK);
	/* A signal handler happens to begin at the first thread's stop address. */
	schedule_seek_user(&schedule, 2600, SAMPLE_MAIN + 5);
	ck_assert_int_eq(schedule.thread->tid, SAMPLE_PID + 1);
	close_timeline();
}
END_TEST

START_TEST(the_kernel_switches_at_a_switch_that_is_near)
{
	struct schedule schedule;

	open_two_threads();
	schedule_init(&schedule, &timeline->history, 0, -1);
	schedule_seek(&schedule, 1000);
	schedule_switch(&schedule, 1699, 300);
	ck_assert_int_eq(schedule.thread->tid, SAMPLE_PID);
	schedule_switch(&schedule, 1700, 300);
	ck_assert_int_eq(schedule.thread->tid, SAMPLE_PID + 1);
	schedule_switch(&schedule, 1702, 300);
	ck_assert_int_eq(schedule.thread->tid, SAMPLE_PID + 1);
	close_timeline();
}
END_TEST

START_TEST(the_next_program_begins_once_in_the_run_of_its_exec)
{
	struct schedule schedule;
	struct perf_data data;

	sample_begin(&data);
	at(&data, 1500, SAMPLE_PID);
	perf_data_add_comm(&data, PERF_RECORD_MISC_COMM_EXEC, SAMPLE_PID, SAMPLE_PID, "one");
	perf_data_add_mmap2(&data, 0,
			    &(struct perf_data_mmap){ .pid = SAMPLE_PID,
						      .tid = SAMPLE_PID,
						      .address = OTHER_CODE,
						      .length = 0x1000,
						      .path = "/one",
						      .prot = 5 });
	switch_to(&data, 2000, SAMPLE_PID, 0);
	switch_to(&data, 3000, 0, SAMPLE_PID);
	at(&data, 3500, SAMPLE_PID);
	perf_data_add_comm(&data, PERF_RECORD_MISC_COMM_EXEC, SAMPLE_PID, SAMPLE_PID, "two");
	open_data(&data);
	schedule_init(&schedule, &timeline->history, 0, -1);
	schedule_seek_user(&schedule, 1000, SAMPLE_CODE);
	ck_assert(!schedule_stopped_elsewhere(&schedule, SAMPLE_CODE));
	/* A page fault on the first instruction resumes there. */
	schedule_stop_user(&schedule, SAMPLE_CODE);
	ck_assert(!schedule_stopped_elsewhere(&schedule, SAMPLE_CODE));
	schedule_stop_user(&schedule, SAMPLE_CODE + 2);
	ck_assert(schedule_stopped_elsewhere(&schedule, SAMPLE_CODE));
	schedule_begin_program(&schedule);
	ck_assert_str_eq(mapped(&schedule, OTHER_CODE), "/one");
	ck_assert(!schedule_stopped_elsewhere(&schedule, OTHER_CODE));
	/* The second exec was in a later run of the thread. */
	ck_assert_ptr_null(schedule_next_program(&schedule, 1999));
	schedule_seek_user(&schedule, 3000, OTHER_CODE);
	ck_assert_str_eq(mapped(&schedule, OTHER_CODE), "/one");
	ck_assert_ptr_nonnull(schedule_next_program(&schedule, 3000));
	schedule.clock_bound = 200;
	ck_assert_ptr_null(schedule_next_program(&schedule, 3099));
	ck_assert_ptr_nonnull(schedule_next_program(&schedule, 3100));
	schedule_begin_program(&schedule);
	ck_assert_str_eq(mapped(&schedule, OTHER_CODE), "");
	close_timeline();
}
END_TEST

/* The clock lags by 400 ns at most, so it has not reached the next thread and mapping. */
START_TEST(what_the_clock_excludes_is_not_the_reason)
{
	struct perf_data_mmap map = { .pid = OTHER_PID,
				      .tid = OTHER_PID,
				      .address = OTHER_CODE,
				      .length = 0x1000,
				      .path = "/other",
				      .prot = 5 };
	struct perf_data data;
	struct schedule schedule;

	sample_begin(&data);
	at(&data, 150, OTHER_PID);
	perf_data_add_comm(&data, 0, OTHER_PID, OTHER_PID, "other");
	perf_data_add_mmap2(&data, 0, &map);
	switch_to(&data, 2000, SAMPLE_PID, OTHER_PID);
	at(&data, 4000, OTHER_PID);
	map.address = NEWER_CODE;
	map.length = 0x2000;
	map.path = "/newer";
	perf_data_add_mmap2(&data, 0, &map);
	open_data(&data);
	schedule_init(&schedule, &timeline->history, 0, -1);
	schedule.clock_bound = 200;
	schedule_seek_user(&schedule, 1599, OTHER_CODE);
	ck_assert_int_eq(schedule.thread->tid, SAMPLE_PID);
	schedule_seek_user(&schedule, 1600, OTHER_CODE);
	ck_assert_int_eq(schedule.thread->tid, OTHER_PID);
	schedule_seek_user(&schedule, 3599, NEWER_CODE);
	ck_assert_str_eq(mapped(&schedule, NEWER_CODE), "");
	schedule_seek_user(&schedule, 3600, NEWER_CODE);
	ck_assert_str_eq(mapped(&schedule, NEWER_CODE), "/newer");
	close_timeline();
}
END_TEST

/* perf writes no switch when exec gives a thread its leader's tid. */
START_TEST(a_thread_that_runs_exec_becomes_the_leader)
{
	struct perf_data data;
	struct schedule schedule;

	sample_begin(&data);
	perf_data_stamp(&data, (struct perf_data_stamp){
				       .time = 1000, .pid = SAMPLE_PID, .tid = SAMPLE_PID + 1 });
	perf_data_add_switch(&data, false, SAMPLE_PID, SAMPLE_PID);
	at(&data, 2000, SAMPLE_PID);
	perf_data_add_comm(&data, PERF_RECORD_MISC_COMM_EXEC, SAMPLE_PID, SAMPLE_PID, "two");
	perf_data_add_mmap2(&data, 0,
			    &(struct perf_data_mmap){ .pid = SAMPLE_PID,
						      .tid = SAMPLE_PID,
						      .address = OTHER_CODE,
						      .length = 0x1000,
						      .path = "/two",
						      .prot = 5 });
	open_data(&data);
	schedule_init(&schedule, &timeline->history, 0, -1);
	schedule_seek_user(&schedule, 1000, SAMPLE_CODE);
	ck_assert_int_eq(schedule.thread->tid, SAMPLE_PID + 1);
	/* The time is early; the code decides. */
	schedule_seek_user(&schedule, 1900, OTHER_CODE);
	ck_assert_int_eq(schedule.thread->tid, SAMPLE_PID);
	ck_assert_str_eq(mapped(&schedule, OTHER_CODE), "/two");
	schedule_init(&schedule, &timeline->history, 0, -1);
	schedule_seek_user(&schedule, 2000, OTHER_CODE);
	ck_assert_int_eq(schedule.thread->tid, SAMPLE_PID);
	close_timeline();
}
END_TEST

/* The kernel ends the leader before an exec by another thread (fs/exec.c, de_thread()). */
START_TEST(a_leader_whose_tid_ran_exec_lives_and_runs_the_next_program)
{
	struct perf_data_mmap map = { .pid = SAMPLE_PID,
				      .tid = SAMPLE_PID,
				      .address = OTHER_CODE,
				      .length = 0x1000,
				      .path = "/two",
				      .prot = 5 };
	struct perf_data data;
	struct schedule schedule;

	sample_begin(&data);
	at(&data, 1000, SAMPLE_PID);
	perf_data_add_exit(&data, SAMPLE_PID, SAMPLE_PID);
	at(&data, 2000, SAMPLE_PID);
	perf_data_add_comm(&data, PERF_RECORD_MISC_COMM_EXEC, SAMPLE_PID, SAMPLE_PID, "two");
	perf_data_add_mmap2(&data, 0, &map);
	at(&data, 3000, SAMPLE_PID);
	perf_data_add_comm(&data, PERF_RECORD_MISC_COMM_EXEC, SAMPLE_PID, SAMPLE_PID, "three");
	map.path = "/three";
	perf_data_add_mmap2(&data, 0, &map);
	open_data(&data);
	schedule_init(&schedule, &timeline->history, 0, -1);
	schedule_seek(&schedule, 2000);
	ck_assert_int_eq(schedule.thread->tid, SAMPLE_PID);
	ck_assert_uint_eq(schedule.thread->end, UINT64_MAX);
	ck_assert_ptr_nonnull(schedule_next_program(&schedule, 2000));
	close_timeline();
}
END_TEST

/* Then the other threads have ended, so their buffers have nothing after it. */
START_TEST(a_buffer_per_thread_is_the_leaders_after_an_exec)
{
	struct perf_data data;
	struct schedule schedule;

	sample_begin(&data);
	at(&data, 150, SAMPLE_PID);
	perf_data_add_fork(&data, SAMPLE_PID, SAMPLE_PID + 1, SAMPLE_PID);
	at(&data, 2000, SAMPLE_PID);
	perf_data_add_comm(&data, PERF_RECORD_MISC_COMM_EXEC, SAMPLE_PID, SAMPLE_PID, "two");
	open_data(&data);
	schedule_init(&schedule, &timeline->history, -1, SAMPLE_PID + 1);
	schedule_seek(&schedule, 1999);
	ck_assert_int_eq(schedule.thread->tid, SAMPLE_PID + 1);
	schedule_seek(&schedule, 2000);
	ck_assert_int_eq(schedule.thread->tid, SAMPLE_PID);
	close_timeline();
}
END_TEST

START_TEST(a_thread_that_begins_early_has_the_code_of_its_switch)
{
	struct perf_data_mmap map = { .pid = SAMPLE_PID,
				      .tid = SAMPLE_PID,
				      .address = OTHER_CODE,
				      .length = 0x1000,
				      .path = "/older",
				      .prot = 5 };
	struct schedule schedule;
	struct perf_data data;

	sample_begin(&data);
	at(&data, 150, SAMPLE_PID);
	perf_data_add_mmap2(&data, 0, &map);
	switch_to(&data, 2000, SAMPLE_PID, 0);
	at(&data, 2500, SAMPLE_PID); /* on another CPU */
	map.path = "/newer";
	perf_data_add_mmap2(&data, 0, &map);
	switch_to(&data, 3000, 0, SAMPLE_PID);
	open_data(&data);
	schedule_init(&schedule, &timeline->history, 0, -1);
	schedule_seek_user(&schedule, 2400, OTHER_CODE);
	ck_assert_int_eq(schedule.thread->tid, SAMPLE_PID);
	ck_assert_str_eq(mapped(&schedule, OTHER_CODE), "/newer");
	close_timeline();
}
END_TEST

/* A cursor that began in the middle may decide by stops that it set itself. */
START_TEST(stops_since_a_start_in_the_middle_are_known)
{
	struct schedule before, schedule;

	open_timeline();
	schedule_init(&before, &timeline->history, 0, -1);
	schedule_seek_user(&before, 1000, SAMPLE_MAIN);
	schedule_stop_user(&before, SAMPLE_WORK);
	schedule_init(&schedule, &timeline->history, 0, -1);
	schedule_begin_at(&schedule, 1000);
	schedule_stop_user(&schedule, SAMPLE_MAIN + 5);
	schedule_seek_user(&schedule, 2500, SAMPLE_MAIN + 5);
	ck_assert_int_eq(schedule.thread->tid, SAMPLE_PID);
	ck_assert(schedule_join_stops(&schedule, &before));
	ck_assert(schedule_stopped_elsewhere(&schedule, SAMPLE_WORK));
	ck_assert(!schedule_stopped_elsewhere(&schedule, SAMPLE_MAIN + 5));
	close_timeline();
}
END_TEST

/* ---- Who enters user code ---------------------------------------------------- */

/*
 * On one CPU run A up to 2000, B up to 3000, nothing up to 3100, A up to 4000, and another process
 * with other code. A and B have the same code. A cursor with a slack of 300 ns has seen the stops
 * of A and B; then user code begins at a time and an address.
 */
#define A SAMPLE_PID
#define B (SAMPLE_PID + 1)
#define N UINT64_C(0x900000) /* no code */

static const struct entry {
	const char *what;
	uint64_t stop_a, stop_b; /* 0: not seen */
	uint64_t time, ip;
	int32_t tid;
} entries[] = {
	{ "the time decides if no stop was seen", 0, 0, 1900, SAMPLE_LEAF, A },
	{ "or if only the next thread's was", 0, SAMPLE_LEAF, 1900, SAMPLE_LEAF, A },
	{ "the thread continues where it stopped", SAMPLE_LEAF, SAMPLE_LEAF, 1900, SAMPLE_LEAF, A },
	{ "the next one does, shortly before its time", SAMPLE_WORK, SAMPLE_LEAF, 1900, SAMPLE_LEAF,
	  B },
	{ "and at the slack", SAMPLE_WORK, SAMPLE_LEAF, 1700, SAMPLE_LEAF, B },
	{ "but not earlier", SAMPLE_WORK, SAMPLE_LEAF, 1699, SAMPLE_LEAF, A },
	{ "nor elsewhere", SAMPLE_WORK, SAMPLE_LEAF, 1900, SAMPLE_MAIN, A },
	{ "time without a thread is passed over", SAMPLE_LEAF, SAMPLE_WORK, 2850, SAMPLE_LEAF, A },
	{ "if that thread is near", SAMPLE_LEAF, SAMPLE_WORK, 2750, SAMPLE_LEAF, B },
	{ "a thread that did not stop there does not continue", SAMPLE_WORK, SAMPLE_LEAF, 3900,
	  OTHER_CODE, OTHER_PID },
	{ "an address without code decides nothing", SAMPLE_WORK, N, 1900, N, A },
};

START_TEST(the_thread_whose_code_it_is_enters)
{
	const struct entry *entry = &entries[_i];
	struct perf_data_mmap map = { .pid = OTHER_PID,
				      .tid = OTHER_PID,
				      .address = OTHER_CODE,
				      .length = 0x1000,
				      .path = "/other",
				      .prot = 5 };
	struct perf_data data;
	struct schedule schedule;

	sample_begin(&data);
	at(&data, 150, OTHER_PID);
	perf_data_add_comm(&data, 0, OTHER_PID, OTHER_PID, "other");
	perf_data_add_mmap2(&data, 0, &map);
	at(&data, 160, A);
	perf_data_add_fork(&data, A, B, A);
	at(&data, 500, A);
	perf_data_add_switch(&data, true, A, B);
	perf_data_stamp(&data, (struct perf_data_stamp){ .time = 1000, .pid = A, .tid = B });
	perf_data_add_switch(&data, true, A, A);
	at(&data, 2000, A);
	perf_data_add_switch(&data, true, A, B);
	perf_data_stamp(&data, (struct perf_data_stamp){ .time = 3000, .pid = A, .tid = B });
	perf_data_add_switch(&data, true, 0, 0);
	switch_to(&data, 3100, 0, A);
	switch_to(&data, 4000, A, OTHER_PID);
	open_data(&data);
	schedule_init(&schedule, &timeline->history, 0, -1);
	schedule.slack = 300;
	schedule_seek(&schedule, 600);
	ck_assert_int_eq(schedule.thread->tid, B);
	if (entry->stop_b)
		schedule_stop_user(&schedule, entry->stop_b);
	schedule_seek(&schedule, 1100);
	if (entry->stop_a)
		schedule_stop_user(&schedule, entry->stop_a);
	schedule_seek_user(&schedule, entry->time, entry->ip);
	ck_assert_msg(schedule.thread->tid == entry->tid, "%s", entry->what);
	close_timeline();
}
END_TEST

/* Its mappings change at 1000, 2000 and 3000; only the next ones are looked up early. */
START_TEST(only_the_next_mappings_are_looked_up_early)
{
	static const struct {
		uint64_t ip;
		const char *path;
	} early[] = { { OTHER_CODE, "/one" }, { OTHER_CODE + 0x1000, "" }, { N, "" } };
	static const char *const paths[] = { "/one", "/two", "/three" };
	struct perf_data_mmap map = { .pid = A, .tid = A, .length = 0x1000, .prot = 5 };
	struct schedule schedule;
	struct perf_data data;

	sample_begin(&data);
	for (unsigned i = 0; i < 3; i++) {
		at(&data, 1000 * (i + 1), A);
		map.path = paths[i];
		map.address = SAMPLE_CODE; /* over other code */
		perf_data_add_mmap2(&data, 0, &map);
		map.address = OTHER_CODE + 0x1000 * i;
		perf_data_add_mmap2(&data, 0, &map);
	}
	open_data(&data);
	schedule_init(&schedule, &timeline->history, 0, -1);
	schedule_seek_user(&schedule, 999, early[_i].ip);
	ck_assert_str_eq(mapped(&schedule, early[_i].ip), early[_i].path);
	schedule_init(&schedule, &timeline->history, 0, -1);
	schedule_seek(&schedule, 900);
	schedule_enter_user(&schedule, 999, early[_i].ip);
	ck_assert_str_eq(mapped(&schedule, early[_i].ip), early[_i].path);
	close_timeline();
}
END_TEST

/* ---- Random cursors ---------------------------------------------------------- */

/* More threads than a cursor keeps stops of. */
enum { THREADS = 70, STEPS = 40, CURSORS = 40, STEP_NS = 100 };

static uint32_t number;

static unsigned random_below(unsigned limit)
{
	number = number * 1103515245 + 12345;
	return (number >> 16) % limit;
}

/* Threads of one process, of which few run, with switches at any time. */
static void open_many_threads(void)
{
	int32_t tid = SAMPLE_PID;
	struct perf_data data;

	sample_begin(&data);
	at(&data, 150, SAMPLE_PID);
	for (int32_t i = 1; i < THREADS; i++)
		perf_data_add_fork(&data, SAMPLE_PID, SAMPLE_PID + i, SAMPLE_PID);
	for (unsigned i = 1; i < STEPS; i++) {
		int32_t next =
			SAMPLE_PID + (random_below(2) ? 0 : THREADS - 6) + (int)random_below(2);

		if (random_below(2) || next == tid)
			continue;
		perf_data_stamp(&data, (struct perf_data_stamp){ .time = STEP_NS * i +
									 random_below(STEP_NS),
								 .pid = SAMPLE_PID,
								 .tid = tid });
		tid = random_below(5) ? next : 0;
		perf_data_add_switch(&data, true, tid ? SAMPLE_PID : 0, tid);
	}
	open_data(&data);
}

/* What a trace does with a cursor: enter user code, leave it, and pass time in the kernel. */
static struct step {
	unsigned kind;
	uint64_t time, ip;
} steps[STEPS];

static void draw_steps(void)
{
	for (unsigned i = 0; i < STEPS; i++)
		steps[i] = (struct step){ .kind = random_below(8),
					  .time = STEP_NS * i + random_below(STEP_NS),
					  .ip = SAMPLE_MAIN + random_below(3) };
}

static void take_step(struct schedule *schedule, const struct step *step)
{
	switch (step->kind) {
	case 0:
		schedule_seek(schedule, step->time);
		break;
	case 1:
		schedule_switch(schedule, step->time, schedule->slack);
		break;
	case 2:
		schedule_enter_user(schedule, step->time, step->ip);
		break;
	case 3:
	case 4:
		schedule_seek_user(schedule, step->time, step->ip);
		break;
	default:
		schedule_stop_user(schedule, step->ip);
		break;
	}
}

static void expect_same_stops(const struct schedule *a, const struct schedule *b)
{
	for (unsigned i = 0; i < SCHEDULE_STOPS; i++) {
		ck_assert_ptr_eq(a->stops[i].thread, b->stops[i].thread);
		ck_assert_ptr_eq(a->stops[i].space, b->stops[i].space);
		ck_assert_uint_eq(a->stops[i].ip, b->stops[i].ip);
	}
}

/* A cursor that begins before a step, and may join one from the start, has its threads and stops.
 */
START_TEST(a_cursor_that_joins_another_is_what_the_other_becomes)
{
	struct schedule whole[STEPS + 1], middle, joined;
	unsigned joins = 0, refused = 0;

	for (int cursor = 0; cursor < CURSORS; cursor++) {
		open_many_threads();
		draw_steps();
		schedule_init(&whole[0], &timeline->history, 0, -1);
		whole[0].slack = 150;
		for (unsigned i = 0; i < STEPS; i++) {
			whole[i + 1] = whole[i];
			take_step(&whole[i + 1], &steps[i]);
		}
		for (unsigned begin = 1; begin < STEPS; begin++) {
			middle = whole[0];
			schedule_begin_at(&middle, steps[begin - 1].time);
			if (!schedule_equals(&whole[begin], &middle))
				continue;
			for (unsigned i = begin; i < STEPS; i++) {
				take_step(&middle, &steps[i]);
				joined = middle;
				if (!schedule_join_stops(&joined, &whole[begin])) {
					refused++;
					continue;
				}
				joins++;
				ck_assert(schedule_equals(&joined, &whole[i + 1]));
				expect_same_stops(&joined, &whole[i + 1]);
			}
		}
		close_timeline();
	}
	ck_assert_uint_gt(joins, 100);
	ck_assert_uint_gt(refused, 100);
}
END_TEST

/* ---- Without times ----------------------------------------------------------- */

/*
 * The only thread runs three programs, of which the second maps more code later. A trace without
 * times may be of the first one, or, if it is the end of the recording, of the last one; an exec
 * leads to the next program with all its code.
 */
START_TEST(without_time_each_program_has_all_of_its_code)
{
	static const char *const programs[] = { "/one", "/two", "/three" };
	struct perf_data_mmap map = { .pid = SAMPLE_PID,
				      .tid = SAMPLE_PID,
				      .address = OTHER_CODE,
				      .length = 0x1000,
				      .prot = 5 };
	struct schedule schedule;
	struct perf_data data;

	sample_begin(&data);
	for (unsigned i = 0; i < 3; i++) {
		at(&data, 1000 * (i + 1), SAMPLE_PID);
		perf_data_add_comm(&data, PERF_RECORD_MISC_COMM_EXEC, SAMPLE_PID, SAMPLE_PID, "p");
		map.path = "/early";
		perf_data_add_mmap2(&data, 0, &map);
		at(&data, 1000 * (i + 1) + 500, SAMPLE_PID);
		map.path = programs[i];
		perf_data_add_mmap2(&data, 0, &map);
	}
	switch_to(&data, 5000, SAMPLE_PID, 0);
	open_data(&data);
	schedule_init(&schedule, &timeline->history, 0, -1);
	ck_assert(schedule_settle(&schedule, _i));
	ck_assert_int_eq(schedule.thread->tid, SAMPLE_PID);
	ck_assert_uint_eq(schedule_clamp(&schedule, 9999), 9999);
	if (!_i) {
		ck_assert_str_eq(mapped(&schedule, SAMPLE_CODE), SAMPLE_PATH);
		for (unsigned i = 0; i < 3; i++) {
			ck_assert_ptr_nonnull(schedule_next_program(&schedule, 0));
			schedule_begin_program(&schedule);
			ck_assert_str_eq(mapped(&schedule, OTHER_CODE), programs[i]);
		}
	}
	ck_assert_str_eq(mapped(&schedule, OTHER_CODE), "/three");
	ck_assert_ptr_null(schedule_next_program(&schedule, 0));
	close_timeline();
}
END_TEST

START_TEST(without_time_two_threads_are_a_guess)
{
	struct schedule schedule;

	open_timeline();
	schedule_init(&schedule, &timeline->history, 0, -1);
	ck_assert(!schedule_settle(&schedule, false));
	ck_assert_int_eq(schedule.thread->tid, OTHER_PID);
	schedule_init(&schedule, &timeline->history, -1, SAMPLE_PID);
	ck_assert(schedule_settle(&schedule, false));
	ck_assert_int_eq(schedule.thread->tid, SAMPLE_PID);
	schedule_init(&schedule, &timeline->history, 7, -1); /* a CPU without records */
	ck_assert(!schedule_settle(&schedule, false));
	ck_assert_ptr_null(schedule.thread);
	close_timeline();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("schedule");
	TCase *all = tcase_create("schedule");

	tcase_add_test(all, the_thread_of_the_last_switch_runs);
	tcase_add_test(all, a_start_in_the_middle_finds_the_same_thread);
	tcase_add_loop_test(all, other_cursors_are_not_equal, 0, 6);
	tcase_add_test(all, user_code_in_idle_time_is_the_next_threads);
	tcase_add_test(all, code_that_only_the_next_epoch_has_is_found_a_little_early);
	tcase_add_test(all, a_buffer_per_thread_is_that_threads);
	tcase_add_test(all, the_place_of_a_stop_separates_a_thread_from_its_neighbour);
	tcase_add_loop_test(all, a_clock_that_is_late_takes_no_code_from_its_thread, 0, 2);
	tcase_add_test(all, a_start_in_the_middle_is_refused_if_the_clock_was_late);
	tcase_add_test(all, a_switch_that_is_too_far_away_is_not_the_reason);
	tcase_add_test(all, the_kernel_switches_at_a_switch_that_is_near);
	tcase_add_test(all, the_next_program_begins_once_in_the_run_of_its_exec);
	tcase_add_test(all, a_thread_that_begins_early_has_the_code_of_its_switch);
	tcase_add_test(all, what_the_clock_excludes_is_not_the_reason);
	tcase_add_test(all, a_thread_that_runs_exec_becomes_the_leader);
	tcase_add_test(all, a_leader_whose_tid_ran_exec_lives_and_runs_the_next_program);
	tcase_add_test(all, a_buffer_per_thread_is_the_leaders_after_an_exec);
	tcase_add_loop_test(all, the_thread_whose_code_it_is_enters, 0, COUNT_OF(entries));
	tcase_add_loop_test(all, only_the_next_mappings_are_looked_up_early, 0, 3);
	tcase_add_test(all, stops_since_a_start_in_the_middle_are_known);
	tcase_add_test(all, a_cursor_that_joins_another_is_what_the_other_becomes);
	tcase_add_loop_test(all, without_time_each_program_has_all_of_its_code, 0, 2);
	tcase_add_test(all, without_time_two_threads_are_a_guess);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
