/* SPDX-License-Identifier: MIT */
/* Answers about slices made by hand: chosen, slow and compared calls, edges and samples. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io/output.h"
#include "src/callstack/callstack.h"
#include "src/costs/cost_stacks.h"
#include "src/formats/answers/call_paths.h"
#include "src/formats/answers/chosen_calls.h"
#include "src/formats/output_format.h"
#include "src/options/options.h"
#include "tests/support/unit.h"
#include "tests/unit/src/slice_feed.h"

static struct name_table names;
static struct symbol symbols[16];
static size_t symbol_count;
static struct track main_thread, other_thread;
static struct callstack_machine machine;
static const struct callstack_machine *machine_of = &machine;
static struct options options;
static const struct slice_sink *sink;

static void setup(void)
{
	static const char *patterns[] = { "f*" };

	name_table_init(&names);
	symbol_count = 0;
	main_thread = (struct track){ .tid = 7, .index = 0, .thread_name = "main" };
	other_thread = (struct track){ .tid = 8, .index = 1, .thread_name = "other" };
	machine = (struct callstack_machine){ .times = TIMES_MEASURED };
	options = (struct options){ .select.symbols = { patterns, 1, 1 } };
}

static void teardown(void)
{
	name_table_release(&names);
}

/* "[...]" is no function. */
static const struct symbol *symbol_of(const char *text)
{
	const struct name *name = name_intern_text(&names, text);

	for (size_t i = 0; i < symbol_count; i++) {
		if (symbols[i].name == name)
			return &symbols[i];
	}
	symbols[symbol_count] =
		(struct symbol){ .name = name,
				 .linkage = name,
				 .kind = *text == '[' ? SYMBOL_SPECIAL : SYMBOL_FUNCTION };
	return &symbols[symbol_count++];
}

static void edge(struct track *track, struct slice_event event, uint64_t insns)
{
	slice_sink_emit(sink, track, &event,
			&(struct slice_detail){ .insns = insns, .cycles = 3 * insns });
}

static void begin(const char *name, uint64_t time, uint64_t insns)
{
	edge(&main_thread,
	     (struct slice_event){ .time = time, .symbol = symbol_of(name), .kind = SLICE_BEGIN },
	     insns);
}

static void begin_with(const char *name, uint64_t time, uint16_t flags)
{
	edge(&main_thread,
	     (struct slice_event){
		     .time = time, .symbol = symbol_of(name), .kind = SLICE_BEGIN, .flags = flags },
	     0);
}

static void end(uint64_t time, uint64_t insns)
{
	edge(&main_thread, (struct slice_event){ .time = time, .kind = SLICE_END }, insns);
}

static void cut(uint64_t time)
{
	edge(&main_thread,
	     (struct slice_event){ .time = time, .kind = SLICE_END, .flags = SLICE_CUT }, 0);
}

/* A call without callees and instructions. */
static void call(const char *name, uint64_t time, uint64_t duration)
{
	begin(name, time, 0);
	end(time + duration, 0);
}

static void call_of_other(const char *name, uint64_t time, uint64_t duration)
{
	edge(&other_thread,
	     (struct slice_event){ .time = time, .symbol = symbol_of(name), .kind = SLICE_BEGIN },
	     0);
	edge(&other_thread, (struct slice_event){ .time = time + duration, .kind = SLICE_END }, 0);
}

/* ---- Output formats --------------------------------------------------------- */

static char *text;
static size_t size;
static struct format_output *output;
static struct output file; /* unlimited */

static void open_format(const struct output_format *format)
{
	const struct format_request request = {
		.options = &options,
		.output = &file,
		.text = open_memstream(&text, &size),
		.names = &names,
		.facts.by_insns = machine.by_insns,
	};

	output = format->open(&request, NULL);
	output->machine = &machine;
	sink = &output->sink;
}

/* Returns the output since open_format(). */
static void finish_format(const struct output_format *format)
{
	ck_assert_int_eq(format->finish(output, NULL), 0);
	fflush(output->text);
}

static void close_format(const struct output_format *format)
{
	fclose(output->text);
	format->release(output);
	free(output);
	free(text);
}

static void expect(const char *part)
{
	ck_assert_msg(strstr(text, part) != NULL, "%s is not in:\n%s", part, text);
}

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

/* main > f > g > f > f2: the outer f and f2 count, in the order of their ends. */
START_TEST(outermost_calls_of_the_pattern_are_chosen)
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
	expect_call(1, "f", 10, 70);
	ck_assert_uint_eq(chosen[1].insns, 95);
	expect_call(2, "f", 90, 3);
	ck_assert_uint_eq(chosen_count, 3);
	ck_assert_uint_eq(calls.count, 3);
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
	expect("\n3 calls: median 30ns, p99 40ns, longest 40ns\n> the start ");
	close_format(&format_slowest);
}
END_TEST

