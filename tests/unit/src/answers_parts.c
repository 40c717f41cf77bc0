/* SPDX-License-Identifier: MIT */
/* Parts of an answer by themselves: trees of lines, periods, words of commands, fields of JSON. */
#include "src/formats/answers/why.h"
#include "tests/unit/src/answers.h"

/* ---- Trees of lines -------------------------------------------------------------- */

/* Rows after the function's own, 1: "CALLER=EXTRA"; lines: "DEPTH:FIRST-LAST=EXTRA", r: rest. */
static const struct {
	double extra; /* of the function */
	const char *rows, *lines;
	double rest;
} trees[] = {
	{ 100, "", "0:1-1=100 leaf ", 0 },
	/* A callee with 95 % of a row is on its line. */
	{ 100, "1=95", "0:1-2=100 leaf ", 0 },
	{ 100, "1=94", "0:1-1=100 1:2-2=94 leaf 1:1-1=6 leaf rest ", 0 },
	{ 100, "1=100 2=96 3=92", "0:1-4=100 leaf ", 0 },
	{ 100, "1=96 2=90", "0:1-2=100 1:3-3=90 leaf 1:1-2=10 leaf rest ", 0 },
	/* The larger one is first, wherever it is called. */
	{ 100, "1=40 1=60", "0:1-1=100 1:3-3=60 leaf 1:2-2=40 leaf ", 0 },
	{ 100, "1=40 1=60 2=30 3=50",
	  "0:1-1=100 1:3-3=60 2:5-5=50 leaf 2:3-3=10 leaf rest 1:2-2=40 2:4-4=30 leaf "
	  "2:2-2=10 leaf rest ",
	  0 },
	/* A twentieth of the function's has a line; less is in the rest. */
	{ 100, "1=95 2=5 2=90", "0:1-2=100 1:4-4=90 leaf 1:3-3=5 leaf 1:1-2=5 leaf rest ", 0 },
	{ 100, "1=60 1=36", "0:1-1=100 1:2-2=60 leaf 1:3-3=36 leaf ", 4 },
	{ 100, "1=60 1=36 1=4", "0:1-1=100 1:2-2=60 leaf 1:3-3=36 leaf ", 4 },
	{ 0, "", "", 0 },
};

START_TEST(a_tree_has_the_larger_branches)
{
	struct call_node nodes[20] = { 0 };
	struct cause_row info[20] = { 0 };
	struct row_extra extras[20] = { 0 };
	struct slow_answer answer = { .rows = { .nodes = nodes, .count = 2 }, .info = info };
	struct slow_cluster cluster = { .extra = trees[_i].extra };
	char *copy = strdup(trees[_i].rows), *rest, found[400] = "";

	extras[1].all = trees[_i].extra;
	for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		info[answer.rows.count].parent = (uint32_t)atoi(word);
		extras[answer.rows.count++].all = atof(strchr(word, '=') + 1);
	}
	cause_lines_make(&answer, extras, &cluster);
	for (size_t i = 0; i < cluster.line_count; i++) {
		const struct cause_line *line = &cluster.lines[i];

		sprintf(found + strlen(found), "%u:%u-%u=%.0f %s%s", line->depth, line->first,
			line->last, line->extra, line->leaf ? "leaf " : "",
			line->remainder ? "rest " : "");
	}
	ck_assert_str_eq(found, trees[_i].lines);
	ck_assert_double_eq_tol(cluster.rest, trees[_i].rest, 1e-9);
	free(copy);
}
END_TEST

