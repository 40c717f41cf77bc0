/* SPDX-License-Identifier: MIT */
/* Answers of several recordings, merged. */
#include "src/slow/why_merged.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/support/unit.h"

static struct why_merged merged;

static void teardown(void)
{
	why_merged_release(&merged);
	why_merged_release(&merged);
}

/* Reads apostrophes as quotes. */
static bool add(const char *line, const char *input)
{
	char *copy = strdup(line);
	json_t *json;
	bool added;

	for (char *at = copy; (at = strchr(at, '\'')); at++)
		*at = '"';
	json = json_loads(copy, 0, NULL);
	ck_assert_msg(json != NULL, "%s", copy);
	added = why_merged_add(&merged, json, input);
	json_decref(json);
	free(copy);
	return added;
}

#define CLUSTER(cause, calls, extra, begin)                                                        \
	"{'cause':'" cause "','calls':" #calls ",'extra':" #extra ",'slowest':{'begin_ns':" #begin \
	"}}"
#define ANSWER(unit, clusters)                                                                     \
	"{'format':'why','unit':'" unit "','functions':[{'function':'f','clusters':[" clusters     \
	"]}]}"

static void expect_printed(const char *expected)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	why_merged_sort(&merged);
	why_merged_print(&merged, out);
	fclose(out);
	ck_assert_str_eq(text, expected);
	free(text);
}

#define HEADER "recordings   calls      extra      worst  function: cause\n"

/* The cause with the most extra in all is first; its worst call is in another recording. */
START_TEST(causes_add_up_over_recordings)
{
	ck_assert(add(
		"{'input':'one','report':{'answer':" ANSWER(
			"ns", CLUSTER("g", 3, 100, 1000000002) "," CLUSTER("f", 1, 350, 5)) "}}",
		"lines"));
	ck_assert(add("{'answer':" ANSWER("ns", CLUSTER("g", 1, 200, 7)) "}", "two"));
	ck_assert(add(ANSWER("ns", ""), "three"));
	expect_printed(
		HEADER
		"         2       4      500ns      200ns  f: g; worst at 0.000000007 in two\n"
		"         1       1      350ns      350ns  f: own code; worst at 0.000000005 in "
		"one\n"
		"\n3 recordings, 1 without slow calls\n"
		"next: ptrace2ftf why --symbol=f two\n");
}
END_TEST

/* Sums of 0.1 and 1e9 differ by their order, and recordings with equal worst calls have one. */
START_TEST(the_order_of_answers_does_not_matter)
{
	static const char *const inputs[] = { "a", "b", "c" };
	static const char *const lines[] = { ANSWER("ns", CLUSTER("g", 1, 1e9, 1)),
					     ANSWER("ns", CLUSTER("g", 7, 0.1, 2)),
					     ANSWER("ns", CLUSTER("g", 1, 1e9, 3)) };
	json_t *answers[2];

	for (int i = 0; i < 2; i++) {
		for (int k = 0; k < 300; k++) {
			int number = i ? 2 - k % 3 : k % 3;

			ck_assert(add(lines[number], inputs[number]));
		}
		why_merged_sort(&merged);
		answers[i] = why_merged_json(&merged);
		ck_assert_str_eq(merged.causes->worst_input, "a");
		why_merged_release(&merged);
	}
	ck_assert(json_equal(answers[0], answers[1]));
	json_decref(answers[0]);
	json_decref(answers[1]);
}
END_TEST

/* Two functions g of a recording; one alone in another, by its name only; others by the file. */
START_TEST(causes_are_functions_not_names)
{
#define G(cause, identity, extra)                                                                  \
	"{'cause':'" cause "','cause_identity':'" identity "','calls':1,'extra':" #extra           \
	",'slowest':{'begin_ns':5}}"
#define OF_F(clusters)                                                                             \
	"{'format':'why','unit':'ns','functions':[{'function':'f','identity':'p:f',"               \
	"'symbol':'p:f','clusters':[" clusters "]}]}"
	ck_assert(add(OF_F(G("g (a.c)", "p:g@a.c", 300) "," G("g (b.c)", "p:g@b.c", 10)), "one"));
	ck_assert(add(OF_F(G("g", "p:g@a.c", 200)), "two"));
	ck_assert(add(OF_F(G("g", "q:g@a.c", 40)), "three"));
	ck_assert(add(OF_F(G("g", "r:g@a.c", 30)), "four"));
	expect_printed(
		HEADER
		"         2       2      500ns      300ns  f: g (a.c); worst at 0.000000005 in one\n"
		"         1       1       40ns       40ns  f: q:g@a.c; worst at 0.000000005 in three\n"
		"         1       1       30ns       30ns  f: r:g@a.c; worst at 0.000000005 in four\n"
		"         1       1       10ns       10ns  f: g (b.c); worst at 0.000000005 in one\n"
		"\n4 recordings\n"
		"next: ptrace2ftf why --symbol=p:f one\n");
}
END_TEST

