/* SPDX-License-Identifier: MIT */
/* Cores of this process and a child, written and read; also damaged ones. */
#include "src/record/record.h"

#include <elf.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/procfs.h>
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
	struct core_file core;
	unsigned found = 0;

	core_file_read(bytes, size, &core);
	for (size_t i = 0; i < core.count; i++)
		found +=
			core.segments[i].pid == pid && core.segments[i].begin <= at &&
			core.segments[i].end >= at + sizeof(code) &&
			core.segments[i].changed == changed &&
			memcmp(bytes + core.segments[i].file_offset + (at - core.segments[i].begin),
			       expected, sizeof(code)) == 0;
	core_file_release(&core);
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
	struct core_file core;
	unsigned others = 0;
	size_t size;
	uint8_t *bytes;
	char byte;
	int gate[2];

	ck_assert_int_eq(pipe(gate), 0);
	start_family(gate);
	ck_assert_int_eq(read(gate[0], &byte, 1), 1);
	code_file_add_children(&writer, getpid());
	bytes = finish(&writer, &size);
	ck_assert_ptr_nonnull(bytes);
	core_file_read(bytes, size, &core);
	for (size_t i = 0; i < core.count; i++)
		others += core.segments[i].begin <= (uintptr_t)made + 0x1000 &&
			  core.segments[i].end > (uintptr_t)made + 0x1000 &&
			  core.segments[i].pid != getpid();
	for (size_t i = 0; i < core.count; i++)
		kill(core.segments[i].pid, SIGKILL);
	ck_assert_uint_eq(others, 2);
	ck_assert_uint_eq(count_made(bytes, size, getpid()), 0);
	core_file_release(&core);
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
	struct core_file core;
	unsigned pages = 0;

	core_file_read(bytes, size, &core);
	for (size_t i = 0; i < core.count; i++) {
		uint64_t from = core.segments[i].begin, to = core.segments[i].end;

		for (; from < to; from += CODE_PAGE_SIZE)
			pages += from >= first && from < last && core.segments[i].saved == TICKS;
	}
	core_file_release(&core);
	return pages;
}

/* More pages than are looked up at a time. */
#define FILE_PAGES 600

/* Pages that a process wrote to, up to -1. */
static const int changed_pages[][5] = {
	{ 1, -1 }, { 0, -1 }, { 0, 2, -1 }, { 0, 1, 2, -1 }, { 3, 511, 512, 599, -1 },
};