/* Up to 14 lines; of more, the branches that are larger by half. */
START_TEST(a_tree_has_14_lines_at_most)
{
	static const struct {
		uint32_t large, small; /* callees with a 13th, and with a 20th */
		size_t lines;          /* with the function's and, if there is one, the rest's */
		double rest;
	} rows[] = { { 0, 0, 1, 0 },   { 1, 0, 3, 0 },   { 13, 0, 14, 0 },
		     { 12, 1, 14, 7 }, { 11, 3, 13, 0 }, { 10, 4, 12, 0 } };
	static struct call_node nodes[40];
	struct cause_row info[40] = { 0 };
	struct row_extra extras[40] = { 0 };
	uint32_t count = 2 + rows[_i].large + rows[_i].small;
	struct slow_answer answer = { .rows = { .nodes = nodes, .count = count }, .info = info };
	struct slow_cluster cluster = { .extra = 260 };

	extras[1].all = 260;
	for (uint32_t i = 2; i < count; i++) {
		info[i].parent = 1;
		extras[i].all = i < 2 + rows[_i].large ? 20 : 13;
	}
	cause_lines_make(&answer, extras, &cluster);
	ck_assert_uint_eq(cluster.line_count, rows[_i].lines);
	ck_assert_double_eq_tol(cluster.rest, rows[_i].rest, 1e-9);
}
END_TEST

/* ---- Periods ------------------------------------------------------------------------ */

START_TEST(a_period_is_of_most_distances)
{
	static const struct {
		const char *numbers; /* of the slow calls, in any order */
		uint64_t period;
	} rows[] = {
		{ "10 20 30 40", 10 },
		{ "30 10 40 20", 10 },
		{ "10 20 30", 0 }, /* too few */
		{ "0 7 14 21 28", 7 },
		/* Four of five distances, not three of four. */
		{ "10 20 30 40 50 55", 10 },
		{ "10 20 30 40 55", 0 },
		{ "10 20 30 40 50 55 60 70 80 90 100", 10 },
		{ "10 20 35 41 58", 0 },
		/* Calls one after the other are no period. */
		{ "10 11 12 13 14", 0 },
		{ "10 12 14 16 18", 2 },
		{ "", 0 },
		{ "5", 0 },
	};
	struct slow_call calls[16] = { 0 };
	const struct slow_call *slow[16];
	size_t count = 0;
	char *copy = strdup(rows[_i].numbers), *rest;

	for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		calls[count].number = (uint64_t)atoi(word);
		slow[count] = &calls[count];
		count++;
	}
	ck_assert_uint_eq(slow_calls_period(slow, count), rows[_i].period);
	free(copy);
}
END_TEST

/* ---- Words --------------------------------------------------------------------------- */

/* As a POSIX shell reads them; a name is a pattern of fnmatch(3) for itself. */
START_TEST(words_of_commands_are_quoted)
{
	static const struct {
		const char *text, *word, *name;
	} rows[] = {
		{ "f", "f", "f" },
		{ "a/b-c_d.e:f,g@h%i+j=k", "a/b-c_d.e:f,g@h%i+j=k", "a/b-c_d.e:f,g@h%i+j=k" },
		{ "", "", "" },
		{ "a b", "'a b'", "'a b'" },
		{ "a'b", "'a'\\''b'", "'a'\\''b'" },
		{ "$(x)", "'$(x)'", "'$(x)'" },
		{ "a*", "'a*'", "'a\\*'" },
		{ "a?[b]\\", "'a?[b]\\'", "'a\\?\\[b]\\\\'" },
		{ "a\tb", "'a?b'", "'a?b'" },
		{ "~x", "'~x'", "'~x'" },
	};

	for (size_t i = 0; i < 2 * COUNT_OF(rows); i++) {
		char *word;
		size_t length;
		FILE *out = open_memstream(&word, &length);

		why_word_print(rows[i / 2].text, i % 2, out);
		fclose(out);
		ck_assert_str_eq(word, i % 2 ? rows[i / 2].name : rows[i / 2].word);
		free(word);
	}
}
END_TEST

START_TEST(usual_calls_are_rounded)
{
	static const struct {
		double calls;
		const char *text;
	} rows[] = { { 0, "never" },  { 0.049, "never" }, { 0.06, "0.1" }, { 1, "1.0" },
		     { 9.94, "9.9" }, { 9.96, "10" },     { 123.4, "123" } };

	for (size_t i = 0; i < COUNT_OF(rows); i++)
		ck_assert_str_eq(usual_calls_text(rows[i].calls).text, rows[i].text);
}
END_TEST

