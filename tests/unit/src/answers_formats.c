/* SPDX-License-Identifier: MIT */
/* Histograms, tables of functions, edges and folded stacks. */
#include "src/formats/text/json_print.h"
#include "tests/unit/src/answers.h"

/* A bucket's example is its first call, even if one of another thread ended earlier. */
START_TEST(a_histogram_counts_by_quarters_of_octaves)
{
	machine.resolution = 1;
	open_format(&format_histogram);
	call_of_other("f", 1020000, 21);
	call("f", 1010000, 20);
	call("f", 1030000, 24);
	begin("f", 1040000, 0);
	cut(1040100);
	call("f2", 1050000, 200);
	finish_format(&format_histogram);
	expect("      20ns          2  50.0% ######################################## "
	       "--time=0.000999999,0.001020021 --tid=7\n"
	       "      24ns          1  25.0% ####################                     "
	       "--time=0.001019999,0.001040025 --tid=7\n"
	       ">     96ns          1  25.0%");
	expect("calls 4, total 165ns, min 20ns, median 21ns, p90 100ns");
	expect("1 of them began before the trace, or end");
	expect("they took at least so long (>)\n");
	ck_assert(strstr(text, "f2\n") < strstr(text, "\nf\n"));
	close_format(&format_histogram);
}
END_TEST

START_TEST(a_histogram_has_its_numbers_in_json)
{
	static const struct {
		const char *key;
		int value;
	} numbers[] = { { "calls", 3 },   { "cut", 1 },      { "total_ns", 144 },
			{ "min_ns", 20 }, { "max_ns", 100 }, { "median_ns", 24 } };
	const json_t *function, *bucket;
	json_t *answer;

	open_format(&format_histogram);
	call("f", 1010000, 20);
	call("f", 1030000, 24);
	begin("f", 1040000, 0);
	cut(1040100);
	finish_format(&format_histogram);
	answer = format_histogram.answer(output);
	ck_assert_str_eq(json_string_value(json_object_get(answer, "format")), "histogram");
	function = json_array_get(json_object_get(answer, "functions"), 0);
	ck_assert_str_eq(json_string_value(json_object_get(function, "function")), "f");
	for (size_t i = 0; i < COUNT_OF(numbers); i++)
		ck_assert_msg(json_integer_value(json_object_get(function, numbers[i].key)) ==
				      numbers[i].value,
			      "%s: %s", numbers[i].key, json_dumps(function, 0));
	ck_assert_uint_eq(json_array_size(json_object_get(function, "buckets")), 3);
	bucket = json_array_get(json_object_get(function, "buckets"), 2);
	ck_assert_int_eq(json_integer_value(json_object_get(bucket, "calls")), 1);
	ck_assert_int_eq(json_integer_value(json_object_get(bucket, "cut")), 1);
	ck_assert_int_eq(json_integer_value(json_object_get(bucket, "from_ns")), 96);
	ck_assert_int_eq(json_integer_value(json_object_get(bucket, "example_begin_ns")), 1040000);
	ck_assert_int_eq(json_integer_value(json_object_get(bucket, "example_duration_ns")), 100);
	ck_assert_int_eq(json_integer_value(json_object_get(bucket, "example_tid")), 7);
	json_decref(answer);
	close_format(&format_histogram);
}
END_TEST

/* f > f: both calls count, but the total has the time once. */
START_TEST(a_histogram_has_nested_calls)
{
	open_format(&format_histogram);
	begin("f", 0, 0);
	call("f", 10, 20);
	end(40, 0);
	finish_format(&format_histogram);
	expect("calls 2, total 40ns, min 20ns,");
	close_format(&format_histogram);
}
END_TEST

/* Regardless of the decoding order of threads. */
START_TEST(an_example_at_one_time_is_of_the_first_thread)
{
	open_format(&format_histogram);
	if (_i)
		call("f", 1000000, 20);
	call_of_other("f", 1000000, 20);
	if (!_i)
		call("f", 1000000, 20);
	finish_format(&format_histogram);
	expect("20ns          2 100.0%");
	expect(" --tid=7\n");
	close_format(&format_histogram);
}
END_TEST

/* f: 3 calls, 30 ns with callees and 15 ns self, of which 5 in the recursion; g: 2 calls. */
START_TEST(functions_are_ordered_and_have_shares)
{
	static const char *const rows[] = { [ORDER_SELF] = "f\n",
					    [ORDER_TOTAL] = "main\n",
					    [ORDER_CALLS] = "f\n",
					    [ORDER_CPU] = "main\n",
					    [ORDER_NAME] = "a\n" };

	options.select.top = 1;
	options.select.order = (enum function_order)_i;
	open_format(&format_functions);
	begin("main", 0, 0);
	begin("f", 10, 0);
	call("f", 15, 5);
	end(40, 0);
	begin("f", 50, 0);
	call("g", 52, 4);
	end(65, 0);
	call("g", 70, 4);
	call("a", 80, 1);
	call("b", 82, 1);
	end(90, 0);
	finish_format(&format_functions);
	expect(rows[_i]);
	if (_i == ORDER_SELF)
		expect("         3       45ns       41ns  45.6%        5ns       15ns       30ns       "
		       "30ns  f\n");
	ck_assert_ptr_null(strstr(text, "  b\n"));
	close_format(&format_functions);
}
END_TEST

