/* SPDX-License-Identifier: MIT */
/* Chosen calls, and the table of slow ones. */
#include "tests/unit/src/answers.h"

/* ---- Chosen calls -------------------------------------------------------- */

static struct chosen_call chosen[8];
static size_t chosen_count;

static void keep_call(void *context, const struct chosen_call *ended)
{
	(void)context;
	chosen[chosen_count++] = *ended;
}

static struct chosen_calls calls;

static void choose(void)
{
	chosen_count = 0;
	chosen_calls_init(&calls, &options.select, keep_call, NULL);
	sink = &calls.sink;
}

static void expect_call(size_t index, const char *name, uint64_t at, uint64_t duration)
{
	ck_assert_uint_gt(chosen_count, index);
	ck_assert_str_eq(chosen[index].symbol->name->text, name);
	ck_assert_uint_eq(chosen[index].begin, at);
	ck_assert_uint_eq(chosen[index].duration, duration);
}

/* main > f > g > f > f2: each call counts, in the order of the ends. */
START_TEST(each_call_of_the_pattern_is_chosen)
{
	choose();
	begin("main", 0, 0);
	begin("f", 10, 5);
	begin("g", 20, 10);
	begin("f", 30, 20);
	begin("f2", 40, 30);
	end(45, 37);
	end(50, 40);
	end(60, 50);
	end(80, 100);
	call("f", 90, 3);
	end(100, 0);
	expect_call(0, "f2", 40, 5);
	ck_assert_uint_eq(chosen[0].insns, 7);
	expect_call(1, "f", 30, 20);
	ck_assert(!chosen[1].outermost);
	expect_call(2, "f", 10, 70);
	ck_assert_uint_eq(chosen[2].insns, 95);
	ck_assert(chosen[2].outermost);
	expect_call(3, "f", 90, 3);
	ck_assert_uint_eq(chosen_count, 4);
	ck_assert_uint_eq(calls.count, 4);
	ck_assert_uint_eq(calls.tree.slices, 6);
	chosen_calls_release(&calls);
	chosen_calls_release(&calls);
}
END_TEST

/* Of [untraced] in [syscall] only the outer one counts, and in f only slices inside it. */
START_TEST(a_call_knows_how_long_it_was_not_traced)
{
	choose();
	call("[syscall]", 0, 100);
	begin("f", 100, 0);
	begin("[syscall]", 110, 0);
	call("[untraced]", 112, 5);
	end(130, 0);
	call("[syscall]", 150, 7);
	end(200, 0);
	call_of_other("f", 150, 20);
	expect_call(0, "f", 100, 100);
	ck_assert_uint_eq(chosen[0].untraced, 27);
	ck_assert_uint_eq(chosen[1].untraced, 0);
	ck_assert_ptr_eq(chosen[1].track, &other_thread);
	chosen_calls_release(&calls);
}
END_TEST

START_TEST(of_a_chosen_call_begin_and_end_may_be_unseen)
{
	choose();
	begin_with("f", 0, SLICE_INFERRED_START);
	end(10, 0);
	begin("f", 20, 0);
	cut(30);
	begin_with("f", 40, SLICE_CONTEXT);
	begin("f2", 50, 0);
	end(60, 0);
	end(70, 0);
	ck_assert_uint_eq(chosen_count, 3);
	ck_assert(!chosen[0].begin_seen && chosen[0].end_seen);
	ck_assert(chosen[1].begin_seen && !chosen[1].end_seen);
	expect_call(2, "f2", 50, 10);
	ck_assert(chosen[2].begin_seen && chosen[2].end_seen);
	chosen_calls_release(&calls);
}
END_TEST

START_TEST(marks_are_no_calls)
{
	struct symbol mark = *symbol_of("f mark");

	mark.kind = SYMBOL_MARK;
	choose();
	edge(&main_thread, (struct slice_event){ .symbol = &mark, .kind = SLICE_BEGIN }, 0);
	end(0, 0);
	ck_assert_uint_eq(chosen_count, 0);
	chosen_calls_release(&calls);
}
END_TEST

/* ---- Slow calls ---------------------------------------------------------- */

static void seek_slow(struct slow_choice choice)
{
	options.slow = choice;
	open_format(&format_slowest);
}

