/* SPDX-License-Identifier: MIT */
/*
 * `ptrace2ftf list` on recordings whose switches and AUX records say how much trace each thread
 * wrote: a buffer's bytes belong to the threads that ran since the previous AUX record, by time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/common.h"
#include "tests/support/sample.h"
#include "tests/support/unit.h"

#define OTHER   20
#define UNNAMED 30
#define IDLE    0

/* Bytes of trace: a PSB, and padding. */
static const uint8_t trace[1024] = { 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82,
				     2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82 };

static struct perf_data recording;
static char path[PERF_DATA_PATH], text[20000];

static void at(uint64_t time, int32_t tid, int32_t cpu)
{
	perf_data_stamp(&recording, (struct perf_data_stamp){
					    .time = time, .pid = tid, .tid = tid, .cpu = cpu });
}

static void run_instead(uint64_t time, int32_t from, int32_t to)
{
	at(time, from, 0);
	perf_data_add_switch(&recording, true, to, to);
}

static void add_aux(uint64_t time, uint64_t offset, uint64_t size, uint64_t flags)
{
	at(time, SAMPLE_PID, 0);
	perf_data_add_aux_event(&recording, offset, size, flags);
}

static void add_buffer(uint32_t queue, int32_t tid, int32_t cpu, size_t size, uint64_t reference)
{
	perf_data_add_auxtrace(&recording, &(struct perf_data_aux){ .reference = reference,
								    .queue = queue,
								    .tid = tid,
								    .cpu = cpu,
								    .bytes = trace,
								    .size = size });
}

static void begin(void)
{
	static const char *const words[] = {
		"perf", "record", "-e", "intel_pt//u", "./sample", NULL
	};

	sample_begin(&recording);
	perf_data_set_command_line(&recording, words);
}

/* Run `ptrace2ftf list`, and keep its output in `text`. */
static void list(const char *options)
{
	char *command = alloc_text("%s/ptrace2ftf list %s %s 2>&1 </dev/null",
				   getenv("top_builddir"), options, path);
	FILE *out = popen(command, "r");
	size_t size;

	ck_assert_ptr_nonnull(out);
	size = fread(text, 1, sizeof(text) - 1, out);
	text[size] = 0;
	pclose(out);
	free(command);
}

static void finish(void)
{
	perf_data_write_temporary(&recording, path);
	perf_data_release(&recording);
}

static void has(const char *line)
{
	ck_assert_msg(strstr(text, line) != NULL, "%s in:\n%s", line, text);
}

static void lacks(const char *line)
{
	ck_assert_msg(strstr(text, line) == NULL, "%s in:\n%s", line, text);
}

/*
 * CPU 0: sample, other, idle, sample, a thread that is not traced, sample.  By the AUX records,
 *
 *	100 bytes up to 3900: sample 1900 ns, other 1900 ns
 *	300 bytes up to 5100: other 100 ns, sample 100 ns
 *	 80 bytes up to 7500: sample
 *	 40 bytes up to 7900: no traced thread ran, so they are of the one before
 *
 * CPU 1 has 64 bytes, and no switches.
 */
static void record_two_cpus(void)
{
	begin();
	at(200, OTHER, 0);
	perf_data_add_comm(&recording, 0, OTHER, OTHER, "other");
	run_instead(2000, SAMPLE_PID, OTHER);
	add_aux(3900, 0, 100, 0);
	run_instead(4000, OTHER, IDLE);
	run_instead(5000, IDLE, SAMPLE_PID);
	add_aux(5100, 100, 300, PERF_AUX_FLAG_COLLISION);
	run_instead(7000, SAMPLE_PID, UNNAMED);
	add_aux(7500, 400, 80, PERF_AUX_FLAG_PARTIAL);
	add_aux(7900, 480, 40, PERF_AUX_FLAG_PARTIAL | PERF_AUX_FLAG_COLLISION);
	run_instead(8000, UNNAMED, SAMPLE_PID);
	add_buffer(0, -1, 0, 520, 0);
	add_buffer(1, -1, 1, 64, 0);
	finish();
}

START_TEST(threads_have_the_trace_of_the_times_at_which_they_ran)
{
	record_two_cpus();
	list("--json");
	has("\"begin_ns\": 100,");
	has("\"end_ns\": 8000,");
	has("\"trace_bytes\": 584,");
	has("\"unknown_bytes\": 64,");
	has("\"other_threads\": 1,");
	has("\"resolution_ns\": null,");
	has("\"kind\": \"full\",");
	has("\"mode\": \"user\",");
	has("\"temp_bytes\": 93440,"); /* 160 for each byte */
	has("\"command_line\": \"perf record -e intel_pt//u ./sample\",");
	list("");
	has(": 584 B of trace of user code, recorded in 7.9us\n"
	    "recorded by: perf record -e intel_pt//u ./sample\n");
	has("     320 B  54.8%        0.000000100        0.000008000  sample 1234/1234\n"
	    "     200 B  34.2%        0.000002000        0.000004000  other 20/20\n"
	    "      64 B  11.0%                  ?                  ?  of no known thread\n"
	    "1 other threads ran on these CPUs, and were not recorded\n");
	has("     520 B  89.0%  CPU 0, 2 times partial: did a KVM guest run?, 2 collisions with "
	    "other samples\n"
	    "      64 B  11.0%  CPU 1\n");
	unlink(path);
}
END_TEST

