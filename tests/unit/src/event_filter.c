/* SPDX-License-Identifier: MIT */
/* Events of the chosen time, as a stream emits them. */
#include "src/select/event_filter.h"

#include <intel-pt.h>
#include <linux/hw_breakpoint.h>
#include <unistd.h>

#include "decoder/timeline/timeline.h"
#include "tests/support/sample.h"
#include "tests/support/unit.h"

/* Counts are emitted after the event before, and have its time, as later events may be older. */
START_TEST(counts_are_of_the_time_up_to_which_they_count)
{
	bool wanted[] = { true };
	struct event_filter filter = {
		.begin = 100,
		.end = 200,
		.threads = wanted,
		.active = true,
	};
	const struct branch_event events[] = {
		{ .kind = BRANCH_COUNTS, .time = 90, .word = 100 },
		{ .kind = BRANCH_CALL, .time = 150 },
		{ .kind = BRANCH_COUNTS, .time = 150, .word = 200 },
		{ .kind = BRANCH_COUNTS, .time = 200, .word = 201 },
	};

	ck_assert_uint_eq(event_filter_first(&filter, events, 4), 3);
	ck_assert_uint_eq(event_filter_first(&filter, events + 3, 1), 0);
}
END_TEST

/* ---- Who is chosen --------------------------------------------------------- */

#define THREADS 7

static struct thread_name name_of[] = { { .text = "main" }, { .text = "worker" } };

/* Process 10 forks 30, 20 and 40; a thread of 20 forks 50.  10 and 11 ran before the recording. */
static struct thread threads[THREADS] = {
	{ .pid = 10, .tid = 10, .names = &name_of[0], .name_count = 1 },
	{ .pid = 10, .tid = 11, .names = &name_of[1], .name_count = 1, .parent = &threads[0] },
	{ .pid = 30, .tid = 30, .begin = 50, .parent = &threads[0] },
	{ .pid = 20, .tid = 20, .begin = 100, .parent = &threads[0] },
	{ .pid = 40, .tid = 40, .begin = 200, .parent = &threads[0] },
	{ .pid = 20, .tid = 21, .begin = 150, .parent = &threads[3] },
	{ .pid = 50, .tid = 50, .begin = 300, .parent = &threads[5] },
};

#define BEGUN UINT64_MAX

static const struct choice {
	const char *pids, *tids, *comm, *cpus;
	bool wanted[THREADS + 1]; /* the last: unknown threads */
	uint64_t needed[THREADS]; /* times up to which other threads' calls matter */
	/* The streams that are decoded, of CPUs 0 and 1 and of threads 10 and 99. */
	bool streams[4];
} choices[] = {
	{ "10", NULL, NULL, NULL, { 1, 1 }, { 0 }, { 1, 1, 1, 0 } },
	{ NULL, "11", NULL, NULL, { 0, 1 }, { 0 }, { 1, 1, 0, 0 } },
	{ "10", "11", NULL, NULL, { 0, 1 }, { 0 }, { 1, 1, 0, 0 } },
	{ "20", "11", NULL, NULL, { 0 }, { 0 }, { 1, 1, 0, 0 } },
	{ NULL, NULL, "main", NULL, { 1 }, { 0 }, { 1, 1, 1, 0 } },
	{ "10", NULL, "w*", NULL, { 0, 1 }, { 0 }, { 1, 1, 0, 0 } },
	{ "20", NULL, "main", NULL, { 0 }, { 0 }, { 1, 1, 0, 0 } },
	{ NULL, NULL, NULL, "1", { 1, 1, 1, 1, 1, 1, 1, 1 }, { 0 }, { 0, 1, 1, 1 } },
	{ NULL, "10", NULL, "0", { 1 }, { 0 }, { 1, 0, 1, 0 } },
	/* Children need their parent up to the fork, and siblings that were forked before. */
	{ NULL, "20", NULL, NULL, { 0, 0, 0, 1 }, { 101, 0, BEGUN, BEGUN }, { 1, 1, 1, 0 } },
	{ NULL, "30", NULL, NULL, { 0, 0, 1 }, { 51, 0, BEGUN }, { 1, 1, 1, 0 } },
	{ NULL, "20,30", NULL, NULL, { 0, 0, 1, 1 }, { 101, 0, BEGUN, BEGUN }, { 1, 1, 1, 0 } },
	/* A thread begins with no stack, so that its creator matters only for forks. */
	{ NULL, "21", NULL, NULL, { 0, 0, 0, 0, 0, 1 }, { 0, 0, 0, 151 }, { 1, 1, 0, 0 } },
	{ NULL,
	  "50",
	  NULL,
	  NULL,
	  { 0, 0, 0, 0, 0, 0, 1 },
	  { 0, 0, 0, 151, 0, 301, BEGUN },
	  { 1, 1, 0, 0 } },
};

#define CHOICES ((int)(sizeof(choices) / sizeof(choices[0])))

