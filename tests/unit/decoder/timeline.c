/* SPDX-License-Identifier: MIT */
#include "decoder/timeline/timeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "decoder/perf_data/perf_file.h"
#include "decoder/timeline/trace_pauses.h"
#include "tests/support/perf_data.h"
#include "tests/support/unit.h"

#define CODE (PROT_READ | PROT_EXEC)

static struct perf_data data;
static struct perf_file file;
static struct timeline *timeline;
/* Processes and pieces of code; their product is above the limit of visits. */
#define SHARED_PIECES 8200

static struct perf_mmap code[SHARED_PIECES]; /* of compilers */
static size_t code_count;
static struct diag diag;
static struct error err;

static void set_up(void)
{
	perf_data_init(&data);
	diag_init(&diag);
	memset(&file, 0, sizeof(file));
	timeline = NULL;
	code_count = 0;
	perf_data_add_pt_event(&data, 8, 0);
}

static void tear_down(void)
{
	timeline_close(timeline);
	perf_file_close(&file);
	perf_data_release(&data);
	diag_release(&diag);
}

static void open_built(void)
{
	char path[PERF_DATA_PATH];

	perf_data_write_temporary(&data, path);
	ck_assert_msg(perf_file_open(&file, path, &diag, &err) == 0, "%s", err.text);
	unlink(path);
	timeline = timeline_open(&file, code, code_count, &diag);
	ck_assert_ptr_nonnull(timeline);
}

/* The next records are of this time, in thread pid/pid on CPU 0. */
static void at(uint64_t time, int32_t pid)
{
	perf_data_stamp(&data, (struct perf_data_stamp){ .time = time, .pid = pid, .tid = pid });
}

static uint32_t map_prot = CODE;

static void map_part(int32_t pid, const char *path, uint64_t address, uint64_t length,
		     uint64_t offset)
{
	struct perf_data_mmap map = {
		.pid = pid,
		.tid = pid,
		.address = address,
		.length = length,
		.file_offset = offset,
		.path = path,
		.prot = map_prot,
	};

	perf_data_add_mmap2(&data, PERF_RECORD_MISC_USER, &map);
}

static void map(int32_t pid, const char *path, uint64_t address, uint64_t length)
{
	map_part(pid, path, address, length, 0);
}

static const struct process *process_of(int32_t tid)
{
	const struct thread *thread = timeline_borrow_thread(timeline, tid, UINT64_MAX);

	ck_assert_ptr_nonnull(thread);
	return thread->process;
}

/* Assert the mapping at an address in one epoch: "path+offset", or NULL for none. */
static void assert_code(const struct process *process, size_t epoch, uint64_t ip, const char *text)
{
	const struct mapping *mapping;
	char found[200] = "nothing";

	ck_assert_uint_lt(epoch, process->epoch_count);
	mapping = address_space_borrow_mapping(process->epochs[epoch].space, ip);
	if (mapping)
		snprintf(found, sizeof(found), "%s+0x%llx", mapping->file->path,
			 (unsigned long long)(ip - mapping->begin + mapping->file_offset));
	ck_assert_str_eq(found, text ? text : "nothing");
}

/* ---- Address spaces ------------------------------------------------------ */

START_TEST(a_mapping_over_nothing_is_there_in_the_whole_epoch)
{
	at(100, 5);
	perf_data_add_comm(&data, 0, 5, 5, "p");
	map_part(5, "/a", 0x1000, 0x1000, 0x7000);
	at(900, 5);
	map(5, "/b", 0x3000, 0x1000);
	open_built();

	const struct process *process = process_of(5);

	ck_assert_uint_eq(process->epoch_count, 1);
	ck_assert_uint_eq(process->epochs[0].begin, 0);
	assert_code(process, 0, 0x0fff, NULL);
	assert_code(process, 0, 0x1234, "/a+0x7234");
	assert_code(process, 0, 0x2000, NULL);
	assert_code(process, 0, 0x3000, "/b+0x0");
}
END_TEST

START_TEST(code_over_other_code_begins_an_epoch_and_cuts_the_old_mapping)
{
	at(100, 5);
	perf_data_add_comm(&data, 0, 5, 5, "p");
	map(5, "/old", 0x1000, 0x4000);
	map(5, "/far", 0x9000, 0x1000);
	at(200, 5);
	map(5, "/new", 0x2000, 0x1000);
	open_built();

	const struct process *process = process_of(5);

	ck_assert_uint_eq(process->epoch_count, 2);
	ck_assert_uint_eq(process->epochs[1].begin, 200);
	assert_code(process, 0, 0x2000, "/old+0x1000");
	assert_code(process, 1, 0x1fff, "/old+0xfff");
	assert_code(process, 1, 0x2000, "/new+0x0");
	assert_code(process, 1, 0x3000, "/old+0x2000");
	assert_code(process, 1, 0x4fff, "/old+0x3fff");
	assert_code(process, 1, 0x9000, "/far+0x0");
	ck_assert_ptr_ne(process->epochs[0].space, process->epochs[1].space);
	ck_assert_uint_ne(process->epochs[0].space->index, process->epochs[1].space->index);
}
END_TEST

/* Programs that remap their code to huge pages; paths as the kernel records them. */
static const char *const memory[] = { "//anon", "/anon_hugepage (deleted)", "[anon:hugetext]",
				      "/memfd:text (deleted)" };

START_TEST(memory_between_two_parts_of_a_file_is_the_copy_of_what_was_there)
{
	at(100, 5);
	perf_data_add_comm(&data, 0, 5, 5, "p");
	map_part(5, "/a", 0x1000, 0x1000, 0x7000);
	map_part(5, memory[_i], 0x2000, 0x1000, 0);
	map_part(5, memory[_i], 0x3000, 0x1000, 0);
	map_part(5, "/a", 0x4000, 0x1000, 0xa000);
	open_built();
	assert_code(process_of(5), 0, 0x1fff, "/a+0x7fff");
	assert_code(process_of(5), 0, 0x2000, "/a+0x8000");
	assert_code(process_of(5), 0, 0x3fff, "/a+0x9fff");
	assert_code(process_of(5), 0, 0x4000, "/a+0xa000");
}
END_TEST

START_TEST(memory_mapped_over_a_files_code_is_its_copy)
{
	const uint64_t huge = 0x200000;

	at(100, 5);
	perf_data_add_comm(&data, 0, 5, 5, "p");
	map_part(5, "/a", 0x1000, 0x4000, 0x7000);
	map_part(5, "/huge", huge, huge, 0x3000);
	at(200, 5);
	map_part(5, memory[_i], 0x2000, 0x1000, 0);
	map_part(5, memory[_i], huge, huge, 0);
	open_built();
	for (size_t i = 0; i < process_of(5)->epoch_count; i++) {
		assert_code(process_of(5), i, 0x2000, "/a+0x8000");
		assert_code(process_of(5), i, 0x4fff, "/a+0xafff");
		assert_code(process_of(5), i, huge, "/huge+0x3000");
	}
}
END_TEST

