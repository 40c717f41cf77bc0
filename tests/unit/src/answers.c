/* SPDX-License-Identifier: MIT */
/* Answers about slices made by hand: chosen, slow and compared calls, edges and samples. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/io/output.h"
#include "base/utf8.h"
#include "src/callstack/callstack.h"
#include "src/costs/cost_stacks.h"
#include "src/formats/answers/chosen_calls.h"
#include "src/formats/answers/slow_causes.h"
#include "src/formats/output_format.h"
#include "src/options/options.h"
#include "tests/support/unit.h"
#include "tests/unit/src/slice_feed.h"

static struct name_table names;
static struct symbol symbols[16];
static size_t symbol_count;
static struct dso *const library = (struct dso *)&symbol_count; /* is not read */
static struct track main_thread, other_thread;
static struct callstack_machine machine;
static struct options options;
static const struct slice_sink *sink;
static bool reworded; /* special symbols have other names than those in these tests */

static void setup(void)
{
	static const char *patterns[] = { "f*" };

	name_table_init(&names);
	symbol_count = 0;
	reworded = false;
	main_thread = (struct track){ .tid = 7, .index = 0, .thread_name = "main" };
	other_thread = (struct track){ .tid = 8, .index = 1, .thread_name = "other" };
	machine = (struct callstack_machine){ .times = TIMES_MEASURED };
	options = (struct options){ .select.symbols = { patterns, 1, 1 } };
}

static void teardown(void)
{
	name_table_release(&names);
}

static enum symbol_special special_of(const char *text)
{
	return strncmp(text, "[syscall", 8) == 0          ? SPECIAL_SYSCALL
	       : strncmp(text, "[lost", 5) == 0           ? SPECIAL_GAP
	       : strcmp(text, "[untraced: off CPU]") == 0 ? SPECIAL_OFF_CPU
	       : strcmp(text, "[untraced]") == 0          ? SPECIAL_UNTRACED
							  : SPECIAL_OTHER;
}

/* "[...]" is no function; "[syscall: NAME]" has the kernel's name. */
static const struct symbol *symbol_of(const char *text)
{
	char other[64], call[32];
	const struct name *name;

	snprintf(other, sizeof(other), "%zu%s", strlen(text), *text == '[' ? "" : text);
	name = name_intern_text(&names, reworded && *text == '[' ? other : text);
	for (size_t i = 0; i < symbol_count; i++) {
		if (symbols[i].name == name)
			return &symbols[i];
	}
	symbols[symbol_count] =
		(struct symbol){ .name = name,
				 .linkage = name,
				 .kind = *text == '[' ? SYMBOL_SPECIAL : SYMBOL_FUNCTION,
				 .special = (uint8_t)special_of(text),
				 .dso = strncmp(text, "lib", 3) == 0 ? library : NULL };
	if (sscanf(text, "[syscall: %31[a-z]", call) == 1)
		symbols[symbol_count].linkage = name_intern_text(&names, call);
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

	output = output_format_open(format, &request);
	output->machine = &machine;
	sink = &output->sink;
}

/* Returns the output since open_format(). */
static void finish_format(const struct output_format *format)
{
	format->finish(output);
	ck_assert_int_eq(output->err.kind, ERROR_NONE);
	fflush(output->text);
}