static uint8_t *map_pages(const char *name, const int *changed)
{
	int fd = open(name, O_RDWR | O_CREAT, 0600);
	uint8_t page[CODE_PAGE_SIZE], *mapped;

	memset(page, 0x90, sizeof(page));
	for (int i = 0; i < FILE_PAGES; i++)
		ck_assert_int_eq(write(fd, page, sizeof(page)), sizeof(page));
	mapped =
		mmap(NULL, FILE_PAGES * CODE_PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	ck_assert_ptr_ne(mapped, MAP_FAILED);
	for (size_t i = 0; i < FILE_PAGES; i++)
		ck_assert_uint_eq(mapped[i * CODE_PAGE_SIZE], 0x90);
	for (; *changed >= 0; changed++)
		mapped[(size_t)*changed * CODE_PAGE_SIZE] = 0xc3;
	ck_assert_int_eq(mprotect(mapped, FILE_PAGES * CODE_PAGE_SIZE, PROT_READ | PROT_EXEC), 0);
	close(fd);
	return mapped;
}

/* Of a file that still exists only the pages that the process wrote to: the others are in it. */
START_TEST(pages_of_a_file_are_saved_that_were_changed_in_memory)
{
	const int *changed = changed_pages[_i / 2];
	struct code_file_writer writer = begin();
	uint8_t *mapped, *bytes;
	char name[80];
	size_t size;

	snprintf(name, sizeof(name), "%s/text", folder);
	mapped = map_pages(name, changed);
	if (_i % 2)
		unlink(name);
	writer.ticks = ticks;
	code_file_add(&writer, getpid());
	bytes = finish(&writer, &size);
	ck_assert_ptr_nonnull(bytes);
	for (int i = 0; i < FILE_PAGES; i += i < 10 || i > 500 ? 1 : 50) {
		bool is_changed = i == *changed;

		changed += is_changed;
		ck_assert_uint_eq(count_pages(bytes, size, mapped + (size_t)i * CODE_PAGE_SIZE,
					      CODE_PAGE_SIZE),
				  _i % 2 || is_changed);
	}
	munmap(mapped, FILE_PAGES * CODE_PAGE_SIZE);
	unlink(name);
	free(bytes);
}
END_TEST

static void expect_inside(const uint8_t *bytes, size_t size)
{
	const struct core_copy *copy;
	struct core_file core;
	size_t copied = 0;

	core_file_read(bytes, size, &core);
	for (copy = core.copies; copy < core.copies + core.copy_count; copy++) {
		const uint8_t *name = (const uint8_t *)copy->path;

		ck_assert(name >= bytes && memchr(name, 0, (size_t)(bytes + size - name)));
		ck_assert(copy->bytes.bytes >= bytes);
		ck_assert_uint_le(copy->bytes.size, (size_t)(bytes + size - copy->bytes.bytes));
		copied += copy->bytes.size;
	}
	ck_assert_uint_le(copied, size);

	for (size_t i = 0; i < core.count; i++) {
		ck_assert_uint_lt(core.segments[i].begin, core.segments[i].end);
		ck_assert_uint_le(core.segments[i].file_offset, size);
		ck_assert_uint_le(core.segments[i].end - core.segments[i].begin,
				  size - core.segments[i].file_offset);
	}
	core_file_release(&core);
}

/* ---- Perf maps and jitdumps ---------------------------------------------- */

#define MAP_TEXT "10000 10 in_the_container\n"

/* Put a file into the folder that is a container's /tmp; owned by the user, or -1. */
static void put(const char *name, const char *text, uid_t user)
{
	char full[100];
	FILE *file;

	snprintf(full, sizeof(full), "%s/root/tmp/%s", folder, name);
	file = fopen(full, "w");
	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
	ck_assert_int_eq(user == (uid_t)-1 ? 0 : chown(full, user, user), 0);
}

/* A process of a container, whose pid is 1 there; it forks a child with its jitdump mapped. */
static void be_contained(int ready)
{
	char root[80];
	int fd;

	snprintf(root, sizeof(root), "%s/root/tmp", folder);
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount(root, "/tmp", NULL, MS_BIND, NULL) < 0)
		_exit(2);
	fd = open("/tmp/jit-1.dump", O_RDONLY);
	if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		_exit(3);
	if (fork() > 0 && write(ready, "", 1) != 1)
		_exit(4);
	pause();
	_exit(0);
}

/* Returns the process that waits for the container's first one; 0: it cannot be made. */
static pid_t start_container(pid_t *first)
{
	char text[16] = "", byte;
	int ready[2];
	pid_t outer;
	FILE *children;

	ck_assert_int_eq(pipe(ready), 0);
	outer = fork();
	if (outer == 0) {
		close(ready[0]);
		if (unshare((geteuid() ? CLONE_NEWUSER : 0) | CLONE_NEWPID | CLONE_NEWNS) < 0)
			_exit(1);
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			be_contained(ready[1]);
		}
		close(ready[1]);
		pause();
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1) {
		kill(outer, SIGKILL);
		waitpid(outer, NULL, 0);
		outer = 0;
	}
	close(ready[0]);
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", outer, outer);
	children = fopen(path, "r");
	ck_assert(!outer || (children && fgets(text, sizeof(text), children)));
	if (children)
		fclose(children);
	*first = atoi(text);
	snprintf(path, sizeof(path), "%s/data.code", folder);
	return outer;
}

static unsigned count_copies(const struct core_file *core, pid_t pid, const char *name,
			     const char *text)
{
	unsigned found = 0;

	for (size_t i = 0; i < core->copy_count; i++) {
		const struct core_copy *copy = &core->copies[i];

		found += copy->pid == pid && strcmp(copy->path, name) == 0 &&
			 copy->bytes.size == strlen(text) &&
			 memcmp(copy->bytes.bytes, text, strlen(text)) == 0;
	}
	return found;
}