/* libhugetlbfs names its files so; a segment of a program ends within its last huge page. */
START_TEST(a_file_of_hugetlbfs_over_a_files_code_is_its_copy)
{
	static const char *const paths[] = { "/dev/hugepages/libhugetlbfs.tmp.x1 (deleted)",
					     "/mnt/huge/text" };
	const uint64_t huge = 0x200000;

	at(100, 5);
	perf_data_add_comm(&data, 0, 5, 5, "p");
	map_part(5, "/a", huge, huge, 0x3000);
	map_part(5, "/b", 4 * huge, 0x9000, 0x1000);
	map_part(5, "/c", 6 * huge, 0x9000, 0x1000);
	map_part(5, "/d", 7 * huge - 0x1000, 0x1000, 0x1000);
	at(200, 5);
	map_part(5, paths[_i], huge, huge, 0);
	map_part(5, paths[_i], 4 * huge, huge, 0x200000);
	map_part(5, paths[_i], 6 * huge, huge, 0x400000); /* over two files */
	open_built();
	for (size_t i = 0; i < process_of(5)->epoch_count; i++) {
		assert_code(process_of(5), i, huge, "/a+0x3000");
		assert_code(process_of(5), i, 4 * huge + 0x8fff, "/b+0x9fff");
	}
	ck_assert_uint_eq(process_of(5)->epoch_count, 2);
	ck_assert_ptr_nonnull(strstr(
		address_space_borrow_mapping(process_of(5)->epochs[1].space, 6 * huge)->file->path,
		"huge"));
}
END_TEST

/* An executable file that was replaced while it ran has such a path, too. */
START_TEST(another_file_over_code_is_no_copy)
{
	at(100, 5);
	perf_data_add_comm(&data, 0, 5, 5, "p");
	map_part(5, "/a", 0x200000, 0x400000, 0);
	map_part(5, "/d (deleted)", 0x800000, 0x400000, 0);
	at(200, 5);
	map_part(5, "/d (deleted)", 0x800000, 0x200000, 0x600000);
	map_part(5, "/b (deleted)", 0x200000, 0x3000, 0);
	map_part(5, "/c", 0x400000, 0x200000, 0);
	open_built();
	assert_code(process_of(5), 1, 0x200000, "/b (deleted)+0x0");
	assert_code(process_of(5), 1, 0x203000, "/a+0x3000");
	assert_code(process_of(5), 1, 0x400000, "/c+0x0");
	assert_code(process_of(5), 1, 0x800000, "/d (deleted)+0x600000");
}
END_TEST

/* ---- Memory that processes share ----------------------------------------- */

static void share(int32_t pid, const char *path, uint64_t address, uint64_t inode)
{
	const struct perf_data_mmap map = {
		.pid = pid,
		.tid = pid,
		.address = address,
		.length = 0x4000,
		.path = path,
		.prot = CODE,
		.inode = inode,
		.shared = true,
	};

	perf_data_add_mmap2(&data, PERF_RECORD_MISC_USER, &map);
}

static void write_code(uint64_t time, int32_t pid, uint64_t address, uint64_t offset)
{
	code[code_count++] = (struct perf_mmap){ .time = time,
						 .pid = pid,
						 .begin = address,
						 .end = address + 0x100,
						 .file_offset = offset,
						 .path = "/jit" };
}

START_TEST(code_in_shared_memory_is_in_all_processes_that_have_it)
{
	static const char path[] = "/memfd:jit (deleted)";

	at(100, 5);
	for (int32_t pid = 5; pid <= 10; pid++)
		perf_data_add_comm(&data, 0, pid, pid, "p");
	share(5, path, 0x10000, 77);
	share(6, path, 0x50000, 77);
	share(7, path, 0x50000, 78); /* other memory of the same name */
	share(10, path, 0x10000, 77);
	perf_data_add_comm(&data, PERF_RECORD_MISC_COMM_EXEC, 10, 10, "other");
	at(200, 5);
	perf_data_add_fork(&data, 8, 8, 5);
	write_code(300, 5, 0x11000, 0x40);
	write_code(400, 5, 0x11000, 0x80);
	at(500, 5);
	share(5, path, 0x10000, 77); /* mprotect(2) */
	share(9, path, 0x70000, 77);
	open_built();
	assert_code(process_of(5), 0, 0x11010, "/jit+0x50");
	assert_code(process_of(5), 1, 0x11010, "/jit+0x90");
	assert_code(process_of(6), 0, 0x51010, "/jit+0x50");
	assert_code(process_of(6), 1, 0x51010, "/jit+0x90");
	assert_code(process_of(8), process_of(8)->epoch_count - 1, 0x11010, "/jit+0x90");
	assert_code(process_of(9), process_of(9)->epoch_count - 1, 0x71010, "/jit+0x90");
	assert_code(process_of(9), 0, 0x71100, NULL);
	assert_code(process_of(7), 0, 0x51010, NULL);
	assert_code(process_of(10), 0, 0x11010, NULL);
	ck_assert_uint_eq(process_of(5)->epoch_count, 2); /* code replaced code once */
}
END_TEST

/* One process writes code to memory that others have, or (_i 0) to other memory of the same name.
 */
START_TEST(limits_of_shared_code_have_a_warning)
{
	static const char path[] = "/memfd:jit (deleted)";
	const int32_t processes = _i == 0 ? SHARED_PIECES : 450;
	const int pieces = _i == 2 ? 2 : processes;
	const struct diag_line *warning;
	bool warned = false;

	at(100, 5);
	for (int32_t pid = 1; pid <= processes; pid++)
		share(pid, path, 0x10000, _i && pid > 1 ? 77 : 77 + (uint64_t)(pid > 1));
	if (_i)
		share(1, path, 0x10000, 77);
	for (int i = 0; i < pieces; i++) {
		write_code(300, 1, 0x10000 + (uint64_t)i * 0x10 % 0x3000, (uint64_t)i * 0x10);
		code[i].end = code[i].begin + 0x10;
	}
	at(500, 5);
	perf_data_add_comm(&data, 0, 1, 1, "p");
	open_built();
	assert_code(process_of(1), 0, 0x10010, "/jit+0x10");
	for (warning = diag.first; warning; warning = warning->next)
		warned |= strcmp(warning->kind, "too-much-shared-code") == 0;
	ck_assert_int_eq(warned, _i < 2);
}
END_TEST

START_TEST(code_in_private_memory_stays_in_its_process)
{
	at(100, 5);
	perf_data_add_comm(&data, 0, 5, 5, "maker");
	map(5, "//anon", 0x10000, 0x4000);
	perf_data_add_mmap2(&data, PERF_RECORD_MISC_USER,
			    &(struct perf_data_mmap){ .pid = 5,
						      .tid = 5,
						      .address = 0x20000,
						      .length = 0x4000,
						      .path = "/memfd:own (deleted)",
						      .prot = CODE,
						      .inode = 7 });
	at(200, 5);
	perf_data_add_fork(&data, 8, 8, 5);
	write_code(300, 5, 0x11000, 0x40);
	write_code(300, 5, 0x21000, 0x40);
	at(500, 5);
	perf_data_add_comm(&data, 0, 8, 8, "child");
	open_built();
	assert_code(process_of(5), 0, 0x11000, "/jit+0x40");
	assert_code(process_of(8), 0, 0x11000, NULL);
	assert_code(process_of(8), 0, 0x21000, "/memfd:own (deleted)+0x1000");
}
END_TEST

/* Such a path has an address of the program's own memory. */
START_TEST(a_record_cannot_have_the_path_of_changed_pages)
{
	at(100, 5);
	perf_data_add_comm(&data, 0, 5, 5, "p");
	map(5, "//private/7fffffff0000/bin/true", 0x1000, 0x1000);
	open_built();
	assert_code(process_of(5), 0, 0x1000, "//anon+0x0");
}
END_TEST

START_TEST(memory_beside_code_is_no_copy)
{
	at(100, 5);
	perf_data_add_comm(&data, 0, 5, 5, "p");
	map_part(5, "/a", 0x1000, 0x1000, 0x7000);
	map_part(5, "//anon", 0x2000, 0x1000, 0); /* the file would have 0x3000 bytes there */
	map_part(5, "/a", 0x3000, 0x1000, 0xb000);
	map_part(5, "//anon", 0x4000, 0x1000, 0); /* between two files */
	map_part(5, "/b", 0x5000, 0x3000, 0);
	at(200, 5);
	map_part(5, "//anon", 0x5000, 0x1000, 0); /* at the file's start, unaligned */
	open_built();
	assert_code(process_of(5), 0, 0x2000, "//anon+0x0");
	assert_code(process_of(5), 0, 0x4000, "//anon+0x0");
	assert_code(process_of(5), 1, 0x5000, "//anon+0x0");
	assert_code(process_of(5), 1, 0x6000, "/b+0x1000");
}
END_TEST