static void choose(const struct choice *choice, struct selection *select)
{
	if (choice->pids)
		ck_assert(number_list_add(&select->pids, choice->pids));
	if (choice->tids)
		ck_assert(number_list_add(&select->tids, choice->tids));
	if (choice->cpus)
		ck_assert(number_list_add(&select->cpus, choice->cpus));
	if (choice->comm)
		pattern_list_add(&select->comms, choice->comm);
}

START_TEST(threads_and_streams_are_chosen_with_what_their_calls_need)
{
	static const struct aux_stream all[] = {
		{ .tid = -1, .cpu = 0, .size = 1 },
		{ .tid = -1, .cpu = 1, .size = 2 },
		{ .tid = 10, .cpu = -1, .size = 4 },
		{ .tid = 99, .cpu = -1, .size = 8 },
	};
	const struct choice *choice = &choices[_i / 2];
	struct options options = { .command = _i % 2 ? COMMAND_LIST : COMMAND_CONVERT };
	const struct thread *list[THREADS];
	struct timeline timeline = { .threads = { .threads = list, .count = THREADS } };
	struct auxtrace auxtrace = { .streams = (struct aux_stream *)all, .stream_count = 4 };
	struct event_filter filter;
	struct error err = { 0 };
	uint64_t left_out = 0;
	struct diag diag;
	size_t kept = 0;

	for (uint32_t i = 0; i < THREADS; i++) {
		threads[i].index = i;
		list[i] = &threads[i];
	}
	diag_init(&diag);
	choose(choice, &options.select);
	ck_assert_int_eq(event_filter_init(&filter, &options, &auxtrace, &timeline, &diag, &err),
			 0);
	for (size_t i = 0; i <= THREADS; i++)
		ck_assert_int_eq(event_filter_has(&filter, i < THREADS ? &threads[i] : NULL, 5),
				 choice->wanted[i]);
	/* `list` has no calls. */
	for (size_t i = 0; i < THREADS; i++)
		ck_assert_uint_eq(filter.needed ? filter.needed[i] : 0,
				  _i % 2 ? 0 : choice->needed[i]);
	for (size_t i = 0; i < 4 && !(_i % 2); i++) {
		left_out += choice->streams[i] ? 0 : all[i].size;
		if (choice->streams[i])
			ck_assert_uint_eq(auxtrace.streams[kept++].size, all[i].size);
	}
	if (!(_i % 2)) {
		ck_assert_uint_eq(auxtrace.stream_count, kept);
		ck_assert_uint_eq(filter.bytes_left_out, left_out);
	}
	/* A buffer of a thread does not name its CPU. */
	ck_assert_int_eq(diag_kinds(&diag), choice->cpus != NULL);
	event_filter_release(&filter);
	selection_release(&options.select);
	arena_release(&auxtrace.arena);
	diag_release(&diag);
}
END_TEST

/* ---- --time ---------------------------------------------------------------- */

#define ALWAYS UINT64_MAX

/* A recording of 1000 ns, with hits of a breakpoint after 100, 300 and 500 ns; the second one is of
 * another process. Times are ns since its begin; the range is of both ends. */
static const struct range {
	const char *time;
	bool other; /* only the other process is chosen */
	uint64_t begin, end;
	const char *error; /* or NULL */
} ranges[] = {
	{ "@hit,", false, 100, ALWAYS, NULL },
	{ "@hit:2,", false, 300, ALWAYS, NULL },
	{ "@hit:3,@hit:3", false, 500, 500, NULL },
	{ "-50ns@hit:2,+50ns@hit:2", false, 250, 350, NULL },
	{ "@hit,", true, 300, ALWAYS, NULL },
	{ "@hit:2,", true, 0, 0, "there is no hit 2: the chosen threads have 1" },
	{ "@hit:4,", false, 0, 0, "there is no hit 4: the chosen threads have 3" },
	{ "+200ns,+300ns", false, 200, 500, NULL },
	{ "25%,75%", false, 250, 750, NULL },
	{ "-100ns,", false, 900, ALWAYS, NULL },
	{ "50%,50%", false, 500, 500, NULL },
	{ "50%,49%", false, 0, 0, "the range ends before it begins" },
	/* The trace has its first and last moment. */
	{ "0.001001,", false, 1000, ALWAYS, NULL },
	{ "0.001001001,", false, 0, 0,
	  "nothing was recorded in the range; the trace is from 0.001000000 to 0.001001000 s" },
	{ "0,0.001", false, (uint64_t)-SAMPLE_START, 0, NULL },
	{ "0,0.000999999", false, 0, 0, "nothing was recorded in the range" },
};

#define BREAKPOINT 3000 /* id */

static void add_hit(struct perf_data *data, uint64_t time, int32_t pid)
{
	const uint64_t words[] = { BREAKPOINT, SAMPLE_WORK, (uint64_t)pid << 32 | (uint32_t)pid,
				   SAMPLE_START + time };

	perf_data_add_user_record(data, PERF_RECORD_SAMPLE, words, sizeof(words));
}