/* Copies that overlap are no more than the file has; a path without an end is none. */
static void damage_copies(uint8_t *bytes, size_t size)
{
	uint8_t *end = memmem(bytes, size, "jit-1.dump", sizeof("jit-1.dump"));
	struct core_file before, after;
	Elf64_Phdr *headers;
	Elf64_Ehdr header;

	core_file_read(bytes, size, &before);
	memcpy(&header, bytes, sizeof(header));
	headers = malloc(header.e_phnum * sizeof(*headers));
	memcpy(headers, bytes + header.e_phoff, header.e_phnum * sizeof(*headers));
	for (int i = 0; i < header.e_phnum; i++)
		if (headers[i].p_type == CORE_FILE_COPY) {
			headers[i].p_offset = (Elf64_Off)i;
			headers[i].p_filesz = size - (size_t)i;
		}
	memcpy(bytes + header.e_phoff, headers, header.e_phnum * sizeof(*headers));
	free(headers);
	expect_inside(bytes, size);
	core_file_read(bytes, size, &after);
	ck_assert_uint_eq(after.copy_count, 1);
	ck_assert_int_eq(after.cut, before.copy_count > 1);
	core_file_release(&after);
	memset(end + strlen("jit-1.dump"), 'x', 4 - (strlen("/tmp/jit-1.dump") & 3));
	core_file_read(bytes, size, &after);
	ck_assert_uint_eq(after.copy_count, before.copy_count > 1);
	core_file_release(&after);
	core_file_release(&before);
}

enum map_kind { MAP_OWN, MAP_LONG, MAP_OF_ANOTHER, MAP_LINK_OUT, MAP_REPLACED, MAP_KINDS };

/* A link of the container leads to a file in it, not to one outside of the same name. */
START_TEST(names_have_the_pid_and_the_files_of_the_container)
{
	struct code_file_writer writer = begin();
	char name[100], target[100];
	struct core_file core;
	pid_t outer, first;
	uint8_t *bytes;
	size_t size;
	char cut_map[] = MAP_TEXT;

	cut_map[strlen(cut_map) - 1] = 0;
	if (_i == MAP_OF_ANOTHER && geteuid())
		return;
	snprintf(name, sizeof(name), "mkdir -p %s/root/tmp", folder);
	ck_assert_int_eq(system(name), 0);
	put("jit-1.dump", "a dump", (uid_t)-1);
	put("perf-1.map", _i == MAP_REPLACED ? "10000 10 older\n" : MAP_TEXT,
	    _i == MAP_OF_ANOTHER ? 12345 : (uid_t)-1);
	snprintf(name, sizeof(name), "%s/root/tmp/perf-1.map", folder);
	if (_i == MAP_LINK_OUT) {
		snprintf(target, sizeof(target), "%s/outside", folder);
		ck_assert_int_eq(rename(name, target) | symlink(target, name), 0);
	}
	outer = start_container(&first);
	if (outer) {
		code_file_add_children(&writer, outer);
		if (_i == MAP_REPLACED) {
			unlink(name);
			put("perf-1.map", MAP_TEXT, (uid_t)-1);
			code_file_add_children(&writer, outer);
		}
		kill(outer, SIGKILL);
		kill(first, SIGKILL);
		waitpid(outer, NULL, 0);
	}
	if (_i == MAP_LONG)
		writer.names_most = strlen(MAP_TEXT) - 1;
	snprintf(name, sizeof(name), "rm -rf %s/root %s/outside", folder, folder);
	ck_assert_int_eq(system(name), 0);
	bytes = finish(&writer, &size);
	if (!outer)
		return;
	ck_assert_ptr_nonnull(bytes);
	core_file_read(bytes, size, &core);
	ck_assert_uint_eq(count_copies(&core, first, "/tmp/perf-1.map", MAP_TEXT),
			  _i == MAP_OWN || _i == MAP_REPLACED);
	ck_assert_uint_eq(count_copies(&core, first, "/tmp/perf-1.map", cut_map), _i == MAP_LONG);
	ck_assert_uint_eq(count_copies(&core, first, "/tmp/jit-1.dump", "a dump"), 1);
	ck_assert_uint_eq(core.copy_count, _i == MAP_OF_ANOTHER || _i == MAP_LINK_OUT ? 1 : 2);
	core_file_release(&core);
	damage_copies(bytes, size);
	free(bytes);
}
END_TEST