START_TEST(a_table_has_as_many_functions_as_there_are)
{
	options.select.top = (size_t)_i;
	open_format(&format_functions);
	call("f", 0, 1);
	call("g", 10, 2);
	finish_format(&format_functions);
	expect("  g\n         1        1ns        1ns  33.3%        1ns        1ns        1ns"
	       "        1ns  f\ntimes are");
	close_format(&format_functions);
}
END_TEST

/* f in two threads, for 19 and 20 ns; in the second one with g, of 5 ns and 30 instructions. */
static void run_two_threads(void)
{
	open_format(&format_functions);
	call_of_other("f", 0, 19);
	begin("f", 30, 0);
	begin("g", 35, 10);
	end(40, 40);
	end(50, 50);
	finish_format(&format_functions);
}

START_TEST(rows_are_of_functions_files_or_threads)
{
	static const struct {
		struct choice_list by;
		const char *rows;
	} cases[] = {
		{ { { ROWS_BY_FUNCTION } },
		  "         2       39ns       34ns  f\n         1        5ns        5ns  g\n" },
		{ { { ROWS_BY_THREAD } },
		  "         2       20ns       20ns  main/7\n"
		  "         1       19ns       19ns  other/8\n" },
		{ { { ROWS_BY_THREAD, ROWS_BY_FUNCTION } },
		  "         1       19ns       19ns  other/8  f\n"
		  "         1       20ns       15ns  main/7  f\n"
		  "         1        5ns        5ns  main/7  g\n" },
		{ { { ROWS_BY_DSO } }, "         3       39ns       39ns  [no file]\n" },
	};

	options.select.by = cases[_i].by;
	options.select.columns =
		(struct choice_list){ { COLUMN_CALLS, COLUMN_TOTAL, COLUMN_SELF } };
	run_two_threads();
	expect(cases[_i].rows);
	close_format(&format_functions);
}
END_TEST

/* The instructions of f are those outside of g; a cycle count is three times that of instructions.
 */
START_TEST(counts_are_without_callees)
{
	options.select.columns =
		(struct choice_list){ { COLUMN_INSNS, COLUMN_CYCLES, COLUMN_IPC, COLUMN_CALLS } };
	run_two_threads();
	expect("       insns       cycles    ipc      calls  function\n"
	       "          20           60   0.33          2  f\n"
	       "          30           90   0.33          1  g\n");
	close_format(&format_functions);
}
END_TEST

START_TEST(a_field_of_csv_is_quoted_if_it_needs_to_be)
{
	json_t *rows = json_pack("[{s:s, s:i, s:n}, {s:s, s:f, s:b}]", "a", "f(int, \"x\")", "b", 1,
				 "c", "a", "g", "b", 0.5, "c", 1);
	char *csv;
	size_t length;
	FILE *out = open_memstream(&csv, &length);

	csv_rows_print(rows, out);
	fclose(out);
	ck_assert_str_eq(csv, "a,b,c\n\"f(int, \"\"x\"\")\",1,\ng,0.5,true\n");
	free(csv);
	json_decref(rows);
}
END_TEST

START_TEST(functions_count_instructions_where_times_are_unknown)
{
	machine.times = TIMES_INVENTED;
	machine.by_insns = true;
	open_format(&format_functions);
	begin("main", 0, 0);
	begin("f", 10, 5);
	end(20, 12);
	end(30, 40);
	finish_format(&format_functions);
	expect("         1         40         33  82.5%         40         40         40         40  "
	       "main\n         1          7          7  17.5%");
	close_format(&format_functions);
}
END_TEST

/*
 * main > f > g > f > g: the edges f > g and g > f have the cost of the outermost call. A context
 * has no own cost.
 */