/* Options that choose the input and symbols are repeated; settings are there anyway. */
START_TEST(commands_have_the_options_of_the_input)
{
	char *words[] = { (char *)"--symfs=/s", (char *)"--fibers",      (char *)"--slow=3us",
			  (char *)"--symbol=f", (char *)"--time=1,2",    (char *)"--kcore=k",
			  (char *)"--no-cache", (char *)"--max-stack=9", (char *)"--tid=4 5" };
	char *inputs[] = { (char *)"a b.data", (char *)"c.data" };
	struct options run = {
		.words = words, .word_count = COUNT_OF(words), .inputs = inputs, .input_count = 2
	};
	char *text_;
	size_t length;
	FILE *out = open_memstream(&text_, &length);

	run.setting_count = _i; /* the first one is a setting */
	why_input_words_print(&run, out);
	fclose(out);
	ck_assert_str_eq(text_,
			 _i ? " --time=1,2 --kcore=k --no-cache '--tid=4 5' 'a b.data' c.data"
			    : " --symfs=/s --time=1,2 --kcore=k --no-cache '--tid=4 5' "
			      "'a b.data' c.data");
	free(text_);
}
END_TEST

/* ---- Code ------------------------------------------------------------------------------ */

/* Sums of code of several calls, by part. */
START_TEST(code_of_calls_is_added_up)
{
	struct symbol f = { .kind = SYMBOL_FUNCTION }, g = { .kind = SYMBOL_FUNCTION };
	const struct code_key keys[] = { { &f, 0, 8, CODE_STRAIGHT },
					 { &f, 0, 8, CODE_BACK },
					 { &f, 4, 8, CODE_STRAIGHT },
					 { &g, 0, 8, CODE_STRAIGHT } };
	struct code_counts sum = { 0 }, one = { .insns = 5, .calls = 77 };

	for (size_t i = 0; i < COUNT_OF(keys); i++) {
		struct code_part *part = code_counts_part(&one, &keys[i]);

		part->count += i + 1;
		part->insns = 10.0 * (double)i;
		part->ns = 20.0 * (double)i;
		part->all = 30.0 * (double)i;
	}
	code_counts_add(&sum, &one);
	code_counts_part(&one, &keys[1])->count = 0;
	code_counts_add(&sum, &one);
	ck_assert_uint_eq(sum.calls, 2);
	ck_assert_double_eq(sum.insns, 10);
	for (size_t i = 0; i < COUNT_OF(keys); i++) {
		const struct code_part *part = code_counts_part(&sum, &keys[i]);

		ck_assert_uint_eq(part->count, i == 1 ? 2 : 2 * (i + 1));
		ck_assert_double_eq(part->insns, 20.0 * (double)i);
		ck_assert_double_eq(part->ns, 40.0 * (double)i);
		ck_assert_double_eq(part->all, 60.0 * (double)i);
	}
	code_counts_release(&sum);
	code_counts_release(&one);
	ck_assert_uint_eq(one.calls, 0);
}
END_TEST

/* ---- Fields of JSON ---------------------------------------------------------------------- */

/* Returns a value by "KEY.INDEX.KEY", borrowed. */
static const json_t *value_at(const json_t *json, const char *path)
{
	char *copy = strdup(path), *rest;

	for (char *key = strtok_r(copy, ".", &rest); key; key = strtok_r(NULL, ".", &rest))
		json = *key >= '0' && *key <= '9' ? json_array_get(json, (size_t)atoi(key))
						  : json_object_get(json, key);
	free(copy);
	return json;
}

/* Compares rows of a path and a value, as JSON. */
static void expect_values(const json_t *json, const char *const (*rows)[2], size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const json_t *value = value_at(json, rows[i][0]);
		char *found;

		ck_assert_msg(value != NULL, "%s is missing", rows[i][0]);
		found = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(6));
		ck_assert_msg(strcmp(found, rows[i][1]) == 0, "%s: %s, not %s", rows[i][0], found,
			      rows[i][1]);
		free(found);
	}
}