/* The first of these files that exists. */
START_TEST(the_code_of_a_packed_recording_is_beside_it_or_has_its_name_before)
{
	static const char *const inputs[] = { "a.data.gz", "a.data.zst", "a.data", "a.dat" };
	static const char *const found[][4] = { { "a.data.code", "a.data.code", "a.data.code" },
						{ "a.data.gz.code", "a.data.code",
						  "a.data.code" } };
	char input[100], core[PATH_MAX], name[100];
	struct options options = { .input = input };

	snprintf(name, sizeof(name), "touch %s/a.data.code%s%s%s", folder, _i ? " " : "",
		 _i ? folder : "", _i ? "/a.data.gz.code" : "");
	ck_assert_int_eq(system(name), 0);
	for (size_t i = 0; i < COUNT_OF(inputs); i++) {
		const char *path_found;

		snprintf(input, sizeof(input), "%s/%s", folder, inputs[i]);
		path_found = input_paths_core(&options, core);
		if (found[_i][i])
			ck_assert_str_eq(base_name(path_found), found[_i][i]);
		else
			ck_assert_ptr_null(path_found);
	}
	snprintf(name, sizeof(name), "rm %s/a.*", folder);
	ck_assert_int_eq(system(name), 0);
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
	struct core_file core;
	uint8_t *bytes;
	size_t size;
	FILE *file;

	snprintf(recording, sizeof(recording), "%s/data", folder);
	file = fopen(recording, "w");
	fputs("a recording", file);
	fclose(file);
	bytes = save(&pid, 1, &size);
	ck_assert_ptr_nonnull(bytes);
	core_file_read(bytes, size, &core);
	ck_assert_uint_eq(core.recording, strlen("a recording"));
	core_file_release(&core);
	ck_assert_uint_eq(count_made(bytes, size, pid), 1);
	free(bytes);
	unlink(recording);
}
END_TEST

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

/* Each process has the same notes of 264 bytes; the file of two processes has 552, of three 664. */
START_TEST(notes_that_overlap_are_read_up_to_the_files_size)
{
	struct {
		Elf64_Ehdr header;
		struct {
			Elf64_Phdr notes, code;
		} processes[3];
		Elf64_Nhdr empty[9], info;
		char name[8];
		prpsinfo_t process;
	} file = { .header = { .e_ident = ELFMAG "\2\1\1",
			       .e_type = ET_CORE,
			       .e_phoff = sizeof(file.header),
			       .e_phentsize = sizeof(Elf64_Phdr),
			       .e_phnum = (Elf64_Half)(2 * _i) },
		   .info = { 5, sizeof(file.process), NT_PRPSINFO },
		   .name = "CORE",
		   .process.pr_pid = 77 };
	const size_t notes = sizeof(file) - offsetof(__typeof__(file), empty);
	const size_t left_out = (3 - (size_t)_i) * sizeof(file.processes[0]);
	struct core_file core;

	for (int i = 0; i < _i; i++) {
		file.processes[i].notes = (Elf64_Phdr){
			.p_type = PT_NOTE,
			.p_offset = offsetof(__typeof__(file), empty) - left_out,
			.p_filesz = notes,
		};
		file.processes[i].code =
			(Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_X, .p_filesz = 9 };
	}
	memmove((char *)file.empty - left_out, file.empty, notes);
	core_file_read((const uint8_t *)&file, sizeof(file) - left_out, &core);
	ck_assert_int_eq(core.cut, _i > 2);
	ck_assert_uint_eq(core.count, 2);
	ck_assert_int_eq(core.segments[0].pid, 77);
	ck_assert_int_eq(core.segments[1].pid, 77);
	core_file_release(&core);
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
	tcase_add_loop_test(all, the_code_of_a_packed_recording_is_beside_it_or_has_its_name_before,
			    0, 2);
	tcase_add_test(all, without_made_code_there_is_no_file);
	tcase_add_loop_test(all, pages_of_a_file_are_saved_that_were_changed_in_memory, 0,
			    2 * COUNT_OF(changed_pages));
	tcase_add_loop_test(all, names_have_the_pid_and_the_files_of_the_container, 0, MAP_KINDS);
	tcase_add_test(all, segments_of_damaged_cores_are_in_the_file);
	tcase_add_loop_test(all, notes_that_overlap_are_read_up_to_the_files_size, 2, 4);
	suite_add_tcase(suite, all);
	return unit_run_apart(suite);
}
