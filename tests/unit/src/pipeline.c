/* SPDX-License-Identifier: MIT */
/*
 * The whole program on two threads, on a CPU each: the sample on CPU 0, and on CPU 1 a thread
 * "other" that runs work() for one loop.  By the code, main has 3 instructions of its own, work 7
 * in three loops or 3 in one, and leaf 1.
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

#define OTHER 20

static char folder[40], text[20000];

static void add_other(struct perf_data *recording)
{
	const struct perf_data_mmap map = { .pid = OTHER,
					    .tid = OTHER,
					    .address = SAMPLE_CODE,
					    .length = 0x1000,
					    .file_offset = TINY_ELF_CODE_OFFSET,
					    .path = SAMPLE_PATH,
					    .prot = 5 };
	struct pt_packets packets;
	struct perf_data_aux aux = { .reference = SAMPLE_START, .queue = 1, .tid = -1, .cpu = 1 };

	perf_data_stamp(recording, (struct perf_data_stamp){
					   .time = 100, .pid = OTHER, .tid = OTHER, .cpu = 1 });
	perf_data_add_comm(recording, 0, OTHER, OTHER, "other");
	perf_data_add_mmap2(recording, 0, &map);
	perf_data_add_itrace_start(recording, OTHER, OTHER);
	pt_packets_init(&packets);
	pt_packets_psb(&packets, SAMPLE_START + 300, 0);
	pt_packets_pge(&packets, SAMPLE_WORK);
	pt_packets_tsc(&packets, SAMPLE_START + 350);
	pt_packets_tnt(&packets, "tn");
	pt_packets_tsc(&packets, SAMPLE_START + 450);
	pt_packets_pgd(&packets, 0);
	aux.bytes = packets.bytes;
	aux.size = pt_packets_size(&packets);
	perf_data_add_auxtrace(recording, &aux);
	pt_packets_release(&packets);
}

static void set_up(void)
{
	struct perf_data recording;
	struct pt_packets packets;
	char path[60];

	strcpy(folder, "/tmp/ptrace2ftf-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	sprintf(path, "%s/sample", folder);
	tiny_elf_write(&sample_elf, path);
	sample_begin(&recording);
	pt_packets_init(&packets);
	sample_trace(&packets);
	sample_add_trace(&recording, &packets);
	pt_packets_release(&packets);
	add_other(&recording);
	sprintf(path, "%s/perf.data", folder);
	perf_data_write(&recording, path);
	perf_data_release(&recording);
}

static void tear_down(void)
{
	char command[60];

	sprintf(command, "rm -r %s", folder);
	ck_assert_int_eq(system(command), 0);
}

/* Convert the recording: returns the program's status, and all output in `text`. */
static int run(const char *options)
{
	char *command = alloc_text("%s/ptrace2ftf %s --symfs=%s %s/perf.data 2>&1 </dev/null",
				   getenv("top_builddir"), options, folder, folder);
	FILE *out = popen(command, "r");
	size_t size;

	ck_assert_ptr_nonnull(out);
	size = fread(text, 1, sizeof(text) - 1, out);
	text[size] = 0;
	free(command);
	return WEXITSTATUS(pclose(out));
}

#define SAMPLE_LINES "sample;main 3\nsample;main;work 14\nsample;main;work;leaf 6\n"
#define OTHER_LINES  "other;work 3\nother;work;leaf 1\n"
#define CSV          "pid,tid,depth,begin_ns,duration_ns,name,location,insns,cycles,marks\n"