START_TEST(the_same_bytes_mapped_again_or_further_change_nothing)
{
	at(100, 5);
	perf_data_add_comm(&data, 0, 5, 5, "p");
	map_part(5, "/a", 0x2000, 0x2000, 0x2000);
	at(200, 5);
	map_part(5, "/a", 0x2000, 0x2000, 0x2000);
	at(300, 5);
	map_part(5, "/a", 0x1000, 0x2000, 0x1000);
	at(400, 5);
	map_part(5, "/a", 0x3000, 0x3000, 0x3000);
	open_built();

	const struct process *process = process_of(5);

	ck_assert_uint_eq(process->epoch_count, 1);
	ck_assert_uint_eq(process->epochs[0].space->count, 1);
	assert_code(process, 0, 0x1000, "/a+0x1000");
	assert_code(process, 0, 0x5fff, "/a+0x5fff");
}
END_TEST

/* The kernel splits a mapping at mlock(2), madvise(2) and mprotect(2): /proc/PID/maps has the
 * parts. */
START_TEST(parts_of_one_mapping_are_one)
{
	at(100, 5);
	perf_data_add_comm(&data, 0, 5, 5, "p");
	map_part(5, "/a", 0x3000, 0x1000, 0x9000);
	map_part(5, "/a", 0x1000, 0x1000, 0x7000);
	map_part(5, "/a", 0x2000, 0x1000, 0x8000);
	map_part(5, "/a", 0x5000, 0x1000, 0xb000); /* after a hole */
	map_part(5, "/b", 0x6000, 0x1000, 0xc000);
	map_part(5, "/a", 0x7000, 0x1000, 0xd000); /* after another file */
	map_part(5, "/a", 0x8000, 0x1000, 0xd000); /* the same page again */
	at(200, 5);
	map_part(5, "/new", 0x2000, 0x1000, 0);
	open_built();

	const struct process *process = process_of(5);

	ck_assert_uint_eq(process->epochs[0].space->count, 5);
	ck_assert_uint_eq(process->epochs[0].space->mappings[0].end, 0x4000);
	ck_assert_uint_eq(process->epochs[1].space->count, 7);
	assert_code(process, 0, 0x1000, "/a+0x7000");
	assert_code(process, 0, 0x3fff, "/a+0x9fff");
	assert_code(process, 0, 0x4000, NULL);
	assert_code(process, 0, 0x6000, "/b+0xc000");
	assert_code(process, 0, 0x8000, "/a+0xd000");
	assert_code(process, 1, 0x2000, "/new+0x0");
	assert_code(process, 1, 0x3000, "/a+0x9000");
}
END_TEST

/* mprotect(2) writes an MMAP2 record of the changed part (mm/mprotect.c, mprotect_fixup()). */
START_TEST(a_files_code_that_a_program_can_overwrite_is_a_warning)
{
	at(100, 5);
	perf_data_add_comm(&data, 0, 5, 5, "p");
	map_part(5, "/a", 0x2000, 0x2000, 0x2000);
	map(5, "//anon", 0x8000, 0x1000);
	map(5, "/memfd:jit (deleted)", 0xa000, 0x1000);
	map_prot = CODE | PROT_WRITE;
	at(200, 5);
	/* Memory is no file; other files' code, or code beside it, was not there before. */
	map(5, "//anon", 0x8000, 0x1000);
	map(5, "/memfd:jit (deleted)", 0xa000, 0x1000);
	map_part(5, "/a", 0x4000, 0x1000, 0x5000);
	map(5, "/b", 0x7000, 0x1000);
	at(300, 6);
	map_part(6, "/a", 0x2000, 0x2000, 0x2000);
	if (_i)
		map_part(5, "/a", 0x3000, 0x1000, 0x3000);
	map_prot = CODE;
	at(400, 5);
	map_part(5, "/a", 0x2000, 0x2000, 0x2000);
	open_built();
	ck_assert_uint_eq(diag_kinds(&diag), _i);
	ck_assert(!_i || strstr(diag.first->text, "/a: "));
	ck_assert(!_i || diag.first->count == 1);
	ck_assert_uint_eq(process_of(5)->epoch_count, 1);
}
END_TEST

/* The kernel gives the address as offset, perf's record of a running process 0 (/proc/PID/maps). */
START_TEST(memory_without_a_file_has_no_offsets)
{
	const struct process *process;

	at(100, 5);
	perf_data_add_comm(&data, 0, 5, 5, "p");
	map_part(5, memory[_i], 0x2000, 0x2000, 0);
	at(200, 5);
	map_part(5, memory[_i], 0x3000, 0x3000, 0x3000);
	at(300, 5);
	map_part(5, memory[_i], 0x1000, 0x1000, 0);
	map_part(5, memory[_i], 0x3000, 0x1000, 0);
	open_built();
	process = process_of(5);
	ck_assert_uint_eq(process->epoch_count, 1);
	ck_assert_uint_eq(timeline->processes.replaced, 0);
	ck_assert_ptr_nonnull(address_space_borrow_mapping(process->epochs[0].space, 0x1000));
	ck_assert_ptr_nonnull(address_space_borrow_mapping(process->epochs[0].space, 0x5fff));
}
END_TEST

/* A memory file has. */
START_TEST(another_part_of_a_memory_file_is_other_code)
{
	at(100, 5);
	perf_data_add_comm(&data, 0, 5, 5, "p");
	map_part(5, "/memfd:jit (deleted)", 0x2000, 0x2000, 0);
	at(200, 5);
	map_part(5, "/memfd:jit (deleted)", 0x3000, 0x1000, 0);
	open_built();
	ck_assert_uint_eq(process_of(5)->epoch_count, 2);
	ck_assert_uint_eq(timeline->processes.replaced, 1);
}
END_TEST

START_TEST(the_same_file_at_another_offset_is_other_code)
{
	at(100, 5);
	perf_data_add_comm(&data, 0, 5, 5, "p");
	map_part(5, "/a", 0x2000, 0x1000, 0);
	at(200, 5);
	map_part(5, "/a", 0x2000, 0x1000, 0x5000);
	open_built();
	ck_assert_uint_eq(process_of(5)->epoch_count, 2);
	assert_code(process_of(5), 1, 0x2000, "/a+0x5000");
}
END_TEST

START_TEST(what_lasted_no_time_is_no_epoch)
{
	at(0, 5);
	perf_data_add_comm(&data, 0, 5, 5, "p");
	map(5, "/first", 0x1000, 0x1000);
	map(5, "/second", 0x1000, 0x1000);
	open_built();
	ck_assert_uint_eq(process_of(5)->epoch_count, 1);
	assert_code(process_of(5), 0, 0x1000, "/second+0x0");
}
END_TEST

START_TEST(an_exec_begins_an_epoch_without_the_old_code)
{
	at(100, 5);
	perf_data_add_comm(&data, 0, 5, 5, "shell");
	map(5, "/shell", 0x1000, 0x1000);
	at(200, 5);
	perf_data_add_comm(&data, PERF_RECORD_MISC_COMM_EXEC, 5, 5, "tool");
	at(210, 5);
	map(5, "/tool", 0x8000, 0x1000);
	open_built();

	const struct process *process = process_of(5);

	ck_assert_uint_eq(process->epoch_count, 2);
	ck_assert_uint_eq(process->epochs[1].begin, 200);
	assert_code(process, 0, 0x8000, NULL);
	assert_code(process, 1, 0x1000, NULL);
	assert_code(process, 1, 0x8000, "/tool+0x0");
}
END_TEST

