/* SPDX-License-Identifier: MIT */
/* Which calls are slow, and the answer in words. */
#include "src/formats/text/any_text.h"
#include "symbols/dso/dso_store.h"
#include "tests/unit/src/answers.h"

#include <fnmatch.h>

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
		/* There are two kinds of calls. */
		{ 40, 100, { 0 }, 55, 40, 0 },
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

static uint64_t alternates(int i)
{
	return i % 2 ? 500 : 10;
}

static uint64_t grows(int i)
{
	return 100 + 5 * (uint64_t)i;
}

/* The first half is as fast as ever, and so is the second. */
static uint64_t steps(int i)
{
	return i < 100 ? 100 : 120;
}

static uint64_t every_20th(int i)
{
	return i % 20 == 7 ? 1000 : 100;
}

static uint64_t at_first(int i)
{
	return i ? 100 : 1000;
}

static uint64_t varies(int i)
{
	return 100 + (uint64_t)(i * 37 % 200) / 2;
}

static uint64_t now_and_then(int i)
{
	return i == 11 || i == 60 || i == 61 || i == 140 || i == 190 ? 1000 : 100;
}

/* A hundredth of the calls takes ten times as long as two kinds, and most of the time. */
static uint64_t tail_of_kinds(int i)
{
	return i == 50 || i == 117 ? 90000 : alternates(i);
}

START_TEST(the_distribution_of_calls_has_a_verdict)
{
	static const struct {
		uint64_t (*amount)(int i);
		const char *verdict, *kind;
	} cases[] = {
		{ alternates, "two kinds of calls: 100 of about 500ns, 100 of about 10ns\n",
		  "two kinds" },
		{ grows, "the calls become slower: medians of the quarters ", "trend" },
		{ steps, "no call is much slower than the others\na usual call takes", "even" },
		{ every_20th,
		  "one in 20 calls is slow, at equal distances\nextra time: 100 % own code\n1. own code of f",
		  "tail" },
		{ at_first,
		  "only the first call is slow\nextra time: 100 % own code\n1. own code of f",
		  "first" },
		{ varies, "no call is much slower than the others\na usual call takes", "even" },
		{ now_and_then,
		  "f: 5 of 200 calls longer than 200ns; median 100ns\nextra time: 100 % own "
		  "code\n1. own code of f",
		  "tail" },
		{ tail_of_kinds, "1. own code of f, 100 % of the extra time\n   2 calls", "tail" },
	};
	json_t *json, *verdict;

	open_format(&format_why);
	for (int i = 0; i < 200; i++)
		spend("f", cases[_i].amount(i));
	finish_format(&format_why);
	expect(cases[_i].verdict);
	json = format_why.answer(output);
	verdict = json_object_get(json_array_get(json_object_get(json, "functions"), 0), "verdict");
	ck_assert_str_eq(json_string_value(json_object_get(verdict, "kind")), cases[_i].kind);
	json_decref(json);
	close_format(&format_why);
}
END_TEST

/* Of 200 calls of f, every 25th takes 1000 ns instead of 100, for the first `slow` times. */
static const struct {
	int slow;
	const char *usual, *rare; /* callers: of usual calls with p in turn, and of slow ones */
	int others;               /* slow calls and every so many usual ones are in another thread;
				   * 0: no call is */
	uint64_t pause;           /* ns before slow ones; 10 before others */
	const char *expected;     /* what the slow calls do; NULL: nothing */
} shared_cases[] = {
	{ 8, "p", "p", 0, 10, NULL },
	{ 8, "q", "q", 0, 10, NULL }, /* half of the usual ones have this caller */
	{ 8, "q", "r", 0, 10, "8 of 8 slow calls, but 0 % of usual ones, come from r\n" },
	{ 3, "q", "r", 0, 10, "3 of 3 slow calls, but 0 % of usual ones, come from r\n" },
	{ 2, "q", "r", 0, 10, NULL },
	{ 8, "p", "p", 400, 10,
	  "8 of 8 slow calls, but 0 % of usual ones, are in thread other/8\n" },
	{ 8, "p", "p", 2, 10, NULL },
	{ 8, "p", "p", 0, 5000,
	  "8 of 8 slow calls, but 0 % of usual ones, come 5us or more after the last one in the "
	  "thread, usually 10ns\n" },
	{ 8, "p", "p", 0, 800, NULL }, /* shorter than the extra time of the calls */
};

