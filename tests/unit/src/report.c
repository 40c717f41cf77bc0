/* SPDX-License-Identifier: MIT */
/* The summary in JSON of handmade parts: doc/summary.schema.json has its keys. */
#include "src/report/report.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/unit.h"

#define FUNCTIONS 60

static struct options options;
static struct report report;
static struct diag diag;
static struct error err;
static json_t *whole;

static void setup(void)
{
	options = (struct options){ .json = "-" };
	memset(&err, 0, sizeof(err));
	diag_init(&diag);
	report_init(&report, &options);
	whole = NULL;
}

static void teardown(void)
{
	json_decref(whole);
	report_release(&report);
	diag_release(&diag);
}

static void finish(void)
{
	report_finish(&report, EXIT_WHOLE, &diag, &err);
	whole = report_json(&report);
}

static const char *text_at(const char *list, size_t index, const char *key)
{
	return json_string_value(
		json_object_get(json_array_get(json_object_get(whole, list), index), key));
}

static json_int_t number_at(const char *list, size_t index, const char *key)
{
	return json_integer_value(
		json_object_get(json_array_get(json_object_get(whole, list), index), key));
}

START_TEST(inputs_are_paths_without_their_attributes)
{
	static char path[] = "a\xff.data";
	char *inputs[] = { path };
	struct overlay_option overlays[] = { { OVERLAY_RUNTIME_EVENTS, "4.events,pid=5" },
					     { OVERLAY_MEMTRACE, "m.ctf" } };

	options.inputs = inputs;
	options.input_count = 1;
	options.overlays = overlays;
	options.overlay_count = 2;
	finish();
	ck_assert_str_eq(text_at("inputs", 0, "path"), "a\xef\xbf\xbd.data"); /* U+FFFD */
	ck_assert_str_eq(text_at("inputs", 0, "kind"), "perf-data");
	ck_assert_str_eq(text_at("inputs", 1, "path"), "4.events");
	ck_assert_str_eq(text_at("inputs", 1, "kind"), "runtime-events");
	ck_assert_str_eq(text_at("inputs", 2, "kind"), "memtrace");
}
END_TEST

START_TEST(streams_are_of_a_cpu_or_a_thread)
{
	const struct aux_stream of_cpu = { .cpu = 0, .tid = -1 },
				of_thread = { .cpu = -1, .tid = 7 };
	const struct pt_stream_stats stats = { .insns = 11, .events = 13, .bytes_total = 17 };
	const json_t *streams;

	report_stream(&report, &of_cpu, &stats);
	report_stream(&report, &of_thread, &stats);
	finish();
	streams = json_object_get(whole, "streams");
	ck_assert(json_is_integer(json_object_get(json_array_get(streams, 0), "cpu")));
	ck_assert(json_is_null(json_object_get(json_array_get(streams, 0), "tid")));
	ck_assert(json_is_null(json_object_get(json_array_get(streams, 1), "cpu")));
	ck_assert_int_eq(number_at("streams", 1, "tid"), 7);
	ck_assert_int_eq(number_at("streams", 1, "instructions"), 11);
	ck_assert_int_eq(number_at("streams", 1, "events"), 13);
	ck_assert_int_eq(number_at("streams", 1, "bytes_total"), 17);
}
END_TEST

START_TEST(totals_are_the_summary_s)
{
	report.summary.first_time = 5;
	report.summary.last_time = UINT64_MAX; /* integers are signed here */
	report.summary.bytes_left_out = 19;
	report.summary.interrupted = true;
	finish();
	ck_assert_int_eq(json_integer_value(json_object_get(whole, "first_time_ns")), 5);
	ck_assert_int_eq(json_integer_value(json_object_get(whole, "last_time_ns")), INT64_MAX);
	ck_assert(json_is_true(json_object_get(whole, "interrupted")));
	ck_assert_int_eq(json_integer_value(json_object_get(json_object_get(whole, "trace"),
							    "bytes_left_out")),
			 19);
}
END_TEST

/* Self times rise with the number, total times fall. */
START_TEST(of_many_functions_the_longest_fifty_are_listed)
{
	struct symbol symbol = { 0 };
	struct name_table names;
	struct table_function functions[FUNCTIONS] = { 0 };
	struct call_node nodes[FUNCTIONS + 1] = { 0 };
	struct call_total totals[FUNCTIONS + 1] = { 0 };
	const struct slice_totals tally = { .functions = { .functions = functions,
							   .count = FUNCTIONS },
					    .tree = { .nodes = nodes, .totals = totals } };
	const json_t *top;

	name_table_init(&names);
	symbol.name = name_intern_text(&names, "f");
	for (unsigned i = 0; i < FUNCTIONS; i++) {
		functions[i].symbol = &symbol;
		nodes[i + 1].own.ns = 100 + i;
		totals[i + 1].costs.ns = 1000 - i;
	}
	report_functions(&report, &tally);
	finish();
	top = json_object_get(whole, "functions");
	ck_assert_int_eq(json_integer_value(json_object_get(top, "count")), FUNCTIONS);
	for (size_t i = 0; i < 50; i++) {
		const json_t *self = json_array_get(json_object_get(top, "by_self"), i);
		const json_t *total = json_array_get(json_object_get(top, "by_total"), i);

		ck_assert_int_eq(json_integer_value(json_object_get(self, "self_ns")),
				 (json_int_t)(159 - i));
		ck_assert_int_eq(json_integer_value(json_object_get(total, "total_ns")),
				 (json_int_t)(1000 - i));
	}
	ck_assert_uint_eq(json_array_size(json_object_get(top, "by_self")), 50);
	name_table_release(&names);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("report");
	TCase *all = tcase_create("report");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, inputs_are_paths_without_their_attributes);
	tcase_add_test(all, streams_are_of_a_cpu_or_a_thread);
	tcase_add_test(all, totals_are_the_summary_s);
	tcase_add_test(all, of_many_functions_the_longest_fifty_are_listed);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
