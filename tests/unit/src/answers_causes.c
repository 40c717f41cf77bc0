/* SPDX-License-Identifier: MIT */
/* What slow calls cost, and the causes of these. */
#include "tests/unit/src/answers.h"

#include <time.h>

static struct path_cost cost_in(const struct slow_call *call, uint32_t path)
{
	struct cost_cursor cursor = cost_cursor_begin(call->costs, call->count);
	struct path_cost sum = { .path = path };

	for (const struct path_cost *cost; (cost = cost_cursor_next(&cursor));)
		if (cost->path == path) {
			sum.calls += cost->calls;
			call_tree_add(&sum.own, &cost->own, true);
		}
	return sum;
}

/* "AMOUNT: PATH=CALLS/NS/INSNS" of the kept calls of a function, slowest first. */
static void expect_kept(const char *name, const char *expected)
{
	const struct slow_function *function = &slow_calls.functions[slow_function(name)];
	char found[600] = "";
	uint64_t below = UINT64_MAX;

	for (size_t n = 0; n < function->slow.count; n++) {
		const struct slow_call *next = NULL;

		for (size_t i = 0; i < function->slow.count; i++)
			if (function->slow.calls[i].amount < below &&
			    (!next || function->slow.calls[i].amount > next->amount))
				next = &function->slow.calls[i];
		if (!next)
			break;
		below = next->amount;
		sprintf(found + strlen(found), "%d:", (int)next->amount);
		for (uint32_t path = 1; path < slow_calls.tree.count; path++) {
			struct path_cost sum = cost_in(next, path);

			if (sum.calls)
				sprintf(found + strlen(found), " %s=%d/%d/%d",
					slow_calls.tree.nodes[path].name->text, (int)sum.calls,
					(int)sum.own.ns, (int)sum.own.insns);
		}
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

#define DEPTH 300

/*
 * 300 functions, each called by the one before: 40 times, and then each also calls others. A kept
 * call has its own costs and those of its callees, which calls around it share.
 */
START_TEST(calls_inside_of_each_other_have_their_costs)
{
	struct symbol functions[DEPTH];
	uint64_t time = 0;
	char name[20];

	options.select.symbols.count = 0;
	follow_slow(2);
	for (int i = 0; i < DEPTH; i++) {
		snprintf(name, sizeof(name), "h%d", i);
		functions[i] = (struct symbol){ .name = name_intern_text(&names, name),
						.kind = SYMBOL_FUNCTION };
	}
	for (unsigned round = 1; round <= 40; round++) {
		for (unsigned i = 0; i < DEPTH; i++) {
			feed_begin(sink, &main_thread, time, &functions[i], 0, 0);
			for (unsigned j = 0; j < i % 40 && round > 20; j++)
				call(j % 2 ? "a" : "b", time, round);
			time += 2 * round + (round > 20 ? round * (i % 40) : 0);
		}
		for (unsigned i = 0; i < DEPTH; i++)
			feed_end(sink, &main_thread, time += round);
	}
	for (unsigned i = 0; i < DEPTH; i++) {
		const struct slow_function *function;
		const struct slow_call *call;

		snprintf(name, sizeof(name), "h%u", i);
		function = &slow_calls.functions[slow_function(name)];
		ck_assert_uint_eq(function->slow.count, 2);
		call = &function->slow.calls[function->slow.calls[1].amount >
					     function->slow.calls[0].amount];
		for (uint32_t path = 1; path < slow_calls.tree.count; path++) {
			struct path_cost cost = cost_in(call, path);
			const char *of = slow_calls.tree.nodes[path].name->text;
			unsigned caller, at = slow_calls.tree.nodes[path].caller;

			if (*of == 'h')
				ck_assert_uint_eq(cost.calls, (unsigned)atoi(of + 1) >= i);
			if (*of == 'h')
				continue;
			caller = (unsigned)atoi(slow_calls.tree.nodes[at].name->text + 1);
			ck_assert_uint_eq(cost.calls,
					  caller < i ? 0 : (caller % 40 + (*of == 'b')) / 2);
			ck_assert_uint_eq(cost.own.ns, cost.calls * 40);
		}
	}
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

	ck_assert_int_lt(nested, 4 * flat);
}
END_TEST

/* But a stop in a system call is what the call waits for. */
START_TEST(stops_are_no_part_of_calls)
{
	const struct slow_stops *stopped;

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
	expect_kept("f", "90: f=1/30/0 [untraced]=1/20/0 [syscall: read]=1/10/0 [untraced: off "
			 "CPU]=1/50/0; ");
	stopped = slow_calls.functions[slow_function("f")].stopped;
	ck_assert_uint_eq(stopped->without.count, 1);
	ck_assert_uint_eq(stopped->without.max, 90);
	ck_assert_uint_eq(stopped->with.max, 110);
	ck_assert_uint_eq(stopped->slow.calls[0].amount, 110);
	ck_assert_uint_eq(stopped->longest, 20);
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
	expect_kept("f", "20: f=1/17/0 g=1/3/0 [untraced]=1/20/0; ");
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
	ck_assert_uint_eq(slow_calls.functions[0].slow.calls[0].begin, 20);
	ck_assert_ptr_eq(slow_calls.functions[0].slow.calls[0].track, &other_thread);
	slow_calls_release(&slow_calls);
}
END_TEST

/* ---- Stops --------------------------------------------------------------- */

/*
 * A hundred calls of f, of 55 ns: 45 in its own code, 5 in a and 5 in b. Every fourth is stopped
 * for 1000 ns, in these in turn or always in b; one more call has more time in a.
 */
static void call_stopped(const char *stop, bool in_b, uint64_t more)
{
	for (int i = 0; i < 100; i++) {
		int at = i % 4 != 3 ? -1 : in_b ? 2 : i / 4 % 3;

		enter("f");
		now += 45;
		if (at == 0)
			spend(stop, 1000);
		enter("a");
		now += 5 + (i == 50 ? more : 0);
		if (at == 1)
			spend(stop, 1000);
		leave();
		enter("b");
		now += 5;
		if (at == 2)
			spend(stop, 1000);
		leave();
		leave();
	}
}

START_TEST(calls_that_are_slow_by_stops_have_causes_of_their_own)
{
	static const struct {
		const char *stop;
		bool in_b;
		uint64_t more;
		const char *first, *second; /* causes; NULL: there is none */
		bool alike, faults;         /* the stops */
		const char *kinds;          /* "PERCENT KIND" of the budget */
	} cases[] = {
		{ "[untraced: off CPU]", false, 0, "[untraced: off CPU]", NULL, true, false,
		  "100 preempted " },
		/* 400 of 25400 ns are less than 2 %, and 600 more. */
		{ "[untraced: off CPU]", false, 400, "[untraced: off CPU]", "a", true, false,
		  "98 preempted 2 callees " },
		{ "[untraced: off CPU]", false, 600, "a", "[untraced: off CPU]", true, false,
		  "98 preempted 2 callees " },
		{ "[untraced]", false, 5000, "a", "[untraced]", true, false,
		  "83 interrupts 17 callees " },
		/* b has a tenth of the time, and all stops. */
		{ "[untraced]", true, 5000, "[untraced]", "a", false, true,
		  "83 interrupts 17 callees " },
	};
	static const char *const kinds[] = { "own",        "callees", "syscall", "preempted",
					     "interrupts", "lost",    "other" };
	const struct slow_answer *answer = &answers[0];
	char found[200] = "";

	follow_slow(100);
	call_stopped(cases[_i].stop, cases[_i].in_b, cases[_i].more);
	make_answer("f");
	ck_assert_uint_eq(answer->stretched, 25);
	ck_assert_uint_eq(answer->slow, 25 + (cases[_i].more > 0));
	ck_assert_uint_eq(answer->count, 1 + (cases[_i].second != NULL));
	for (size_t i = 0; i < answer->count; i++) {
		const struct slow_cluster *cluster = &answer->clusters[i];

		ck_assert_str_eq(slow_symbol(answer, cluster->cause)->name->text,
				 i ? cases[_i].second : cases[_i].first);
		if (!cluster->stops)
			continue;
		ck_assert_int_eq(cluster->alike, cases[_i].alike);
		ck_assert_int_eq(cluster->faults, cases[_i].faults);
		ck_assert_uint_eq(cluster->count, 25);
		ck_assert_double_eq_tol(cluster->extra, 1000, 0.1);
		if (cluster->faults)
			ck_assert_uint_eq(cluster->within, slow_function("b"));
	}
	for (size_t i = 0; i < answer->budget_count && answer->budget[i].percent; i++)
		sprintf(found + strlen(found), "%d %s ", answer->budget[i].percent,
			kinds[answer->budget[i].kind]);
	ck_assert_str_eq(found, cases[_i].kinds);
	release_slow(1);
}
END_TEST

/* The slow call of a is named, and no function for its stops, unless all are in b. */
START_TEST(the_rank_of_a_function_has_no_stops_of_all_code)
{
	options.select.symbols.count = 0;
	follow_slow(100);
	call_stopped("[untraced]", _i, 5000);
	ck_assert_uint_eq(slow_answers_rank(answers, 3, &slow_calls, false, &options.slow),
			  1 + (_i > 0));
	ck_assert_double_eq_tol(answers[0].excess, _i ? 25000 : 5000, _i ? 250 : 50);
	ck_assert_uint_eq(answers[0].function, slow_function(_i ? "b" : "a"));
	ck_assert_str_eq(slow_symbol(&answers[0], answers[0].clusters[0].cause)->name->text,
			 _i ? "[untraced]" : "a");
	release_slow(1 + (_i > 0));
}
END_TEST

/* Two kinds of calls, of which ten are compared, and many stops: the others are usual calls. */
START_TEST(stops_of_two_kinds_are_subtracted_once)
{
	follow_slow(10);
	for (int i = 0; i < 200; i++) {
		enter("f");
		now += 10;
		if (i % 2)
			spend("a", 500);
		if (i % 3 == 0)
			spend("[untraced]", 1000);
		leave();
	}
	make_answer("f");
	ck_assert_int_eq(answers[0].split.shape, SHAPE_KINDS);
	ck_assert_uint_eq(answers[0].stretched, 34);
	ck_assert_uint_eq(answers[0].slow, 134);
	ck_assert_uint_eq(answers[0].others, 100);
	ck_assert_str_eq(slow_symbol(&answers[0], answers[0].clusters[0].cause)->name->text, "a");
	ck_assert_double_eq_tol(answers[0].clusters[0].extra, 500, 1);
	release_slow(1);
}
END_TEST

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

/* A callee is named if its number of calls grew, in a call of the cause, by eight or more. */
START_TEST(a_callee_that_is_called_more_often_is_named)
{
	static const struct {
		int causes, callees,
			usual; /* calls: of lib1 in the slow call, of lib2 in each lib1 */
		double slow;
	} cases[] = { { 1, 20, 1, 20 }, { 1, 20, 9, 20 }, { 1, 20, 11, 0 },
		      { 1, 8, 1, 0 },   { 20, 1, 1, 0 },  { 20, 3, 1, 60 } };

	follow_slow(100);
	for (int i = 0; i < 100; i++) {
		bool slow = i == 10;

		enter("f");
		for (int j = 0; j < (slow ? cases[_i].causes : 1); j++) {
			enter("lib1");
			for (int k = 0; k < (slow ? cases[_i].callees : cases[_i].usual); k++)
				spend("lib2", 5 + 50 * slow);
			leave();
		}
		leave();
	}
	make_answer("f");
	ck_assert_double_eq_tol(answers[0].clusters[0].callee.slow, cases[_i].slow, 1e-6);
	if (cases[_i].slow) {
		ck_assert_uint_eq(answers[0].clusters[0].callee.function, slow_function("lib2"));
		ck_assert_double_eq_tol(answers[0].clusters[0].callee.usual, cases[_i].usual, 1e-6);
	}
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

/* ---- Callers found late -------------------------------------------------- */

static struct error again;

static void part(void)
{
	edge(&main_thread, (struct slice_event){ .time = 0, .kind = SLICE_LATE, .flags = 1 }, 0);
}

static void end_late(const char *name)
{
	edge(&main_thread,
	     (struct slice_event){ .time = now,
				   .symbol = symbol_of(name),
				   .kind = SLICE_END,
				   .order = SLICE_ORDER_DEFERRED,
				   .flags = SLICE_INFERRED_START },
	     now);
}

static void begin_late(const char *name)
{
	edge(&main_thread,
	     (struct slice_event){ .time = 0,
				   .symbol = symbol_of(name),
				   .order = SLICE_ORDER_DEFERRED,
				   .flags = SLICE_INFERRED_START },
	     0);
}

static void call_f_usually(void)
{
	enter("f");
	spend("a", 10);
	spend("c", 3);
	leave();
}

/* The thread begins in main > f > a; a and f return, then main. */
static void call_within(bool late)
{
	static const char *const open[] = { "main", "f", "a" };

	follow_slow(100);
	slow_calls.sink.again = &again;
	slow_calls.unseen = symbol_special(&names, "[unseen]", SPECIAL_OTHER);
	again = (struct error){ 0 };
	now = 0;
	if (late)
		part();
	for (size_t i = 0; !late && i < 3; i++)
		begin_with(open[i], 0, SLICE_INFERRED_START);
	spend("b", 100);
	now += 20;
	late ? end_late("a") : leave();
	spend("b", 5);
	spend("c", 7);
	late ? end_late("f") : leave();
	for (int i = 0; i < 100; i++)
		call_f_usually();
	late ? end_late("main") : leave();
	for (size_t i = 0; late && i < 3; i++)
		begin_late(open[i]);
	if (late)
		part();
	call_f_usually();
}

/* Extras of the first call of f: b in a 100, a itself 10, b in f 5, c 4. Only b is called more. */
START_TEST(a_caller_found_late_has_the_costs_of_all_calls_inside)
{
	machine.by_insns = _i >= 2;
	call_within(_i % 2);
	make_answer("f");
	ck_assert_uint_eq(answers[0].slow, 1);
	ck_assert_uint_eq(answers[0].all, 102);
	expect_cluster(0, "1 b > b 119: 0 f 119, 1 a 110, 2 b 100, 2 rest of a 10,"
			  " 1 rest of f 9, rest 0");
	ck_assert(!answers[0].clusters[0].calls[0]->begin_seen);
	ck_assert_int_eq(again.kind, ERROR_NONE);
	release_slow(1);
}
END_TEST

/* Calls of a function inside of a late one are nested, but have counted as others. */
START_TEST(a_recursion_found_late_needs_another_run)
{
	follow_slow(100);
	slow_calls.sink.again = &again;
	slow_calls.unseen = symbol_special(&names, "[unseen]", SPECIAL_OTHER);
	again = (struct error){ 0 };
	part();
	spend("g", 10);
	spend("f", 10);
	end_late("g2");
	ck_assert_int_eq(again.kind, ERROR_NONE);
	end_late(_i ? "f" : "g2");
	ck_assert_int_eq(again.kind, ERROR_MORE_SLICES);
	release_slow(0);
}
END_TEST

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
	expect("main: 1 of 1 calls longer than 100ns; median 0ns\n"
	       "extra time: 100 % callees\n1. a, 100 % of the time\n   1 call, >1us more\n   still open, in a\n");
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
	expect("f: 1 of 100 outermost calls (128 are nested in them) longer than 40ns; median\n"
	       "      20ns\nextra time: 100 % own code\n1. own code of f, 100 % of the extra time\n   1 call, 482ns more");
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
	expect_kept("f", "30: f=1/30/0 [untraced]=1/10/0; 5: f=1/5/0; ");
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

/* Ten of 100 calls wait for 900 ns, in half of which a second thread had the first one wait. */
START_TEST(a_mend_of_the_last_thread_takes_its_part_of_a_wait)
{
	struct thread_wait *wait;
	struct slow_gain gain;

	follow_slow(100);
	for (int i = 0; i < 100; i++) {
		enter("f");
		now += 100;
		if (i % 10 == 5)
			spend("[syscall: futex]", 900);
		leave();
	}
	make_answer("f");
	ck_assert_uint_eq(answers[0].count, 1);
	gain = slow_answer_gain(&answers[0], answers[0].clusters);
	ck_assert_ptr_null(gain.root);
	ck_assert_uint_eq(gain.then, 100);
	wait = &answers[0].clusters[0].wait;
	wait->hops[0].ns = 900;
	wait->hops[1].ns = 450;
	wait->hop_count = 2;
	gain = slow_answer_gain(&answers[0], answers[0].clusters);
	ck_assert_ptr_eq(gain.root, &wait->hops[1]);
	ck_assert_str_eq(gain.of, "p99");
	ck_assert_uint_ge(gain.then, 546); /* 550, to one part in 128 */
	ck_assert_uint_le(gain.then, 550);
	release_slow(1);
}
END_TEST

void add_cause_tests(TCase *all)
{
	tcase_add_test(all, a_mend_of_the_last_thread_takes_its_part_of_a_wait);
	tcase_add_loop_test(all, a_slow_call_has_the_costs_of_its_paths_without_recursions, 0, 3);
	tcase_add_test(all, a_long_call_is_summed_up);
	tcase_add_test(all, calls_inside_of_each_other_have_their_costs);
	tcase_add_test(all, new_paths_take_time_by_their_number_not_by_their_depth);
	tcase_add_test(all, a_call_in_a_stop_has_its_callees);
	tcase_add_test(all, stops_are_no_part_of_calls);
	tcase_add_test(all, contexts_and_stubs_are_no_calls);
	tcase_add_loop_test(all, of_equal_calls_the_first_is_kept, 0, 2);
	tcase_add_loop_test(all, calls_that_are_slow_by_stops_have_causes_of_their_own, 0, 5);
	tcase_add_loop_test(all, the_rank_of_a_function_has_no_stops_of_all_code, 0, 2);
	tcase_add_test(all, stops_of_two_kinds_are_subtracted_once);
	tcase_add_loop_test(all, a_tree_has_the_extra_of_callees, 0, 6);
	tcase_add_loop_test(all, a_callee_that_is_called_more_often_is_named, 0, 6);
	tcase_add_test(all, shares_are_of_code_that_took_more);
	tcase_add_test(all, a_recursion_of_a_caller_is_part_of_the_call);
	tcase_add_test(all, slow_calls_are_clustered_by_cause);
	tcase_add_loop_test(all, a_cause_is_code_that_the_author_can_change, 0, 5);
	tcase_add_test(all, a_tree_has_few_lines);
	tcase_add_loop_test(all, a_caller_found_late_has_the_costs_of_all_calls_inside, 0, 4);
	tcase_add_loop_test(all, a_recursion_found_late_needs_another_run, 0, 2);
	tcase_add_loop_test(all, a_short_call_that_is_cut_does_not_count, 0, 2);
	tcase_add_loop_test(all, a_call_is_slow_if_its_lower_bound_is, 0, 5);
	tcase_add_test(all, a_bound_needs_no_usual_calls);
	tcase_add_test(all, open_calls_of_several_threads_are_slow);
	tcase_add_loop_test(all, the_innermost_slow_call_has_the_extra_time, 0, 5);
	tcase_add_test(all, a_call_with_more_nested_calls_is_slow_among_outermost_ones);
	tcase_add_test(all, with_a_bound_calls_around_slow_ones_are_no_causes);
	tcase_add_test(all, a_call_in_a_stop_is_not_nested);
	tcase_add_loop_test(all, a_recursion_may_be_open, 0, 2);
}