static void edge_of_f(struct track *track, const char *name)
{
	edge(track,
	     (struct slice_event){ .time = now,
				   .symbol = name ? symbol_of(name) : NULL,
				   .kind = name ? SLICE_BEGIN : SLICE_END },
	     now);
}

/* One of each four calls is in the sample. Remove the number of usual ones from the text. */
static void cut_sampled(void)
{
	char *words = strstr(text, "sampled ");

	ck_assert_ptr_nonnull(words);
	ck_assert_int_ge(atoi(words - 3), 50 - 8);
	ck_assert_int_le(atoi(words - 3), 50);
	memmove(words - 3, words + 8, strlen(words + 8) + 1);
}

/* The first fact in JSON has the same numbers. */
static void expect_shared_json(int slow, uint64_t pause)
{
	json_t *json = format_why.answer(output);
	int usual_calls, sampled, value, usual;
	double calls, share;
	const char *kind;

	ck_assert_int_eq(json_unpack(json, "{s[{s[{s[{ss s{sF sF si sb si si}}]}]}]}", "functions",
				     "clusters", "facts", "kind", &kind, "shared", "slow_calls",
				     &calls, "usual_share", &share, "usual_calls", &usual_calls,
				     "sampled", &sampled, "value", &value, "usual_value", &usual),
			 0);
	ck_assert_double_eq(calls, slow);
	ck_assert_double_eq(share, 0);
	ck_assert_int_ge(usual_calls, 50 - 8);
	ck_assert(sampled);
	ck_assert_int_eq(value, strcmp(kind, "thread") == 0  ? 8
				: strcmp(kind, "pause") == 0 ? (int)pause
							     : 0);
	ck_assert_int_eq(usual, strcmp(kind, "pause") == 0 ? 10 : 0);
	json_decref(json);
}

START_TEST(slow_calls_share_what_usual_ones_do_not)
{
	const char *expected = shared_cases[_i].expected;
	char *broken;
	int others = shared_cases[_i].others;

	open_format(&format_why);
	for (int i = 0; i < 200; i++) {
		bool slow = i % 25 == 20 && i / 25 < shared_cases[_i].slow;
		bool other = others && (slow || i % others == 1);
		struct track *track = other ? &other_thread : &main_thread;

		edge_of_f(track, slow    ? shared_cases[_i].rare
				 : i % 2 ? "p"
					 : shared_cases[_i].usual);
		now += slow ? shared_cases[_i].pause : 10;
		edge_of_f(track, "f");
		now += slow ? 1000 : 100;
		edge_of_f(track, NULL);
		edge_of_f(track, NULL);
	}
	finish_format(&format_why);
	if (!expected)
		ck_assert_msg(!strstr(text, " slow calls, but"), "%s", text);
	while (expected && (broken = strstr(text, "\n         "))) {
		*broken = ' '; /* a line of more than 80 columns */
		memmove(broken + 1, broken + 10, strlen(broken + 10) + 1);
	}
	if (expected) {
		cut_sampled();
		expect(expected);
		expect_shared_json(shared_cases[_i].slow, shared_cases[_i].pause);
	}
	close_format(&format_why);
}
END_TEST