START_TEST(a_change_of_name_is_no_exec)
{
	at(100, 5);
	map(5, "/a", 0x1000, 0x1000);
	at(200, 5);
	perf_data_add_comm(&data, 0, 5, 5, "renamed");
	open_built();
	ck_assert_uint_eq(process_of(5)->epoch_count, 1);
	assert_code(process_of(5), 0, 0x1000, "/a+0x0");
}
END_TEST

START_TEST(a_child_has_what_its_parent_had_at_the_fork)
{
	at(100, 5);
	perf_data_add_comm(&data, 0, 5, 5, "parent");
	map(5, "/a", 0x1000, 0x1000);
	at(200, 5);
	perf_data_add_fork(&data, 6, 6, 5);
	at(300, 5);
	map(5, "/parents", 0x2000, 0x1000);
	at(400, 6);
	map(6, "/childs", 0x3000, 0x1000);
	open_built();
	assert_code(process_of(5), 0, 0x1000, "/a+0x0");
	assert_code(process_of(5), 0, 0x2000, "/parents+0x0");
	assert_code(process_of(5), 0, 0x3000, NULL);
	assert_code(process_of(6), 0, 0x1000, "/a+0x0");
	assert_code(process_of(6), 0, 0x2000, NULL);
	assert_code(process_of(6), 0, 0x3000, "/childs+0x0");
	ck_assert_uint_eq(process_of(6)->epoch_count, 1);
}
END_TEST

/* perf lists the mappings of an existing task itself: its parent's are not among them. */
START_TEST(a_fork_that_perf_made_up_inherits_nothing)
{
	at(0, 0);
	perf_data_add_comm(&data, 0, 5, 5, "shell");
	map(5, "/shell", 0x1000, 0x1000);
	perf_data_add_fork(&data, 6, 6, 5);
	at(50, 0);
	perf_data_add_record(&data, PERF_RECORD_FORK, PERF_RECORD_MISC_FORK_EXEC,
			     (uint32_t[]){ 7, 5, 7, 5, 50, 0 }, 24);
	open_built();
	assert_code(process_of(6), 0, 0x1000, NULL);
	assert_code(process_of(7), 0, 0x1000, NULL);
}
END_TEST

START_TEST(the_kernel_is_in_every_process_after_its_own_code)
{
	struct perf_data_mmap kernel = {
		.pid = -1,
		.address = UINT64_C(0xffffffff81000000),
		.length = 0x1000000,
		.file_offset = 0x1000,
		.path = "[kernel.kallsyms]_text",
	};
	struct perf_data_mmap module = {
		.pid = -1,
		.address = UINT64_C(0xffffffff81100000),
		.length = UINT64_MAX,
		.path = "/m.ko",
	};

	at(0, 0);
	perf_data_add_mmap(&data, PERF_RECORD_MISC_KERNEL, &kernel);
	at(100, 5);
	perf_data_add_comm(&data, 0, 5, 5, "p");
	perf_data_add_comm(&data, 0, 6, 6, "q");
	map(6, "[vsyscall]", UINT64_C(0xffffffffff600000), 0x1000);
	at(200, 5);
	perf_data_add_mmap(&data, PERF_RECORD_MISC_KERNEL, &module);
	open_built();
	for (int32_t tid = 5; tid <= 6; tid++) {
		ck_assert_uint_eq(process_of(tid)->epoch_count, 1);
		assert_code(process_of(tid), 0, UINT64_C(0xffffffff81000010),
			    "[kernel.kallsyms]_text+0x1010");
		assert_code(process_of(tid), 0, UINT64_C(0xffffffff81100010), "/m.ko+0x10");
	}
	assert_code(process_of(6), 0, UINT64_C(0xffffffffff600000), "[vsyscall]+0x0");
	ck_assert_uint_eq(diag_kinds(&diag), 0);
}
END_TEST

START_TEST(data_and_guests_are_not_code)
{
	struct perf_data_mmap plain = {
		.pid = 5, .address = 0x1000, .length = 0x1000, .path = "/data", .prot = PROT_READ
	};

	at(100, 5);
	perf_data_add_comm(&data, 0, 5, 5, "p");
	perf_data_add_mmap2(&data, PERF_RECORD_MISC_USER, &plain);
	perf_data_add_mmap(&data, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_DATA, &plain);
	perf_data_add_mmap(&data, PERF_RECORD_MISC_GUEST_USER, &plain);
	plain.address = 0x5000;
	plain.path = "/code";
	perf_data_add_mmap(&data, PERF_RECORD_MISC_USER, &plain);
	open_built();
	assert_code(process_of(5), 0, 0x1000, NULL);
	assert_code(process_of(5), 0, 0x5000, "/code+0x0");
}
END_TEST

START_TEST(build_ids_come_with_the_mapping_or_from_their_feature)
{
	const uint8_t in_map[] = "in the mapping......", in_feature[] = "in the feature......";
	struct perf_data_mmap with_id = {
		.pid = 5,
		.address = 0x1000,
		.length = 0x1000,
		.path = "/a",
		.prot = CODE,
		.build_id = in_map,
		.build_id_size = 20,
	};
	const struct mapped_file *const *files;
	size_t count;

	perf_data_add_build_id(&data, PERF_RECORD_MISC_USER, "/b", in_feature, 8);
	perf_data_add_build_id(&data, PERF_RECORD_MISC_KERNEL, "[kernel.kallsyms]", in_feature, 20);
	at(100, 5);
	perf_data_add_mmap2(&data, PERF_RECORD_MISC_USER, &with_id);
	map(5, "/b", 0x3000, 0x1000);
	map(5, "/b", 0x7000, 0x1000);
	map(-1, "[kernel.kallsyms]_text", UINT64_C(0xffffffff81000000), 0x1000);
	map(5, "/a", 0x9000, 0x1000);
	open_built();
	files = timeline->files.files;
	count = timeline->files.count;
	ck_assert_uint_eq(count, 4);
	ck_assert_str_eq(files[0]->path, "/a");
	ck_assert_uint_eq(files[0]->build_id_size, 20);
	ck_assert_mem_eq(files[0]->build_id, in_map, 20);
	ck_assert_str_eq(files[1]->path, "/b");
	ck_assert_uint_eq(files[1]->build_id_size, 8);
	ck_assert_mem_eq(files[1]->build_id, in_feature, 8);
	ck_assert_str_eq(files[2]->path, "[kernel.kallsyms]_text");
	ck_assert_uint_eq(files[2]->build_id_size, 20);
	ck_assert_str_eq(files[3]->path, "/a");
	ck_assert_uint_eq(files[3]->build_id_size, 0);
	for (size_t i = 0; i < count; i++)
		ck_assert_uint_eq(files[i]->index, i);
}
END_TEST

/* perf's name for it in the feature (util/vdso.c). */
START_TEST(the_vdso_of_a_32_bit_process_is_another_one)
{
	const uint8_t id[] = "of 64 bits..........", id32[] = "of 32 bits..........";
	const struct mapped_file *const *files;
	size_t count;

	perf_data_add_build_id(&data, PERF_RECORD_MISC_USER, "[vdso]", id, 20);
	perf_data_add_build_id(&data, PERF_RECORD_MISC_USER, "[vdso32]", id32, 20);
	at(100, 5);
	map(5, "[vdso]", UINT64_C(0x7fffabcd1000), 0x1000);
	map(6, "[vdso]", 0xf7fc1000, 0x1000);
	open_built();
	files = timeline->files.files;
	count = timeline->files.count;
	ck_assert_uint_eq(count, 2);
	ck_assert_str_eq(files[0]->path, "[vdso]");
	ck_assert_mem_eq(files[0]->build_id, id, 20);
	ck_assert_str_eq(files[1]->path, "[vdso32]");
	ck_assert_mem_eq(files[1]->build_id, id32, 20);
}
END_TEST

