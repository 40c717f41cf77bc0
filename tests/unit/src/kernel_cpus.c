/* SPDX-License-Identifier: MIT */
/*
 * Threads that the kernel moves to another CPU, within its own code: the whole program on an
 * artificial recording of two CPUs.  A thread resumes after its call of __switch_to, so the
 * expected slices follow from the code.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/sample.h"
#include "tests/support/unit.h"

#define KERNEL    UINT64_C(0xffffffff81000000)
#define SCHEDULE  KERNEL          /* call __switch_to; ret */
#define SWITCH_TO (KERNEL + 0x20) /* ret */
#define SYS_READ  (KERNEL + 0x40) /* call schedule; ret */
#define SYS_WRITE (KERNEL + 0x50) /* the same */
#define ENTRY     (KERNEL + 0x60) /* call sys_read; call sys_write; jmp */
#define ROOM      20000

enum { READER = 11, WRITER = 12 };

static uint8_t code[0x80];
static const char kallsyms[] = "ffffffff81000000 T schedule\nffffffff81000020 T __switch_to\n"
			       "ffffffff81000040 T sys_read\nffffffff81000050 T sys_write\n"
			       "ffffffff81000060 T entry\nffffffff81000080 T _etext\n";

static struct perf_data data;
static struct pt_packets cpus[2];
static char place[64], slices[ROOM], branches[ROOM];

static void put_call(size_t at, size_t to)
{
	int32_t distance = (int32_t)to - (int32_t)at - 5;

	code[at] = 0xe8;
	memcpy(code + at + 1, &distance, sizeof(distance));
	code[at + 5] = 0xc3;
}

static void setup(void)
{
	memset(code, 0x90, sizeof(code));
	put_call(0, 0x20);
	code[0x20] = 0xc3;
	put_call(0x40, 0);
	put_call(0x50, 0);
	put_call(0x60, 0x40);
	put_call(0x65, 0x50);
	code[0x6a] = 0xeb;
	code[0x6b] = 0xf4; /* to ENTRY */
	sample_begin(&data);
	data.events[0].attr.exclude_kernel = 0;
	data.events[0].attr.context_switch = 1;
	pt_packets_init(&cpus[0]);
	pt_packets_init(&cpus[1]);
	strcpy(place, "/tmp/kernel_cpus.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(place));
}

static void teardown(void)
{
	char command[100];

	perf_data_release(&data);
	pt_packets_release(&cpus[0]);
	pt_packets_release(&cpus[1]);
	snprintf(command, sizeof(command), "rm -r %s", place);
	ck_assert_int_eq(system(command), 0);
}

static void add_switch(uint64_t time, int32_t cpu, int32_t from, int32_t to)
{
	struct perf_data_stamp stamp = {
		.time = SAMPLE_START + time, .pid = from, .tid = from, .cpu = cpu
	};

	perf_data_stamp(&data, stamp);
	perf_data_add_switch(&data, true, to, to);
}

static void name_threads(void)
{
	perf_data_stamp(&data, (struct perf_data_stamp){ 0 });
	perf_data_add_comm(&data, 0, READER, READER, "reader");
	perf_data_add_comm(&data, 0, WRITER, WRITER, "writer");
	perf_data_add_mmap(&data, PERF_RECORD_MISC_KERNEL,
			   &(struct perf_data_mmap){ .pid = -1,
						     .address = KERNEL,
						     .length = 0x80,
						     .file_offset = KERNEL,
						     .path = "[kernel.kallsyms]_text" });
}

static void write_file(const char *name, const char *text)
{
	char path[PATH_MAX];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", place, name);
	out = fopen(path, "w");
	ck_assert_ptr_nonnull(out);
	fputs(text, out);
	fclose(out);
}

static void run(char *text, const char *format)
{
	const char *build = getenv("top_builddir");
	char command[1000];
	size_t size;
	FILE *out;

	snprintf(command, sizeof(command),
		 "%s/ptrace2ftf -q --format=%s --kernel=%s %s/perf.data 2>&1", build, format, place,
		 place);
	out = popen(command, "r");
	ck_assert_ptr_nonnull(out);
	size = fread(text, 1, ROOM - 1, out);
	text[size] = 0;
	ck_assert_msg(pclose(out) == 0, "%s", text);
}

static void finish(const char *engine)
{
	struct tiny_elf elf = { .address = KERNEL, .code = code, .code_size = sizeof(code) };
	char path[PATH_MAX], format[100];

	for (int32_t cpu = 0; cpu < 2; cpu++) {
		struct perf_data_aux aux = { .reference = SAMPLE_START,
					     .queue = (uint32_t)cpu,
					     .tid = -1,
					     .cpu = cpu,
					     .bytes = cpus[cpu].bytes,
					     .size = pt_packets_size(&cpus[cpu]) };

		perf_data_add_auxtrace(&data, &aux);
	}
	snprintf(path, sizeof(path), "%s/perf.data", place);
	perf_data_write(&data, path);
	snprintf(path, sizeof(path), "%s/kcore", place);
	tiny_elf_write(&elf, path);
	write_file("kallsyms", kallsyms);
	snprintf(format, sizeof(format), "slices %s", engine);
	run(slices, format);
	snprintf(format, sizeof(format), "branches %s", engine);
	run(branches, format);
}

/* Returns how many lines have both strings. */
static unsigned count(const char *text, const char *first, const char *second)
{
	unsigned found = 0;

	for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
		char line[300];

		snprintf(line, sizeof(line), "%.*s", (int)strcspn(at, "\n"), at);
		found += strstr(line, first) && strstr(line, second);
	}
	return found;
}