/* The extra of calls that were cut is a lower bound. */
START_TEST(calls_that_were_cut_are_marked)
{
	json_t *json;

	ck_assert(add(ANSWER("ns", "{'cause':'g','calls':2,'cut':true,'extra':10,"
				   "'slowest':{'begin_ns':1}}," CLUSTER("g", 3, 5, 2)),
		      "a"));
	expect_printed(HEADER "         1       5 >     35ns       10ns  f: g; worst at "
			      "0.000000001 in a\n\n1 recording\n"
			      "next: ptrace2ftf why --symbol=f a\n");
	json = why_merged_json(&merged);
	ck_assert_int_eq(json_integer_value(json_object_get(
				 json_array_get(json_object_get(json, "causes"), 0), "cut")),
			 2);
	json_decref(json);
}
END_TEST

/* A recording with two clusters of one cause counts once; instructions are no time. */
START_TEST(units_and_recordings_are_not_mixed)
{
	ck_assert(add(ANSWER("ns", CLUSTER("g", 1, 10, 1) "," CLUSTER("g", 1, 30, 2)), "one"));
	ck_assert(add(ANSWER("instructions", CLUSTER("g", 2, 1000, 3)), "it's two"));
	expect_printed(
		HEADER
		"         1       2       40ns       30ns  f: g; worst at 0.000000002 in one\n"
		"         1       2       2000       1000  f: g; worst at 0.000000003 in it's "
		"two\n"
		"\n2 recordings\n"
		"next: ptrace2ftf why --symbol=f one\n");
}
END_TEST

START_TEST(a_run_without_an_answer_failed_or_is_refused)
{
	ck_assert(add("{'input':'a','status':1,'error':'no such file'}", "lines"));
	ck_assert(add("{'input':'b','status':1,'signal':9}", "lines"));
	ck_assert(!add("{'input':'c','status':0,'report':{'answer':null}}", "lines"));
	ck_assert(!add("{'format':'functions','functions':[]}", "d"));
	ck_assert(!add("[]", "e"));
	ck_assert(!add(ANSWER("ns", CLUSTER("g", -1, 10, 1)), "f"));
	ck_assert(!add(ANSWER("ns", CLUSTER("g", 1, 10, -1)), "g"));
	ck_assert_uint_eq(merged.failed, 2);
}
END_TEST

START_TEST(an_amount_may_be_any_number)
{
	json_t *json;

	ck_assert(add(ANSWER("ns", CLUSTER("g", 2, 1e308, 1)), "one"));
	ck_assert(add(ANSWER("instructions", CLUSTER("g", 2, 1e308, 1)), "two"));
	ck_assert(add(ANSWER("instructions", CLUSTER("h", 2, -1e308, 1)), "three"));
	expect_printed(
		HEADER
		"         1       2 106_751.991d 106_751.991d  f: g; worst at 0.000000001 in one\n"
		"         1       2 9223372036854775807 9223372036854775807  f: g; worst at 0.000000001 in two\n"
		"         1       2          0          0  f: h; worst at 0.000000001 in three\n"
		"\n3 recordings\n"
		"next: ptrace2ftf why --symbol=f one\n");
	json = why_merged_json(&merged);
	ck_assert_uint_eq(json_array_size(json_object_get(json, "causes")), 3);
	json_decref(json);
}
END_TEST

static clock_t time_of_causes(int count)
{
	char line[200];
	clock_t start;

	why_merged_release(&merged);
	start = clock();
	for (int i = 0; i < count; i++) {
		snprintf(line, sizeof(line), ANSWER("ns", "{'cause':'g%d','calls':1}"), i);
		ck_assert(add(line, "input"));
	}
	why_merged_sort(&merged);
	ck_assert_uint_eq(merged.count, count);
	return clock() - start;
}

/*
 * Eight times as many take 60 times as long if each is compared with all others. Other processes
 * can slow down one of the two runs, but not always the same. Both exceed the processor's caches.
 */
START_TEST(causes_take_time_by_their_number)
{
	bool linear = false;

	for (int try = 0; try < 8 && !linear; try++) {
		clock_t few = time_of_causes(5000), many = time_of_causes(40000);

		linear = many < 25 * few;
	}
	ck_assert(linear);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("why_merged");
	TCase *tests = tcase_create("all");

	tcase_add_checked_fixture(tests, NULL, teardown);
	tcase_add_test(tests, causes_add_up_over_recordings);
	tcase_add_test(tests, the_order_of_answers_does_not_matter);
	tcase_add_test(tests, causes_take_time_by_their_number);
	tcase_add_test(tests, causes_are_functions_not_names);
	tcase_add_test(tests, calls_that_were_cut_are_marked);
	tcase_add_test(tests, units_and_recordings_are_not_mixed);
	tcase_add_test(tests, an_amount_may_be_any_number);
	tcase_add_test(tests, a_run_without_an_answer_failed_or_is_refused);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