/* ---- Threads ------------------------------------------------------------- */

START_TEST(names_change_with_time_and_are_inherited)
{
	const struct thread *thread;

	at(100, 5);
	perf_data_add_comm(&data, 0, 5, 5, "first");
	at(200, 5);
	perf_data_add_comm(&data, 0, 5, 5, "first");
	at(300, 5);
	perf_data_add_comm(&data, 0, 5, 5, "second");
	at(400, 5);
	perf_data_add_fork(&data, 5, 6, 5);
	at(450, 5);
	perf_data_add_exit(&data, 5, 6);
	open_built();
	thread = timeline_borrow_thread(timeline, 5, 0);
	ck_assert_uint_eq(thread->name_count, 2);
	ck_assert_uint_eq(thread->names[0].time, 0);
	ck_assert_str_eq(thread->names[0].text, "first");
	ck_assert_uint_eq(thread->names[1].time, 300);
	ck_assert_str_eq(thread->names[1].text, "second");
	ck_assert_uint_eq(thread->begin, 0);
	ck_assert_uint_eq(thread->end, UINT64_MAX);
	thread = timeline_borrow_thread(timeline, 6, 0);
	ck_assert_int_eq(thread->pid, 5);
	ck_assert_ptr_eq(thread->process, process_of(5));
	ck_assert_uint_eq(thread->name_count, 1);
	ck_assert_str_eq(thread->names[0].text, "second");
	ck_assert_uint_eq(thread->begin, 400);
	ck_assert_uint_eq(thread->end, 450);
}
END_TEST

START_TEST(a_tid_that_is_used_again_is_another_thread)
{
	const struct thread *first, *second, *third;
	size_t count;

	at(100, 5);
	perf_data_add_comm(&data, 0, 5, 7, "first");
	at(200, 5);
	perf_data_add_exit(&data, 5, 7);
	at(300, 5);
	perf_data_add_fork(&data, 5, 7, 5);
	at(400, 9); /* its exit was lost */
	perf_data_add_comm(&data, 0, 9, 7, "third");
	open_built();
	count = timeline->threads.count;
	first = timeline_borrow_thread(timeline, 7, 0);
	second = timeline_borrow_thread(timeline, 7, 399);
	third = timeline_borrow_thread(timeline, 7, 400);
	ck_assert_uint_eq(count, 4); /* and tid 5 */
	ck_assert_uint_eq(first->end, 200);
	ck_assert_ptr_eq(timeline_borrow_thread(timeline, 7, 299), first);
	ck_assert_uint_eq(second->begin, 300);
	ck_assert_uint_eq(second->end, 400);
	ck_assert_int_eq(third->pid, 9);
	ck_assert_uint_eq(third->begin, 400);
	ck_assert_ptr_null(timeline_borrow_thread(timeline, 8, 0));
}
END_TEST

/* Two threads of one pid and tid would share a track, with time going back. */
START_TEST(a_record_of_a_wrong_process_makes_no_second_thread)
{
	const struct thread *thread;
	size_t count;

	at(100, 5);
	perf_data_add_comm(&data, 0, 5, 7, "whole");
	at(200, 5);
	perf_data_add_exit(&data, 9, 7);
	at(300, 5);
	perf_data_add_switch(&data, false, 5, 7);
	at(400, 5);
	perf_data_add_comm(&data, 0, 9, 7, "wrong");
	at(500, 5);
	perf_data_add_comm(&data, 0, 5, 7, "back");
	open_built();
	thread = timeline_borrow_thread(timeline, 7, 450);
	ck_assert_int_eq(thread->pid, 5);
	ck_assert_ptr_eq(timeline_borrow_thread(timeline, 7, 100), thread);
	ck_assert_ptr_eq(timeline_borrow_thread(timeline, 7, 500), thread);
	ck_assert_uint_eq(thread->end, UINT64_MAX);
	ck_assert_uint_eq(thread->name_count, 2);
	count = timeline->threads.count;
	ck_assert_uint_eq(count, 3); /* and tid 5, and tid 7 of pid 9 */
	ck_assert_uint_eq(diag_kinds(&diag), 1);
}
END_TEST

START_TEST(a_pid_that_is_used_again_gets_its_new_parents_code)
{
	at(100, 5);
	perf_data_add_comm(&data, 0, 5, 5, "shell");
	map(5, "/shell", 0x1000, 0x1000);
	at(110, 6);
	perf_data_add_comm(&data, 0, 6, 6, "old");
	map(6, "/old", 0x5000, 0x1000);
	at(200, 6);
	perf_data_add_exit(&data, 6, 6);
	at(300, 5);
	perf_data_add_fork(&data, 6, 6, 5);
	open_built();
	ck_assert_uint_eq(process_of(6)->epoch_count, 2);
	ck_assert_uint_eq(process_of(6)->epochs[1].begin, 300);
	assert_code(process_of(6), 0, 0x5000, "/old+0x0");
	assert_code(process_of(6), 1, 0x5000, NULL);
	assert_code(process_of(6), 1, 0x1000, "/shell+0x0");
}
END_TEST

/* ---- Switches and losses ------------------------------------------------- */

static void switch_on(uint64_t time, int32_t cpu, int32_t from, bool out, int32_t other)
{
	perf_data_stamp(&data, (struct perf_data_stamp){ time, from, from, cpu, 0 });
	perf_data_add_switch(&data, out, other, other);
}

START_TEST(a_cpu_runs_whom_the_switch_out_names)
{
	static const struct {
		uint64_t time;
		int32_t tid;
	} expected[] = { { 50, 5 }, { 100, 6 }, { 200, 0 }, { 300, 5 } };
	const struct cpu_switch *switches;
	size_t count;

	/* Not in the order of time, as buffers of several CPUs are written. */
	switch_on(200, 1, 6, true, 0);
	switch_on(201, 1, 0, false, 6);
	switch_on(300, 1, 5, false, -1); /* the previous thread is dead */
	switch_on(120, 0, 9, true, 8);
	switch_on(100, 1, 5, true, 6);
	switch_on(102, 1, 6, false, 5);
	perf_data_stamp(&data, (struct perf_data_stamp){ 50, 1, 1, 1, 0 });
	perf_data_add_itrace_start(&data, 5, 5);
	open_built();
	switches = history_switches(&timeline->history, 1, &count);
	ck_assert_uint_eq(count, 4);
	for (size_t i = 0; i < count; i++) {
		ck_assert_uint_eq(switches[i].time, expected[i].time);
		ck_assert_int_eq(switches[i].thread->tid, expected[i].tid);
	}
	switches = history_switches(&timeline->history, 0, &count);
	ck_assert_uint_eq(count, 1);
	ck_assert_int_eq(switches[0].thread->tid, 8);
	history_switches(&timeline->history, 2, &count);
	ck_assert_uint_eq(count, 0);
}
END_TEST

/* PERF_RECORD_SWITCH, of an unprivileged recording, does not name the other thread. */
START_TEST(a_switch_out_that_names_nobody_leaves_the_cpu_idle)
{
	const struct cpu_switch *switches;
	size_t count;

	at(100, 5);
	perf_data_add_record(&data, PERF_RECORD_SWITCH, 0, NULL, 0);
	at(200, 5);
	perf_data_add_record(&data, PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT, NULL, 0);
	open_built();
	switches = history_switches(&timeline->history, 0, &count);
	ck_assert_uint_eq(count, 2);
	ck_assert_int_eq(switches[0].thread->tid, 5);
	ck_assert_int_eq(switches[1].thread->tid, 0);
	ck_assert_uint_eq(switches[1].time, 200);
}
END_TEST