START_TEST(an_edge_has_calls_and_the_cost_with_callees)
{
	open_format(&format_callgrind);
	begin("main", 0, 0);
	begin("f", 10, 10);
	begin("g", 20, 20);
	begin("f", 30, 30);
	begin("g", 40, 40);
	end(50, 50);
	end(60, 60);
	end(70, 70);
	end(80, 80);
	begin_with("f", 90, SLICE_CONTEXT);
	end(95, 0);
	end(100, 100);
	finish_format(&format_callgrind);
	expect("events: Ir Cycles ns\nsummary: 100 300 95\n");
	expect("fn=(1) main\n0 30 90 25\ncob=(1)\ncfi=(1)\ncfn=(2) f\ncalls=1 0\n0 70 210 70\n");
	expect("fn=(2)\n0 40 120 40\ncob=(1)\ncfi=(1)\ncfn=(3) g\ncalls=2 0\n0 50 150 50\n");
	expect("fn=(3)\n0 30 90 30\ncob=(1)\ncfi=(1)\ncfn=(2)\ncalls=1 0\n0 30 90 30\n");
	expect("totals: 100 300 95\n");
	close_format(&format_callgrind);
}
END_TEST

/* f calls g three times, in two stacks. */
START_TEST(an_edge_is_of_all_stacks)
{
	open_format(&format_callgrind);
	begin("main", 0, 0);
	begin("f", 0, 0);
	begin("g", 0, 0);
	end(1, 1);
	begin("g", 2, 2);
	end(4, 4);
	end(4, 4);
	begin("h", 4, 4);
	begin("f", 4, 4);
	begin("g", 4, 4);
	end(8, 8);
	end(8, 8);
	end(8, 8);
	end(8, 8);
	finish_format(&format_callgrind);
	expect("g\ncalls=3 0\n0 7 21 7\n");
	close_format(&format_callgrind);
}
END_TEST

/* Times, or instructions where times are unknown; main's self cost is 5 ns and unknown. */
START_TEST(a_folded_stack_begins_with_its_thread)
{
	machine.by_insns = _i;
	open_format(&format_folded);
	begin("main", 0, 0);
	begin("f;g", 0, 0);
	end(10, 90);
	end(15, 90);
	call_of_other("f", 0, 20);
	finish_format(&format_folded);
	ck_assert_str_eq(text,
			 _i ? "main;main;f?g 90\n" : "main;main 5\nmain;main;f?g 10\nother;f 20\n");
	close_format(&format_folded);
}
END_TEST

START_TEST(stacks_are_cut_and_their_costs_are_own)
{
	struct cost_stacks stacks;
	const struct call_node *nodes;

	cost_stacks_init(&stacks, &names, 2, false);
	sink = &stacks.sink;
	begin("main", 0, 0);
	begin("f", 10, 10);
	begin("g", 20, 20);
	begin("h", 30, 25);
	end(40, 30);
	end(60, 35);
	end(65, 40);
	call("f", 70, 1);
	end(90, 50);
	nodes = stacks.tree.nodes;
	/* 1: the thread, 2: main, 3: f, 4: the cut, 5: g, 6: h below it. */
	ck_assert_uint_eq(stacks.tree.count, 7);
	ck_assert(cost_is_thread(&stacks, 1) && !cost_is_thread(&stacks, 2));
	ck_assert_uint_eq(nodes[3].calls, 2);
	ck_assert_uint_eq(nodes[3].own.ns, 16);
	ck_assert_uint_eq(nodes[3].own.insns, 15);
	ck_assert_uint_eq(nodes[5].own.ns, 30);
	ck_assert_uint_eq(nodes[6].own.cycles, 15);
	ck_assert_uint_eq(nodes[6].caller, 4);
	ck_assert_uint_eq(stacks.tree.cut_slices, 2);
	ck_assert_ptr_eq(stacks.functions.functions[cost_frame(&stacks, 4).first].symbol,
			 &stacks.truncated);
	cost_stacks_release(&stacks);
	cost_stacks_release(&stacks);
}
END_TEST

void add_format_tests(TCase *all)
{
	tcase_add_test(all, a_histogram_counts_by_quarters_of_octaves);
	tcase_add_test(all, a_histogram_has_its_numbers_in_json);
	tcase_add_test(all, a_histogram_has_nested_calls);
	tcase_add_loop_test(all, an_example_at_one_time_is_of_the_first_thread, 0, 2);
	tcase_add_loop_test(all, functions_are_ordered_and_have_shares, 0, ORDER_NAME + 1);
	tcase_add_loop_test(all, rows_are_of_functions_files_or_threads, 0, 4);
	tcase_add_test(all, counts_are_without_callees);
	tcase_add_test(all, a_field_of_csv_is_quoted_if_it_needs_to_be);
	tcase_add_loop_test(all, a_table_has_as_many_functions_as_there_are, 2, 4);
	tcase_add_test(all, functions_count_instructions_where_times_are_unknown);
	tcase_add_test(all, an_edge_has_calls_and_the_cost_with_callees);
	tcase_add_test(all, an_edge_is_of_all_stacks);
	tcase_add_loop_test(all, a_folded_stack_begins_with_its_thread, 0, 2);
	tcase_add_test(all, stacks_are_cut_and_their_costs_are_own);
}