#define EXPECT(number, text, first, second)                                                        \
	ck_assert_msg(count(text, first, second) == (number), "'%s' '%s' in\n%.1500s%.1500s",      \
		      first, second, slices, branches)

/* A CPU's thread calls down to __switch_to; the next thread returns to `to` and on from there. */
static void pass_switch(struct pt_packets *cpu, uint64_t time)
{
	pt_packets_tsc(cpu, SAMPLE_START + time);
	pt_packets_tip(cpu, SCHEDULE + 5); /* the next thread returns from __switch_to */
}

/*
 *	time	CPU 0			CPU 1
 *	0	reader in sys_read	writer in sys_write
 *	2000				writer -> idle
 *	3000	reader -> writer
 *	4000				idle -> reader
 */
START_TEST(threads_go_on_where_they_left_on_whatever_cpu)
{
	name_threads();
	add_switch(1, 0, 0, READER);
	add_switch(1, 1, 0, WRITER);
	add_switch(2000, 1, WRITER, 0);
	add_switch(3000, 0, READER, WRITER);
	add_switch(4000, 1, 0, READER);

	pt_packets_psb(&cpus[0], SAMPLE_START + 10, 0);
	pt_packets_pge(&cpus[0], ENTRY); /* reader: entry, sys_read, schedule, __switch_to */
	pass_switch(&cpus[0], 3000);     /* writer, in schedule */
	pt_packets_tip(&cpus[0], SYS_WRITE + 5);
	pt_packets_tip(&cpus[0], ENTRY + 10);
	pt_packets_tsc(&cpus[0], SAMPLE_START + 4500);
	pt_packets_pgd(&cpus[0], 0);

	pt_packets_psb(&cpus[1], SAMPLE_START + 10, 0);
	pt_packets_pge(&cpus[1], ENTRY + 5); /* writer: entry, sys_write, schedule, __switch_to */
	pass_switch(&cpus[1], 2000);         /* idle, in schedule */
	pt_packets_tip(&cpus[1], SYS_READ);  /* unknown thread: it calls at once */
	pass_switch(&cpus[1], 4000);         /* reader, in schedule */
	pt_packets_tip(&cpus[1], SYS_READ + 5);
	pt_packets_tip(&cpus[1], ENTRY + 5);
	pt_packets_tsc(&cpus[1], SAMPLE_START + 4500);
	pt_packets_pgd(&cpus[1], 0);
	finish(_i ? "--engine=libipt" : "");

	/*
	 * Each resumed in its own calls: one slice each, which began on the other CPU.  After
	 * __switch_to() they return after two of 6 instructions, which take 497 ns, and of 7 in
	 * 1,497.  libipt 2.0 gives the last return the next TSC's time.
	 */
	EXPECT(1, slices, "11/11 ", " sys_read");
	EXPECT(1, slices, "11/11 1 1000010 ", _i ? " sys_read" : " 1004165 sys_read");
	EXPECT(1, slices, "11/11 3 ", " 1004000 __switch_to");
	EXPECT(1, slices, "12/12 ", " sys_write");
	EXPECT(1, slices, "12/12 1 1000010 ", _i ? " sys_write" : " 1003427 sys_write");
	EXPECT(1, slices, "12/12 3 ", " 1003000 __switch_to");
	EXPECT(0, slices, "[lost", "");
	EXPECT(1, branches, "11/11 ",
	       "ffffffff81000045 sys_read+0x5 => ffffffff81000065 entry+0x5");
	EXPECT(1, branches, "12/12 ",
	       "ffffffff81000055 sys_write+0x5 => ffffffff8100006a entry+0xa");
	EXPECT(2, branches, "0/0 ", "ffffffff81000020 __switch_to+0x0");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("kernel_cpus");
	TCase *all = tcase_create("all");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_loop_test(all, threads_go_on_where_they_left_on_whatever_cpu, 0, 2);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
