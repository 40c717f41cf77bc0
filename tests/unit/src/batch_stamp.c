/* SPDX-License-Identifier: MIT */
/*
 * The stamp covers the inputs' bytes and the options, ptrace2ftf(1), BATCHES: everything that may
 * change the output changes the stamp.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config.h"
#include "src/batch/batch.h"
#include "src/formats/output_format.h"
#include "tests/support/unit.h"

#define MANY 3
#define WORDS(...)                                                                                 \
	(const char *[MANY])                                                                       \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}

static char directory[] = "/tmp/ptrace2ftf-XXXXXX";

static void setup(void)
{
	strcpy(directory, "/tmp/ptrace2ftf-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	ck_assert_int_eq(chdir(directory), 0);
}

static void teardown(void)
{
	static const char *const files[] = { "a", "b", "run/a", "run/b", "run" };

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		remove(files[i]);
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert_int_eq(rmdir(directory), 0);
}

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
}

static struct stamp stamp_of(const char *const inputs[MANY], const char *const words[MANY])
{
	struct options options = { .inputs = (char **)inputs,
				   .input = inputs[0],
				   .words = (char **)words };
	struct stamp stamp;
	struct error err = { 0 };

	while (options.input_count < MANY && inputs[options.input_count])
		options.input_count++;
	while (options.word_count < MANY && words[options.word_count])
		options.word_count++;
	ck_assert_msg(stamp_make(&stamp, &options, &err) == 1, "%s", err.text);
	return stamp;
}

static struct stamp stamp_of_files(const char *a, const char *b)
{
	write_file("a", a);
	write_file("b", b);
	return stamp_of(WORDS("a", "b"), WORDS(NULL));
}

START_TEST(a_byte_that_moves_from_one_file_to_the_next_is_another_recording)
{
	struct stamp one = stamp_of_files("xy", "z"), other = stamp_of_files("x", "yz");
	struct stamp again = stamp_of_files("xy", "z");

	ck_assert_str_ne(one.text, other.text);
	ck_assert_str_eq(one.text, again.text);
}
END_TEST

START_TEST(a_directory_is_its_files_with_their_names)
{
	struct stamp one, renamed;

	ck_assert_int_eq(mkdir("run", 0700), 0);
	write_file("run/a", "x");
	one = stamp_of(WORDS("run"), WORDS(NULL));
	ck_assert_int_eq(rename("run/a", "run/b"), 0);
	renamed = stamp_of(WORDS("run"), WORDS(NULL));
	ck_assert_str_ne(one.text, renamed.text);
}
END_TEST

START_TEST(options_are_words_and_not_one_text)
{
	struct stamp one, other;

	write_file("a", "x");
	one = stamp_of(WORDS("a"), WORDS("--comm", "xy", "z"));
	other = stamp_of(WORDS("a"), WORDS("--comm", "x", "yz"));
	ck_assert_str_ne(one.text, other.text);
}
END_TEST

START_TEST(the_stamp_is_of_this_version)
{
	struct stamp stamp;

	write_file("a", "x");
	stamp = stamp_of(WORDS("a"), WORDS(NULL));
	ck_assert_ptr_nonnull(strstr(stamp.text, " " PACKAGE_VERSION " "));
}
END_TEST

/* Reading a pipe would block forever. */
START_TEST(what_is_no_file_carries_no_stamp)
{
	struct stamp stamp = { "stamp" };

	ck_assert_int_eq(mkfifo("a", 0600), 0);
	ck_assert(!stamp_is_on(&stamp, &format_ftf, "a"));
	ck_assert(!stamp_is_on(&stamp, &format_ftf, "b"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("batch_stamp");
	TCase *c = tcase_create("batch_stamp");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, a_byte_that_moves_from_one_file_to_the_next_is_another_recording);
	tcase_add_test(c, a_directory_is_its_files_with_their_names);
	tcase_add_test(c, options_are_words_and_not_one_text);
	tcase_add_test(c, the_stamp_is_of_this_version);
	tcase_add_test(c, what_is_no_file_carries_no_stamp);
	suite_add_tcase(suite, c);
	return unit_run_apart(suite);
}
