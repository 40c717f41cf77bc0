/* SPDX-License-Identifier: MIT */
/* The words of perf record for the options of `ptrace2ftf record` (man perf-record). */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/options/options.h"
#include "src/record/record.h"
#include "tests/support/unit.h"

static char here[] = "./prog", argument[] = "an argument", name[] = "prog";
static char *program[] = { here, argument, NULL }, *in_path[] = { name, NULL };
static char folder[40], variable[200];

static void setup(void)
{
	char path[60];

	strcpy(folder, "/tmp/ptrace2ftf-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	sprintf(path, "%s/prog", folder);
	fclose(fopen(path, "w"));
	ck_assert_int_eq(chmod(path, 0700), 0);
	sprintf(path, "%s/data", folder);
	fclose(fopen(path, "w"));
	ck_assert_int_eq(chmod(path, 0600), 0);
	sprintf(variable, "/nonexistent::%s", folder);
	setenv("PATH", variable, 1);
}

static void teardown(void)
{
	char path[60];

	sprintf(path, "%s/prog", folder);
	unlink(path);
	sprintf(path, "%s/data", folder);
	unlink(path);
	rmdir(folder);
}

/* Only where the processor can and the user may: CYC packets, and a larger buffer. */
static const char *event(const char *level)
{
	static char text[40];

	sprintf(text, "intel_pt/%s/%s", recorder_can("psb_cyc") ? "cyc=1" : "", level);
	return text;
}

static const char *buffer(const struct options *options, const char *words)
{
	return recorder_buffer(options) ? words : "";
}

static void expect(const struct options *options, const char *size, const char *level,
		   const char *rest)
{
	char **words = perf_command_make(options), expected[400], *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	perf_command_print(words, out);
	fclose(out);
	sprintf(expected, "perf record -o a.data %s-e %s%s\n", buffer(options, size), event(level),
		rest);
	ck_assert_str_eq(text, expected);
	free(text);
	perf_command_free(words);
}

START_TEST(a_command_has_the_words_of_the_options)
{
	struct options options = { .input = "a.data", .program = program };
	char rest[200];

	expect(&options, "-m,64M ", "u", " -- ./prog 'an argument'");
	options.mode = TRACE_MODE_KERNEL;
	expect(&options, "-m,64M ", "k", " -- ./prog 'an argument'");
	options.mode = TRACE_MODE_BOTH;
	expect(&options, "-m,64M ", "", " -- ./prog 'an argument'");
	options.mode = TRACE_MODE_USER;
	options.all_cpus = true;
	expect(&options, "-m,64M ", "u", " -a -- ./prog 'an argument'");
	options.all_cpus = false;
	options.snapshot = 3 << 20;
	expect(&options, "-m,3M ", "u", " --snapshot=e -- ./prog 'an argument'");
	options.snapshot = (3 << 20) + 1;
	expect(&options, "-m,3073K ", "u", " --snapshot=e -- ./prog 'an argument'");
	options.snapshot = 0;
	options.start_at = "serve";
	expect(&options, "-m,64M ", "u",
	       " --filter 'start serve @ ./prog' -- ./prog 'an argument'");
	/* perf looks for no file in PATH. */
	options.program = in_path;
	sprintf(rest, " --filter 'start serve @ %s/prog' -- prog", folder);
	expect(&options, "-m,64M ", "u", rest);
	options.program = NULL;
	options.attach = "123";
	expect(&options, "-m,64M ", "u", " --filter 'start serve @ /proc/123/exe' -p 123");
}
END_TEST

/* Calls are watched while perf records: it needs a program, or one that waits. */
START_TEST(a_command_that_waits_for_a_call_has_a_program)
{
	struct options options = { .input = "a.data", .attach = "5", .snapshot_at = "f" };

	expect(&options, "-m,64M ", "u", " --snapshot=e -p 5 -- sleep infinity");
	options.program = program;
	options.attach = NULL;
	expect(&options, "-m,64M ", "u", " --snapshot=e -- ./prog 'an argument'");
}
END_TEST

/* POSIX, "Quoting". */
START_TEST(a_printed_command_can_be_pasted_into_a_shell)
{
	static char texts[][20] = { "a-b=c/d,e.f:g@h%", "", "it's", "$HOME", "a;b", "\"", "tab\t",
				    "~" };
	char *words[COUNT_OF(texts) + 1] = { NULL };
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	for (size_t i = 0; i < COUNT_OF(texts); i++)
		words[i] = texts[i];
	perf_command_print(words, out);
	fclose(out);
	ck_assert_str_eq(text,
			 "a-b=c/d,e.f:g@h% '' 'it'\\''s' '$HOME' 'a;b' '\"' 'tab\t' '~'\n");
	free(text);
}
END_TEST

START_TEST(a_program_is_an_executable_file_in_path)
{
	char file[PATH_MAX], expected[60];

	sprintf(expected, "%s/prog", folder);
	ck_assert(path_search("prog", file));
	ck_assert_str_eq(file, expected);
	ck_assert(!path_search("missing", file));
	if (geteuid())
		ck_assert(!path_search("data", file));
	sprintf(variable, "%s:/nonexistent", folder);
	setenv("PATH", variable, 1);
	ck_assert(path_search("prog", file));
	ck_assert_str_eq(file, expected);
	setenv("PATH", "", 1);
	ck_assert(!path_search("prog", file));
}
END_TEST

/* Root may lock any amount of memory. */
START_TEST(root_gets_the_buffer_that_was_asked_for)
{
	struct options options = { .snapshot = 5 << 20 };

	if (geteuid())
		return;
	ck_assert_uint_eq(recorder_buffer(&options), 5 << 20);
	options.snapshot = 0;
	ck_assert_uint_eq(recorder_buffer(&options), 64 << 20);
	ck_assert(!recorder_can("no_such_capability"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("perf_command");
	TCase *all = tcase_create("all");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, a_command_has_the_words_of_the_options);
	tcase_add_test(all, a_command_that_waits_for_a_call_has_a_program);
	tcase_add_test(all, a_printed_command_can_be_pasted_into_a_shell);
	tcase_add_test(all, a_program_is_an_executable_file_in_path);
	tcase_add_test(all, root_gets_the_buffer_that_was_asked_for);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