/* One of each four calls is in the sample, so that a median is within six calls of the true one. */
START_TEST(a_trend_has_the_medians_of_its_quarters)
{
	const char *words;
	int found[4];

	open_format(&format_why);
	for (int i = 0; i < 200; i++)
		spend("f", grows(i));
	finish_format(&format_why);
	words = strstr(text, "quarters ");
	ck_assert_ptr_nonnull(words);
	ck_assert_int_eq(sscanf(words, "quarters %dns, %dns, %dns, %dns", &found[0], &found[1],
				&found[2], &found[3]),
			 4);
	for (int i = 0; i < 4; i++) {
		ck_assert_int_ge(found[i], (int)grows(50 * i + 19));
		ck_assert_int_le(found[i], (int)grows(50 * i + 31));
	}
	close_format(&format_why);
}
END_TEST

/*
 * A usual call takes 100 ns, a slow one 1000, of which a has 600 of the extra 900. Without a, it
 * takes 400 ns; with --slow=p90, too.
 */
START_TEST(a_mend_makes_slow_calls_usual_ones)
{
	options.slow = (struct slow_choice){ .has_bound = _i, .percentile = _i ? 900000 : 0 };
	open_format(&format_why);
	for (int i = 0; i < 90; i++) {
		enter("f");
		now += i == 77 ? 350 : 50;
		spend("a", i == 77 ? 650 : 50);
		leave();
	}
	finish_format(&format_why);
	expect("   without it: longest 1us -> 400ns\n");
	close_format(&format_why);
}
END_TEST

/* Of two kinds, all slow calls are taken to be as the kept ones: usual calls do not call a. */
START_TEST(slow_calls_of_a_kind_are_no_usual_calls)
{
	follow_slow(10);
	for (int i = 0; i < 200; i++) {
		enter("f");
		now += 10;
		if (i % 2)
			spend("a", 500);
		leave();
	}
	make_answer("f");
	ck_assert_uint_eq(answers[0].slow, 100);
	ck_assert_uint_eq(answers[0].compared, 10);
	ck_assert_uint_eq(answers[0].others, 100);
	expect_cluster(0, "10 a > a 500: 0 f-a 500, rest 0");
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
	ck_assert_double_eq_tol(answers[0].excess, 9900,
				100); /* the tolerance is a bucket's width */
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
	/* 99 stops of 10 ns, and one of 401 ns, are as long as 99 calls of 10 ns, and one of 401.
	 */
	ck_assert_int_eq(strstr(text,
				"\nall code alike was interrupted 100 times: 50 % of the time "
				"outside system calls\n") != NULL,
			 cases[_i].stop < 5000);
	answer = format_why.answer(output);
	stopped = json_object_get(answer, "long_stop");
	ck_assert_int_eq(json_is_object(stopped), cases[_i].named);
	ck_assert_int_eq((int)json_integer_value(json_object_get(stopped, "ns")),
			 cases[_i].named ? (int)cases[_i].stop : 0);
	json_decref(answer);
	close_format(&format_why);
}
END_TEST

/* 100 calls of f, of 10 ns; some of them are stopped for 5 ns. */
START_TEST(few_stops_do_not_hit_all_code)
{
	open_format(&format_why);
	for (int i = 0; i < 100; i++) {
		enter("f");
		now += 10;
		if (i < _i)
			spend("[untraced]", 5);
		leave();
	}
	finish_format(&format_why);
	ck_assert_int_eq(strstr(text, "all code alike was interrupted 16 times: 7 %") != NULL,
			 _i == 16);
	ck_assert_int_eq(strstr(text, "all code alike") != NULL, _i == 16);
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
	       "extra time: 100 % callees\n"
	       "1. a, 100 % of the extra time\n"
	       "   1 call, 110ns more; called 12 times, usually 1.0\n"
	       "   without it: longest 125ns -> 15ns\n"
	       "   100.0%      110ns  f > a\n"
	       "next: ptrace2ftf --slowest=3 --symbol=f -o slow/\n"
	       "next: ptrace2ftf --time=0.000000750,0.000000875 --tid=7 --format=branches\n"
	       "next: ptrace2ftf annotate a\n");
	close_format(&format_why);
}
END_TEST

