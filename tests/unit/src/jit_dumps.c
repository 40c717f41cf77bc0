/* SPDX-License-Identifier: MIT */
/*
 * Code that a JIT compiler overwrites and moves is decoded by its bytes at the time: the whole
 * program on an artificial recording and jitdump.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/sample.h"
#include "tests/support/unit.h"

#define HERE        UINT64_C(0x10000)
#define THERE       UINT64_C(0x20000)
#define WRITTEN     (SAMPLE_START - 1000)
#define OVERWRITTEN (SAMPLE_START + 1000)
#define MOVED       (SAMPLE_START + 3000)

static char place[64];
static uint8_t dump[1000];
static size_t dump_size;

static void put(uint64_t value, size_t size)
{
	memcpy(dump + dump_size, &value, size);
	dump_size += size;
}

/* tools/perf/Documentation/jitdump-specification.txt; times are TSC ticks. */
static void put_header(void)
{
	dump_size = 0;
	put(0x4a695444, 4);
	put(1, 4);
	put(40, 4);
	put(62, 4);
	put(0, 4);
	put(SAMPLE_PID, 4);
	put(0, 8);
	put(1, 8);
}

static void put_load(uint64_t time, uint64_t index, const char *name, const void *code, size_t size)
{
	size_t name_size = strlen(name) + 1;

	put(0, 4);
	put(16 + 40 + name_size + size, 4);
	put(time, 8);
	put(SAMPLE_PID, 4);
	put(SAMPLE_PID, 4);
	put(HERE, 8);
	put(HERE, 8);
	put(size, 8);
	put(index, 8);
	memcpy(dump + dump_size, name, name_size);
	memcpy(dump + dump_size + name_size, code, size);
	dump_size += name_size + size;
}

static void put_move(uint64_t time, uint64_t index, size_t size)
{
	put(1, 4);
	put(16 + 48, 4);
	put(time, 8);
	put(SAMPLE_PID, 4);
	put(SAMPLE_PID, 4);
	put(HERE, 8);
	put(HERE, 8);
	put(THERE, 8);
	put(size, 8);
	put(index, 8);
}

static void write_dump(const char *path)
{
	static const uint8_t first[0x12] = { 0xeb, 0x0e, /* jmp +0x10 */
					     [0x10] = 0xff, 0xe0 /* jmp *%rax */ };
	static const uint8_t second[0x21] = { 0xe8, 0x1b, 0,
					      0,    0, /* call +0x20 */
					      0xff, 0xe0, [0x20] = 0xc3 /* ret */ };
	FILE *out = fopen(path, "w");

	put_header();
	put_load(WRITTEN, 1, "first", first, sizeof(first));
	put_load(OVERWRITTEN, 2, "second", second, sizeof(second));
	put_move(MOVED, 2, sizeof(second));
	ck_assert_ptr_nonnull(out);
	ck_assert_uint_eq(fwrite(dump, 1, dump_size, out), dump_size);
	fclose(out);
}

/* Tracing begins at the code's first byte and ends at its indirect jump. */
static void trace_run(struct pt_packets *packets, uint64_t tsc, uint64_t ip, const char *decisions)
{
	pt_packets_psb(packets, tsc, 0);
	pt_packets_pge(packets, ip);
	if (decisions)
		pt_packets_tnt(packets, decisions);
	pt_packets_pgd(packets, 0);
}

static void write_recording(const char *path, const char *dump_path)
{
	const struct perf_data_mmap map = {
		.pid = SAMPLE_PID,
		.tid = SAMPLE_PID,
		.address = 0x700000,
		.length = 0x1000,
		.path = dump_path,
		.prot = 5,
	};
	static struct pt_packets packets;
	struct perf_data data;

	pt_packets_init(&packets);
	trace_run(&packets, SAMPLE_START, HERE, NULL);
	trace_run(&packets, SAMPLE_START + 2000, HERE, "t");
	trace_run(&packets, SAMPLE_START + 4000, THERE, "t");
	sample_begin(&data);
	perf_data_add_mmap2(&data, 0, &map);
	sample_add_trace(&data, &packets);
	perf_data_write(&data, path);
	perf_data_release(&data);
	pt_packets_release(&packets);
}

/* Returns the number of lines that have all of `from`, followed by `to`. */
static unsigned count_branches(const char *branches, const char *from, const char *to)
{
	char pattern[100];
	unsigned count = 0;

	snprintf(pattern, sizeof(pattern), " %s => ", from);
	for (const char *at = branches; (at = strstr(at, pattern)); at++) {
		const char *end = at + strcspn(at, "\n"), *found = strstr(at, to);

		count += found && found < end;
	}
	return count;
}

static const char *const engines[] = { "fast", "libipt" };

START_TEST(code_that_was_overwritten_or_moved_decodes_by_time)
{
	char dump_path[100], perf_path[100], command[5000], branches[10000];
	const char *build = getenv("top_builddir");
	FILE *program;
	size_t size;

	strcpy(place, "/tmp/jit_dumps.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(place));
	snprintf(dump_path, sizeof(dump_path), "%s/jit-%d.dump", place, SAMPLE_PID);
	snprintf(perf_path, sizeof(perf_path), "%s/perf.data", place);
	write_dump(dump_path);
	write_recording(perf_path, dump_path);
	snprintf(command, sizeof(command), "%s/ptrace2ftf -q --engine=%s --format=branches %s 2>&1",
		 build, engines[_i], perf_path);
	program = popen(command, "r");
	ck_assert_ptr_nonnull(program);
	size = fread(branches, 1, sizeof(branches) - 1, program);
	branches[size] = 0;
	pclose(program);
	ck_assert_msg(!strstr(branches, "error"), "%s", branches);
	ck_assert_msg(
		count_branches(branches, "10000 first+0x0", " 10010 first+0x10") == 1 &&
			count_branches(branches, "10000 second+0x0", " 10020 second+0x20") == 1 &&
			count_branches(branches, "10020 second+0x20", " 10005 second+0x5") == 1 &&
			count_branches(branches, "20000 second+0x0", " 20020 second+0x20") == 1 &&
			count_branches(branches, "20020 second+0x20", " 20005 second+0x5") == 1,
		"%s", branches);
	unlink(dump_path);
	unlink(perf_path);
	rmdir(place);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("jit_dumps");
	TCase *all = tcase_create("jit_dumps");

	tcase_add_loop_test(all, code_that_was_overwritten_or_moved_decodes_by_time, 0, 2);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
