/* SPDX-License-Identifier: MIT */
/* Files of the user's cache: where they are, whose they are, and how many stay. */
#include "base/io/cache_files.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/unit.h"

#define NAME  "0123456789abcdef0123456789abcdef"
#define OTHER "ffffffffffffffffffffffffffffffff"
#define MIB   ((off_t)1 << 20)

static char folder[64];

/* The cache is in the folder, by XDG_CACHE_HOME. */
static void setup(void)
{
	strcpy(folder, "/tmp/ptrace2ftf-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	setenv("XDG_CACHE_HOME", folder, 1);
	setenv("HOME", "/nonexistent", 1);
	errno = 0;
}

static void teardown(void)
{
	char command[100];

	file_make = file_make_own;
	sprintf(command, "rm -rf %s", folder);
	ck_assert_int_eq(system(command), 0);
}

/* Returns a path in the folder, in one of a few buffers. */
static const char *at(const char *name)
{
	static char paths[4][200];
	static int next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
	return path;
}

static mode_t mode_of(const char *name)
{
	struct stat status;

	ck_assert_int_eq(lstat(at(name), &status), 0);
	return status.st_mode & 07777;
}

static bool exists(const char *name)
{
	struct stat status;

	return lstat(at(name), &status) == 0;
}

static void expect_text(const char *name, const char *expected)
{
	size_t size = 0;
	char *bytes = (char *)cache_file_read(name, &size);

	if (expected) {
		ck_assert_ptr_nonnull(bytes);
		ck_assert_uint_eq(size, strlen(expected));
		ck_assert_int_eq(memcmp(bytes, expected, size), 0);
	} else {
		ck_assert_ptr_null(bytes);
	}
	free(bytes);
}

/* A file of a size, without bytes on the disk, last changed at a second. */
static void make_file(const char *name, off_t size, time_t second)
{
	const struct timespec times[2] = { { second, 0 }, { second, 0 } };
	int fd = open(at(name), O_WRONLY | O_CREAT, 0600);

	ck_assert_int_eq(ftruncate(fd, size), 0);
	ck_assert_int_eq(futimens(fd, times), 0);
	close(fd);
}

START_TEST(a_file_is_read_as_it_was_written)
{
	expect_text(NAME, NULL);
	ck_assert_int_eq(cache_file_write(NAME, "old text", 8), 0);
	ck_assert_int_eq(cache_file_write(OTHER, "other", 5), 0);
	expect_text(NAME, "old text");
	ck_assert_int_eq(cache_file_write(NAME, "new", 3), 0);
	expect_text(NAME, "new");
	expect_text(OTHER, "other");
	ck_assert_int_eq(mode_of("ptrace2ftf"), 0700);
	ck_assert_int_eq(mode_of("ptrace2ftf/" NAME) & 077, 0);
}
END_TEST

/* The XDG Base Directory Specification; a relative path is ignored. */
START_TEST(the_folder_is_by_the_environment)
{
	static const struct {
		const char *cache, *home; /* NULL: not set; "/": the test's folder */
		const char *path;         /* NULL: no cache */
	} rows[] = { { "/", "/nonexistent", "ptrace2ftf/" NAME },
		     { NULL, "/", ".cache/ptrace2ftf/" NAME },
		     { "", "/", ".cache/ptrace2ftf/" NAME },
		     { "relative", "/", ".cache/ptrace2ftf/" NAME },
		     { NULL, NULL, NULL },
		     { NULL, "relative", NULL },
		     { "relative", "", NULL } };
	const char *cache = rows[_i].cache, *home = rows[_i].home;

	unsetenv("XDG_CACHE_HOME");
	unsetenv("HOME");
	if (cache)
		setenv("XDG_CACHE_HOME", strcmp(cache, "/") == 0 ? folder : cache, 1);
	if (home)
		setenv("HOME", strcmp(home, "/") == 0 ? folder : home, 1);
	ck_assert_int_eq(cache_file_write(NAME, "text", 4), rows[_i].path ? 0 : -1);
	if (rows[_i].path)
		ck_assert(exists(rows[_i].path));
	else
		ck_assert_int_eq(errno, ENOENT);
	expect_text(NAME, rows[_i].path ? "text" : NULL);
}
END_TEST

/* With its end, the path must fit into PATH_MAX. */
START_TEST(a_folder_with_a_long_path_is_not_used)
{
	static char path[PATH_MAX + 10];
	int length = PATH_MAX - (int)sizeof("/ptrace2ftf") + _i;

	for (int i = 0; i < length; i++)
		path[i] = i % 100 ? 'x' : '/';
	path[length] = 0;
	setenv("XDG_CACHE_HOME", path, 1);
	ck_assert_int_eq(cache_file_write(NAME, "text", 4), -1);
	ck_assert_int_eq(errno, _i ? ENAMETOOLONG : ENOENT);
}
END_TEST

/* 32 hexadecimal digits. */
START_TEST(other_names_are_refused)
{
	static const char *const names[] = { "",
					     "0123456789abcdef0123456789abcde",
					     NAME "0",
					     "0123456789abcdef0123456789abcdeF",
					     "0123456789abcdef0123456789abcdeg",
					     "../456789abcdef0123456789abcdef01" };

	for (size_t i = 0; i < COUNT_OF(names); i++) {
		errno = 0;
		ck_assert_int_eq(cache_file_write(names[i], "text", 4), -1);
		ck_assert_int_eq(errno, EINVAL);
	}
	ck_assert(!exists("ptrace2ftf"));
}
END_TEST

/* Others could have put files into the folder. */
START_TEST(a_folder_that_others_may_write_is_not_used)
{
	static const mode_t modes[] = { 0700, 0755, 0770, 0702 };

	ck_assert_int_eq(cache_file_write(NAME, "text", 4), 0);
	ck_assert_int_eq(chmod(at("ptrace2ftf"), modes[_i]), 0);
	expect_text(NAME, _i < 2 ? "text" : NULL);
	ck_assert_int_eq(cache_file_write(OTHER, "other", 5), _i < 2 ? 0 : -1);
	if (_i >= 2)
		ck_assert_int_eq(errno, EPERM);
	ck_assert_int_eq(exists("ptrace2ftf/" OTHER), _i < 2);
}
END_TEST

START_TEST(files_that_others_may_write_are_not_read)
{
	static const mode_t modes[] = { 0600, 0644, 0660, 0602 };

	ck_assert_int_eq(cache_file_write(NAME, "text", 4), 0);
	ck_assert_int_eq(chmod(at("ptrace2ftf/" NAME), modes[_i]), 0);
	expect_text(NAME, _i < 2 ? "text" : NULL);
}
END_TEST

/* Root in a user's session must not leave folders that the user cannot write. */
START_TEST(a_folder_of_another_user_is_not_used)
{
	if (geteuid() != 0)
		return;
	if (_i == 0)
		ck_assert_int_eq(chown(folder, 1, 1), 0);
	ck_assert_int_eq(cache_file_write(NAME, "text", 4), _i ? 0 : -1);
	ck_assert_int_eq(exists("ptrace2ftf"), _i > 0);
	if (_i == 0)
		return;
	ck_assert_int_eq(chown(at(_i == 1 ? "ptrace2ftf" : "ptrace2ftf/" NAME), 1, 1), 0);
	expect_text(NAME, NULL);
}
END_TEST

/* Neither the folder nor a file. */
START_TEST(links_are_not_followed)
{
	if (_i) {
		ck_assert_int_eq(mkdir(at("elsewhere"), 0700), 0);
		ck_assert_int_eq(symlink("elsewhere", at("ptrace2ftf")), 0);
		ck_assert_int_eq(cache_file_write(NAME, "text", 4), -1);
		ck_assert(!exists("elsewhere/" NAME));
		return;
	}
	ck_assert_int_eq(cache_file_write(NAME, "text", 4), 0);
	ck_assert_int_eq(symlink(NAME, at("ptrace2ftf/" OTHER)), 0);
	expect_text(OTHER, NULL);
	/* A new file replaces the link. */
	ck_assert_int_eq(cache_file_write(OTHER, "other", 5), 0);
	expect_text(OTHER, "other");
	expect_text(NAME, "text");
}
END_TEST

START_TEST(what_is_no_file_is_not_read)
{
	ck_assert_int_eq(cache_file_write(NAME, "text", 4), 0);
	ck_assert_int_eq(_i ? mkfifo(at("ptrace2ftf/" OTHER), 0600)
			    : mkdir(at("ptrace2ftf/" OTHER), 0700),
			 0);
	expect_text(OTHER, NULL);
}
END_TEST

/* Up to 8 MiB; an empty one has nothing. */
START_TEST(large_and_empty_files_are_not_read)
{
	static const struct {
		off_t size;
		bool read, written;
	} rows[] = { { 0, false, true },
		     { 1, true, true },
		     { 8 * MIB, true, true },
		     { 8 * MIB + 1, false, false } };
	uint8_t *bytes = calloc(1, (size_t)(8 * MIB + 1)), *found;
	size_t size = 0;

	ck_assert_int_eq(cache_file_write(OTHER, bytes, (size_t)rows[_i].size),
			 rows[_i].written ? 0 : -1);
	if (!rows[_i].written)
		ck_assert_int_eq(errno, EFBIG);
	ck_assert_int_eq(exists("ptrace2ftf/" OTHER), rows[_i].written);
	make_file("ptrace2ftf/" NAME, rows[_i].size, 1);
	found = cache_file_read(NAME, &size);
	ck_assert_int_eq(found != NULL, rows[_i].read);
	if (found)
		ck_assert_uint_eq(size, (size_t)rows[_i].size);
	/* No temporary file is left. */
	ck_assert_int_eq(unlink(at("ptrace2ftf/" NAME)), 0);
	unlink(at("ptrace2ftf/" OTHER));
	ck_assert_int_eq(rmdir(at("ptrace2ftf")), 0);
	free(found);
	free(bytes);
}
END_TEST

/* Sizes in MiB of four files, the oldest first; a fifth one is written. */
START_TEST(above_256_mib_the_oldest_files_are_removed)
{
	static const struct {
		off_t sizes[4];
		const char *stay;
	} rows[] = { { { 64, 64, 64, 63 }, "abcd" },  { { 64, 64, 64, 64 }, "bcd" },
		     { { 1, 100, 100, 55 }, "bcd" },  { { 1, 100, 100, 56 }, "cd" },
		     { { 300, 1, 1, 1 }, "bcd" },     { { 1, 1, 1, 300 }, "" },
		     { { 200, 100, 100, 100 }, "cd" } };
	char names[4][60], stay[5] = "";

	ck_assert_int_eq(cache_file_write(OTHER, "text", 4), 0);
	make_file("ptrace2ftf/short", 300 * MIB, 1);
	/* Written out of order. */
	for (int i = 0; i < 4; i++) {
		int file = (i + 2) % 4;

		snprintf(names[file], sizeof(names[0]),
			 "ptrace2ftf/%c"
			 "123456789abcdef0123456789abcdef",
			 'a' + (file * 3) % 4);
		make_file(names[file], rows[_i].sizes[file] * MIB, 100 + file);
	}
	ck_assert_int_eq(cache_file_write(OTHER, "other", 5), 0);
	for (int i = 0; i < 4; i++)
		if (exists(names[i]))
			strncat(stay, &"abcd"[i], 1);
	ck_assert_str_eq(stay, rows[_i].stay);
	expect_text(OTHER, "other");
	ck_assert(exists("ptrace2ftf/short"));
}
END_TEST

/* A file appears when it is kept; what was dropped leaves nothing. */
START_TEST(a_file_is_kept_or_dropped)
{
	int fd;

	ck_assert_int_eq(cache_file_make(FILE_CACHE_KEEP, NULL), -1);
	fd = cache_file_make(FILE_CACHE, NAME);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, "text", 4), 4);
	close(fd);
	ck_assert(!exists("ptrace2ftf/" NAME));
	ck_assert_int_eq(cache_file_make(_i ? FILE_CACHE_KEEP : FILE_CACHE_DROP, NULL), 0);
	expect_text(NAME, _i ? "text" : NULL);
	ck_assert_int_eq(cache_file_make(FILE_CACHE_KEEP, NULL), -1);
	unlink(at("ptrace2ftf/" NAME));
	ck_assert_int_eq(rmdir(at("ptrace2ftf")), 0);
}
END_TEST