/* A hundred calls of f, of 10 ns of its own and 10 ns in a; call 50 is 90 ns longer in a. */
START_TEST(an_answer_has_its_numbers_in_json)
{
	static const char *const rows[][2] = {
		{ "format", "\"why\"" },
		{ "unit", "\"ns\"" },
		{ "long_stop", "null" },
		{ "functions.0.function", "\"f\"" },
		{ "functions.0.symbol", "\"f\"" },
		{ "functions.0.calls", "100" },
		{ "functions.0.slow_calls", "1" },
		{ "functions.0.compared_calls", "1" },
		{ "functions.0.left_out", "0" },
		{ "functions.0.slow_outside", "0" },
		{ "functions.0.nesting", "\"none\"" },
		{ "functions.0.nested_calls", "0" },
		{ "functions.0.stopped_calls", "0" },
		{ "functions.0.longest_stop_ns", "0" },
		{ "functions.0.median", "20" },
		{ "functions.0.bound", "40" },
		{ "functions.0.excess", "90.0" },
		{ "functions.0.slow_by_stops", "0" },
		{ "functions.0.verdict.kind", "\"tail\"" },
		{ "functions.0.verdict.period", "0" },
		{ "functions.0.verdict.quarters", "[]" },
		{ "functions.0.usual", "[]" },
		{ "functions.0.budget.0.kind", "\"callees\"" },
		{ "functions.0.budget.0.system_call", "null" },
		{ "functions.0.budget.0.share", "1.0" },
		{ "functions.0.budget.0.percent", "100" },
		{ "functions.0.budget.0.waiting", "false" },
		{ "functions.0.clusters.0.cause", "\"a\"" },
		{ "functions.0.clusters.0.in", "\"a\"" },
		{ "functions.0.clusters.0.kind", "\"callee\"" },
		{ "functions.0.clusters.0.file", "null" },
		{ "functions.0.clusters.0.calls", "1" },
		{ "functions.0.clusters.0.cut", "false" },
		{ "functions.0.clusters.0.extra", "90.0" },
		{ "functions.0.clusters.0.share", "1.0" },
		{ "functions.0.clusters.0.in_share", "1.0" },
		{ "functions.0.clusters.0.rest_share", "0.0" },
		{ "functions.0.clusters.0.slowest.begin_ns", "1000" },
		{ "functions.0.clusters.0.slowest.duration_ns", "110" },
		{ "functions.0.clusters.0.slowest.tid", "7" },
		{ "functions.0.clusters.0.slowest.begin_seen", "true" },
		{ "functions.0.clusters.0.slowest.end_seen", "true" },
		{ "functions.0.clusters.0.slowest.at", "null" },
		{ "functions.0.clusters.0.lines.0.path", "[\"f\",\"a\"]" },
		{ "functions.0.clusters.0.lines.0.depth", "0" },
		{ "functions.0.clusters.0.lines.0.leaf", "true" },
		{ "functions.0.clusters.0.lines.0.remainder", "false" },
		{ "functions.0.clusters.0.lines.0.extra", "90.0" },
		{ "functions.0.clusters.0.lines.0.share", "1.0" },
		{ "functions.0.clusters.0.differs.what", "\"instructions\"" },
		{ "functions.0.clusters.0.differs.slow", "100.0" },
		{ "functions.0.clusters.0.differs.usual", "10.0" },
		{ "functions.0.clusters.0.without.of", "\"longest\"" },
		{ "functions.0.clusters.0.without.now", "110" },
		{ "functions.0.clusters.0.without.then", "20" },
		{ "functions.0.clusters.0.facts", "[]" },
		{ "functions.0.clusters.0.waited_for", "[]" },
		{ "doubts.left_out", "0" },
		{ "doubts.gaps", "0" },
		{ "doubts.gaps_inside", "0" },
		{ "doubts.too_long", "0" },
		{ "doubts.nested", "false" },
		{ "doubts.noise", "0" },
	};
	json_t *json;

	open_format(&format_why);
	for (int i = 0; i < 100; i++) {
		enter("f");
		now += 10;
		spend("a", i == 50 ? 100 : 10);
		leave();
	}
	finish_format(&format_why);
	json = format_why.answer(output);
	expect_values(json, rows, COUNT_OF(rows));
	json_decref(json);
	close_format(&format_why);
}
END_TEST