START_TEST(slow_classes_have_whole_classes_up_to_the_percentile)
{
	const struct class_count all[] = { { 1, 90 }, { 5, 5 }, { 9, 1 }, { 3, 4 } };
	static const struct {
		uint32_t percentile, lowest;
	} cases[] = { { 990000, 9 }, { 999000, 9 }, { 941000, 5 }, { 940000, 5 },
		      { 900000, 3 }, { 906000, 5 }, { 1, 1 } };
	struct class_count classes[4];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct slow_choice choice = { .has_bound = true,
						    .percentile = cases[i].percentile };

		memcpy(classes, all, sizeof(all));
		ck_assert_uint_eq(slow_classes_find(classes, 4, &choice), cases[i].lowest);
		ck_assert_uint_eq(classes[0].number, 9);
		ck_assert_uint_eq(classes[3].number, 1);
	}
	memcpy(classes, all, sizeof(all));
	ck_assert_uint_eq(slow_classes_find(classes, 4, &(struct slow_choice){ 0 }), 9);
	ck_assert_uint_eq(
		slow_classes_find(classes, 4,
				  &(struct slow_choice){ .has_bound = true, .longer = 7 }),
		1);
	ck_assert_uint_eq(slow_classes_find(NULL, 0, &(struct slow_choice){ 0 }), 0);
}
END_TEST

/* ---- Paths of calls ------------------------------------------------------ */

static struct call_paths paths;

static void follow_paths(void)
{
	call_paths_init(&paths, &options, &machine_of);
	sink = &paths.sink;
}

static void expect_path(const char *path, const char *expected, uint32_t class)
{
	char found[100] = "", name[100] = "", longer[200];

	for (size_t i = 0; i < paths.classes.count; i++) {
		const struct path_cost *cost = &paths.costs[i];

		*name = 0;
		for (uint32_t at = cost->node; at; at = paths.paths.nodes[at].caller) {
			snprintf(longer, sizeof(longer), "%s%s%s", paths.paths.nodes[at].name->text,
				 *name ? ">" : "", name);
			snprintf(name, sizeof(name), "%.99s", longer);
		}
		if (cost->class == class && strcmp(name, path) == 0)
			sprintf(found,
				"%" PRIu64 " calls %" PRIu64 " ns %" PRIu64 " insns %" PRIu64,
				cost->calls, cost->own.ns, cost->own.insns, cost->own.cycles);
	}
	ck_assert_msg(strcmp(found, expected) == 0, "%s: %s, not %s", path, found, expected);
}

/* The bound is 50 ns: calls of 50 ns are not slow. */
START_TEST(paths_have_their_own_costs_by_class)
{
	options.slow = (struct slow_choice){ .has_bound = true, .longer = 50 };
	follow_paths();
	begin("main", 0, 0);
	begin("f", 10, 10);
	begin("g", 20, 15);
	begin("g", 25, 18);
	end(28, 20);
	end(40, 30);
	begin("g", 41, 30);
	end(43, 31);
	end(60, 40);
	begin("f", 100, 40);
	begin("g", 110, 45);
	end(130, 60);
	end(151, 80);
	end(200, 80);
	expect_path("f", "1 calls 28 ns 14 insns 42", 0);
	expect_path("f>g", "2 calls 19 ns 14 insns 42", 0);
	expect_path("f>g>g", "1 calls 3 ns 2 insns 6", 0);
	expect_path("f", "1 calls 31 ns 25 insns 75", 1);
	expect_path("f>g", "1 calls 20 ns 15 insns 45", 1);
	expect_path("main>f", "", 0);
	ck_assert_uint_eq(paths.durations[1].count, 2);
	ck_assert_uint_eq(paths.durations[1].max, 51);
	ck_assert_uint_eq(paths.tree.slices, 7);
	call_paths_release(&paths);
}
END_TEST

/* f > f2 > f: f2 is part of f, and a root of its own; the inner f is in the paths of both. */
START_TEST(chosen_calls_are_roots_and_parts_of_others)
{
	options.slow = (struct slow_choice){ .has_bound = true, .longer = 1000 };
	follow_paths();
	begin("f", 0, 0);
	begin("f2", 10, 10);
	begin("f", 20, 20);
	end(40, 40);
	end(50, 50);
	end(60, 60);
	expect_path("f", "1 calls 20 ns 20 insns 60", 0);
	expect_path("f>f2", "1 calls 20 ns 20 insns 60", 0);
	expect_path("f>f2>f", "1 calls 20 ns 20 insns 60", 0);
	expect_path("f2", "1 calls 20 ns 20 insns 60", 0);
	expect_path("f2>f", "1 calls 20 ns 20 insns 60", 0);
	call_paths_release(&paths);
}
END_TEST