/* A hundred calls of f, of 10 ns; one takes 1000 ns more. */
START_TEST(a_budget_has_all_extra_time)
{
	json_t *json, *budget;
	json_int_t sum = 0;
	double share = 0;

	open_format(&format_why);
	for (int i = 0; i < 100; i++) {
		enter("f");
		now += 10 + (i == 50) * 98;
		if (i == 50) {
			spend("a", 102);
			enter("[syscall: read]");
			now += 400;
			spend("[untraced: off CPU]", 200);
			leave();
			spend("[lost: overflow]", 200);
		}
		leave();
	}
	finish_format(&format_why);
	expect("\nextra time: 60 % in read(), 20 % lost trace, 10 % callees, 10 % own code\n");
	json = format_why.answer(output);
	budget = json_object_get(json_array_get(json_object_get(json, "functions"), 0), "budget");
	ck_assert_uint_eq(json_array_size(budget), 4);
	for (size_t i = 0; i < 4; i++) {
		sum += json_value_number(json_array_get(budget, i), "percent");
		share += json_real_value(json_object_get(json_array_get(budget, i), "share"));
	}
	ck_assert_int_eq(sum, 100);
	ck_assert_double_eq_tol(share, 1, 1e-9);
	json_decref(json);
	close_format(&format_why);
}
END_TEST

START_TEST(a_function_called_once_has_advice)
{
	options.select.symbols.patterns = (const char *[]){ "main" };
	open_format(&format_why);
	enter("main");
	for (int i = 0; i < 60; i++)
		spend("a", 10);
	for (int i = 0; i < 40; i++)
		spend("b", 100);
	leave();
	finish_format(&format_why);
	expect("main: 1 call, of 4.6us; there is no other one to compare it with\n");
	expect("\nthe call takes 4.6us:\n   100.0%      4.6us  main\n");
	expect("\nnext: ptrace2ftf why --symbol=a\n");
	close_format(&format_why);
}
END_TEST

START_TEST(a_short_name_is_cut_in_the_middle)
{
	static const char *const cases[][2] = {
		{ "std::vector<int>::push_back(int&&)", "std::vector<int>::push_back(int&&)" },
		{ "std::vector<int>::push_back(int const&)", "std::vector::push_back" },
		{ "std::map<std::string, long>::insert(int)", "std::map::insert" },
		{ "a_function_of_which_the_name_is_very_long_indeed",
		  /* 18 of its first characters, and 16 of its last */
		  "a_function_of_whic..very_long_indeed" },
		{ "operator<<(a_stream_of_some_sort&, a_type const&)", "operator<<" },
	};
	struct short_name found = short_name(cases[_i][0]);

	ck_assert_str_eq(found.text, cases[_i][1]);
}
END_TEST

/* ld.so binds a library's function at its first call: without -z now, a call of f each. */
START_TEST(lazy_binding_is_named_unless_slow_calls_cost_much_more)
{
	static const struct {
		uint64_t binding, slow;
		bool named;
	} cases[] = { { 100, 0, true },
		      { 0, 0, false },
		      { 100, 1900, true },
		      { 100, 2200, false },
		      { 2000, 2200, true } };
	struct dso program = { .short_name = name_intern_text(&names, "program") };
	struct dso loader = { .short_name = name_intern_text(&names, "ld-linux-x86-64.so.2") };
	char line[100];

	((struct symbol *)symbol_of("main"))->dso = &program;
	((struct symbol *)symbol_of("_dl_runtime_resolve_xsavec"))->dso = &loader;
	recorded = &program;
	open_format(&format_why);
	enter("main");
	for (int i = 0; i < 100; i++)
		spend("f", i == 50 ? 1000 + cases[_i].slow : 1000);
	for (int i = 0; i < 2 && cases[_i].binding; i++)
		spend("_dl_runtime_resolve_xsavec", cases[_i].binding / 2);
	leave();
	finish_format(&format_why);
	sprintf(line, "lazy binding of library functions took %s in 2 calls; link with -z now\n",
		cases[_i].binding == 100 ? "100ns" : "2us");
	ck_assert_int_eq(strstr(text, line) != NULL, cases[_i].named);
	ck_assert_int_eq(strstr(text, "lazy binding") != NULL, cases[_i].named);
	close_format(&format_why);
}
END_TEST