/*
 * Two causes in system calls: call 50 is longer in read(), calls 60 and 70 in poll(). The switches
 * of one of the clusters were recorded: only its call waits.
 */
START_TEST(a_system_call_waits_by_its_own_cluster)
{
	static const char *const words[] = { "in read()", "in poll()" };
	struct look_window window = { 0 };
	struct why_output *why;
	json_t *json;

	open_format(&format_why);
	for (int i = 0; i < 100; i++) {
		enter("f");
		now += 10;
		spend("[syscall: read]", i == 50 ? 310 : 10);
		spend("[syscall: poll]", i == 60 || i == 70 ? 110 : 10);
		leave();
	}
	while (format_why.look(output, &window))
		;
	why = (struct why_output *)output;
	ck_assert_uint_eq(why->answers[0].count, 2);
	for (size_t i = 0; i < 2; i++) {
		struct slow_cluster *cluster = &why->answers[0].clusters[i];
		bool read = strstr(slow_name(&why->answers[0], cluster->leaf)->text, "read");

		if (read == (_i == 0))
			cluster->wait.off = (struct off_cpu){ .begin = 1, .end = 200 };
	}
	finish_format(&format_why);
	ck_assert_ptr_nonnull(strstr(text, words[_i]));
	for (int i = 0; i < 2; i++) {
		const char *part = strstr(text, words[i]);

		ck_assert_ptr_nonnull(part);
		ck_assert_int_eq(strncmp(part - 8, "waiting ", 8) == 0, i == _i);
	}
	json = format_why.answer(output);
	for (int i = 0; i < 2; i++) {
		const json_t *part =
			json_array_get(value_at(json, "functions.0.budget"), (size_t)i);
		const char *of = json_string_value(json_object_get(part, "system_call"));

		ck_assert_int_eq(json_is_true(json_object_get(part, "waiting")),
				 strcmp(of, _i ? "poll" : "read") == 0);
	}
	json_decref(json);
	close_format(&format_why);
}
END_TEST

/* Two calls of 24 ns, of which one is cut, in a bucket; the first one is its example. */
START_TEST(buckets_have_their_numbers_in_json)
{
	static const char *const rows[][2] = {
		{ "functions.0.function", "\"f\"" },
		{ "functions.0.calls", "4" },
		{ "functions.0.cut", "1" },
		{ "functions.0.total_ns", "82" },
		{ "functions.0.min_ns", "10" },
		{ "functions.0.max_ns", "24" },
		{ "functions.0.median_ns", "24" },
		{ "functions.0.p90_ns", "24" },
		{ "functions.0.p99_ns", "24" },
		{ "functions.0.buckets.0.calls", "1" },
		{ "functions.0.buckets.0.cut", "0" },
		{ "functions.0.buckets.0.from_ns", "10" },
		{ "functions.0.buckets.0.example_begin_ns", "500" },
		{ "functions.0.buckets.0.example_duration_ns", "10" },
		{ "functions.0.buckets.0.example_tid", "7" },
		{ "functions.0.buckets.1.calls", "3" },
		{ "functions.0.buckets.1.cut", "1" },
		{ "functions.0.buckets.1.from_ns", "24" },
		{ "functions.0.buckets.1.example_begin_ns", "100" },
		{ "functions.0.buckets.1.example_tid", "8" },
	};
	json_t *json;

	open_format(&format_histogram);
	call("f", 200, 24);
	call_of_other("f", 100, 24);
	begin("f", 300, 0);
	cut(324);
	call("f", 500, 10);
	finish_format(&format_histogram);
	json = format_histogram.answer(output);
	expect_values(json, rows, COUNT_OF(rows));
	json_decref(json);
	close_format(&format_histogram);
}
END_TEST

/* ---- Gains -------------------------------------------------------------------------- */

/* Each of the `slow` calls of `amount` ns loses `share` of its excess over the `usual` ones, 20 ns.
 */