START_TEST(a_file_has_the_inode_and_the_offsets_of_its_first_mappings)
{
	struct perf_data_mmap map = { .pid = 5,
				      .tid = 5,
				      .address = 0x401000,
				      .length = 0x1000,
				      .file_offset = 0x1000,
				      .path = "/f",
				      .prot = 5,
				      .major = 8,
				      .inode = 77 };
	const struct mapped_file *mapped;

	perf_data_add_mmap2(&data, 0, &map);
	map.address += map.length; /* the text was split */
	map.file_offset += map.length;
	perf_data_add_mmap2(&data, 0, &map);
	map.length = 0x4000; /* mprotect(2) of more than the text */
	map.inode += (uint64_t)_i;
	perf_data_add_mmap2(&data, 0, &map);
	open_built();
	mapped = timeline->files.files[0];
	ck_assert_uint_eq(mapped->begin, 0x1000);
	ck_assert_uint_eq(mapped->end, 0x3000);
	ck_assert_uint_eq(mapped->inode, 77);
	ck_assert_uint_eq(mapped->major, 8);
	ck_assert_uint_eq(mapped->several, _i);
}
END_TEST

START_TEST(an_aux_record_that_says_truncated_is_a_loss)
{
	const struct loss *losses;
	size_t count;

	perf_data_stamp(&data, (struct perf_data_stamp){ 70, 5, 6, 3, 0 });
	perf_data_add_aux_event(&data, 0, 0x1000, 0);
	perf_data_add_aux_event(&data, 0x1000, 0x800, PERF_AUX_FLAG_TRUNCATED);
	perf_data_add_aux_event(&data, 0x1800, 0x10, PERF_AUX_FLAG_OVERWRITE);
	open_built();
	losses = history_losses(&timeline->history, -1, 6, &count);
	ck_assert_uint_eq(count, 1);
	ck_assert_uint_eq(losses[0].time, 70);
	history_losses(&timeline->history, 2, -1, &count);
	ck_assert_uint_eq(count, 0);
	losses = history_losses(&timeline->history, 3, -1, &count);
	ck_assert_uint_eq(count, 1);
	ck_assert_uint_eq(losses[0].time, 70);
	ck_assert_uint_eq(losses[0].aux_offset, 0x1000);
	ck_assert_uint_eq(losses[0].aux_size, 0x800);
	ck_assert_uint_eq(losses[0].flags, PERF_AUX_FLAG_TRUNCATED);
	ck_assert_uint_eq(diag_kinds(&diag), 1);
}
END_TEST

/* util/event.h, struct perf_record_thread_map: a count, then tid and 16 bytes of name each. */
START_TEST(a_thread_map_names_threads_that_no_comm_names)
{
	struct {
		uint64_t count;
		struct {
			uint64_t tid;
			char name[16];
		} entries[3];
	} map = { 1000, { { 5, "mapped" }, { 6, "" }, { 7, "never seen" } } };
	const struct thread *thread;

	/* A name that fills its field has no NUL. */
	memcpy(map.entries[1].name, "0123456789abcdef", sizeof(map.entries[1].name));
	perf_data_add_user_record(&data, PERF_USER_THREAD_MAP, &map, sizeof(map));
	perf_data_add_user_record(&data, PERF_USER_THREAD_MAP, &map, 3);
	at(100, 5);
	perf_data_add_itrace_start(&data, 5, 5);
	perf_data_add_itrace_start(&data, 5, 6);
	perf_data_add_comm(&data, 0, 5, 5, "name");
	open_built();
	thread = timeline_borrow_thread(timeline, 5, 100);
	ck_assert_uint_eq(thread->name_count, 1);
	ck_assert_str_eq(thread->names[0].text, "name");
	thread = timeline_borrow_thread(timeline, 6, 100);
	ck_assert_uint_eq(thread->name_count, 1);
	ck_assert_str_eq(thread->names[0].text, "0123456789abcdef");
	ck_assert_ptr_null(timeline_borrow_thread(timeline, 7, 100));
}
END_TEST

/* Namespaces of containers change no name and no mapping: perf records global pids. */
START_TEST(namespaces_change_nothing)
{
	struct {
		int32_t pid, tid;
		uint64_t count;
		uint64_t device_and_inode[2];
	} namespaces = { 5, 5, 1, { 4, 4026531836 } };

	at(50, 5);
	perf_data_add_comm(&data, 0, 5, 5, "before");
	at(100, 5);
	perf_data_add_record(&data, PERF_RECORD_NAMESPACES, 0, &namespaces, sizeof(namespaces));
	open_built();
	ck_assert_uint_eq(process_of(5)->epoch_count, 1);
	ck_assert_uint_eq(timeline_borrow_thread(timeline, 5, 100)->name_count, 1);
	ck_assert_uint_eq(timeline->unknown_records, 0);
	ck_assert_uint_eq(diag_kinds(&diag), 0);
}
END_TEST

/* ---- Pauses of the trace ------------------------------------------------- */

/* Events whose samples pause (ids from 1100 on) and resume: perf_event_attr.aux_action. */
static void add_pausing_events(void)
{
	struct perf_data_event event = { .attr_bytes = sizeof(struct perf_event_attr) };

	event.attr.sample_id_all = 1;
	event.attr.sample_type =
		PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
	for (uint32_t action = 2; action <= 4; action += 2) {
		event.first_id = 1000 + action * 50;
		memcpy((uint8_t *)&event.attr + 116, &action, sizeof(action));
		perf_data_add_event(&data, &event);
	}
}

static void add_pausing_sample(bool resumes, uint64_t time, uint32_t tid, uint64_t cpu)
{
	const uint64_t words[] = { resumes ? 1200 : 1100, (uint64_t)tid << 32 | tid, time, cpu };

	perf_data_add_user_record(&data, PERF_RECORD_SAMPLE, words, sizeof(words));
}

/* Thread 5 pauses CPU 0 at 100; 6 runs there from 120, 7 from 150; 7 resumes the trace at 200. */
START_TEST(a_pause_is_of_the_threads_that_ran_in_it)
{
	const struct trace_pauses *pauses;

	add_pausing_events();
	add_pausing_sample(true, 50, 5, 0);
	add_pausing_sample(false, 100, 5, 0);
	add_pausing_sample(false, 110, 5, 0);
	at(120, 5);
	perf_data_add_switch(&data, true, 6, 6);
	at(150, 6);
	perf_data_add_switch(&data, true, 7, 7);
	at(160, 7);
	perf_data_add_switch(&data, true, 6, 6);
	at(170, 6);
	perf_data_add_switch(&data, true, 7, 7);
	add_pausing_sample(true, 200, 7, 0);
	at(250, 7);
	perf_data_add_switch(&data, true, 8, 8);
	open_built();
	pauses = &timeline->pauses;
	ck_assert_uint_ne(pauses->count, 0);
	/* Its own pause: wherever the trace resumes. */
	ck_assert_uint_eq(trace_pauses_find(pauses, 5, 0, 90, 300), 100);
	ck_assert_uint_eq(trace_pauses_find(pauses, 5, -1, 105, 106), 0);
	ck_assert_uint_eq(trace_pauses_find(pauses, 5, -1, 105, 110), 110);
	ck_assert_uint_eq(trace_pauses_find(pauses, 5, 0, 111, 300), 0);
	/* Another thread's: unless the trace resumes before the CPU's pause ends. */
	ck_assert_uint_eq(trace_pauses_find(pauses, 6, 0, 90, 300), 120);
	ck_assert_uint_eq(trace_pauses_find(pauses, 6, 0, 90, 165), 0);
	ck_assert_uint_eq(trace_pauses_find(pauses, 6, 1, 90, 165), 120);
	ck_assert_uint_eq(trace_pauses_find(pauses, 6, -1, 90, 300), 0);
	ck_assert_uint_eq(trace_pauses_find(pauses, 6, 0, 130, 300), 0);
	ck_assert_uint_eq(trace_pauses_find(pauses, 7, 0, 90, 200), 150);
	ck_assert_uint_eq(trace_pauses_find(pauses, 8, 0, 90, 300), 0);
}
END_TEST

