/* SPDX-License-Identifier: MIT */
/* Names of a batch's outputs, by the rules of ptrace2ftf(1), BATCHES. */
#include <stdio.h>
#include <string.h>

#include "src/batch/batch.h"
#include "src/formats/output_format.h"
#include "tests/support/unit.h"

#define MANY 4

/* Assert that the inputs' outputs, in DIRECTORY or by PATTERN, are `outputs`. */
static void expect(const char *directory, const char *pattern, const char *const inputs[MANY],
		   const char *const outputs[MANY])
{
	struct options options = { .format = &format_ftf,
				   .inputs = (char **)inputs,
				   .input = inputs[0],
				   .output = directory,
				   .output_pattern = pattern };
	struct batch_plan plan;
	struct error err = { 0 };

	while (options.input_count < MANY && inputs[options.input_count])
		options.input_count++;
	ck_assert_int_eq(batch_plan_make(&plan, &options, &err), 0);
	ck_assert_uint_eq(plan.count, (size_t)options.input_count);
	for (int i = 0; i < options.input_count; i++)
		ck_assert_str_eq(plan.jobs[i].output, outputs[i]);
	batch_plan_release(&plan);
}

#define NAMES(...)                                                                                 \
	(const char *[MANY])                                                                       \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}

START_TEST(file_names_lose_data_and_perf_data_is_its_directory)
{
	expect("o/", NULL, NAMES("a.data", "x/b.perf", "x/c/perf.data", "perf.data"),
	       NAMES("o/a.ftf", "o/b.perf.ftf", "o/c.ftf", "o/perf.ftf"));
	expect("/", NULL, NAMES("/perf.data", "./perf.data", ".data", "../perf.data"),
	       NAMES("/perf.ftf", "/.-perf.ftf", "/.data.ftf", "/..-perf.ftf"));
}
END_TEST

START_TEST(equal_names_get_directories_in_front_until_they_differ)
{
	expect("o//", NULL, NAMES("a/x/r.data", "b/x/r.data", "b/y/r.data", "r"),
	       NAMES("o/a-x-r.ftf", "o/b-x-r.ftf", "o/y-r.ftf", "o/r.ftf"));
	expect("o/", NULL, NAMES("/a/perf.data", "/b//a/perf.data/", "b.data", "c/b.data/"),
	       NAMES("o/a.ftf", "o/b-a.ftf", "o/b.ftf", "o/c-b.ftf"));
}
END_TEST

START_TEST(patterns_have_the_words_of_the_manual)
{
	expect(NULL, "{dir}/{base}.{n}.gz", NAMES("a.b.data", "/x", "/c/d/e.f/", ".h"),
	       NAMES("./a.b.1.gz", "//x.2.gz", "/c/d/e.3.gz", "./.h.4.gz"));
	expect(NULL, "}{name}", NAMES("p/q.data"), NAMES("}q.data"));
}
END_TEST

/* Of ten inputs the first has two digits, so that names sort like the inputs. */
START_TEST(numbers_have_as_many_digits_as_the_largest)
{
	const char *inputs[10];
	struct options options = { .format = &format_ftf,
				   .inputs = (char **)inputs,
				   .input = "x",
				   .input_count = 10,
				   .output_pattern = "{n}" };
	struct batch_plan plan;

	for (int i = 0; i < 10; i++)
		inputs[i] = "x";
	ck_assert_int_eq(batch_plan_make(&plan, &options, NULL), 0);
	ck_assert_str_eq(plan.jobs[0].output, "01");
	ck_assert_str_eq(plan.jobs[9].output, "10");
	batch_plan_release(&plan);
}
END_TEST

/* Returns the first output's name, valid until the next call; NULL: there is none. */
static const char *output_of(const struct options *options)
{
	static char name[64];
	const char *inputs[] = { "a.data", "b.data" };
	struct options all = *options;
	struct batch_plan plan;
	bool any;

	all.inputs = (char **)inputs;
	all.input = inputs[0];
	all.input_count = 2;
	ck_assert_int_eq(batch_plan_make(&plan, &all, NULL), 0);
	any = plan.jobs[0].output != NULL;
	snprintf(name, sizeof(name), "%s", any ? plan.jobs[0].output : "");
	batch_plan_release(&plan);
	return any ? name : NULL;
}