/* "BEGIN+DURATION/TID" of each call, and the answer's numbers. */
static void expect_slow(const char *expected, const char *numbers)
{
	char found[256] = "";
	json_t *answer, *call;
	size_t i;

	finish_format(&format_slowest);
	answer = format_slowest.answer(output);
	json_array_foreach(json_object_get(answer, "list"), i, call)
		sprintf(found + strlen(found), "%d+%d/%d ",
			(int)json_integer_value(json_object_get(call, "begin_ns")),
			(int)json_integer_value(json_object_get(call, "duration_ns")),
			(int)json_integer_value(json_object_get(call, "tid")));
	ck_assert_str_eq(found, expected);
	sprintf(found, "%d calls, bound %d, slower %d",
		(int)json_integer_value(json_object_get(answer, "calls")),
		(int)json_integer_value(json_object_get(answer, "bound_ns")),
		(int)json_integer_value(json_object_get(answer, "slower")));
	ck_assert_str_eq(found, numbers);
	json_decref(answer);
	close_format(&format_slowest);
}

/* Equal durations: the earlier call first; at equal times, the first thread's. */
START_TEST(the_slowest_calls_are_kept_in_order)
{
	seek_slow((struct slow_choice){ .most = 4 });
	call_of_other("f", 40, 9);
	call("f", 10, 5);
	call("f", 20, 9);
	call("f", 40, 9);
	call("g", 50, 30);
	call("f", 90, 8);
	call("f", 100, 10);
	expect_slow("100+10/7 20+9/7 40+9/7 40+9/8 ", "6 calls, bound 0, slower 0");
}
END_TEST

START_TEST(calls_of_one_time_are_in_the_order_of_threads)
{
	seek_slow((struct slow_choice){ .most = 1 });
	call_of_other("f", 40, 9);
	call("f", 40, 9);
	expect_slow("40+9/7 ", "2 calls, bound 0, slower 0");
}
END_TEST

/* A call as long as the bound is not slower; calls that are not kept still count. */
START_TEST(slower_than_a_time_is_strict)
{
	seek_slow((struct slow_choice){ .most = 2, .has_bound = true, .longer = 5 });
	call("f", 10, 5);
	call("f", 20, 6);
	call("f", 30, 8);
	call("f", 40, 7);
	expect_slow("30+8/7 40+7/7 ", "4 calls, bound 5, slower 3");
}
END_TEST

/* Even with room for more calls. */
START_TEST(a_call_of_the_bound_is_not_listed)
{
	seek_slow((struct slow_choice){ .has_bound = true, .longer = 5 });
	call("f", 10, 5);
	call("f", 20, 6);
	expect_slow("20+6/7 ", "2 calls, bound 5, slower 1");
}
END_TEST

/* The percentile 75 of 1, 2, 3, 4 is 3. */
START_TEST(slower_than_a_percentile_is_strict)
{
	seek_slow((struct slow_choice){ .has_bound = true, .percentile = 750000 });
	for (uint64_t i = 1; i <= 4; i++)
		call("f", 10 * i, i);
	expect_slow("40+4/7 ", "4 calls, bound 3, slower 1");
}
END_TEST

START_TEST(where_times_are_unknown_the_most_instructions_are_slowest)
{
	machine.by_insns = true;
	seek_slow((struct slow_choice){ .most = 2 });
	call("f", 0, 100);
	begin("f", 200, 10);
	end(201, 60);
	begin("f", 300, 60);
	end(302, 90);
	expect_slow("200+1/7 300+2/7 ", "3 calls, bound 0, slower 0");
}
END_TEST

/* A start of a thread, a loop, which has most instructions if _i is 0, and a long wait. */
START_TEST(calls_that_enclose_a_thread_are_left_out)
{
	static const char *const said[] = {
		"left out, as they enclose the program: start, loop; --symbol='*'",
		"left out, as they enclose the program: start; --symbol='*'",
	};

	options.select.symbols.count = 0;
	seek_slow((struct slow_choice){ .most = 2, .of_all = true });
	begin("start", 1000, 0);
	call("before", 1000, 5);
	begin("loop", 1010, _i ? 60 : 10);
	for (uint64_t i = 0; i < 9; i++)
		call("step", 1012 + 6 * i, 5);
	begin("wait", 1070, 80);
	end(1990, 85);
	end(1995, 90);
	end(2000, 100);
	finish_format(&format_slowest);
	expect(said[_i]);
	expect(_i ? "  loop\n" : "  wait\n");
	close_format(&format_slowest);
}
END_TEST

/* main() is short, and its caller's other callee is as long; ten calls must be left. */
START_TEST(main_and_its_callers_are_left_out)
{
	options.select.symbols.count = 0;
	seek_slow((struct slow_choice){ .most = 3, .of_all = true });
	begin("loader", 1000, 0);
	call("relocate", 1000, 500);
	begin("_start", 1500, 0);
	begin("main", 1600, 0);
	for (uint64_t i = 0; i < (_i ? 9 : 8); i++)
		call("step", 1700 + 10 * i, 5);
	end(1990, 0);
	end(1995, 0);
	end(2000, 0);
	finish_format(&format_slowest);
	if (_i)
		expect("left out, as they enclose the program: loader, _start, main; ");
	else
		expect("   1        1us");
	expect(_i ? "\n10 calls: " : "\n12 calls: ");
	close_format(&format_slowest);
}
END_TEST

