/* SPDX-License-Identifier: MIT */
/* Names of a batch's outputs, by the rules of ptrace2ftf(1), BATCHES. */
#include <check.h>
#include <string.h>

#include "batch_line.h"
#include "batch_plan.h"
#include "tests/support/unit.h"

#define MANY 4

/* The inputs' outputs in DIRECTORY or by PATTERN are `outputs`, or there is an error with the text. */
static void expect(const char *directory, const char *pattern, const char *const inputs[MANY],
		   const char *const outputs[MANY])
{
	struct options options = { .inputs = (char **)inputs, .input = inputs[0],
				   .output = directory, .output_pattern = pattern };
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

#define NAMES(...) (const char *[MANY]){ __VA_ARGS__ }

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

static void refuse(const char *pattern, const char *text)
{
	const char *inputs[] = { "a/x.data", "b/x.data" };
	struct options options = { .inputs = (char **)inputs, .input = inputs[0], .input_count = 2,
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
	refuse("out/{base}", "would both be written to out/x");
	refuse("{dir}/{name}", "is an input");
}
END_TEST

START_TEST(names_that_are_no_text_are_json_all_the_same)
{
	json_t *text = batch_line_text("a\\b\xff/\xc3\xa4"), *plain = batch_line_text("\xc3\xa4\\");

	ck_assert_str_eq(json_string_value(text), "a\\x5cb\\xff/\\xc3\\xa4");
	ck_assert_str_eq(json_string_value(plain), "\xc3\xa4\\");
	json_decref(text);
	json_decref(plain);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("batch_plan");
	TCase *c = tcase_create("batch_plan");

	tcase_add_test(c, file_names_lose_data_and_perf_data_is_its_directory);
	tcase_add_test(c, equal_names_get_directories_in_front_until_they_differ);
	tcase_add_test(c, patterns_have_the_words_of_the_manual);
	tcase_add_test(c, wrong_patterns_are_refused);
	tcase_add_test(c, names_that_are_no_text_are_json_all_the_same);
	suite_add_tcase(suite, c);
	return unit_run(suite);
}