START_TEST(lost_records_are_a_warning)
{
	at(70, 5);
	perf_data_add_lost(&data, 12);
	open_built();
	ck_assert_uint_eq(diag_kinds(&diag), 1);
	ck_assert_ptr_nonnull(strstr(diag.first->text, "12 records"));
}
END_TEST

START_TEST(lost_samples_are_a_warning_with_their_sum)
{
	at(70, 5);
	perf_data_add_record(&data, PERF_RECORD_LOST_SAMPLES, 0, (uint64_t[]){ 30 }, 8);
	perf_data_add_record(&data, PERF_RECORD_LOST_SAMPLES, 0, (uint64_t[]){ 4 }, 8);
	open_built();
	ck_assert_uint_eq(diag_kinds(&diag), 1);
	ck_assert_ptr_nonnull(strstr(diag.first->text, "34 samples"));
}
END_TEST

/* linux/perf_event.h, PERF_RECORD_TEXT_POKE: address, old_len, new_len, bytes. */
START_TEST(changes_of_the_kernels_code_come_in_the_order_of_time)
{
	static const uint8_t later[] = { 1, 0, 0, 0, 0, 0, 0, 0x80, 1, 0, 2, 0, 0x90, 0xcc, 0xc3 };
	static const uint8_t sooner[] = { 2, 0, 0, 0, 0, 0, 0, 0x80, 0, 0, 1, 0, 0xc3 };
	const struct code_patch *patches;

	perf_data_stamp(&data, (struct perf_data_stamp){ .time = 200 });
	perf_data_add_record(&data, PERF_RECORD_TEXT_POKE, 0, later, sizeof(later));
	perf_data_stamp(&data, (struct perf_data_stamp){ .time = 100 });
	perf_data_add_record(&data, PERF_RECORD_TEXT_POKE, 0, sooner, sizeof(sooner));
	open_built();
	patches = timeline->patches;
	ck_assert_uint_eq(timeline->patch_count, 2);
	ck_assert_uint_eq(patches[0].time, 100);
	ck_assert_uint_eq(patches[0].old_size, 0);
	ck_assert_uint_eq(patches[1].address, UINT64_C(0x8000000000000001));
	ck_assert_uint_eq(patches[1].old_bytes[0], 0x90);
	ck_assert_uint_eq(patches[1].new_size, 2);
	ck_assert_uint_eq(patches[1].new_bytes[1], 0xc3);
}
END_TEST

/* All records that the manual ignores, with any bytes. */
START_TEST(records_without_history_change_nothing)
{
	static const uint32_t types[] = {
		PERF_RECORD_THROTTLE,       PERF_RECORD_UNTHROTTLE,
		PERF_RECORD_READ,           PERF_RECORD_NAMESPACES,
		PERF_RECORD_BPF_EVENT,      PERF_RECORD_CGROUP,
		RECORD_AUX_OUTPUT_HW_ID,    PERF_USER_ID_INDEX,
		PERF_USER_FINISHED_INIT,    22 /* CALLCHAIN_DEFERRED */,
		65 /* HEADER_EVENT_TYPE */, 68 /* FINISHED_ROUND */,
		72 /* AUXTRACE_ERROR */,    74 /* CPU_MAP */,
		75 /* STAT_CONFIG */,       76 /* STAT */,
		77 /* STAT_ROUND */,        84 /* BPF_METADATA */,
		85 /* SCHEDSTAT_CPU */,     86 /* SCHEDSTAT_DOMAIN */,
	};
	uint8_t bytes[64];
	size_t count;

	memset(bytes, _i ? 0xff : 0, sizeof(bytes));
	at(50, 5);
	perf_data_add_comm(&data, 0, 5, 5, "alone");
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		at(100 + i, 5);
		if (types[i] < 64)
			perf_data_add_record(&data, types[i], 0, bytes, sizeof(bytes));
		else
			perf_data_add_user_record(&data, types[i], bytes, sizeof(bytes));
	}
	open_built();
	count = timeline->threads.count;
	ck_assert_uint_eq(count, 1);
	ck_assert_uint_eq(process_of(5)->epoch_count, 1);
	ck_assert_uint_eq(timeline->unknown_records, 0);
	ck_assert_uint_eq(diag_kinds(&diag), 0);
}
END_TEST

/* The last valid time and the first invalid one. */
START_TEST(a_record_whose_time_cannot_be_is_left_out_with_a_warning)
{
	size_t count;

	at(INT64_MAX, 5);
	perf_data_add_comm(&data, 0, 5, 5, "last");
	at((uint64_t)INT64_MAX + 1, 6);
	perf_data_add_comm(&data, 0, 6, 6, "later");
	perf_data_add_comm(&data, 0, 7, 7, "later");
	open_built();
	count = timeline->threads.count;
	ck_assert_uint_eq(count, 1);
	ck_assert_str_eq(diag.first->kind, "time-impossible");
	ck_assert_uint_eq(diag.first->count, 2);
}
END_TEST

START_TEST(only_unknown_types_are_counted_as_unknown)
{
	perf_data_add_record(&data, PERF_RECORD_SAMPLE, 0, "", 1);
	perf_data_add_record(&data, PERF_RECORD_BPF_EVENT, 0, "", 1);
	perf_data_add_user_record(&data, PERF_USER_ID_INDEX, "", 1);
	perf_data_add_user_record(&data, PERF_USER_FINISHED_INIT, "", 1);
	perf_data_add_user_record(&data, 63, "", 1);
	perf_data_add_user_record(&data, 4000, "", 1);
	perf_data_add_user_record(&data, 0, "", 1);
	open_built();
	ck_assert_uint_eq(timeline->unknown_records, 3);
	ck_assert_uint_eq(diag_kinds(&diag), 0);
}
END_TEST

START_TEST(a_record_that_is_too_short_costs_only_itself)
{
	static const uint32_t types[] = {
		PERF_RECORD_MMAP,         PERF_RECORD_MMAP2,
		PERF_RECORD_COMM,         PERF_RECORD_FORK,
		PERF_RECORD_EXIT,         PERF_RECORD_AUX,
		PERF_RECORD_ITRACE_START, PERF_RECORD_SWITCH_CPU_WIDE,
		PERF_RECORD_KSYMBOL,
	};

	at(100, 5);
	perf_data_add_record(&data, types[_i], PERF_RECORD_MISC_SWITCH_OUT, NULL, 0);
	perf_data_add_comm(&data, 0, 5, 5, "p");
	open_built();
	ck_assert_uint_eq(diag_kinds(&diag), 1);
	ck_assert_str_eq(diag.first->kind, "event-damaged");
	ck_assert_uint_eq(timeline_borrow_thread(timeline, 5, 0)->name_count, 1);
}
END_TEST

/* ---- Size ---------------------------------------------------------------- */