static char asked[10];

static int ask(enum file_operation operation, const char *path, const char *other)
{
	(void)other;
	strcat(asked, operation == FILE_CACHE        ? "c"
		      : operation == FILE_CACHE_KEEP ? "k"
		      : operation == FILE_CACHE_DROP ? "d"
						     : "?");
	return cache_file_make(operation, path);
}

/* Without standard input, the folder or a file may have its descriptor. */
START_TEST(the_cache_needs_no_standard_input)
{
	close(STDIN_FILENO);
	ck_assert_int_eq(cache_file_write(NAME, "text", 4), 0);
	expect_text(NAME, "text");
}
END_TEST

/* In a sandbox, another process makes the files. */
START_TEST(another_process_makes_the_files)
{
	uint8_t *large = calloc(1, (size_t)(8 * MIB + 1));

	file_make = ask;
	asked[0] = 0;
	ck_assert_int_eq(cache_file_write(NAME, "text", 4), 0);
	ck_assert_str_eq(asked, "ck");
	expect_text(NAME, "text");
	ck_assert_int_eq(cache_file_write(NAME, large, (size_t)(8 * MIB + 1)), -1);
	ck_assert_str_eq(asked, "ckcd");
	expect_text(NAME, "text");
	free(large);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cache_files");
	TCase *all = tcase_create("all");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, a_file_is_read_as_it_was_written);
	tcase_add_loop_test(all, the_folder_is_by_the_environment, 0, 7);
	tcase_add_loop_test(all, a_folder_with_a_long_path_is_not_used, 0, 2);
	tcase_add_test(all, other_names_are_refused);
	tcase_add_loop_test(all, a_folder_that_others_may_write_is_not_used, 0, 4);
	tcase_add_loop_test(all, files_that_others_may_write_are_not_read, 0, 4);
	tcase_add_loop_test(all, a_folder_of_another_user_is_not_used, 0, 3);
	tcase_add_loop_test(all, links_are_not_followed, 0, 2);
	tcase_add_loop_test(all, what_is_no_file_is_not_read, 0, 2);
	tcase_add_loop_test(all, large_and_empty_files_are_not_read, 0, 4);
	tcase_add_loop_test(all, above_256_mib_the_oldest_files_are_removed, 0, 7);
	tcase_add_loop_test(all, a_file_is_kept_or_dropped, 0, 2);
	tcase_add_test(all, the_cache_needs_no_standard_input);
	tcase_add_test(all, another_process_makes_the_files);
	suite_add_tcase(suite, all);
	return unit_run_apart(suite);
}