START_TEST(outputs_end_with_the_name_of_the_format)
{
	const struct options page = { .output = "o/", .format = &format_html };
	const struct options chrome = { .output = "o/", .format = &format_chrome };
	const struct options none = { .output = "o/", .format = &format_none };

	ck_assert_str_eq(output_of(&page), "o/a.html");
	ck_assert_str_eq(output_of(&chrome), "o/a.json");
	ck_assert_ptr_null(output_of(&none));
}
END_TEST

START_TEST(one_recording_has_the_output_of_the_options)
{
	const struct options named = { .format = &format_slices, .output = "x" };
	const struct options none = { .format = &format_none };

	ck_assert_str_eq(output_of(&named), "x");
	ck_assert_ptr_null(output_of(&none));
}
END_TEST

static void refuse(const char *pattern, const char *text)
{
	const char *inputs[] = { "a/x.data", "b/x.data" };
	struct options options = { .format = &format_ftf,
				   .inputs = (char **)inputs,
				   .input = inputs[0],
				   .input_count = 2,
				   .output_pattern = pattern };
	struct batch_plan plan;
	struct error err = { 0 };

	ck_assert_int_eq(batch_plan_make(&plan, &options, &err), -1);
	ck_assert_msg(strstr(err.text, text) != NULL, "%s", err.text);
	batch_plan_release(&plan);
}

START_TEST(wrong_patterns_are_refused)
{
	refuse("{dir", "'{dir'");
	refuse("{}", "only {dir}");
}
END_TEST

START_TEST(names_that_are_no_text_are_json_all_the_same)
{
	json_t *text = batch_line_text("a\\b\xff/\xc3\xa4"), *plain = batch_line_text("\xc3\xa4\\");

	ck_assert_str_eq(json_string_value(text), "a\\x5cb\\xff/\xc3\xa4");
	ck_assert_str_eq(json_string_value(plain), "\xc3\xa4\\");
	json_decref(text);
	json_decref(plain);
}
END_TEST

/* The keys and their units: ptrace2ftf(1), BATCHES. */
START_TEST(a_line_has_all_inputs_and_what_the_process_used)
{
	const char *inputs[] = { "a.data", "b.data" };
	struct batch_job job = { .inputs = (char **)inputs, .input_count = 2 };
	struct batch_end end = { .status = 2, .seconds = 3 };
	json_t *line;

	end.usage.ru_utime = (struct timeval){ 1, 500000 };
	end.usage.ru_stime = (struct timeval){ 0, 250000 };
	end.usage.ru_maxrss = 3; /* KiB */
	line = batch_line_make(&job, &end);
	ck_assert_str_eq(json_string_value(json_object_get(line, "input")), "a.data");
	ck_assert_str_eq(json_string_value(json_array_get(json_object_get(line, "inputs"), 1)),
			 "b.data");
	ck_assert(json_is_null(json_object_get(line, "output")));
	ck_assert_double_eq(json_real_value(json_object_get(line, "cpu_seconds")), 1.75);
	ck_assert_int_eq(json_integer_value(json_object_get(line, "peak_bytes")), 3072);
	ck_assert_ptr_null(json_object_get(line, "signal"));
	json_decref(line);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("batch_plan");
	TCase *c = tcase_create("batch_plan");

	tcase_add_test(c, file_names_lose_data_and_perf_data_is_its_directory);
	tcase_add_test(c, equal_names_get_directories_in_front_until_they_differ);
	tcase_add_test(c, patterns_have_the_words_of_the_manual);
	tcase_add_test(c, numbers_have_as_many_digits_as_the_largest);
	tcase_add_test(c, outputs_end_with_the_name_of_the_format);
	tcase_add_test(c, one_recording_has_the_output_of_the_options);
	tcase_add_test(c, wrong_patterns_are_refused);
	tcase_add_test(c, names_that_are_no_text_are_json_all_the_same);
	tcase_add_test(c, a_line_has_all_inputs_and_what_the_process_used);
	suite_add_tcase(suite, c);
	return unit_run(suite);
}