/* Incomplete calls leave nothing for the next one. */
START_TEST(calls_that_are_cut_are_left_out)
{
	options.slow = (struct slow_choice){ .has_bound = true, .longer = 1000 };
	follow_paths();
	begin_with("f", 0, SLICE_INFERRED_START);
	call("g", 3, 2);
	end(10, 0);
	begin("f", 20, 0);
	call("g", 23, 2);
	cut(30);
	begin_with("f", 40, SLICE_CONTEXT);
	end(50, 0);
	begin("f", 60, 0);
	call("g", 61, 2);
	end(70, 0);
	ck_assert_uint_eq(paths.cut, 2);
	expect_path("f", "1 calls 8 ns 0 insns 0", 0);
	expect_path("f>g", "1 calls 2 ns 0 insns 0", 0);
	call_paths_release(&paths);
}
END_TEST

/* A call covers its begin and end times. */
START_TEST(a_pair_is_two_calls)
{
	options.pair = (struct call_pair){ true, { 30, 10 } };
	follow_paths();
	call("f", 0, 10);
	call("f", 11, 5);
	call("f", 30, 8);
	expect_path("f", "1 calls 8 ns 0 insns 0", CLASS_PAIR_A);
	expect_path("f", "1 calls 10 ns 0 insns 0", CLASS_PAIR_B);
	ck_assert_uint_eq(paths.classes.count, 2);
	call_paths_release(&paths);
}
END_TEST

/* 1,000 ns of code suffice; [syscall] is no code. */
START_TEST(the_clock_is_measured_by_long_code)
{
	options.slow = (struct slow_choice){ .has_bound = true, .longer = 10000 };
	follow_paths();
	begin("f", 0, 0);
	call("[syscall]", 100, 500);
	end(1499, 700);
	ck_assert_uint_eq(paths.costs[0].clock.ns + paths.costs[1].clock.ns, 0);
	begin("f", 2000, 700);
	begin("[syscall]", 2100, 700);
	end(2600, 700);
	end(3500, 1700);
	for (size_t i = 0; i < paths.classes.count; i++) {
		bool is_root = paths.costs[i].node == 1;

		ck_assert_uint_eq(paths.costs[i].clock.ns, is_root ? 1000 : 0);
		ck_assert_uint_eq(paths.costs[i].clock.cycles, is_root ? 3000 : 0);
	}
	call_paths_release(&paths);
}
END_TEST

/* ---- Formats ------------------------------------------------------------- */

/*
 * 9 calls of 10 ns, and one of 40 ns whose extra time is all in g's callee h, called twice there:
 * 1 + 1 of 10 ns, and 1 + 31.
 */
START_TEST(outliers_have_the_extra_time_by_path)
{
	open_format(&format_outliers);
	for (uint64_t i = 0; i < 10; i++) {
		begin("f", 100 * i, 0);
		begin("g", 100 * i + 2, 0);
		call("h", 100 * i + 3, 1);
		call("h", 100 * i + 5, i == 4 ? 31 : 1);
		end(100 * i + (i == 4 ? 38 : 8), 0);
		end(100 * i + (i == 4 ? 40 : 10), 0);
	}
	finish_format(&format_outliers);
	expect("f: 1 slow call, of at least 40ns, and 9 others; median 10ns\n"
	       "a slow call takes 30ns more\n");
	expect(" 100.0%        30ns        32ns         2ns         2         2         0         "
	       "0  f > g > h\n");
	expect("   0.0%         0ns                                                                  "
	       "rest: 2 paths\n");
	close_format(&format_outliers);
}
END_TEST

/* The last of ten calls takes longer: by 2 ns in z, 7 in a, and 1 in each of two others. */
START_TEST(paths_with_more_extra_time_are_first)
{
	open_format(&format_outliers);
	for (uint64_t i = 0; i < 10; i++) {
		bool last = i == 9;

		begin("f", 100 * i, 0);
		call("z", 100 * i, 5 + 2 * last);
		call("a", 100 * i + 10, 5 + 7 * last);
		call("y", 100 * i + 30, 5 + last);
		call("b", 100 * i + 40, 5 + last);
		end(100 * i + 50 + 11 * last, 0);
	}
	finish_format(&format_outliers);
	expect("a slow call takes 11ns more\n");
	ck_assert(strstr(text, "f > a\n") < strstr(text, "f > z\n"));
	ck_assert(strstr(text, "f > z\n") < strstr(text, "f > y\n"));
	ck_assert(strstr(text, "f > y\n") < strstr(text, "f > b\n"));
	close_format(&format_outliers);
}
END_TEST