/*
 * 1000 calls of p, in the program, each of which waits for 50 ns in libread(); one takes `own` ns
 * more in p, and `more` in libread(). `others` take 1050 ns, which p does not call.
 */
START_TEST(a_librarys_function_comes_after_the_programs_that_it_makes_slow)
{
	static const struct {
		uint64_t own, more;
		int others;
		const char *expected;
	} cases[] = {
		{ 0, 1000, 3, "p libread " },  /* though libread() has four times the excess */
		{ 0, 1000, 0, "p " },          /* it has no other calls */
		{ 0, 1000, 80, "libread p " }, /* p has 1.2 % of the excess, */
		{ 0, 0, 3, "libread " },       /* or no slow call, */
		{ 1000, 0, 3, "libread p " },  /* or has another cause */
	};
	char found[100] = "";
	size_t count;

	options.select.symbols.count = 0;
	follow_slow(100);
	for (int i = 0; i < 1000 + cases[_i].others; i++) {
		if (i < 1000) {
			enter("p");
			now += 100 + (i == 500) * cases[_i].own;
		}
		enter("libread");
		spend("[syscall: read]", 50 + (i == 500 ? cases[_i].more : i < 1000 ? 0 : 1000));
		leave();
		if (i < 1000)
			leave();
	}
	count = slow_answers_rank(answers, 3, &slow_calls, false, &options.slow);
	for (size_t i = 0; i < count; i++)
		sprintf(found + strlen(found), "%s ",
			slow_symbol(&answers[i], answers[i].function)->name->text);
	ck_assert_str_eq(found, cases[_i].expected);
	release_slow(count);
}
END_TEST

/* 100 calls of f, of 10 ns, have nested ones of 500 ns: one as if inlined, or two. */
START_TEST(a_function_inlined_into_itself_has_no_calls_of_two_kinds)
{
	follow_slow(100);
	for (int i = 0; i < 100; i++) {
		enter("f");
		now += 10;
		for (int n = 0; n < _i; n++)
			spend("f", 500);
		leave();
	}
	make_answer("f");
	ck_assert_uint_eq(answers[0].all, _i == 1 ? 100 : 300);
	ck_assert_uint_eq(answers[0].slow, _i == 1 ? 0 : 200);
	release_slow(1);
}
END_TEST

/*
 * main() waits for 1 ms, and calls p 100 times, for 100 ns in p and `lib` in liba: ten calls of
 * liba take `in_lib` more, and one of p `in_p` more.
 */