static void write_recording(char path[PERF_DATA_PATH], bool hits, bool times)
{
	struct perf_data_event breakpoint = {
		.attr = { .type = PERF_TYPE_BREAKPOINT,
			  .bp_type = HW_BREAKPOINT_X,
			  .bp_addr = SAMPLE_WORK,
			  .bp_len = 8,
			  .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
					 PERF_SAMPLE_TIME,
			  .sample_id_all = 1 },
		.name = "mem:0x401020:x",
		.first_id = BREAKPOINT,
		.attr_bytes = sizeof(struct perf_event_attr),
	};
	struct pt_packets packets;
	struct perf_data data;

	sample_begin(&data);
	perf_data_add_event(&data, &breakpoint);
	perf_data_add_fork(&data, SAMPLE_PID + 1, SAMPLE_PID + 1, SAMPLE_PID);
	for (uint64_t i = 0; hits && i < 3; i++)
		add_hit(&data, 100 + 200 * i, SAMPLE_PID + (i == 1));
	pt_packets_init(&packets);
	pt_packets_psb(&packets, SAMPLE_START, 0);
	pt_packets_tsc(&packets, SAMPLE_START + 1000);
	if (!times) {
		pt_packets_release(&packets);
		pt_packets_init(&packets);
		pt_packets_add(&packets, &(struct pt_packet){ .type = ppt_psb });
		pt_packets_add(&packets, &(struct pt_packet){ .type = ppt_psbend });
	}
	sample_add_trace(&data, &packets);
	perf_data_write_temporary(&data, path);
	perf_data_release(&data);
	pt_packets_release(&packets);
}

/* Choose events of such a recording. Returns the status. */
static int choose_time(struct options *options, bool hits, bool times, uint64_t *begin,
		       uint64_t *end, struct error *err)
{
	char path[PERF_DATA_PATH];
	struct event_filter filter;
	struct auxtrace auxtrace;
	struct timeline *timeline;
	struct perf_file file;
	struct diag diag;
	int status;

	diag_init(&diag);
	write_recording(path, hits, times);
	ck_assert_int_eq(perf_file_open(&file, path, &diag, NULL), 0);
	ck_assert_int_eq(auxtrace_init(&auxtrace, &file, NULL), 0);
	timeline = timeline_open(&file, NULL, 0, &diag);
	status = event_filter_init(&filter, options, &auxtrace, timeline, &diag, err);
	*begin = filter.begin;
	*end = filter.end;
	event_filter_release(&filter);
	timeline_close(timeline);
	auxtrace_release(&auxtrace);
	perf_file_close(&file);
	unlink(path);
	diag_release(&diag);
	return status;
}

START_TEST(a_range_of_time_is_of_the_trace_and_of_hits)
{
	const struct range *range = &ranges[_i];
	struct options options = { .command = COMMAND_CONVERT };
	struct error err = { 0 };
	uint64_t begin, end;
	char pid[20];
	int status;

	ck_assert(selection_time(&options.select, range->time));
	snprintf(pid, sizeof(pid), "%d", SAMPLE_PID + 1);
	if (range->other)
		ck_assert(number_list_add(&options.select.pids, pid));
	status = choose_time(&options, true, true, &begin, &end, &err);
	ck_assert_msg(status == (range->error ? -1 : 0), "%s", err.text);
	if (range->error) {
		ck_assert_msg(strstr(err.text, range->error) != NULL, "%s", err.text);
	} else {
		ck_assert_uint_eq(begin, SAMPLE_START + range->begin);
		ck_assert_uint_eq(end, range->end == ALWAYS ? ALWAYS : SAMPLE_START + range->end);
	}
	selection_release(&options.select);
}
END_TEST

START_TEST(times_without_hits_or_packets_are_refused)
{
	struct options options = { .command = COMMAND_CONVERT };
	struct error err = { 0 };
	uint64_t begin, end;

	ck_assert(selection_time(&options.select, _i ? "@hit," : "10%,"));
	ck_assert_int_eq(choose_time(&options, !_i, _i, &begin, &end, &err), -1);
	ck_assert_msg(strstr(err.text, _i ? "the recording has no hit" : "no TSC packets") != NULL,
		      "%s", err.text);
	selection_release(&options.select);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("event_filter");
	TCase *all = tcase_create("event_filter");

	tcase_add_test(all, counts_are_of_the_time_up_to_which_they_count);
	tcase_add_loop_test(all, threads_and_streams_are_chosen_with_what_their_calls_need, 0,
			    2 * CHOICES);
	tcase_add_loop_test(all, a_range_of_time_is_of_the_trace_and_of_hits, 0, COUNT_OF(ranges));
	tcase_add_loop_test(all, times_without_hits_or_packets_are_refused, 0, 2);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