START_TEST(only_chosen_threads_are_listed)
{
	record_two_cpus();
	list("--tid=20");
	has("  other 20/20\n");
	lacks("sample 1234/1234");
	unlink(path);
}
END_TEST

/* A buffer per thread: all is its thread's. The times are those of the buffers. */
START_TEST(a_buffer_of_a_thread_is_the_threads_own)
{
	begin();
	at(200, OTHER, 0);
	perf_data_add_comm(&recording, 0, OTHER, OTHER, "other");
	at(300, SAMPLE_PID, 0);
	perf_data_add_comm(&recording, 0, SAMPLE_PID, SAMPLE_PID, "later");
	add_buffer(0, SAMPLE_PID, -1, 104, 1000);
	add_buffer(1, OTHER, -1, 312, 9000);
	finish();
	list("");
	has(": 416 B of trace of user code, recorded in 8.9us\n");
	has("     312 B  75.0%                  ?                  ?  other 20/20\n"
	    "     104 B  25.0%        0.000000100        0.000009000  sample, later 1234/1234\n");
	has("     104 B  25.0%  thread 1234\n     312 B  75.0%  thread 20\n");
	lacks("of no known thread");
	lacks("other threads");
	unlink(path);
}
END_TEST

/* A worker whose switches are not recorded ran between its fork and its exit. */
START_TEST(a_thread_without_switches_ran_from_its_fork_to_its_exit)
{
	begin();
	at(400, SAMPLE_PID, 0);
	perf_data_add_fork(&recording, SAMPLE_PID, OTHER, SAMPLE_PID);
	at(700, OTHER, 0);
	perf_data_add_exit(&recording, SAMPLE_PID, OTHER);
	add_buffer(0, OTHER, -1, 104, 600);
	finish();
	list("");
	has("     104 B 100.0%        0.000000400        0.000000700  sample 1234/20\n");
	unlink(path);
}
END_TEST

/* Snapshots have no AUX records of their bytes; each piece was written up to its own time. */
START_TEST(a_snapshot_is_of_the_threads_before_it)
{
	static const struct perf_data_pt_info info = { .pmu_type = SAMPLE_PMU,
						       .time_mult = 1,
						       .cap_user_time_zero = 1,
						       .tsc_bit = 0x400,
						       .noretcomp_bit = 0x800,
						       .snapshot_mode = 1,
						       .per_cpu_mmaps = 1,
						       .max_nonturbo_ratio = 25 };
	uint8_t second[208];

	memcpy(second, trace, 16);
	memset(second + 16, 0x0a, sizeof(second) - 16); /* TNTs */
	begin();
	perf_data_add_pt_info(&recording, &info, NULL);
	at(200, OTHER, 0);
	perf_data_add_comm(&recording, 0, OTHER, OTHER, "other");
	run_instead(2000, SAMPLE_PID, OTHER);
	add_aux(1500, 0, 4096, PERF_AUX_FLAG_OVERWRITE);
	add_aux(3500, 0, 4096, PERF_AUX_FLAG_OVERWRITE);
	add_buffer(0, -1, 0, 104, 1500);
	perf_data_add_auxtrace(&recording, &(struct perf_data_aux){ .aux_offset = 5000,
								    .reference = 2500,
								    .tid = -1,
								    .bytes = second,
								    .size = 208 });
	finish();
	list("");
	has(": 312 B of snapshots of user code");
	/* Up to 1500 the sample; up to 2500 both, for 500 ns. */
	has("     208 B  66.7%        0.000000100        0.000002000  sample 1234/1234\n"
	    "     104 B  33.3%        0.000002000        0.000002500  other 20/20\n");
	has("  CPU 0, 1 gaps: only the newest trace is copied\n");
	unlink(path);
}
END_TEST

/* Bytes that a full buffer lost, or that the file lacks. */
START_TEST(lost_trace_is_the_buffers)
{
	begin();
	add_aux(3000, 0, 64, PERF_AUX_FLAG_TRUNCATED);
	add_aux(4000, 128, 64, 0);
	add_buffer(0, -1, 0, 64, 0);
	perf_data_add_auxtrace(&recording,
			       &(struct perf_data_aux){
				       .aux_offset = 128, .tid = -1, .bytes = trace, .size = 64 });
	finish();
	list("");
	has("     128 B 100.0%  CPU 0, 1 times truncated: the buffer was full, 64 bytes missing: perf "
	    "was too slow, or the file was cut\n");
	unlink(path);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pipeline_list");
	TCase *all = tcase_create("pipeline_list");

	tcase_add_test(all, threads_have_the_trace_of_the_times_at_which_they_ran);
	tcase_add_test(all, only_chosen_threads_are_listed);
	tcase_add_test(all, a_buffer_of_a_thread_is_the_threads_own);
	tcase_add_test(all, a_thread_without_switches_ran_from_its_fork_to_its_exit);
	tcase_add_test(all, a_snapshot_is_of_the_threads_before_it);
	tcase_add_test(all, lost_trace_is_the_buffers);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