START_TEST(most_time_is_named_if_slow_calls_do_not_matter)
{
	static const struct {
		uint64_t lib, in_lib, in_p;
		const char *said; /* NULL: nothing */
	} cases[] = {
		/* 11 us; no call is slow */
		{ 10, 0, 0,
		  "--symbol\nmost time is in p: 100 % of the time outside system calls; calls: "
		  "100; a usual\n      one takes 110ns, 9 % in liba\n" },
		/* Calls of p are alike; the ten slowest are not usual. */
		{ 10, 50, 0,
		  "\nmost time is in p: 100 % of the time outside system calls; calls: 100; a "
		  "usual\n      one takes 110ns, 9 % in liba\n\nliba: 10 of 100 calls" },
		/* 150 ns are 1.3 % of the time, 200 ns 1.8 %. */
		{ 10, 0, 150, "\nmost time is in p: " },
		{ 10, 0, 200, NULL },
		/* A library's function has most of it: for the program's that calls it. */
		{ 200, 0, 0,
		  "\nmost time is in p: 100 % of the time outside system calls; calls: 100; a "
		  "usual\n      one takes 300ns, 67 % in liba\n" },
		/* Calls of p are slow with those of liba. */
		{ 10, 200, 0, NULL },
	};
	json_t *answer, *most;

	options.select.symbols.count = 0;
	open_format(&format_why);
	enter("main");
	spend("[syscall: poll]", 1000000);
	for (int i = 0; i < 100; i++) {
		enter("p");
		now += 100 + (i == 50) * cases[_i].in_p;
		spend("liba", cases[_i].lib + (i % 10 == 7) * cases[_i].in_lib);
		leave();
	}
	leave();
	finish_format(&format_why);
	if (cases[_i].said)
		expect(cases[_i].said);
	ck_assert_int_eq(strstr(text, "most time") != NULL, cases[_i].said != NULL);
	answer = format_why.answer(output);
	most = json_object_get(answer, "most_time");
	ck_assert_int_eq(most != NULL, cases[_i].said != NULL);
	ck_assert(!most || json_integer_value(json_object_get(most, "calls")) == 100);
	json_decref(answer);
	close_format(&format_why);
}
END_TEST

/* main() has half of the time, and does not return. */
START_TEST(a_function_without_a_whole_call_has_no_usual_one)
{
	options.select.symbols.count = 0;
	open_format(&format_why);
	enter("main");
	for (int i = 0; i < 100; i++) {
		now += 10;
		spend("p", 10);
	}
	now += 10;
	cut(now);
	finish_format(&format_why);
	expect("no function with 50 calls or more has slow ones;");
	ck_assert_ptr_null(strstr(text, "most time"));
	close_format(&format_why);
}
END_TEST

/* f calls a as often as usual, 10 ns each; once more often, the last time for longer. */
static const struct {
	int usual, slow;
	uint64_t last;
	const char *said;
} differences[] = {
	{ 0, 1, 500, "called once, usually never\n" },
	{ 1, 12, 10, "called 12 times, usually 1.0\n" },
	{ 9, 40, 10, "called 40 times, usually 9.0\n" },
	{ 10, 40, 10, "called 40 times, usually 10\n" },
	/* A fifth more, or one more, is no difference; then it is that of instructions. */
	{ 20, 24, 500, "called 24 times, usually 20\n" },
	{ 20, 23, 500, "720 instructions, usually 200\n" },
	{ 1, 1, 500, "500 instructions, usually 10\n" },
};

START_TEST(a_cause_is_more_calls_or_more_instructions)
{
	char line[100];

	open_format(&format_why);
	for (int i = 0; i < 100; i++) {
		int calls = i == 50 ? differences[_i].slow : differences[_i].usual;

		enter("f");
		now += 5;
		for (int n = 1; n <= calls; n++)
			spend("a", i == 50 && n == calls ? differences[_i].last : 10);
		leave();
	}
	finish_format(&format_why);
	sprintf(line, " more; %s", differences[_i].said);
	expect(line);
	close_format(&format_why);
}
END_TEST

/* Half of the calls takes 10 ns, or one call less. */
START_TEST(half_of_the_calls_takes_up_to_the_median)
{
	follow_slow(100);
	for (int i = 0; i < 100; i++)
		spend("f", i == 99 ? 100 : i < 50 - _i ? 10 : 20);
	make_answer("f");
	ck_assert_uint_eq(answers[0].median, _i ? 20 : 10);
	release_slow(1);
}
END_TEST