/* Ten calls of 6,000 cycles: nine at 3 GHz, one at 1.5. */
START_TEST(a_lower_clock_is_no_extra_time_of_a_path)
{
	open_format(&format_outliers);
	for (uint64_t i = 0; i < 10; i++) {
		begin("f", 10000 * i, 2000 * i);
		end(10000 * i + (i == 3 ? 4000 : 2000), 2000 * (i + 1));
	}
	finish_format(&format_outliers);
	expect("a slow call takes 2us more\n");
	expect(" 100.0%         2us ");
	expect("lower clock: 1.50 instead of 3.00 GHz\n");
	expect("   0.0%         0ns ");
	close_format(&format_outliers);
}
END_TEST

START_TEST(without_slow_calls_nothing_is_compared)
{
	options.slow = (struct slow_choice){ .has_bound = true, .longer = 10 };
	open_format(&format_outliers);
	call("f", 0, 10);
	call("f", 20, 10);
	call("f2", 40, 11);
	finish_format(&format_outliers);
	expect("f: 2 calls, none to compare as slow\n");
	expect("f2: 1 calls, none to compare with\n");
	close_format(&format_outliers);
}
END_TEST

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
	       "      96ns          1  25.0%");
	expect("calls 4, total 165ns, min 20ns, median 21ns, p90 100ns");
	expect("1 of them began before the trace, or end");
	ck_assert(strstr(text, "f2\n") < strstr(text, "\nf\n"));
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

/* main > f > g > f > g: the edges f > g and g > f have the cost of the outermost call. */
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
	expect("events: Ir Cycles ns\nsummary: 100 300 100\n");
	expect("fn=(1) main\n0 30 90 25\ncob=(1)\ncfi=(1)\ncfn=(2) f\ncalls=1 0\n0 70 210 75\n");
	expect("fn=(2)\n0 40 120 45\ncob=(1)\ncfi=(1)\ncfn=(3) g\ncalls=2 0\n0 50 150 50\n");
	expect("fn=(3)\n0 30 90 30\ncob=(1)\ncfi=(1)\ncfn=(2)\ncalls=1 0\n0 30 90 30\n");
	expect("totals: 100 300 100\n");
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

int main(void)
{
	Suite *suite = suite_create("answers");
	TCase *all = tcase_create("all");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, outermost_calls_of_the_pattern_are_chosen);
	tcase_add_test(all, a_call_knows_how_long_it_was_not_traced);
	tcase_add_test(all, of_a_chosen_call_begin_and_end_may_be_unseen);
	tcase_add_test(all, the_slowest_calls_are_kept_in_order);
	tcase_add_test(all, calls_of_one_time_are_in_the_order_of_threads);
	tcase_add_test(all, slower_than_a_time_is_strict);
	tcase_add_test(all, a_call_of_the_bound_is_not_listed);
	tcase_add_test(all, slower_than_a_percentile_is_strict);
	tcase_add_test(all, the_table_marks_calls_that_were_cut);
	tcase_add_test(all, where_times_are_unknown_the_most_instructions_are_slowest);
	tcase_add_test(all, slow_classes_have_whole_classes_up_to_the_percentile);
	tcase_add_test(all, paths_have_their_own_costs_by_class);
	tcase_add_test(all, chosen_calls_are_roots_and_parts_of_others);
	tcase_add_test(all, calls_that_are_cut_are_left_out);
	tcase_add_test(all, a_pair_is_two_calls);
	tcase_add_test(all, the_clock_is_measured_by_long_code);
	tcase_add_test(all, outliers_have_the_extra_time_by_path);
	tcase_add_test(all, paths_with_more_extra_time_are_first);
	tcase_add_test(all, a_lower_clock_is_no_extra_time_of_a_path);
	tcase_add_test(all, without_slow_calls_nothing_is_compared);
	tcase_add_test(all, a_histogram_counts_by_quarters_of_octaves);
	tcase_add_loop_test(all, an_example_at_one_time_is_of_the_first_thread, 0, 2);
	tcase_add_loop_test(all, functions_are_ordered_and_have_shares, 0, ORDER_NAME + 1);
	tcase_add_loop_test(all, a_table_has_as_many_functions_as_there_are, 2, 4);
	tcase_add_test(all, functions_count_instructions_where_times_are_unknown);
	tcase_add_test(all, an_edge_has_calls_and_the_cost_with_callees);
	tcase_add_test(all, an_edge_is_of_all_stacks);
	tcase_add_loop_test(all, a_folded_stack_begins_with_its_thread, 0, 2);
	tcase_add_test(all, stacks_are_cut_and_their_costs_are_own);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
