/* SPDX-License-Identifier: MIT */
/*
 * Code that a JIT compiler overwrites and moves is decoded by its bytes at the time: the whole
 * program on an artificial recording and jitdump.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/record/record.h"
#include "symbols/files/core_file.h"
#include "tests/support/sample.h"
#include "tests/support/unit.h"

#define HERE        UINT64_C(0x10000)
#define THERE       UINT64_C(0x20000)
#define WRITTEN     (SAMPLE_START - 1000)
#define OVERWRITTEN (SAMPLE_START + 1000)
#define MOVED       (SAMPLE_START + 3000)
#define MAPPED      100 /* ns: sample_begin() */

/* The compiler's clock: ticks, which are ns of perf's clock, or ns of another clock. */
static const struct clock {
	uint64_t made; /* in the header */
	uint64_t flag; /* of ticks */
	uint64_t ahead;
} clocks[] = {
	{ 0, 1, 0 },
	{ MAPPED, 1, 0 },
	{ MAPPED - 50, 0, 0 }, /* ticks, in spite of the flag */
	{ MAPPED + UINT64_C(5000000000000), 0, UINT64_C(5000000000000) },
	{ MAPPED + UINT64_C(5000000000000), 1, UINT64_C(5000000000000) },
	{ MAPPED - UINT64_C(5000000000000), 0, -UINT64_C(5000000000000) },
};
static const struct clock *clock_used;

static char place[64];
static uint8_t dump[1000];
static size_t dump_size;

static void put(uint64_t value, size_t size)
{
	memcpy(dump + dump_size, &value, size);
	dump_size += size;
}

/* tools/perf/Documentation/jitdump-specification.txt. */
static void put_header(void)
{
	dump_size = 0;
	put(0x4a695444, 4);
	put(1, 4);
	put(40, 4);
	put(62, 4);
	put(0, 4);
	put(SAMPLE_PID, 4);
	put(clock_used->made, 8);
	put(clock_used->flag, 8);
}