/* The number of slow calls by each of five causes; 100 ns more each. */
static const struct {
	int slow[5];
	const char *first, *last, *rest; /* lines; NULL: there is no such line */
} other_causes[] = {
	{ { 3, 2, 1, 0, 0 }, "\n1. a, 50 %", "\n3. c, 17 %", NULL },
	{ { 5, 4, 3, 2, 0 }, "\n1. a, 36 %", "\n3. c, 21 %", "\nother causes made 2 calls slow\n" },
	{ { 5, 4, 3, 1, 0 }, "\n1. a, 38 %", "\n3. c, 23 %", "\nother causes made 1 call slow\n" },
	{ { 5, 4, 3, 2, 1 }, "\n1. a, 33 %", "\n3. c, 20 %", "\nother causes made 3 calls slow\n" },
	{ { 1, 2, 3, 4, 5 }, "\n1. e, 33 %", "\n3. c, 20 %", "\nother causes made 3 calls slow\n" },
	/* The second has a twentieth of all, or less. */
	{ { 19, 1, 0, 0, 0 }, "\n1. a, 95 %", "\n2. b, 5 %", NULL },
	{ { 20, 1, 0, 0, 0 },
	  "\n1. a, 95 %",
	  "f > a\nother causes",
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
	/* 100 stops of 2 ns; f ran for 5 ns as often. */
	expect_once(
		"all code alike was interrupted 100 times: 29 % of the time outside system calls\n");
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

/* A shell reads commands that are broken over lines as the words that they were made of. */
START_TEST(a_broken_command_has_its_words)
{
	static const char *const functions[] = {
		"f",
		"f name of several words, of which some line must be broken, or most of them are",
		"f's a name with quotes, isn't it? And it's long enough that a line is broken",
		"f \\ back\\slashes \\' and 'quotes' \\ \\ in \\'a name that is\\' longer than one line is",
		"f ''' ''' ''' ''' some more words of it to the end of the line '\\' '\\' '\\'",
	};
	char command[4000] = "ptrace2ftf() { printf '%s\\n' \"$@\"; }\n", words[1000] = "";
	FILE *script;
	char *next;

	open_format(&format_why);
	for (int i = 0; i < 100; i++) {
		enter(functions[_i]);
		spend("a", i == 50 ? 500 : 10);
		leave();
	}
	finish_format(&format_why);
	next = strstr(text, "\nnext: ");
	ck_assert_msg(next != NULL, "%s", text);
	strcat(command, next + strlen("\nnext: "));
	*strstr(command, "\n\n") = '\0'; /* doubts */
	/* The other names are as long as a line. */
	ck_assert_int_eq(strstr(command, " \\\n      -o slow/") != NULL, _i > 0);
	for (next = strstr(command, "\nnext: "); next; next = strstr(next, "\nnext: "))
		memcpy(next, "\n      ", strlen("\nnext: "));
	setenv("COMMAND", command, 1);
	script = popen("/bin/sh -c \"$COMMAND\"", "r");
	ck_assert_ptr_nonnull(script);
	words[fread(words, 1, sizeof(words) - 1, script)] = 0;
	ck_assert_int_eq(pclose(script), 0);
	next = strstr(words, "\n--symbol=");
	ck_assert_msg(next != NULL, "%s of\n%s", words, command);
	next += strlen("\n--symbol=");
	*strchr(next, '\n') = '\0';
	ck_assert_msg(fnmatch(next, functions[_i], 0) == 0, "%s of\n%s", next, command);
	close_format(&format_why);
}
END_TEST

/* A path has its first function, and as many of the innermost as fit into a line. */
START_TEST(a_path_is_as_long_as_a_line)
{
	static const char *const callees[] = { "a_name_of_twenty_1__", "a_name_of_twenty_2__",
					       "a_name_of_twenty_3__", "a_name_of_twenty_4__",
					       "a_name_of_twenty_5__" };
	const char *line, *end_of_line;

	open_format(&format_why);
	for (int i = 0; i < 100; i++) {
		enter("f");
		for (int n = 0; n <= _i; n++)
			enter(callees[n]);
		now += i == 50 ? 500 : 10;
		for (int n = 0; n <= _i; n++)
			leave();
		leave();
	}
	finish_format(&format_why);
	line = strstr(text, "  f > ");
	ck_assert_ptr_nonnull(line);
	while (line[-1] != '\n')
		line--;
	end_of_line = strchr(line, '\n');
	ck_assert_int_eq(memcmp(end_of_line - 20, callees[_i], 20), 0);
	ck_assert_int_le(end_of_line - line, 80);
	if (memmem(line, (size_t)(end_of_line - line), " > ... > ", 9))
		ck_assert_int_gt(end_of_line - line + 20 + 3, 80);
	else
		ck_assert_int_eq(end_of_line - line, 23 + 23 * (_i + 1));
	close_format(&format_why);
}
END_TEST

void add_why_tests(TCase *all)
{
	tcase_add_loop_test(all, slow_calls_are_longer_than_usual, 0, 11);
	tcase_add_loop_test(all, the_distribution_of_calls_has_a_verdict, 0, 8);
	tcase_add_loop_test(all, slow_calls_share_what_usual_ones_do_not, 0,
			    COUNT_OF(shared_cases));
	tcase_add_test(all, a_trend_has_the_medians_of_its_quarters);
	tcase_add_loop_test(all, a_mend_makes_slow_calls_usual_ones, 0, 2);
	tcase_add_test(all, slow_calls_of_a_kind_are_no_usual_calls);
	tcase_add_loop_test(all, functions_are_ranked_by_the_excess_of_slow_calls, 0, 7);
	tcase_add_loop_test(all, a_function_with_many_slow_calls_has_a_rank, 0, 2);
	tcase_add_loop_test(all, a_wrapper_has_little_excess_of_its_own, 3, 7);
	tcase_add_test(all, without_times_slow_calls_have_more_instructions);
	tcase_add_test(all, slow_calls_that_are_not_compared_are_counted);
	tcase_add_loop_test(all, a_long_stop_is_named, 0, 5);
	tcase_add_loop_test(all, few_stops_do_not_hit_all_code, 15, 17);
	tcase_add_test(all, the_answer_says_the_cause_in_words);
	tcase_add_loop_test(all, lazy_binding_is_named_unless_slow_calls_cost_much_more, 0, 5);
	tcase_add_loop_test(all, a_cause_is_more_calls_or_more_instructions, 0,
			    COUNT_OF(differences));
	tcase_add_loop_test(all, half_of_the_calls_takes_up_to_the_median, 0, 2);
	tcase_add_test(all, a_budget_has_all_extra_time);
	tcase_add_test(all, a_function_called_once_has_advice);
	tcase_add_loop_test(all, a_short_name_is_cut_in_the_middle, 0, 5);
	tcase_add_loop_test(all, causes_of_few_slow_calls_are_counted, 0, COUNT_OF(other_causes));
	tcase_add_loop_test(all, names_of_any_bytes_are_in_text_and_json, 0, 2);
	tcase_add_test(all, each_doubt_is_said_once);
	tcase_add_loop_test(all, a_librarys_function_comes_after_the_programs_that_it_makes_slow, 0,
			    5);
	tcase_add_loop_test(all, a_function_inlined_into_itself_has_no_calls_of_two_kinds, 1, 3);
	tcase_add_loop_test(all, most_time_is_named_if_slow_calls_do_not_matter, 0, 6);
	tcase_add_test(all, a_function_without_a_whole_call_has_no_usual_one);
	tcase_add_loop_test(all, functions_of_one_name_have_an_answer_each, 0, 3);
	tcase_add_loop_test(all, rewording_a_slice_breaks_no_answer, 0, 2);
	tcase_add_loop_test(all, a_broken_command_has_its_words, 0, 5);
	tcase_add_loop_test(all, a_path_is_as_long_as_a_line, 0, 5);
}