START_TEST(a_gain_is_of_the_first_quantile_that_falls)
{
	static const struct {
		int usual, slow;
		uint64_t amount;
		double share;
		const char *of; /* NULL: no gain shows */
		uint64_t now, then;
	} rows[] = {
		{ 99, 1, 120, 1, "longest", 120, 20 },
		{ 99, 1, 120, 0.5, "longest", 120, 70 },
		/* By a tenth or more. */
		{ 99, 1, 120, 0.12, "longest", 120, 108 },
		{ 99, 1, 120, 0.11, NULL, 120, 109 },
		{ 99, 1, 120, 0, NULL, 120, 120 },
		/* Two of a hundred calls are in the 99th percentile, one is not. */
		{ 98, 2, 120, 1, "p99", 120, 20 },
		{ 97, 2, 120, 1, "longest", 120, 20 }, /* of fewer calls it is the longest */
		{ 998, 2, 120, 1, "p99.9", 120, 20 },
		{ 999, 1, 120, 1, "longest", 120, 20 },
		{ 989, 11, 120, 1, "p99", 120, 20 },
	};
	struct slow_function function = { 0 };
	struct slow_calls calls = { 0 };
	struct slow_call call = { .amount = rows[_i].amount };
	const struct slow_call *list[16];
	struct slow_answer answer = { .calls = &calls,
				      .of = &function,
				      .slow = (uint64_t)rows[_i].slow,
				      .compared = (uint64_t)rows[_i].slow,
				      .split.base = 20 };
	struct slow_cluster cluster = { .extra = 1000,
					.cause_extra = 1000 * rows[_i].share,
					.calls = list,
					.count = (size_t)rows[_i].slow };
	struct slow_gain gain;

	for (int i = 0; i < rows[_i].usual; i++)
		durations_add(&function.durations, 20);
	for (int i = 0; i < rows[_i].slow; i++) {
		durations_add(&function.durations, rows[_i].amount);
		list[i] = &call;
	}
	gain = slow_answer_gain(&answer, &cluster);
	ck_assert_int_eq(gain.of != NULL, rows[_i].of != NULL);
	if (gain.of)
		ck_assert_str_eq(gain.of, rows[_i].of);
	ck_assert_uint_eq(gain.now, rows[_i].now);
	ck_assert_uint_eq(gain.then, rows[_i].then);
	/* Without extra time there is nothing to gain; the rest is not known. */
	cluster.extra = 0;
	ck_assert_ptr_null(slow_answer_gain(&answer, &cluster).of);
	cluster.extra = 1000;
	cluster.cut = true;
	ck_assert_uint_eq(slow_answer_gain(&answer, &cluster).now, 0);
	cluster.cut = false;
	answer.slow++;
	ck_assert_uint_eq(slow_answer_gain(&answer, &cluster).now, 0);
	answer.slow--;
	calls.bound = 1;
	ck_assert_uint_eq(slow_answer_gain(&answer, &cluster).now, 0);
	durations_release(&function.durations);
}
END_TEST

/* ---- Noise -------------------------------------------------------------------------- */

/* Two causes with the same code and more time are causes; three are noise. */
START_TEST(several_causes_with_the_same_code_are_noise)
{
	struct look_window window = { 0 };
	struct why_output *why;
	size_t kept = 0;

	open_format(&format_why);
	for (int i = 0; i < 100; i++) {
		enter("f");
		spend("a", i == 50 ? 110 : 10);
		spend("b", i == 60 ? 120 : 10);
		spend("c", i == 70 ? 130 : 10);
		leave();
	}
	while (format_why.look(output, &window))
		;
	why = (struct why_output *)output;
	ck_assert_uint_eq(why->answers[0].count, 3);
	for (size_t i = 0; i < 3; i++) {
		struct slow_cluster *cluster = &why->answers[0].clusters[i];

		cluster->has_facts = true;
		cluster->facts[0] =
			(struct cause_fact){ .kind = i < (size_t)_i ? "memory" : "lines",
					     .words = strdup("same code") };
		cluster->fact_count = 1;
	}
	finish_format(&format_why);
	for (const char *at = text; (at = strstr(at, "same code")); at++)
		kept++;
	ck_assert_uint_eq(kept, _i == 3 ? 0 : 3);
	ck_assert_uint_eq(why->noise, _i == 3 ? 3 : 0);
	ck_assert_int_eq(strstr(text, "causes with the same instructions and more time: 3; "
				      "likely noise of the machine\n") != NULL,
			 _i == 3);
	close_format(&format_why);
}
END_TEST