static void close_format(const struct output_format *format)
{
	fclose(output->text);
	output_format_close(format, output);
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

/* ---- Why ----------------------------------------------------------------- */

static struct slow_calls slow_calls;
static struct slow_answer answers[3];

static void follow_slow(size_t most)
{
	slow_calls_init(&slow_calls, &options,
			&(struct trace_facts){ .by_insns = machine.by_insns }, most);
	sink = &slow_calls.sink;
}

static uint32_t slow_function(const char *name)
{
	for (uint32_t i = 0; i < slow_calls.function_count; i++)
		if (strcmp(slow_calls.functions[i].symbol->name->text, name) == 0)
			return i;
	ck_abort_msg("%s was not called", name);
}

/* "AMOUNT: PATH=CALLS/NS/INSNS" of the kept calls of a function, slowest first. */
static void expect_kept(const char *name, const char *expected)
{
	const struct slow_function *function = &slow_calls.functions[slow_function(name)];
	char found[600] = "";
	uint64_t below = UINT64_MAX;

	for (size_t n = 0; n < function->slow_count; n++) {
		const struct slow_call *next = NULL;

		for (size_t i = 0; i < function->slow_count; i++)
			if (function->slow[i].amount < below &&
			    (!next || function->slow[i].amount > next->amount))
				next = &function->slow[i];
		if (!next)
			break;
		below = next->amount;
		sprintf(found + strlen(found), "%d:", (int)next->amount);
		for (uint32_t path = 1; path < slow_calls.tree.count; path++)
			for (size_t i = 0; i < next->count; i++)
				if (next->costs[i].path == path)
					sprintf(found + strlen(found), " %s=%d/%d/%d",
						slow_calls.tree.nodes[path].name->text,
						(int)next->costs[i].calls,
						(int)next->costs[i].own.ns,
						(int)next->costs[i].own.insns);
		strcat(found, "; ");
	}
	ck_assert_str_eq(found, expected);
}

/*
 * f > g > g > f > g: the inner f has its own code and that of its g, and the outer one the rest.
 * With a bound, the inner call is a part of the outer one unless it is slow.
 */
START_TEST(a_slow_call_has_the_costs_of_its_paths_without_recursions)
{
	static const char *const expected[] = {
		"66: f=1/33/10 g=2/26/26 f2=1/7/0; 4: f=1/2/2 g=1/2/2; ",
		"70: f=2/35/12 g=3/28/28 f2=1/7/0; 4: f=1/2/2 g=1/2/2; ",
		"66: f=1/33/10 g=2/26/26 f2=1/7/0; 4: f=1/2/2 g=1/2/2; ",
	};

	if (_i)
		options.slow = (struct slow_choice){ .has_bound = true, .longer = _i == 1 ? 4 : 3 };
	follow_slow(2);
	begin("main", 0, 0);
	begin("f", 10, 10);
	begin("g", 20, 20);
	begin("g", 30, 30);
	begin("f", 31, 31);
	begin("g", 32, 32);
	end(34, 34);
	end(35, 35);
	end(40, 40);
	end(50, 50);
	call("f2", 60, 7);
	end(80, 50);
	call("f", 90, 3);
	call("f", 100, 2);
	end(200, 50);
	expect_kept("f", expected[_i]);
	expect_kept("f2", "7: f2=1/7/0; ");
	ck_assert_uint_eq(slow_calls.functions[slow_function("f")].durations.count, 4);
	ck_assert_uint_eq(slow_calls.functions[slow_function("f")].first_begin, 10);
	ck_assert_uint_eq(slow_calls.functions[slow_function("f")].nested, 1);
	ck_assert_uint_eq(slow_calls.functions[slow_function("f")].absorbed, _i == 1);
	ck_assert_uint_eq(slow_calls.functions[slow_function("g")].durations.count, 0);
	slow_calls_release(&slow_calls);
	slow_calls_release(&slow_calls);
}
END_TEST

/* The log is summed up many times, and after the inner f has ended. */
START_TEST(a_long_call_is_summed_up)
{
	follow_slow(2);
	begin("f", 0, 0);
	for (uint64_t i = 0; i < 20000; i++)
		call(i % 2 ? "a" : "b", 10 * i, 1 + i % 2);
	begin("f2", 200000, 0);
	for (uint64_t i = 0; i < 20000; i++)
		call(i % 2 ? "a" : "b", 200000 + 10 * i, 1 + i % 2);
	end(400000, 0);
	end(400010, 0);
	expect_kept("f2", "200000: f2=1/170000/0 b=10000/10000/0 a=10000/20000/0; ");
	expect_kept("f", "400010: f=1/170010/0 b=10000/10000/0 a=10000/20000/0 f2=1/170000/0 "
			 "b=10000/10000/0 a=10000/20000/0; ");
	slow_calls_release(&slow_calls);
}
END_TEST

#define LEVELS 20000

/* CPU time of a call of a leaf in each of many functions, each inside of the one before or not. */
static clock_t time_of_paths(bool nested)
{
	struct symbol *functions = calloc(LEVELS + 1, sizeof(*functions));
	clock_t start;
	char name[20];

	follow_slow(2);
	for (int i = 0; i <= LEVELS; i++) {
		snprintf(name, sizeof(name), "g%d", i);
		functions[i] = (struct symbol){ .name = name_intern_text(&names, name),
						.kind = SYMBOL_FUNCTION };
	}
	start = clock();
	for (unsigned i = 0; i < LEVELS; i++) {
		feed_begin(sink, &main_thread, 5 * i, &functions[i], 0, 0);
		feed_begin(sink, &main_thread, 5 * i + 1, &functions[LEVELS], 0, 0);
		feed_end(sink, &main_thread, 5 * i + 2);
		if (!nested)
			feed_end(sink, &main_thread, 5 * i + 3);
	}
	for (unsigned i = 0; i < LEVELS && nested; i++)
		feed_end(sink, &main_thread, 5 * LEVELS + i);
	ck_assert_uint_eq(slow_calls.tree.count, 1 + 2 * LEVELS);
	start = clock() - start;
	slow_calls_release(&slow_calls);
	free(functions);
	return start;
}

/* Looking for a function in all callers takes many times as long. */
START_TEST(new_paths_take_time_by_their_number_not_by_their_depth)
{
	clock_t flat = time_of_paths(false), nested = time_of_paths(true);

	ck_assert_int_lt(nested, 3 * flat);
}
END_TEST

/* But a stop in a system call is what the call waits for. */
START_TEST(stops_are_no_part_of_calls)
{
	follow_slow(2);
	begin("f", 0, 0);
	begin("[untraced]", 10, 0);
	call("[untraced]", 11, 2);
	call("g", 20, 5);
	end(30, 0);
	begin("[syscall: read]", 40, 0);
	call("[untraced: off CPU]", 42, 50);
	end(100, 0);
	end(110, 0);
	expect_kept("f", "90: f=1/30/0 [syscall: read]=1/10/0 [untraced: off CPU]=1/50/0; ");
	ck_assert_uint_eq(slow_calls.functions[slow_function("f")].stopped_calls, 1);
	ck_assert_uint_eq(slow_calls.functions[slow_function("f")].longest, 20);
	slow_calls_release(&slow_calls);
	options.slow = (struct slow_choice){ .has_bound = true, .longer = 5 };
	follow_slow(2);
	begin("f", 0, 0);
	call("[untraced]", 10, 20);
	end(40, 0);
	expect_kept("f", "40: f=1/20/0 [untraced]=1/20/0; ");
	slow_calls_release(&slow_calls);
}
END_TEST

/* A function that runs in an interrupt has its own callees, which are in no call around the stop.
 */
START_TEST(a_call_in_a_stop_has_its_callees)
{
	follow_slow(2);
	begin("f", 0, 0);
	call("g", 1, 3);
	begin("[untraced]", 10, 0);
	begin("f2", 12, 0);
	call("g", 13, 5);
	end(20, 0);
	end(30, 0);
	end(40, 0);
	expect_kept("f", "20: f=1/17/0 g=1/3/0; ");
	expect_kept("f2", "8: f2=1/3/0 g=1/5/0; ");
	slow_calls_release(&slow_calls);
}
END_TEST

/* A caller that is shown as context has begun earlier, and a stub is a part of the call. */
START_TEST(contexts_and_stubs_are_no_calls)
{
	struct symbol stub = *symbol_of("f@plt");

	stub.kind = SYMBOL_PLT;
	follow_slow(2);
	begin_with("f", 5, SLICE_CONTEXT);
	edge(&main_thread, (struct slice_event){ .time = 10, .symbol = &stub }, 0);
	call("f2", 20, 3);
	end(40, 0);
	end(90, 0);
	expect_kept("f2", "3: f2=1/3/0; ");
	expect_kept("f@plt", "");
	for (size_t i = 0; i < slow_calls.function_count; i++)
		ck_assert_str_ne(slow_calls.functions[i].symbol->name->text, "f");
	slow_calls_release(&slow_calls);
}
END_TEST

/* Equal calls: the earlier one is kept, whichever thread's calls come first. */
START_TEST(of_equal_calls_the_first_is_kept)
{
	follow_slow(1);
	if (_i == 0)
		call("f", 40, 9);
	call_of_other("f", 20, 9);
	if (_i == 1)
		call("f", 40, 9);
	ck_assert_uint_eq(slow_calls.functions[0].slow[0].begin, 20);
	ck_assert_ptr_eq(slow_calls.functions[0].slow[0].track, &other_thread);
	slow_calls_release(&slow_calls);
}
END_TEST

static void make_answer(const char *function)
{
	slow_answer_make(&answers[0], &slow_calls, slow_function(function), &options.slow);
}

/* "CALLS CAUSE > LEAF EXTRA: LINE, LINE, ... rest EXTRA" of a cluster. */
static void expect_cluster(size_t number, const char *expected)
{
	const struct slow_answer *answer = &answers[0];
	const struct slow_cluster *cluster = &answer->clusters[number];
	char found[800];
	double sum = cluster->rest;

	ck_assert_uint_gt(answer->count, number);
	sprintf(found, "%d %s > %s %.0f:", (int)cluster->count,
		slow_calls.functions[cluster->cause].symbol->name->text,
		slow_calls.functions[cluster->leaf].symbol->name->text, cluster->extra);
	for (size_t i = 0; i < cluster->line_count; i++) {
		const struct cause_line *line = &cluster->lines[i];

		sprintf(found + strlen(found), " %u ", line->depth);
		if (line->remainder)
			strcat(found, "rest of ");
		else if (line->first != line->last)
			sprintf(found + strlen(found), "%s-",
				slow_calls.functions[answer->info[line->first].function]
					.symbol->name->text);
		sprintf(found + strlen(found), "%s %.0f,",
			slow_calls.functions[answer->info[line->last].function].symbol->name->text,
			line->extra);
		sum += line->leaf ? line->extra : 0;
	}
	sprintf(found + strlen(found), " rest %.0f", cluster->rest);
	ck_assert_str_eq(found, expected);
	ck_assert_double_eq_tol(sum, cluster->extra, 1e-6 * cluster->extra);
}

static void release_slow(size_t count)
{
	for (size_t i = 0; i < count; i++)
		slow_answer_release(&answers[i]);
	slow_calls_release(&slow_calls);
}

/* Calls on a clock; an instruction takes 1 ns. */
static uint64_t now;

static void enter(const char *name)
{
	begin(name, now, now);
}

static void leave(void)
{
	end(now, now);
}

static void spend(const char *name, uint64_t ns)
{
	enter(name);
	now += ns;
	leave();
}

/* A hundred calls of f, of 20 ns; the one given has more time in its code, in a, in b and in c. */
static void call_f(int slow, uint64_t own, uint64_t a, uint64_t b, uint64_t c)
{
	now = 1000;
	follow_slow(100);
	for (int i = 0; i < 100; i++) {
		enter("f");
		now += 5 + (i == slow) * own;
		enter("a");
		now += 5 + (i == slow) * a;
		spend("b", 5 + (i == slow) * b);
		leave();
		spend("c", 5 + (i == slow) * c);
		leave();
	}
	make_answer("f");
}

START_TEST(a_tree_has_the_extra_of_callees)
{
	static const struct {
		uint64_t own, a, b, c;
		const char *expected;
	} cases[] = {
		{ 20, 0, 100, 40,
		  "1 b > b 160: 0 f 160, 1 a-b 100, 1 c 40, 1 rest of f 20, rest 0" },
		{ 0, 0, 100, 0, "1 b > b 100: 0 f-b 100, rest 0" },
		{ 3, 10, 100, 2, "1 b > b 115: 0 f-a 115, 1 b 100, 1 rest of a 15, rest 0" },
		{ 100, 0, 1, 1, "1 f > f 102: 0 f 102, rest 0" },
		{ 0, 60, 40, 0, "1 a > a 100: 0 f-a 100, 1 b 40, 1 rest of a 60, rest 0" },
		/* No callee has half, and the function's own code has neither. */
		{ 10, 0, 45, 40, "1 a > b 95: 0 f 95, 1 a-b 45, 1 c 40, 1 rest of f 10, rest 0" },
	};

	call_f(7, cases[_i].own, cases[_i].a, cases[_i].b, cases[_i].c);
	ck_assert_uint_eq(answers[0].slow, 1);
	ck_assert_uint_eq(answers[0].others, 99);
	ck_assert_uint_eq(answers[0].median, 20);
	expect_cluster(0, cases[_i].expected);
	release_slow(1);
}
END_TEST

/* Code that was faster in the slow call takes no share from what was slower. */
START_TEST(shares_are_of_code_that_took_more)
{
	follow_slow(100);
	for (int i = 0; i < 100; i++) {
		enter("f");
		spend("a", i == 10 ? 105 : 5);
		spend("b", i == 10 ? 5 : 25);
		leave();
	}
	make_answer("f");
	expect_cluster(0, "1 a > a 100: 0 f-a 100, rest 0");
	ck_assert_double_eq_tol(answers[0].clusters[0].more, 80, 1e-6);
	release_slow(1);
}
END_TEST

/*
 * c > f > c > f: the inner c continues the path of the outer one, which is not in f.  It is shown
 * in f all the same; the inner f is a call of its own.
 */
START_TEST(a_recursion_of_a_caller_is_part_of_the_call)
{
	follow_slow(100);
	enter("c");
	for (int i = 0; i < 100; i++) {
		enter("f");
		now += 10;
		if (i == 50) {
			enter("c");
			now += 100;
			spend("f", 20);
			leave();
		}
		leave();
	}
	leave();
	make_answer("f");
	ck_assert_uint_eq(slow_calls.functions[slow_function("f")].durations.count, 101);
	expect_cluster(0, "1 c > c 100: 0 f-c 100, rest 0");
	release_slow(1);
}
END_TEST

/* A cluster has calls of one cause; the one with the most extra of all its calls is the first. */
START_TEST(slow_calls_are_clustered_by_cause)
{
	follow_slow(100);
	for (int i = 0; i < 100; i++) {
		enter("f");
		spend("a", i == 10 || i == 20 || i == 30 ? 105 : 5);
		spend("b", i == 40 ? 255 : 5);
		leave();
	}
	make_answer("f");
	ck_assert_uint_eq(answers[0].count, 2);
	expect_cluster(0, "3 a > a 100: 0 f-a 100, rest 0");
	expect_cluster(1, "1 b > b 250: 0 f-b 250, rest 0");
	ck_assert_uint_eq(answers[0].clusters[0].calls[0]->amount, 110);
	/* In all slow calls, and in all others. */
	ck_assert_uint_eq(answers[0].clusters[0].own[0].own.ns, 315);
	ck_assert_uint_eq(answers[0].clusters[0].own[1].own.ns, 96 * 5);
	release_slow(1);
}
END_TEST

/* Of the library's functions and stops, and one called from several paths. */
START_TEST(a_cause_is_code_that_the_author_can_change)
{
	static const struct {
		const char *path[4], *expected;
	} cases[] = {
		{ { "lib1", "g", "lib2" }, "g > lib2" },
		{ { "lib1", "lib2" }, "lib1 > lib2" },
		{ { "lib1", "[syscall: read]", "[untraced]" }, "lib1 > [syscall: read]" },
		{ { "g", "h", "[lost: data]" }, "[lost: data] > [lost: data]" },
		/* What is called only then, before what it calls. */
		{ { "g", "h" }, "g > h" },
	};
	char found[100];

	follow_slow(100);
	for (int i = 0; i < 100; i++) {
		int depth = 0;

		enter("f");
		now += 10;
		for (; i == 50 && depth < 4 && cases[_i].path[depth]; depth++)
			enter(cases[_i].path[depth]);
		now += i == 50 ? 100 : 0;
		while (depth--)
			leave();
		leave();
	}
	make_answer("f");
	sprintf(found, "%s > %s",
		slow_calls.functions[answers[0].clusters[0].cause].symbol->name->text,
		slow_calls.functions[answers[0].clusters[0].leaf].symbol->name->text);
	ck_assert_str_eq(found, cases[_i].expected);
	release_slow(1);
}
END_TEST

/* A tree of more lines has larger branches only. */
START_TEST(a_tree_has_few_lines)
{
	follow_slow(100);
	for (int i = 0; i < 100; i++) {
		char name[] = "a";

		enter("f");
		spend("h", i == 50 ? 100 : 1);
		for (; *name < 'q'; ++*name)
			if (*name != 'f')
				spend(name, i == 50 ? 50 : 1);
		leave();
	}
	make_answer("f");
	expect_cluster(0, "1 h > h 834: 0 f 834, 1 h 148, 1 rest of f 686, rest 0");
	release_slow(1);
}
END_TEST

static void cut_now(void)
{
	edge(&main_thread,
	     (struct slice_event){ .time = now, .kind = SLICE_END, .flags = SLICE_CUT }, now);
}

/* Ninety-nine usual calls of f, of 10 ns in a, and one of 110. */
static void call_usual(void)
{
	for (int i = 0; i < 100; i++) {
		enter("f");
		spend("a", i == 50 ? 110 : 10);
		leave();
	}
}

/* A lower bound that is not slow: it is no slow call, and not part of the others. */
START_TEST(a_short_call_that_is_cut_does_not_count)
{
	follow_slow(100);
	if (_i == 0) {
		begin_with("f", now, SLICE_INFERRED_START);
		spend("b", 15);
		leave();
	}
	call_usual();
	if (_i == 1) {
		enter("f");
		enter("b");
		now += 15;
		cut_now();
		cut_now();
	}
	make_answer("f");
	ck_assert_uint_eq(answers[0].cut, 1);
	ck_assert_uint_eq(answers[0].all, 100);
	ck_assert_uint_eq(answers[0].slow, 1);
	expect_cluster(0, "1 a > a 100: 0 f-a 100, rest 0");
	release_slow(1);
}
END_TEST

/* The call of f that is open at the end has been in a and b for 1 us, or is before a gap. */
START_TEST(a_call_is_slow_if_its_lower_bound_is)
{
	static const struct {
		bool inferred, stopped, gap, returns;
		const char *words, *at;
	} cases[] = {
		{ false, false, false, false, "   still open, in b called by a\n", "b" },
		{ false, true, false, false, "   still open, in b called by a\n", "b" },
		{ false, false, true, false, "   cut by a gap of the trace, in b called by a\n",
		  "b" },
		{ true, false, false, false,
		  "   its begin was not traced; still open, in b called by a\n", "b" },
		{ true, false, false, true, "   its begin was not traced\n", NULL },
	};
	struct symbol *b;
	json_t *json, *cluster, *slowest;

	open_format(&format_why);
	b = (struct symbol *)symbol_of("b");
	b->dso = library;
	if (!cases[_i].inferred) {
		call_usual();
		enter("f");
		enter("c");
		cut_now();
		cut_now();
		spend("[lost: overflow]", 10);
	}
	begin_with("f", now, cases[_i].inferred ? SLICE_INFERRED_START : 0);
	enter("a");
	enter("b");
	now += 1000;
	if (cases[_i].stopped) {
		enter("[untraced]");
		now += 10;
		cut_now();
	}
	for (int i = 0; i < 3; i++)
		if (cases[_i].returns)
			leave();
		else
			cut_now();
	if (cases[_i].gap)
		spend("[lost: overflow]", 10);
	if (cases[_i].inferred)
		call_usual();
	finish_format(&format_why);
	expect("f: 2 of 101 calls longer than 20ns; median 10ns\n");
	expect("   1 call, >990ns more");
	if (!cases[_i].inferred || cases[_i].returns)
		expect(cases[_i].words);
	json = format_why.answer(output);
	cluster = json_array_get(
		json_object_get(json_array_get(json_object_get(json, "functions"), 0), "clusters"),
		0);
	ck_assert(json_is_true(json_object_get(cluster, "cut")));
	slowest = json_object_get(cluster, "slowest");
	ck_assert_int_eq(json_is_true(json_object_get(slowest, "begin_seen")), !cases[_i].inferred);
	ck_assert_int_eq(json_is_true(json_object_get(slowest, "end_seen")), cases[_i].returns);
	slowest = json_object_get(slowest, "at");
	ck_assert_int_eq(json_is_null(slowest), cases[_i].returns);
	if (!cases[_i].returns)
		ck_assert_str_eq(json_string_value(json_object_get(slowest, "function")),
				 cases[_i].at);
	ck_assert_int_eq(json_is_true(json_object_get(slowest, "open")),
			 !cases[_i].returns && !cases[_i].gap && !cases[_i].inferred);
	json_decref(json);
	close_format(&format_why);
}
END_TEST

/* No call of main is whole: with a bound given, it is slow, and compared with nothing. */
START_TEST(a_bound_needs_no_usual_calls)
{
	static const char *patterns[] = { "main" };

	options.select.symbols = (struct pattern_list){ patterns, 1, 1 };
	options.slow = (struct slow_choice){ .has_bound = true, .longer = 100 };
	open_format(&format_why);
	enter("main");
	enter("a");
	now += 1000;
	cut_now();
	cut_now();
	finish_format(&format_why);
	expect("main: 1 of 1 calls longer than 100ns; median 0ns\n1. a, 100 % of the time\n"
	       "   1 call, >1us more\n   still open, in a\n");
	close_format(&format_why);
}
END_TEST

/* Two threads hang, each in its own call; a third call is faster than the kept ones. */
START_TEST(open_calls_of_several_threads_are_slow)
{
	follow_slow(2);
	call_usual();
	for (int i = 0; i < 3; i++) {
		struct track *track = i ? &main_thread : &other_thread;

		edge(track,
		     (struct slice_event){
			     .time = now, .symbol = symbol_of("f"), .kind = SLICE_BEGIN },
		     0);
		edge(track,
		     (struct slice_event){ .time = now + (i == 1 ? 500 : 1000),
					   .kind = SLICE_END,
					   .flags = SLICE_CUT },
		     0);
		now += 1000;
	}
	make_answer("f");
	ck_assert_uint_eq(answers[0].all, 103);
	ck_assert_uint_eq(answers[0].slow, 4);
	ck_assert_uint_eq(answers[0].slow_cut, 3);
	ck_assert_uint_eq(answers[0].compared, 2);
	ck_assert_uint_eq(answers[0].others, 100);
	expect_cluster(0, "2 f > f 1000: 0 f 1000, rest 0");
	release_slow(1);
}
END_TEST

/* f calls itself `depth` times, and in the call at level `at` (0: none) a, for 1 us. */
static void recurse(int depth, int at)
{
	for (int i = 0; i < depth; i++) {
		enter("f");
		now += 10;
		if (i + 1 == at)
			spend("a", 1000);
	}
	while (depth--)
		leave();
}

/* At any level, however deep: no other call gets the time of a. */
START_TEST(the_innermost_slow_call_has_the_extra_time)
{
	static const int levels[] = { 1, 7, 50, 3000, 10000 };

	follow_slow(100);
	recurse(30, 0);
	recurse(10000, levels[_i]);
	recurse(30, 0);
	make_answer("f");
	ck_assert_uint_eq(answers[0].all, 10060);
	ck_assert_uint_eq(answers[0].slow, 1);
	ck_assert_uint_eq(answers[0].median, 10);
	expect_cluster(0, "1 a > a 1000: 0 f-a 1000, rest 0");
	ck_assert_double_eq_tol(answers[0].excess, 1000, 10);
	release_slow(1);
}
END_TEST

/* Each level takes as long as any other, but one call goes 50 levels down. */
START_TEST(a_call_with_more_nested_calls_is_slow_among_outermost_ones)
{
	open_format(&format_why);
	for (int i = 0; i < 100; i++)
		recurse(i < 20 ? 1 : i == 50 ? 50 : 2, 0);
	finish_format(&format_why);
	/* 20 of one level, 79 of two, one of 50. */
	expect("f: 1 of 100 outermost calls (128 are nested in them) longer than 40ns; median "
	       "20ns\n1. own code of f, 100 % of the extra time\n   1 call, 482ns more");
	close_format(&format_why);
}
END_TEST

/*
 * The call at level 41 of 50 takes 1100 ns, and the 40 calls around it more; without the next inner
 * one, each of these takes 10 ns.
 */
START_TEST(with_a_bound_calls_around_slow_ones_are_no_causes)
{
	options.slow = (struct slow_choice){ .has_bound = true, .longer = 200 };
	open_format(&format_why);
	recurse(10, 0);
	recurse(50, 41);
	finish_format(&format_why);
	expect("f: 41 of 60 calls longer than 200ns;");
	expect("\n40 more slow calls have nested slow calls of it, which have the extra time\n");
	expect("1. a, 100 % of the extra time\n   1 call, ");
	close_format(&format_why);
}
END_TEST

/* In f, an interrupt runs f: that call is not nested, as the stop is no part of the outer one. */
START_TEST(a_call_in_a_stop_is_not_nested)
{
	follow_slow(4);
	begin("f", 0, 0);
	begin("[untraced]", 10, 0);
	call("f", 12, 5);
	end(20, 0);
	end(40, 0);
	expect_kept("f", "30: f=1/30/0; 5: f=1/5/0; ");
	ck_assert_uint_eq(slow_calls.functions[slow_function("f")].nested, 0);
	slow_calls_release(&slow_calls);
}
END_TEST

/*
 * All are open at the end, and the innermost one has been in a for 1 us: it is slow, and the others
 * are left out or, with a bound, slow by it.  Less is usual in a by 10 ns (11 with a bound), and
 * in f itself by its 10 ns.
 */
START_TEST(a_recursion_may_be_open)
{
	int levels = _i ? 5000 : 20;

	options.slow = (struct slow_choice){ .has_bound = _i, .longer = 500 };
	follow_slow(100);
	call_usual();
	for (int i = 0; i < levels; i++) {
		enter("f");
		now += 10;
	}
	spend("a", 1000);
	for (int i = 0; i < levels; i++)
		cut_now();
	make_answer("f");
	ck_assert_uint_eq(answers[0].all, _i ? 5100 : 101);
	ck_assert_uint_eq(answers[0].cut, _i ? 0 : 19);
	ck_assert_uint_eq(answers[0].slow, _i ? 5000 : 2);
	ck_assert_uint_eq(answers[0].outer, _i ? 4999 : 0);
	ck_assert_uint_eq(answers[0].others, _i ? 100 : 99);
	expect_cluster(0,
		       _i ? "1 a > a 999: 0 f-a 999, rest 0" : "1 a > a 1000: 0 f-a 1000, rest 0");
	release_slow(1);
}
END_TEST

/* "BOUND SLOW" of f's calls: of 100, some take 10 ns, `more` of them `longer`. */
START_TEST(slow_calls_are_longer_than_usual)
{
	static const struct {
		int more;
		uint64_t longer;
		struct slow_choice choice;
		uint64_t bound, slow;
		uint64_t resolution;
	} cases[] = {
		{ 1, 30, { 0 }, 20, 1, 0 },
		{ 3, 21, { 0 }, 20, 3, 0 },
		/* None is twice as long. */
		{ 3, 15, { 0 }, 14, 3, 0 },
		/* Nor does the 99th percentile differ. */
		{ 1, 15, { 0 }, 15, 0, 0 },
		/* The 95th percentile is slow. */
		{ 20, 100, { 0 }, 20, 20, 0 },
		/* This is usual. */
		{ 40, 100, { 0 }, 99, 40, 0 },
		{ 9, 30, { .has_bound = true, .longer = 29 }, 29, 9, 0 },
		{ 9, 30, { .has_bound = true, .longer = 30 }, 30, 0, 0 },
		{ 9, 30, { .has_bound = true, .percentile = 500000 }, 10, 9, 0 },
		/* Times are not exact enough. */
		{ 3, 30, { 0 }, 35, 0, 25 },
		{ 3, 41, { 0 }, 35, 3, 25 },
	};

	options.slow = cases[_i].choice;
	follow_slow(100);
	slow_calls.resolution = cases[_i].resolution;
	for (int i = 0; i < 100; i++)
		spend("f", i % 2 && i / 2 < cases[_i].more ? cases[_i].longer : 10);
	make_answer("f");
	ck_assert_uint_eq(answers[0].bound, cases[_i].bound);
	ck_assert_uint_eq(answers[0].slow, cases[_i].slow);
	release_slow(1);
}
END_TEST

/* `count` calls of f > g > lib, of which one is slow in the innermost, and 100 of h. */
static size_t rank(int count, uint64_t in_f, uint64_t in_g, uint64_t in_lib, bool by_user)
{
	static const char *patterns[] = { "*" };

	options.select.symbols = (struct pattern_list){ patterns, 1, 1 };
	follow_slow(100);
	for (int i = 0; i < count; i++) {
		enter("f");
		now += 10 + (i == 5) * in_f;
		enter("g");
		now += 10 + (i == 5) * in_g;
		spend("lib", 10 + (i == 5) * in_lib);
		leave();
		leave();
	}
	for (int i = 0; i < 100; i++)
		spend("h", i == 5 ? 100 : 10);
	return slow_answers_rank(answers, 3, &slow_calls, by_user, &options.slow);
}

START_TEST(functions_are_ranked_by_the_excess_of_slow_calls)
{
	static const struct {
		int calls;
		uint64_t f, g, lib;
		bool by_user;
		const char *expected;
	} cases[] = {
		{ 100, 0, 0, 1000, false, "g h " }, /* lib is not ours, f a wrapper */
		{ 100, 0, 1000, 0, false, "g h " },       { 100, 1000, 0, 0, false, "f h " },
		{ 100, 80, 0, 0, false, "h f " },         /* 90 more in h */
		{ 100, 1000, 500, 0, false, "f g h " },   /* g has a third of it */
		{ 49, 0, 0, 1000, false, "h " },          /* too few calls */
		{ 49, 400, 200, 1000, true, "f g lib " }, /* but not if chosen */
	};
	char found[100] = "";
	size_t count =
		rank(cases[_i].calls, cases[_i].f, cases[_i].g, cases[_i].lib, cases[_i].by_user);

	for (size_t i = 0; i < count; i++)
		sprintf(found + strlen(found), "%s ",
			slow_calls.functions[answers[i].function].symbol->name->text);
	ck_assert_str_eq(found, cases[_i].expected);
	release_slow(count);
}
END_TEST

/* f calls g, which is slow once by 1000 ns; the code of f is slow once by a part of that. */
START_TEST(a_wrapper_has_little_excess_of_its_own)
{
	static const char *patterns[] = { "*" };
	size_t expected = _i * 100 < 430 ? 1 : 2; /* 1000 of 1430 is 70 % */

	options.select.symbols = (struct pattern_list){ patterns, 1, 1 };
	follow_slow(100);
	for (int i = 0; i < 100; i++) {
		enter("f");
		now += 10 + (uint64_t)(i == 60 ? _i * 100 : 0);
		spend("g", 10 + (i == 5) * 1000);
		leave();
	}
	ck_assert_uint_eq(slow_answers_rank(answers, 3, &slow_calls, false, &options.slow),
			  expected);
	ck_assert_uint_eq(answers[0].function, slow_function(expected == 1 ? "g" : "f"));
	release_slow(expected);
}
END_TEST

/* Calls of f, of which a tenth is slow, and of g, of which one is slow by less; both have a bound
 * of 20 ns. */
START_TEST(a_function_with_many_slow_calls_has_a_rank)
{
	options.select.symbols.count = 0;
	if (_i)
		options.slow = (struct slow_choice){ .has_bound = true, .longer = 500 };
	follow_slow(100);
	for (int i = 0; i < 100; i++) {
		spend("f", i % 10 == 5 ? 1000 : 10);
		spend("g", i == 50 ? 400 : 10);
	}
	/* With a bound, functions without calls above it have none. */
	ck_assert_uint_eq(slow_answers_rank(answers, 3, &slow_calls, false, &options.slow),
			  _i ? 1 : 2);
	ck_assert_uint_eq(answers[0].function, slow_function("f"));
	ck_assert_double_eq_tol(answers[0].excess, 9900, 100); /* by buckets */
	release_slow(_i ? 1 : 2);
}
END_TEST

/* Amounts are instructions; here one of them takes 2 ns. */
START_TEST(without_times_slow_calls_have_more_instructions)
{
	machine.by_insns = true;
	follow_slow(100);
	for (int i = 0; i < 100; i++) {
		begin("f", now, now / 2);
		now += i == 50 ? 200 : 20;
		end(now, now / 2);
	}
	make_answer("f");
	ck_assert_uint_eq(answers[0].median, 10);
	expect_cluster(0, "1 f > f 90: 0 f 90, rest 0");
	release_slow(1);
}
END_TEST

/* Without --symbol 128 calls are kept. */
START_TEST(slow_calls_that_are_not_compared_are_counted)
{
	options.select.symbols.count = 0;
	open_format(&format_why);
	for (int i = 0; i < 4000; i++)
		spend("f", i < 150 ? 1000 : 10);
	finish_format(&format_why);
	ck_assert_ptr_nonnull(strstr(text, "f: 150 of 4000 calls longer than 20ns;"));
	ck_assert_ptr_nonnull(strstr(
		text, "\n22 more slow calls count as usual: the slowest 128 are compared\n"));
	close_format(&format_why);
}
END_TEST

/* f is stopped 100 times for 10 ns, and once longer than its slowest call and four usual stops. */
START_TEST(a_long_stop_is_named)
{
	static const struct {
		uint64_t stop;
		bool chosen, named;
	} cases[] = {
		{ 5000, false, true }, { 5000, true, true },
		{ 401, false, false }, { 401, true, false }, /* 401 ns is the slowest call */
		{ 402, true, true },
	};
	const char *command = cases[_i].stop == 5000  ? "\nnext: ptrace2ftf why --slow=2.5us"
			      : cases[_i].stop == 402 ? "\nnext: ptrace2ftf why --slow=201ns"
						      : "why --slow";
	json_t *answer, *stopped;

	options.select.symbols.count = cases[_i].chosen;
	open_format(&format_why);
	for (int i = 0; i < 100; i++) {
		begin("f", now, 0);
		call("[untraced]", now + 2, i == 70 ? cases[_i].stop : 10);
		now += 10 + (i == 70 ? cases[_i].stop : 10) + (i == 50) * 391;
		end(now, 0);
	}
	finish_format(&format_why);
	ck_assert_int_eq(strstr(text, command) != NULL, cases[_i].named);
	ck_assert_int_eq(strstr(text, "a call of f was stopped for 5us:") != NULL, _i < 2);
	answer = format_why.answer(output);
	stopped = json_object_get(answer, "long_stop");
	ck_assert_int_eq(json_is_object(stopped), cases[_i].named);
	ck_assert_int_eq((int)json_integer_value(json_object_get(stopped, "ns")),
			 cases[_i].named ? (int)cases[_i].stop : 0);
	json_decref(answer);
	close_format(&format_why);
}
END_TEST

/* The sum and the words; the names' own lines are not known. */
START_TEST(the_answer_says_the_cause_in_words)
{
	open_format(&format_why);
	for (int i = 0; i < 100; i++) {
		enter("f");
		now += 5;
		for (int n = i == 50 ? 12 : 1; n; n--)
			spend("a", 10);
		leave();
	}
	finish_format(&format_why);
	expect("f: 1 of 100 calls longer than 30ns; median 15ns\n"
	       "1. a, 100 % of the extra time\n"
	       "   1 call, 110ns more; 12 calls of it, usually 1.0\n"
	       "   100.0%      110ns  f > a\n"
	       "     0.0%             rest\n"
	       "next: ptrace2ftf --slowest=3 --symbol=f -o slow/\n"
	       "next: ptrace2ftf annotate a\n");
	close_format(&format_why);
}
END_TEST

/* The number of slow calls by each of five causes; 100 ns more each. */
static const struct {
	int slow[5];
	const char *first, *last, *rest; /* lines; NULL: there is no such line */
} other_causes[] = {
	{ { 3, 2, 1, 0, 0 }, "\n1. a, 100 %", "\n3. c, 100 %", NULL },
	{ { 5, 4, 3, 2, 0 },
	  "\n1. a, 100 %",
	  "\n3. c, 100 %",
	  "\nother causes made 2 calls slow\n" },
	{ { 5, 4, 3, 1, 0 },
	  "\n1. a, 100 %",
	  "\n3. c, 100 %",
	  "\nother causes made 1 call slow\n" },
	{ { 5, 4, 3, 2, 1 },
	  "\n1. a, 100 %",
	  "\n3. c, 100 %",
	  "\nother causes made 3 calls slow\n" },
	{ { 1, 2, 3, 4, 5 },
	  "\n1. e, 100 %",
	  "\n3. c, 100 %",
	  "\nother causes made 3 calls slow\n" },
	/* The second has a twentieth of all, or less. */
	{ { 19, 1, 0, 0, 0 }, "\n1. a, 100 %", "\n2. b, 100 %", NULL },
	{ { 20, 1, 0, 0, 0 },
	  "\n1. a, 100 %",
	  "   rest\nother causes",
	  "\nother causes made 1 call slow\n" },
};

START_TEST(causes_of_few_slow_calls_are_counted)
{
	static const char *const callees[] = { "a", "b", "c", "d", "e" };
	int left[5], cause = 0;

	memcpy(left, other_causes[_i].slow, sizeof(left));
	open_format(&format_why);
	for (int i = 0; i < 400; i++) {
		bool slow = i % 8 == 7 && cause < 5;

		enter("f");
		now += 5;
		for (int n = 0; n < 5; n++)
			spend(callees[n], slow && n == cause ? 110 : 10);
		leave();
		if (slow && --left[cause] == 0)
			cause++;
		while (cause < 5 && !left[cause])
			cause++;
	}
	finish_format(&format_why);
	expect(other_causes[_i].first);
	expect(other_causes[_i].last);
	if (other_causes[_i].rest)
		expect(other_causes[_i].rest);
	else
		ck_assert_ptr_null(strstr(text, "other causes"));
	ck_assert_ptr_null(strstr(text, "\n4. "));
	close_format(&format_why);
}
END_TEST

/* A name may have any bytes, and is cut between two characters. */
START_TEST(names_of_any_bytes_are_in_text_and_json)
{
	static const char *const callees[] = {
		"b\xff",
		"a\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4"
		"\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4"
		"\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4"
	};
	json_t *json, *cluster;

	open_format(&format_why);
	for (int i = 0; i < 100; i++) {
		enter("f");
		spend(callees[_i], i == 50 ? 500 : 10);
		leave();
	}
	finish_format(&format_why);
	for (size_t i = 0, length; _i && i < size; i += length)
		ck_assert_uint_gt(length = utf8_character(text + i, size - i), 0);
	json = format_why.answer(output);
	cluster = json_array_get(
		json_object_get(json_array_get(json_object_get(json, "functions"), 0), "clusters"),
		0);
	ck_assert_str_eq(json_string_value(json_object_get(cluster, "cause")),
			 _i ? callees[1] : "b\xef\xbf\xbd");
	ck_assert_int_eq(json_string_value(json_object_get(cluster, "words"))[0], *callees[_i]);
	json_decref(json);
	close_format(&format_why);
}
END_TEST

static void expect_once(const char *line)
{
	const char *first = strstr(text, line);

	ck_assert_msg(first && !strstr(first + 1, line), "once %s:\n%s", line, text);
}

/* A gap in a call of f, two beside; calls that are cut; f calls f2.  Times are estimates. */
START_TEST(each_doubt_is_said_once)
{
	/* The last one is no damage. */
	const uint64_t gaps[GAP_REASONS] = {
		[GAP_MISMATCH] = 2, [GAP_OVERFLOW] = 1, [GAP_NOT_RECORDED] = 5
	};

	machine.times = TIMES_ESTIMATED;
	machine.doubts.opaque_frames = 4;
	open_format(&format_why);
	for (int i = 0; i < 100; i++) {
		enter("f");
		now += 5;
		spend("f2", i == 50 ? 200 : 10);
		if (i == 50)
			spend("[lost: mismatch]", 1);
		leave();
	}
	begin("f", now, 0);
	cut(now + 10);
	call("[lost: overflow]", now + 10, 5);
	call("[lost: mismatch]", now + 15, 5);
	begin_with("f2", now + 20, SLICE_INFERRED_START);
	end(now + 30, 0);
	output->gaps = gaps;
	finish_format(&format_why);
	expect_once("times are estimates");
	expect_once("calls left out, whose begin or return was not traced: 2\n");
	expect_once("gaps in the trace: 3; in these calls: 1\n");
	expect_once("calls of code without bytes, whose callees may be missing: 4\n");
	expect_once("f2 is called in f: their extra amounts overlap\n");
	close_format(&format_why);
}
END_TEST

/* Slices have any names: a stop outside of a system call, one inside, and a gap. */
START_TEST(rewording_a_slice_breaks_no_answer)
{
	const uint64_t gaps[GAP_REASONS] = { [GAP_MISMATCH] = 1 };

	reworded = _i;
	open_format(&format_why);
	for (int i = 0; i < 100; i++) {
		enter("f");
		now += 5;
		spend("[untraced]", 2);
		enter("g");
		enter("[syscall: read]");
		spend("[untraced: off CPU]", i == 50 ? 1000 : 5);
		leave();
		leave();
		if (i == 50)
			spend("[lost: mismatch]", 1);
		leave();
	}
	output->gaps = gaps;
	finish_format(&format_why);
	expect_once("f: 1 of 100 calls longer than");
	expect_once("100 % of the extra time, 100 % in read()");
	expect_once("100 calls were stopped, 2ns at most");
	expect_once("; in these calls: 1\n");
	close_format(&format_why);
}
END_TEST

/* Two overloads with one printed name, each with calls of its own; one of the second is slow. */
static const struct output_format *const of_functions[] = { &format_why, &format_histogram,
							    &format_functions };

START_TEST(functions_of_one_name_have_an_answer_each)
{
	static const char *const expected[][2] = {
		{ "f(int): 0 of 60 calls longer than", "f(double): 1 of 50 calls longer than" },
		{ "f(int)\n", "f(double)\n" },
		{ "  f(int)\n", "  f(double)\n" },
	};
	struct symbol overloads[2] = { *symbol_of("f"), *symbol_of("f") };

	overloads[0].linkage = name_intern_text(&names, "_Z1fi");
	overloads[1].linkage = name_intern_text(&names, "_Z1fd");
	open_format(of_functions[_i]);
	for (uint64_t i = 0; i < 110; i++) {
		const struct symbol *symbol = &overloads[i >= 60];
		uint64_t time = 10000 * i;

		edge(&main_thread,
		     (struct slice_event){ .time = time, .symbol = symbol, .kind = SLICE_BEGIN },
		     0);
		edge(&main_thread,
		     (struct slice_event){ .time = time + (i == 100 ? 5000 : 10),
					   .kind = SLICE_END },
		     0);
	}
	finish_format(of_functions[_i]);
	expect_once(expected[_i][0]);
	expect_once(expected[_i][1]);
	close_format(of_functions[_i]);
}
END_TEST

/* ---- Formats ------------------------------------------------------------- */

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

int main(void)
{
	Suite *suite = suite_create("answers");
	TCase *all = tcase_create("all");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, each_call_of_the_pattern_is_chosen);
	tcase_add_test(all, a_call_knows_how_long_it_was_not_traced);
	tcase_add_test(all, of_a_chosen_call_begin_and_end_may_be_unseen);
	tcase_add_test(all, marks_are_no_calls);
	tcase_add_test(all, the_slowest_calls_are_kept_in_order);
	tcase_add_test(all, calls_of_one_time_are_in_the_order_of_threads);
	tcase_add_test(all, slower_than_a_time_is_strict);
	tcase_add_test(all, a_call_of_the_bound_is_not_listed);
	tcase_add_test(all, slower_than_a_percentile_is_strict);
	tcase_add_test(all, the_table_marks_calls_that_were_cut);
	tcase_add_loop_test(all, functions_are_below_each_other_whatever_the_names_of_threads, 0,
			    2);
	tcase_add_test(all, where_times_are_unknown_the_most_instructions_are_slowest);
	tcase_add_loop_test(all, a_slow_call_has_the_costs_of_its_paths_without_recursions, 0, 3);
	tcase_add_test(all, a_long_call_is_summed_up);
	tcase_add_test(all, new_paths_take_time_by_their_number_not_by_their_depth);
	tcase_add_test(all, a_call_in_a_stop_has_its_callees);
	tcase_add_test(all, stops_are_no_part_of_calls);
	tcase_add_test(all, contexts_and_stubs_are_no_calls);
	tcase_add_loop_test(all, of_equal_calls_the_first_is_kept, 0, 2);
	tcase_add_loop_test(all, a_tree_has_the_extra_of_callees, 0, 6);
	tcase_add_test(all, shares_are_of_code_that_took_more);
	tcase_add_test(all, a_recursion_of_a_caller_is_part_of_the_call);
	tcase_add_test(all, slow_calls_are_clustered_by_cause);
	tcase_add_loop_test(all, a_cause_is_code_that_the_author_can_change, 0, 5);
	tcase_add_test(all, a_tree_has_few_lines);
	tcase_add_loop_test(all, a_short_call_that_is_cut_does_not_count, 0, 2);
	tcase_add_loop_test(all, a_call_is_slow_if_its_lower_bound_is, 0, 5);
	tcase_add_test(all, a_bound_needs_no_usual_calls);
	tcase_add_test(all, open_calls_of_several_threads_are_slow);
	tcase_add_loop_test(all, the_innermost_slow_call_has_the_extra_time, 0, 5);
	tcase_add_test(all, a_call_with_more_nested_calls_is_slow_among_outermost_ones);
	tcase_add_test(all, with_a_bound_calls_around_slow_ones_are_no_causes);
	tcase_add_test(all, a_call_in_a_stop_is_not_nested);
	tcase_add_loop_test(all, a_recursion_may_be_open, 0, 2);
	tcase_add_loop_test(all, slow_calls_are_longer_than_usual, 0, 11);
	tcase_add_loop_test(all, functions_are_ranked_by_the_excess_of_slow_calls, 0, 7);
	tcase_add_loop_test(all, a_function_with_many_slow_calls_has_a_rank, 0, 2);
	tcase_add_loop_test(all, a_wrapper_has_little_excess_of_its_own, 3, 7);
	tcase_add_test(all, without_times_slow_calls_have_more_instructions);
	tcase_add_test(all, slow_calls_that_are_not_compared_are_counted);
	tcase_add_loop_test(all, a_long_stop_is_named, 0, 5);
	tcase_add_test(all, the_answer_says_the_cause_in_words);
	tcase_add_loop_test(all, causes_of_few_slow_calls_are_counted, 0, COUNT_OF(other_causes));
	tcase_add_loop_test(all, names_of_any_bytes_are_in_text_and_json, 0, 2);
	tcase_add_test(all, each_doubt_is_said_once);
	tcase_add_loop_test(all, functions_of_one_name_have_an_answer_each, 0, 3);
	tcase_add_loop_test(all, rewording_a_slice_breaks_no_answer, 0, 2);
	tcase_add_test(all, a_histogram_counts_by_quarters_of_octaves);
	tcase_add_test(all, a_histogram_has_nested_calls);
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
