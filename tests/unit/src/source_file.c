/* SPDX-License-Identifier: MIT */
/* Which files are read as sources, and their lines. */
#include "src/formats/text/source_file.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/budget.h"
#include "tests/support/unit.h"

static char folder[] = "/tmp/source_file.XXXXXX";
static struct source_file source;

static void setup(void)
{
	strcpy(folder, "/tmp/source_file.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(chdir(folder), 0);
	ck_assert_int_eq(mkdir("include", 0700), 0);
}

static void teardown(void)
{
	source_file_release(&source);
	ck_assert_int_eq(system("rm -r /tmp/source_file.??????"), 0);
}

static void write_file(const char *path, const char *bytes, size_t size)
{
	FILE *out = fopen(path, "w");

	ck_assert_ptr_nonnull(out);
	ck_assert_uint_eq(fwrite(bytes, 1, size, out), size);
	fclose(out);
}

START_TEST(lines_have_their_numbers)
{
	size_t length;

	write_file("a.c", "one\n\nthree\r\nfour", 16);
	source_file_read(&source, "a.c");
	ck_assert_uint_eq(source.count, 4);
	ck_assert_int_eq(strncmp(source_file_line(&source, 1, &length), "one\n", 4), 0);
	ck_assert_uint_eq(length, 3);
	ck_assert_ptr_nonnull(source_file_line(&source, 2, &length));
	ck_assert_uint_eq(length, 0);
	ck_assert_ptr_nonnull(source_file_line(&source, 3, &length));
	ck_assert_uint_eq(length, 5);
	ck_assert_str_eq(source_file_line(&source, 4, &length), "four");
	ck_assert_ptr_null(source_file_line(&source, 0, &length));
	ck_assert_ptr_null(source_file_line(&source, 5, &length));
}
END_TEST

START_TEST(only_names_of_sources_are_read)
{
	static const struct {
		const char *path;
		size_t lines;
	} cases[] = {
		{ "x.c", 1 },   { "x.CPP", 1 }, { "x.rs", 1 },        { "x.go", 1 },
		{ "x.ml", 1 },  { "x.S", 1 },   { "x.c.txt", 0 },     { "x.txt", 0 },
		{ "x.pem", 0 }, { "x", 0 },     { "./include/x", 1 }, { "x. c", 0 },
		{ "x.c d", 0 }, { ".c", 1 },    { "id_rsa", 0 },      { "x.env", 0 },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		write_file(cases[i].path, "text\n", 5);
		source_file_read(&source, cases[i].path);
		ck_assert_msg(source.count == cases[i].lines, "%s", cases[i].path);
	}
}
END_TEST

START_TEST(other_files_than_text_are_not_read)
{
	write_file("bytes.c", "a\0b\n", 4);
	ck_assert_int_eq(mkfifo("fifo.c", 0600), 0);
	ck_assert_int_eq(mkdir("folder.c", 0700), 0);
	ck_assert_int_eq(symlink("/proc/self/environ", "environ.c"), 0);
	ck_assert_int_eq(symlink("/sys/kernel/notes", "notes.c"), 0);
	ck_assert_int_eq(symlink("/dev/zero", "zero.c"), 0);
	write_file("secret.txt", "text\n", 5);
	ck_assert_int_eq(symlink("secret.txt", "secret.c"), 0);
	for (const char *const *path =
		     (const char *const[]){ "bytes.c", "fifo.c", "folder.c", "environ.c", "notes.c",
					    "zero.c", "secret.c", "missing.c", NULL };
	     *path; path++) {
		source_file_read(&source, *path);
		ck_assert_msg(source.count == 0, "%s", *path);
	}
}
END_TEST

/* Shared memory is a folder of regular files below /dev. */
START_TEST(files_of_the_kernel_are_not_read)
{
	char path[] = "/dev/shm/source_file.XXXXXX.c";
	int fd = mkstemps(path, 2);

	if (fd < 0)
		return;
	ck_assert_int_eq(write(fd, "text\n", 5), 5);
	close(fd);
	source_file_read(&source, path);
	unlink(path);
	ck_assert_uint_eq(source.count, 0);
}
END_TEST

/* Large files are holes: they are text neither, so their sizes are compared. */
START_TEST(size_has_limits)
{
	write_file("large.c", "", 0);
	ck_assert_int_eq(truncate("large.c", (off_t)SOURCE_MOST + 1), 0);
	source_file_read(&source, "large.c");
	ck_assert_uint_eq(source.total, 0);
	ck_assert_int_eq(truncate("large.c", (off_t)SOURCE_MOST), 0);
	for (unsigned i = 0; i < 2 * SOURCE_TOTAL_MOST / SOURCE_MOST; i++) {
		source_file_read(&source, "other.c");
		source_file_read(&source, "large.c");
	}
	ck_assert_uint_eq(source.total, SOURCE_TOTAL_MOST);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("source_file");
	TCase *all = tcase_create("all");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, lines_have_their_numbers);
	tcase_add_test(all, only_names_of_sources_are_read);
	tcase_add_test(all, other_files_than_text_are_not_read);
	tcase_add_test(all, files_of_the_kernel_are_not_read);
	tcase_add_test(all, size_has_limits);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