/* ---- The page ------------------------------------------------------------------------ */

/* The slowest call waited for one thread, which waited for another one: sentences and calls. */
START_TEST(a_page_has_the_threads_of_a_wait)
{
	static const struct thread threads_[2] = { { .tid = 21 }, { .tid = 22 } };
	struct look_window window = { 0 };
	struct why_output *why;
	struct slow_cluster *cluster;
	const char *first, *second;

	open_format(&format_why_page);
	for (int i = 0; i < 100; i++) {
		enter("f");
		spend("a", i == 50 ? 300 : 10);
		spend("b", i == 60 ? 110 : 10);
		leave();
	}
	while (format_why_page.look(output, &window))
		;
	why = (struct why_output *)output;
	cluster = &why->answers[0].clusters[0];
	cluster->has_facts = true;
	for (size_t i = 0; i < 3; i++)
		cluster->facts[cluster->fact_count++] =
			(struct cause_fact){ .kind = i ? "wait" : "callee",
					     .words = strdup(i == 0   ? "a <callee>"
							     : i == 1 ? "thread 21 & its lock"
								      : "thread 22") };
	cluster->wait.hop_count = 2;
	for (size_t i = 0; i < 2; i++) {
		cluster->wait.hops[i] =
			(struct thread_hop){ .thread = &threads_[i],
					     .path = { symbol_of(i ? "g" : "h"), symbol_of("k") },
					     .path_count = 2 - i };
	}
	finish_format(&format_why_page);
	/* The sentence about the first thread leads to it; other causes have no waits. */
	expect("<br>a &lt;callee&gt;<br><a href=\"#wait-0-0\">thread 21 &amp; its lock</a>"
	       "<br>thread 22</td></tr>\n");
	first = strstr(text, "<h3 id=\"wait-0-0\">thread 21 &amp; its lock</h3>\n");
	second = strstr(text, "<h3>thread 22</h3>\n");
	ck_assert(first && second && first < second);
	ck_assert_ptr_null(strstr(text, "wait-0-1"));
	ck_assert_ptr_nonnull(strstr(first, "ptrace2ftf -o slow/ --slowest=1 --symbol=f"));
	ck_assert(strstr(first, "<li>h</li>\n<li>k</li>\n</ol>\n") &&
		  strstr(first, "<li>h</li>\n<li>k</li>\n</ol>\n") < second);
	ck_assert_ptr_nonnull(strstr(second, "<ol>\n<li>g</li>\n</ol>\n"));
	expect(" The wait leads to the other thread.</p>\n");
	close_format(&format_why_page);
}
END_TEST

void add_part_tests(TCase *all)
{
	tcase_add_test(all, a_page_has_the_threads_of_a_wait);
	tcase_add_test(all, buckets_have_their_numbers_in_json);
	tcase_add_loop_test(all, a_gain_is_of_the_first_quantile_that_falls, 0, 10);
	tcase_add_loop_test(all, several_causes_with_the_same_code_are_noise, 0, 4);
	tcase_add_loop_test(all, a_tree_has_the_larger_branches, 0, COUNT_OF(trees));
	tcase_add_loop_test(all, a_tree_has_14_lines_at_most, 0, 6);
	tcase_add_loop_test(all, a_period_is_of_most_distances, 0, 12);
	tcase_add_test(all, words_of_commands_are_quoted);
	tcase_add_test(all, usual_calls_are_rounded);
	tcase_add_loop_test(all, commands_have_the_options_of_the_input, 0, 2);
	tcase_add_test(all, code_of_calls_is_added_up);
	tcase_add_test(all, an_answer_has_its_numbers_in_json);
	tcase_add_loop_test(all, a_system_call_waits_by_its_own_cluster, 0, 2);
}