static void put_load(uint64_t time, uint64_t index, const char *name, const void *code, size_t size)
{
	size_t name_size = strlen(name) + 1;

	put(0, 4);
	put(16 + 40 + name_size + size, 4);
	put(time + clock_used->ahead, 8);
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
	put(time + clock_used->ahead, 8);
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

/* Move the dump into the file that `ptrace2ftf record` writes, as the file of a process. */
static void keep_dump(const char *perf_path, const char *dump_path, int32_t pid)
{
	struct code_file_writer writer;
	struct code_names *names;

	code_file_begin(&writer, perf_path);
	names = ARRAY_ADD(writer.names, writer.name_count, writer.name_room);
	names->pid = pid;
	names->path = alloc_text("%s", dump_path);
	names->fd = open(dump_path, O_RDONLY);
	ck_assert_int_ge(names->fd, 0);
	code_file_end(&writer);
	unlink(dump_path);
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

/* Where the dump is: at its path; kept as this process's, or as its parent's; another is there. */
enum dump_place { AT_ITS_PATH, KEPT, KEPT_OF_PARENT, KEPT_AND_REPLACED, PLACES };

static const char *const engines[] = { "fast", "libipt" };

START_TEST(code_that_was_overwritten_or_moved_decodes_by_time)
{
	char dump_path[100], perf_path[100], command[5000], branches[10000];
	const char *build = getenv("top_builddir");
	enum dump_place where = _i / 2 < (int)(sizeof(clocks) / sizeof(*clocks))
					? AT_ITS_PATH
					: _i / 2 - (int)(sizeof(clocks) / sizeof(*clocks)) + 1;
	FILE *program, *file;
	size_t size;

	strcpy(place, "/tmp/jit_dumps.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(place));
	clock_used = &clocks[where ? 3 : _i / 2];
	snprintf(dump_path, sizeof(dump_path), "%s/jit-%d.dump", place, SAMPLE_PID);
	snprintf(perf_path, sizeof(perf_path), "%s/perf.data", place);
	write_dump(dump_path);
	write_recording(perf_path, dump_path);
	if (where)
		keep_dump(perf_path, dump_path, SAMPLE_PID - (where == KEPT_OF_PARENT));
	if (where == KEPT_AND_REPLACED) {
		put_header();
		file = fopen(dump_path, "w");
		ck_assert_uint_eq(fwrite(dump, 1, dump_size, file), dump_size);
		fclose(file);
	}
	snprintf(command, sizeof(command), "%s/ptrace2ftf -q --engine=%s --format=branches %s 2>&1",
		 build, engines[_i % 2], perf_path);
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
	strcat(perf_path, CORE_FILE_SUFFIX);
	unlink(perf_path);
	ck_assert_int_eq(rmdir(place), 0);
}
END_TEST

/* The process ran before the recording: its name is no exec. */
static void drop_exec(struct perf_data *data)
{
	struct perf_event_header header;

	for (size_t at = 0; at < data->records.size; at += header.size) {
		memcpy(&header, data->records.bytes + at, sizeof(header));
		if (header.type == PERF_RECORD_COMM)
			header.misc = 0;
		memcpy(data->records.bytes + at, &header, sizeof(header));
	}
}

/* perf lists the mappings of a process that it attaches to, without times. */
START_TEST(without_a_common_clock_the_last_code_is_there_from_the_mapping_on)
{
	static const struct clock other = { 5000000000000, 0, 5000000000000 };
	static const uint8_t old[0x21] = { 0xeb, 0x0e, [0x10] = 0xff, 0xe0 };
	static const uint8_t new[0x21] = { 0xe8, 0x1b, 0, 0, 0, 0xff, 0xe0, [0x20] = 0xc3 };
	char dump_path[100], perf_path[100], command[5000], branches[10000];
	struct pt_packets packets;
	struct perf_data data;
	FILE *file;
	size_t size;

	strcpy(place, "/tmp/jit_dumps.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(place));
	snprintf(dump_path, sizeof(dump_path), "%s/jit-%d.dump", place, SAMPLE_PID);
	snprintf(perf_path, sizeof(perf_path), "%s/perf.data", place);
	clock_used = &other;
	put_header();
	put_load(WRITTEN, 1, "old", old, sizeof(old));
	put_load(OVERWRITTEN, 2, "new", new, sizeof(new));
	file = fopen(dump_path, "w");
	ck_assert_ptr_nonnull(file);
	fwrite(dump, 1, dump_size, file);
	fclose(file);
	pt_packets_init(&packets);
	trace_run(&packets, SAMPLE_START, HERE, "t");
	sample_begin(&data);
	drop_exec(&data);
	perf_data_stamp(&data, (struct perf_data_stamp){ .pid = SAMPLE_PID, .tid = SAMPLE_PID });
	perf_data_add_mmap2(&data, 0,
			    &(struct perf_data_mmap){ .pid = SAMPLE_PID,
						      .tid = SAMPLE_PID,
						      .address = 0x700000,
						      .length = 0x1000,
						      .path = dump_path,
						      .prot = 5 });
	sample_add_trace(&data, &packets);
	perf_data_write(&data, perf_path);
	perf_data_release(&data);
	pt_packets_release(&packets);
	snprintf(command, sizeof(command), "%s/ptrace2ftf -q --format=branches %s 2>&1",
		 getenv("top_builddir"), perf_path);
	file = popen(command, "r");
	size = fread(branches, 1, sizeof(branches) - 1, file);
	branches[size] = 0;
	pclose(file);
	unlink(dump_path);
	unlink(perf_path);
	rmdir(place);
	ck_assert_msg(count_branches(branches, "10000 new+0x0", " 10020 new+0x20") == 1, "%s",
		      branches);
}
END_TEST

#define PIECES 100

/* Each mapping has all pieces of the core: the square of both. */
START_TEST(a_core_of_too_many_pieces_has_a_warning)
{
	const Elf64_Ehdr header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
						 ELFDATA2LSB, EV_CURRENT },
				    .e_type = ET_CORE,
				    .e_phoff = sizeof(header),
				    .e_phentsize = sizeof(Elf64_Phdr),
				    .e_phnum = PIECES };
	char perf_path[100], core_path[110], command[5000], messages[5000];
	struct perf_data_mmap map = { .pid = 0, /* that of a core without notes */
				      .address = HERE,
				      .length = PIECES * 0x1000,
				      .path = "//anon",
				      .prot = 5 };
	static struct pt_packets packets;
	struct perf_data data;
	FILE *file;

	strcpy(place, "/tmp/jit_dumps.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(place));
	snprintf(perf_path, sizeof(perf_path), "%s/perf.data", place);
	snprintf(core_path, sizeof(core_path), "%s" CORE_FILE_SUFFIX, perf_path);
	file = fopen(core_path, "w");
	ck_assert_ptr_nonnull(file);
	fwrite(&header, sizeof(header), 1, file);
	for (unsigned i = 0; i < PIECES; i++)
		fwrite(&(Elf64_Phdr){ .p_type = PT_LOAD,
				      .p_flags = PF_X,
				      .p_vaddr = HERE + i * 0x1000,
				      .p_filesz = 0x1000 },
		       sizeof(Elf64_Phdr), 1, file);
	fclose(file);
	pt_packets_init(&packets);
	trace_run(&packets, SAMPLE_START, HERE, NULL);
	sample_begin(&data);
	for (int i = 0; i < (_i ? PIECES : 1); i++)
		perf_data_add_mmap2(&data, 0, &map);
	sample_add_trace(&data, &packets);
	perf_data_write(&data, perf_path);
	perf_data_release(&data);
	pt_packets_release(&packets);
	snprintf(command, sizeof(command), "%s/ptrace2ftf --core=%s -f none --json=- %s 2>&1",
		 getenv("top_builddir"), core_path, perf_path);
	file = popen(command, "r");
	messages[fread(messages, 1, sizeof(messages) - 1, file)] = 0;
	pclose(file);
	unlink(core_path);
	unlink(perf_path);
	rmdir(place);
	ck_assert_msg(_i == !!strstr(messages, "core-too-large"), "%s", messages);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("jit_dumps");
	TCase *all = tcase_create("jit_dumps");

	tcase_add_loop_test(all, code_that_was_overwritten_or_moved_decodes_by_time, 0,
			    2 * (sizeof(clocks) / sizeof(*clocks) + PLACES - 1));
	tcase_add_test(all, without_a_common_clock_the_last_code_is_there_from_the_mapping_on);
	tcase_add_loop_test(all, a_core_of_too_many_pieces_has_a_warning, 0, 2);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