/* Calls of 1 to 100 ns. */
START_TEST(the_table_has_percentiles_and_the_number_of_slower_calls)
{
	static const struct {
		struct slow_choice choice;
		const char *said;
	} cases[] = {
		{ { .most = 1 }, "longest 100ns\ntimes" },
		{ { .most = 1, .has_bound = true, .longer = 90 },
		  "longest 100ns\n10 took longer than 90ns; these are the slowest: --slowest=N shows "
		  "more\n" },
		{ { .most = 10, .has_bound = true, .longer = 90 },
		  "longest 100ns\n10 took longer than 90ns\ntimes" },
		{ { .has_bound = true, .percentile = 990000 },
		  "longest 100ns\n1 took longer than 99ns\ntimes" },
	};
	json_t *answer;

	seek_slow(cases[_i].choice);
	for (uint64_t i = 1; i <= 100; i++)
		call("f", 1000 * i, i);
	finish_format(&format_slowest);
	expect("\n100 calls: median 50ns, p99 99ns, longest 100ns\n");
	expect(cases[_i].said);
	answer = format_slowest.answer(output);
	ck_assert_int_eq(json_integer_value(json_object_get(answer, "median_ns")), 50);
	ck_assert_int_eq(json_integer_value(json_object_get(answer, "p99_ns")), 99);
	ck_assert_int_eq(json_integer_value(json_object_get(answer, "longest_ns")), 100);
	json_decref(answer);
	close_format(&format_slowest);
}
END_TEST

/* A call without a seen return is marked. */
START_TEST(the_table_marks_calls_that_were_cut)
{
	seek_slow((struct slow_choice){ .most = 3 });
	begin_with("f", 1000000000, SLICE_INFERRED_START);
	end(1000000040, 0);
	begin("f", 2000000000, 0);
	cut(2000000030);
	call("f", 3000000000, 20);
	finish_format(&format_slowest);
	expect("   1 >     40ns     1.000000000          0       0ns  main/7  f\n");
	expect("   2 >     30ns     2.000000000 ");
	expect("   3       20ns     3.000000000 ");
	expect("\n3 calls: median 30ns, p99 40ns, longest >40ns\n> the start ");
	close_format(&format_slowest);
}
END_TEST

/* Returns where a word begins in a line that begins with some text. */
static int column_of(const char *line, const char *word)
{
	const char *begin = strstr(text, line), *found = begin ? strstr(begin, word) : NULL;

	ck_assert_msg(found != NULL, "%s in %s of:\n%s", word, line, text);
	return (int)(found - begin);
}

/* The longest name is that of the first call, or of the second. */
START_TEST(functions_are_below_each_other_whatever_the_names_of_threads)
{
	int function;

	(_i ? &main_thread : &other_thread)->thread_name = "a name of some length";
	seek_slow((struct slow_choice){ .most = 2 });
	call("f", 1000, 40);
	call_of_other("f", 2000, 30);
	finish_format(&format_slowest);
	function = column_of("rank ", "function");
	ck_assert_int_eq(column_of("   1 ", "f\n"), function);
	ck_assert_int_eq(column_of("   2 ", "f\n"), function);
	close_format(&format_slowest);
}
END_TEST

void add_call_tests(TCase *all)
{
	tcase_add_test(all, each_call_of_the_pattern_is_chosen);
	tcase_add_test(all, a_call_knows_how_long_it_was_not_traced);
	tcase_add_test(all, of_a_chosen_call_begin_and_end_may_be_unseen);
	tcase_add_test(all, marks_are_no_calls);
	tcase_add_test(all, the_slowest_calls_are_kept_in_order);
	tcase_add_test(all, calls_of_one_time_are_in_the_order_of_threads);
	tcase_add_test(all, slower_than_a_time_is_strict);
	tcase_add_test(all, a_call_of_the_bound_is_not_listed);
	tcase_add_test(all, slower_than_a_percentile_is_strict);
	tcase_add_loop_test(all, calls_that_enclose_a_thread_are_left_out, 0, 2);
	tcase_add_loop_test(all, main_and_its_callers_are_left_out, 0, 2);
	tcase_add_loop_test(all, the_table_has_percentiles_and_the_number_of_slower_calls, 0, 4);
	tcase_add_test(all, the_table_marks_calls_that_were_cut);
	tcase_add_loop_test(all, functions_are_below_each_other_whatever_the_names_of_threads, 0,
			    2);
	tcase_add_test(all, where_times_are_unknown_the_most_instructions_are_slowest);
}