/* --format=folded counts instructions. */
static const struct {
	const char *options;
	int status;
	const char *output;
} outputs[] = {
	{ "-f folded", 0, SAMPLE_LINES OTHER_LINES },
	{ "-f folded -j4", 0, SAMPLE_LINES OTHER_LINES },
	{ "-f folded --engine=libipt", 0, SAMPLE_LINES OTHER_LINES },
	{ "-f folded --tid=20", 0, OTHER_LINES },
	{ "-f folded --pid=1-19,21-9999", 0, SAMPLE_LINES },
	{ "-f folded --cpu=1", 0, OTHER_LINES },
	{ "-f folded --comm='oth*'", 0, OTHER_LINES },
	{ "-f folded --symbol=leaf", 0, "sample;main;work;leaf 6\nother;work;leaf 1\n" },
	{ "-f folded --symbol=main", 0, SAMPLE_LINES },
	{ "-f folded --depth=1", 0, "sample;main 23\nother;work 4\n" },
	{ "-f folded --hide=work", 0, "sample;main 17\nsample;main;leaf 6\nother;leaf 1\n" },
	/* The first leaf of the second work() has begun before. */
	{ "-f folded --time=+300ns,", 0,
	  "sample;main 1\nsample;main;work 6\nsample;main;work;leaf 3\n" OTHER_LINES },
	{ "-f csv --clock=insns", 0,
	  CSV
	  "20,20,0,0,4,work,,,,inferred_start_time\n20,20,1,1,1,leaf,,,,\n1234,1234,0,0,23,main,,,,inferred_start_time cut\n"
	  "1234,1234,1,1,10,work,,,,\n1234,1234,2,2,1,leaf,,,,\n1234,1234,2,5,1,leaf,,,,\n"
	  "1234,1234,2,8,1,leaf,,,,\n1234,1234,1,12,10,work,,,,\n1234,1234,2,13,1,leaf,,,,\n"
	  "1234,1234,2,16,1,leaf,,,,\n1234,1234,2,19,1,leaf,,,,\n"
	  "1234,1234,1,23,0,[syscall],,,,cut\n" },
	{ "-f csv --clock=insns --time=+2,+3 --tid=1234", 0,
	  CSV
	  "1234,1234,0,2,3,main,,,,inferred_start_time cut\n1234,1234,1,2,3,work,,,,inferred_start_time cut\n1234,1234,2,2,1,leaf,,,,\n"
	  "1234,1234,2,5,0,leaf,,,,cut\n" },
	{ "-f csv --clock=insns --time=+2,+3 --depth=2 --tid=1234", 0,
	  CSV
	  "1234,1234,0,2,3,main,,,,inferred_start_time cut\n1234,1234,1,2,3,work,,,,inferred_start_time cut\n" },
	{ "-f csv --clock=insns --time=+2,+3 --depth=1 --symbol=work --tid=1234", 0,
	  CSV
	  "1234,1234,0,2,3,main,,,,inferred_start_time cut\n1234,1234,1,2,3,work,,,,inferred_start_time cut\n" },
	{ "-f branches --cpu=1", 0,
	  "   20/20        0.001000300:   tr strt                               0 [unknown] =>"
	  "           401020 work+0x0\n"
	  "   20/20        0.001000300:   call                             401020 work+0x0 =>"
	  "           401040 leaf+0x0\n"
	  "   20/20        0.001000350:   return                           401040 leaf+0x0 =>"
	  "           401025 work+0x5\n"
	  "   20/20        0.001000450:   tr end  return                   401027 work+0x7 =>"
	  "                0 [unknown]\n" },
	{ "-f events", 0, "" },
};

START_TEST(what_is_chosen_is_printed)
{
	char *options = alloc_text("-q %s -o -", outputs[_i].options);

	ck_assert_int_eq(run(options), outputs[_i].status);
	ck_assert_str_eq(text, outputs[_i].output);
	free(options);
}
END_TEST

/* Words that the output has, and one that it has not. */
static const struct {
	const char *options;
	int status;
	const char *has[4], *lacks;
} messages[] = {
	{ "-f none", 0, { "26 branches on 2 threads, 700 ns, 168 bytes of trace\n" }, "warning" },
	{ "-f folded --tid=77 -o -",
	  2,
	  { "0 branches on 0 threads, 0 ns, 168 bytes of trace\n",
	    "no recorded data matches --tid=77; recorded threads: 1234/1234 (sample), "
	    "20/20 (other)\n" },
	  "list" },
	{ "-f folded --cpu=7 -o -",
	  2,
	  { "168 bytes excluded by the selection\n",
	    "no recorded data matches --cpu=7; `ptrace2ftf list` shows the recorded CPUs\n" },
	  "recorded threads" },
	{ "-f folded --time=1,2 -o -",
	  1,
	  { "perf.data: --time: nothing was recorded in the range; the trace is from 0.001000000 "
	    "to 0.001000700 s\n" },
	  "branches" },
	{ "-f csv --tid=20 -o /dev/null",
	  0,
	  { "4 branches, 3 slices on 1 thread, 150 ns" },
	  "main" },
	{ "--verify -f none",
	  0,
	  { "2 parts of the trace also decoded by libipt: 0 differ; 26 branches are the same" },
	  "warning" },
	{ "--slowest=1 --symbol=leaf --tid=20",
	  0,
	  { "50ns     0.001000300", "median 50ns, p99 50ns, longest 50ns\n" },
	  "sample/1234" },
	{ "list",
	  0,
	  { "/perf.data: 168 B of trace of user code, recorded in 999.9us\n",
	    "104 B  61.9%        0.000000100        0.001000000  sample 1234/1234\n",
	    "64 B  38.1%        0.000000100        0.001000000  other 20/20\n",
	    "found       all       /sample\n" },
	  "gaps" },
	{ "list --json",
	  0,
	  { "\"trace_bytes\": 168,", "\"begin_ns\": 100,", "\"end_ns\": 1000000,",
	    "\"other_threads\": 0," },
	  "missing\": 1" },
};

START_TEST(what_was_converted_is_reported)
{
	ck_assert_int_eq(run(messages[_i].options), messages[_i].status);
	for (size_t i = 0; i < 4 && messages[_i].has[i]; i++)
		ck_assert_msg(strstr(text, messages[_i].has[i]) != NULL, "%s in:\n%s",
			      messages[_i].has[i], text);
	ck_assert_msg(strstr(text, messages[_i].lacks) == NULL, "%s in:\n%s", messages[_i].lacks,
		      text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pipeline");
	TCase *all = tcase_create("all");

	tcase_add_checked_fixture(all, set_up, tear_down);
	tcase_add_loop_test(all, what_is_chosen_is_printed, 0, COUNT_OF(outputs));
	tcase_add_loop_test(all, what_was_converted_is_reported, 0, COUNT_OF(messages));
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
