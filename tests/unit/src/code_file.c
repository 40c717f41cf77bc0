/* SPDX-License-Identifier: MIT */
/* Cores of this process and a child, written and read; also damaged ones. */
#include "src/record/code_file.h"

#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbols/files/core_file.h"
#include "tests/support/unit.h"

#define CODE_SIZE 0x3000

static const uint8_t code[] = { 0x8d, 0x47, 0x01, 0xc3 }; /* lea 1(%rdi), %eax; ret */

static char folder[] = "/tmp/ptrace2ftf-XXXXXX";
static char path[64];
static uint8_t *made; /* has code in its second page */

static void set_up(void)
{
	strcpy(folder, "/tmp/ptrace2ftf-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/data.code", folder);
	made = mmap(NULL, CODE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(made, MAP_FAILED);
	memcpy(made + 0x1000, code, sizeof(code));
	ck_assert_int_eq(mprotect(made, CODE_SIZE, PROT_READ | PROT_EXEC), 0);
}

static void tear_down(void)
{
	munmap(made, CODE_SIZE);
	unlink(path);
	rmdir(folder);
}

/* Write the file, and return its bytes; NULL: there is no file. */
static uint8_t *finish(struct code_file_writer *writer, size_t *size)
{
	uint8_t *bytes;
	FILE *file;

	code_file_end(writer);
	file = fopen(path, "rb");
	if (!file)
		return NULL;
	bytes = malloc(1 << 24);
	*size = fread(bytes, 1, 1 << 24, file);
	fclose(file);
	return bytes;
}

static struct code_file_writer begin(void)
{
	struct code_file_writer writer;
	char recording[64];

	snprintf(recording, sizeof(recording), "%s/data/", folder);
	code_file_begin(&writer, recording);
	return writer;
}

static uint8_t *save(const pid_t *pids, size_t count, size_t *size)
{
	struct code_file_writer writer = begin();

	for (size_t i = 0; i < count; i++)
		code_file_add(&writer, pids[i]);
	return finish(&writer, size);
}

/* Returns how many segments of a process have a change, or none, and these bytes at the code. */
static unsigned count_code(const uint8_t *bytes, size_t size, pid_t pid, bool changed,
			   const uint8_t expected[sizeof(code)])
{
	const uint64_t at = (uintptr_t)made + 0x1000;
	struct core_segment *segments;
	unsigned found = 0;
	uint64_t recorded;
	size_t count;

	segments = core_file_read(bytes, size, &count, &recorded);
	for (size_t i = 0; i < count; i++)
		found += segments[i].pid == pid && segments[i].begin <= at &&
			 segments[i].end >= at + sizeof(code) && segments[i].changed == changed &&
			 memcmp(bytes + segments[i].file_offset + (at - segments[i].begin),
				expected, sizeof(code)) == 0;
	free(segments);
	return found;
}

static unsigned count_made(const uint8_t *bytes, size_t size, pid_t pid)
{
	return count_code(bytes, size, pid, false, code);
}

START_TEST(code_is_of_the_process_that_made_it)
{
	pid_t pids[] = { getpid(), fork() };
	uint8_t *bytes;
	size_t size;

	if (pids[1] == 0) {
		pause();
		_exit(0);
	}
	bytes = save(pids, 2, &size);
	kill(pids[1], SIGKILL);
	waitpid(pids[1], NULL, 0);
	ck_assert_ptr_nonnull(bytes);
	ck_assert_uint_eq(count_made(bytes, size, pids[0]), 1);
	ck_assert_uint_eq(count_made(bytes, size, pids[1]), 1);
	ck_assert_uint_eq(count_made(bytes, size, 0), 0);
	free(bytes);
}
END_TEST

static void write_code(size_t at, const uint8_t *bytes, size_t size, int protection)
{
	ck_assert_int_eq(mprotect(made, CODE_SIZE, PROT_READ | PROT_WRITE), 0);
	memcpy(made + at, bytes, size);
	ck_assert_int_eq(mprotect(made, CODE_SIZE, protection), 0);
}

/*
 * The file has what was there last.  What is written beside code does not change it, and the
 * recording has each mprotect() that makes memory executable again.
 */
START_TEST(code_is_the_newest_and_says_if_it_replaced_other_code)
{
	const int rx = PROT_READ | PROT_EXEC, protection = _i == 1 ? rx | PROT_WRITE : rx;
	bool replaced = _i == 1 || _i == 2;
	static const uint8_t newer[sizeof(code)] = { 0x8d, 0x47, 0x02, 0xc3 }, none[CODE_SIZE];
	struct code_file_writer writer = begin();
	uint8_t *bytes;
	size_t size;

	code_file_add(&writer, getpid());
	write_code(0x1100, newer, sizeof(newer), protection);
	code_file_add(&writer, getpid());
	if (replaced)
		write_code(0x1000, newer, sizeof(newer), protection);
	if (_i == 3)
		write_code(0, none, CODE_SIZE, protection);
	if (_i == 4)
		ck_assert_int_eq(mprotect(made, CODE_SIZE, PROT_NONE), 0);
	code_file_add(&writer, getpid());
	bytes = finish(&writer, &size);
	ck_assert_ptr_nonnull(bytes);
	ck_assert_uint_eq(count_code(bytes, size, getpid(), _i == 1, replaced ? newer : code), 1);
	free(bytes);
}
END_TEST

/* Returns the process after it has a child of its own. */
static pid_t start_family(int gate[2])
{
	pid_t child = fork();

	if (child == 0) {
		if (fork() > 0)
			ck_assert_int_eq(write(gate[1], "", 1), 1);
		pause();
		_exit(0);
	}
	return child;
}

START_TEST(code_of_children_and_theirs_is_saved)
{
	struct code_file_writer writer = begin();
	struct core_segment *segments;
	unsigned others = 0;
	uint64_t recorded;
	size_t size, count;
	uint8_t *bytes;
	char byte;
	int gate[2];

	ck_assert_int_eq(pipe(gate), 0);
	start_family(gate);
	ck_assert_int_eq(read(gate[0], &byte, 1), 1);
	code_file_add_children(&writer, getpid());
	bytes = finish(&writer, &size);
	ck_assert_ptr_nonnull(bytes);
	segments = core_file_read(bytes, size, &count, &recorded);
	for (size_t i = 0; i < count; i++)
		others += segments[i].begin <= (uintptr_t)made + 0x1000 &&
			  segments[i].end > (uintptr_t)made + 0x1000 && segments[i].pid != getpid();
	for (size_t i = 0; i < count; i++)
		kill(segments[i].pid, SIGKILL);
	ck_assert_uint_eq(others, 2);
	ck_assert_uint_eq(count_made(bytes, size, getpid()), 0);
	free(segments);
	free(bytes);
	close(gate[0]);
	close(gate[1]);
}
END_TEST

#define TICKS 1234

static uint64_t ticks(void)
{
	return TICKS;
}

/* Returns the pages of [begin, begin + size) that are saved, with their time. */
static unsigned count_pages(const uint8_t *bytes, size_t size, const uint8_t *begin, size_t length)
{
	const uint64_t first = (uintptr_t)begin, last = first + length;
	struct core_segment *segments;
	unsigned pages = 0;
	uint64_t recorded;
	size_t count;

	segments = core_file_read(bytes, size, &count, &recorded);
	for (size_t i = 0; i < count; i++) {
		uint64_t from = segments[i].begin, to = segments[i].end;

		for (; from < to; from += CODE_PAGE_SIZE)
			pages += from >= first && from < last && segments[i].saved == TICKS;
	}
	free(segments);
	return pages;
}

/* Of a file that still exists only the pages that the process wrote to: the others are in it. */
START_TEST(pages_of_a_file_are_saved_that_were_changed_in_memory)
{
	struct code_file_writer writer = begin();
	char name[80];
	uint8_t page[CODE_PAGE_SIZE], *mapped, *bytes;
	size_t size;
	int fd;

	snprintf(name, sizeof(name), "%s/text", folder);
	fd = open(name, O_RDWR | O_CREAT, 0600);
	memset(page, 0x90, sizeof(page));
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(write(fd, page, sizeof(page)), sizeof(page));
	mapped = mmap(NULL, 3 * CODE_PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	ck_assert_ptr_ne(mapped, MAP_FAILED);
	ck_assert_uint_eq(mapped[0] + mapped[2 * CODE_PAGE_SIZE], 2 * 0x90);
	mapped[CODE_PAGE_SIZE] = 0xc3;
	ck_assert_int_eq(mprotect(mapped, 3 * CODE_PAGE_SIZE, PROT_READ | PROT_EXEC), 0);
	if (_i)
		unlink(name);
	writer.ticks = ticks;
	code_file_add(&writer, getpid());
	bytes = finish(&writer, &size);
	ck_assert_ptr_nonnull(bytes);
	ck_assert_uint_eq(count_pages(bytes, size, mapped, 3 * CODE_PAGE_SIZE), _i ? 3 : 1);
	ck_assert_uint_eq(count_pages(bytes, size, mapped + CODE_PAGE_SIZE, CODE_PAGE_SIZE), 1);
	munmap(mapped, 3 * CODE_PAGE_SIZE);
	close(fd);
	unlink(name);
	free(bytes);
}
END_TEST

START_TEST(without_made_code_there_is_no_file)
{
	const pid_t nobody = 0;
	size_t size;

	ck_assert_ptr_null(save(&nobody, 1, &size));
}
END_TEST

START_TEST(the_file_has_the_size_of_its_recording)
{
	const pid_t pid = getpid();
	char recording[80];
	uint64_t recorded;
	uint8_t *bytes;
	size_t size, count;
	FILE *file;

	snprintf(recording, sizeof(recording), "%s/data", folder);
	file = fopen(recording, "w");
	fputs("a recording", file);
	fclose(file);
	bytes = save(&pid, 1, &size);
	ck_assert_ptr_nonnull(bytes);
	free(core_file_read(bytes, size, &count, &recorded));
	ck_assert_uint_eq(recorded, strlen("a recording"));
	ck_assert_uint_eq(count_made(bytes, size, pid), 1);
	free(bytes);
	unlink(recording);
}
END_TEST

static void expect_inside(const uint8_t *bytes, size_t size)
{
	uint64_t recorded;
	size_t count;
	struct core_segment *segments = core_file_read(bytes, size, &count, &recorded);

	for (size_t i = 0; i < count; i++) {
		ck_assert_uint_lt(segments[i].begin, segments[i].end);
		ck_assert_uint_le(segments[i].file_offset, size);
		ck_assert_uint_le(segments[i].end - segments[i].begin,
				  size - segments[i].file_offset);
	}
	free(segments);
}

START_TEST(segments_of_damaged_cores_are_in_the_file)
{
	const pid_t pid = getpid();
	uint8_t *bytes, *cut;
	Elf64_Ehdr header;
	size_t size;

	bytes = save(&pid, 1, &size);
	ck_assert_ptr_nonnull(bytes);
	memcpy(&header, bytes, sizeof(header));
	for (size_t length = 0; length < size; length += length < 0x100 ? 1 : 0x123) {
		cut = malloc(length + !length);
		memcpy(cut, bytes, length);
		expect_inside(cut, length);
		free(cut);
	}
	for (size_t at = 0; at < size; at++) {
		if (at >= 0x200 && at < header.e_phoff)
			continue;
		bytes[at] ^= 0xff;
		expect_inside(bytes, size);
		bytes[at] ^= 0xff;
	}
	free(bytes);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("code_file");
	TCase *all = tcase_create("all");

	tcase_add_checked_fixture(all, set_up, tear_down);
	tcase_add_test(all, code_is_of_the_process_that_made_it);
	tcase_add_loop_test(all, code_is_the_newest_and_says_if_it_replaced_other_code, 0, 5);
	tcase_add_test(all, code_of_children_and_theirs_is_saved);
	tcase_add_test(all, the_file_has_the_size_of_its_recording);
	tcase_add_test(all, without_made_code_there_is_no_file);
	tcase_add_loop_test(all, pages_of_a_file_are_saved_that_were_changed_in_memory, 0, 2);
	tcase_add_test(all, segments_of_damaged_cores_are_in_the_file);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