START_TEST(many_threads_and_mappings_take_near_linear_time)
{
	enum { THREADS = 100000, MAPPINGS = 300000 };
	const struct address_space *space;
	size_t count;

	for (int i = 0; i < THREADS; i++) {
		at(1000 + (uint64_t)i, 1);
		perf_data_add_fork(&data, 10 + i, 10 + i, 1);
		switch_on(2000 + (uint64_t)i, i % 8, 1, true, 10 + i);
	}
	/* A prime step puts them out of order. */
	at(5, 1);
	for (uint64_t i = 0; i < MAPPINGS; i++)
		map(1, "//anon", 0x10000 + i * 7919 % MAPPINGS * 0x2000, 0x1000);
	open_built();
	count = timeline->threads.count;
	ck_assert_uint_eq(count, THREADS + 1);
	ck_assert_uint_eq(process_of(1)->epoch_count, 1);
	space = process_of(1)->epochs[0].space;
	ck_assert_uint_eq(space->count, MAPPINGS);
	ck_assert_ptr_eq(process_of(THREADS)->epochs[0].space, space);
	ck_assert_uint_eq(diag_kinds(&diag), 0);
}
END_TEST

/* Each buffer looks up its own: together they see each loss once. */
START_TEST(many_buffers_with_losses_take_near_linear_time)
{
	enum { LOSSES = 200000, CPUS = 50000 };
	size_t count, sum = 0;

	for (int i = 0; i < LOSSES; i++) {
		perf_data_stamp(&data, (struct perf_data_stamp){ .time = 1000 + (uint64_t)i,
								 .pid = 1,
								 .tid = 1,
								 .cpu = i * 7919 % CPUS });
		perf_data_add_aux_event(&data, 0, 8, PERF_AUX_FLAG_TRUNCATED);
	}
	open_built();
	for (int32_t cpu = 0; cpu < CPUS; cpu++) {
		const struct loss *losses = history_losses(&timeline->history, cpu, -1, &count);

		for (size_t i = 0; i < count; i++) {
			ck_assert_int_eq(losses[i].owner, owner_of_cpu(cpu));
			ck_assert(!i || losses[i - 1].time < losses[i].time);
		}
		sum += count;
	}
	ck_assert_uint_eq(sum, LOSSES);
}
END_TEST

/* Each mapping replaces another, so each would be an epoch of 10,000 mappings. */
START_TEST(epochs_do_not_take_the_square_of_the_file)
{
	size_t mappings = 0;

	for (uint64_t i = 0; i < 10000; i++) {
		at(5, 1);
		map(1, "/a", 0x10000 + i * 0x2000, 0x1000);
		at(1000 + i, 1);
		map(1, "/b", 0x10000 + i * 0x2000, 0x1000);
	}
	perf_data_add_comm(&data, 0, 1, 1, "p");
	open_built();
	for (size_t i = 0; i < process_of(1)->epoch_count; i++)
		mappings += process_of(1)->epochs[i].space->count;
	ck_assert_uint_le(mappings, 300000);
	assert_code(process_of(1), process_of(1)->epoch_count - 1, 0x10000, "/b+0x0");
	assert_code(process_of(1), process_of(1)->epoch_count - 1, 0x10000 + 9999 * 0x2000,
		    "/b+0x0");
	ck_assert_str_eq(diag.first->kind, "too-many-epochs");
}
END_TEST

static TCase *address_spaces(void)
{
	TCase *tcase = tcase_create("address spaces");

	tcase_add_loop_test(tcase, a_file_has_the_inode_and_the_offsets_of_its_first_mappings, 0,
			    2);
	tcase_add_test(tcase, a_mapping_over_nothing_is_there_in_the_whole_epoch);
	tcase_add_test(tcase, code_over_other_code_begins_an_epoch_and_cuts_the_old_mapping);
	tcase_add_loop_test(tcase, memory_between_two_parts_of_a_file_is_the_copy_of_what_was_there,
			    0, 4);
	tcase_add_loop_test(tcase, memory_mapped_over_a_files_code_is_its_copy, 0, 4);
	tcase_add_loop_test(tcase, a_file_of_hugetlbfs_over_a_files_code_is_its_copy, 0, 2);
	tcase_add_test(tcase, another_file_over_code_is_no_copy);
	tcase_add_test(tcase, code_in_shared_memory_is_in_all_processes_that_have_it);
	tcase_add_loop_test(tcase, limits_of_shared_code_have_a_warning, 0, 3);
	tcase_add_test(tcase, code_in_private_memory_stays_in_its_process);
	tcase_add_test(tcase, a_record_cannot_have_the_path_of_changed_pages);
	tcase_add_test(tcase, memory_beside_code_is_no_copy);
	tcase_add_test(tcase, the_same_bytes_mapped_again_or_further_change_nothing);
	tcase_add_test(tcase, parts_of_one_mapping_are_one);
	tcase_add_loop_test(tcase, a_files_code_that_a_program_can_overwrite_is_a_warning, 0, 2);
	tcase_add_loop_test(tcase, memory_without_a_file_has_no_offsets, 0, 3);
	tcase_add_test(tcase, another_part_of_a_memory_file_is_other_code);
	tcase_add_test(tcase, the_same_file_at_another_offset_is_other_code);
	tcase_add_test(tcase, what_lasted_no_time_is_no_epoch);
	tcase_add_test(tcase, an_exec_begins_an_epoch_without_the_old_code);
	tcase_add_test(tcase, a_change_of_name_is_no_exec);
	tcase_add_test(tcase, a_child_has_what_its_parent_had_at_the_fork);
	tcase_add_test(tcase, a_fork_that_perf_made_up_inherits_nothing);
	tcase_add_test(tcase, the_kernel_is_in_every_process_after_its_own_code);
	tcase_add_test(tcase, data_and_guests_are_not_code);
	tcase_add_test(tcase, build_ids_come_with_the_mapping_or_from_their_feature);
	tcase_add_test(tcase, the_vdso_of_a_32_bit_process_is_another_one);
	return tcase;
}

static TCase *histories(void)
{
	TCase *tcase = tcase_create("histories");

	tcase_add_test(tcase, names_change_with_time_and_are_inherited);
	tcase_add_test(tcase, a_tid_that_is_used_again_is_another_thread);
	tcase_add_test(tcase, a_record_of_a_wrong_process_makes_no_second_thread);
	tcase_add_test(tcase, a_pid_that_is_used_again_gets_its_new_parents_code);
	tcase_add_test(tcase, a_cpu_runs_whom_the_switch_out_names);
	tcase_add_test(tcase, a_switch_out_that_names_nobody_leaves_the_cpu_idle);
	tcase_add_test(tcase, an_aux_record_that_says_truncated_is_a_loss);
	tcase_add_test(tcase, a_thread_map_names_threads_that_no_comm_names);
	tcase_add_test(tcase, namespaces_change_nothing);
	tcase_add_test(tcase, lost_records_are_a_warning);
	tcase_add_test(tcase, changes_of_the_kernels_code_come_in_the_order_of_time);
	tcase_add_test(tcase, lost_samples_are_a_warning_with_their_sum);
	tcase_add_loop_test(tcase, records_without_history_change_nothing, 0, 2);
	tcase_add_test(tcase, a_pause_is_of_the_threads_that_ran_in_it);
	tcase_add_test(tcase, a_record_whose_time_cannot_be_is_left_out_with_a_warning);
	tcase_add_test(tcase, only_unknown_types_are_counted_as_unknown);
	tcase_add_loop_test(tcase, a_record_that_is_too_short_costs_only_itself, 0, 9);
	return tcase;
}

static TCase *sizes(void)
{
	TCase *tcase = tcase_create("sizes");

	tcase_add_test(tcase, many_threads_and_mappings_take_near_linear_time);
	tcase_add_test(tcase, many_buffers_with_losses_take_near_linear_time);
	tcase_add_test(tcase, epochs_do_not_take_the_square_of_the_file);
	return tcase;
}

int main(void)
{
	Suite *suite = suite_create("timeline");
	TCase *(*const makers[])(void) = { address_spaces, histories, sizes };

	for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++) {
		TCase *tcase = makers[i]();

		tcase_add_checked_fixture(tcase, set_up, tear_down);
		suite_add_tcase(suite, tcase);
	}
	return unit_run(suite);
}
