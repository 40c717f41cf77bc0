/* SPDX-License-Identifier: MIT */
/* Rows of two reports, conditions on them, and stacks side by side. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/diff/diff.h"
#include "tests/support/unit.h"

static json_t *reports[SIDES];
static struct diff_rows rows;

static void setup(void)
{
	for (int side = 0; side < SIDES; side++)
		reports[side] = json_pack("{s:{s:[]}}", "functions", "all");
}

static void teardown(void)
{
	diff_rows_release(&rows);
	for (int side = 0; side < SIDES; side++)
		json_decref(reports[side]);
}

/*
 * A function by name and file: self and total instructions, and calls; times are ten times these.
 */
static void add(enum diff_side side, const char *name, const char *file, int self, int total,
		int calls)
{
	json_array_append_new(json_object_get(json_object_get(reports[side], "functions"), "all"),
			      json_pack("{s:s, s:s?, s:b, s:i, s:i, s:i, s:i, s:i}", "name", name,
					"file", file, "function", *name != '[', "self_insns", self,
					"total_insns", total, "calls", calls, "self_ns", 10 * self,
					"total_ns", 10 * total));
}

static void make(enum function_order order)
{
	diff_rows_make(&rows, (const json_t *const *)reports);
	diff_rows_sort(&rows, order);
}

/* "NAME FILE self instructions of A, of B; - where it did not run". */
static void expect_rows(const char *expected)
{
	char text[500] = "";

	for (size_t i = 0; i < rows.count; i++) {
		const struct diff_row *row = &rows.rows[i];

		sprintf(text + strlen(text), "%s %s", row->name, row->file);
		for (int side = 0; side < SIDES; side++)
			if (row->has[side])
				sprintf(text + strlen(text), " %d",
					(int)row->values[side][METRIC_INSNS]);
			else
				strcat(text, " -");
		strcat(text, "; ");
	}
	ck_assert_str_eq(text, expected);
}

/* Build folders do not matter; a renamed program has a unique counterpart. */
START_TEST(functions_of_one_name_and_file_are_a_row)
{
	add(SIDE_A, "f", "/old/prog", 15, 15, 1);
	add(SIDE_A, "f", "/old/libx.so", 7, 7, 1);
	add(SIDE_A, "g", "/old/prog", 3, 3, 1);
	add(SIDE_A, "h", "/a", 1, 1, 1);
	add(SIDE_A, "h", "/b", 2, 2, 1);
	add(SIDE_B, "f", "/new/prog", 20, 20, 2);
	add(SIDE_B, "g", "/new/prog2", 4, 4, 1);
	add(SIDE_B, "h", "/c", 3, 3, 1);
	add(SIDE_B, "[syscall]", NULL, 6, 6, 9);
	make(ORDER_NAME);
	expect_rows("[syscall]  - 6; f libx.so 7 -; f prog 15 20; g prog2 3 4; h a 1 -; h b 2 -; "
		    "h c - 3; ");
	ck_assert_uint_eq(rows.sums[SIDE_A][METRIC_INSNS], 28);
	ck_assert_uint_eq(rows.sums[SIDE_B][METRIC_INSNS], 33);
	ck_assert_uint_eq(rows.sums[SIDE_B][METRIC_CALLS], 4); /* not those of [syscall] */
	ck_assert_uint_eq(rows.sums[SIDE_A][METRIC_SELF], 280);
}
END_TEST

static json_t *all_of(enum diff_side side)
{
	return json_object_get(json_object_get(reports[side], "functions"), "all");
}

/* A function with more facts: its identity in this side. */
static void add_with(enum diff_side side, int insns, const char *signature, const char *source,
		     const char *identity)
{
	json_t *all = all_of(side);

	add(side, "f", side ? "/b/new" : "/a/old", insns, insns, 1);
	json_object_update_new(json_array_get(all, json_array_size(all) - 1),
			       json_pack("{s:s, s:s#, s:s?, s:s?, s:i}", "identity", identity,
					 "linkage", identity, (int)strcspn(identity, "@#"),
					 "source", source, "signature", signature, "start", insns));
}

/* Overloads; static functions of two files; of one file. */
START_TEST(functions_of_one_name_have_a_row_each)
{
	add_with(SIDE_A, 10, "f(int)", NULL, "_Z1fi");
	add_with(SIDE_A, 20, "f(double)", NULL, "_Z1fd");
	add_with(SIDE_A, 30, NULL, "/src/x.c", "f@x.c");
	add_with(SIDE_A, 40, NULL, "/src/y.c", "f@y.c");
	add_with(SIDE_A, 50, NULL, NULL, "f#1/2");
	add_with(SIDE_A, 60, NULL, NULL, "f#2/2");
	add_with(SIDE_B, 66, NULL, NULL, "f#2/2");
	add_with(SIDE_B, 55, NULL, NULL, "f#1/2");
	add_with(SIDE_B, 44, NULL, "/new/y.c", "f@y.c");
	add_with(SIDE_B, 33, NULL, "/new/x.c", "f@x.c");
	add_with(SIDE_B, 22, "f(double)", NULL, "_Z1fd");
	add_with(SIDE_B, 11, "f(int)", NULL, "_Z1fi");
	make(ORDER_NAME);
	expect_rows(
		"f new 20 22; f new 10 11; f new 50 55; f new 60 66; f new 30 33; f new 40 44; ");
	ck_assert_str_eq(rows.rows[0].label, "f(double)");
	ck_assert_str_eq(rows.rows[2].label, "f (new+0x37)");
	ck_assert_str_eq(rows.rows[4].label, "f (x.c)");
}
END_TEST

START_TEST(a_clone_has_its_linkage_name)
{
	for (int side = 0; side < SIDES; side++) {
		add_with((enum diff_side)side, 10, NULL, NULL, "f");
		add_with((enum diff_side)side, 20, NULL, NULL, "f.part.0");
	}
	make(ORDER_NAME);
	expect_rows("f new 10 10; f new 20 20; ");
	ck_assert_str_eq(rows.rows[0].label, "f");
	ck_assert_str_eq(rows.rows[1].label, "f.part.0");
}
END_TEST

/* If one of two was inlined in B, the one that is left may be either. */
START_TEST(functions_that_nothing_distinguishes_are_not_matched)
{
	add_with(SIDE_A, 10, NULL, NULL, "f#1/2");
	add_with(SIDE_A, 20, NULL, NULL, "f#2/2");
	add_with(SIDE_B, 15, NULL, NULL, "f");
	make(ORDER_NAME);
	expect_rows("f new - 15; f old 10 -; f old 20 -; ");
}
END_TEST

/* By the difference; if equal by that of self instructions, of calls, and by name. */
START_TEST(the_largest_difference_is_first)
{
	json_t *function;
	size_t k;
	static const char *const expected[] = {
		[ORDER_SELF] = "d  10 1; b  10 15; e  1 1; a  1 1; c  1 1; ",
		[ORDER_TOTAL] = "c  1 1; b  10 15; d  10 1; e  1 1; a  1 1; ",
		[ORDER_CALLS] = "e  1 1; a  1 1; d  10 1; b  10 15; c  1 1; ",
		[ORDER_NAME] = "a  1 1; b  10 15; c  1 1; d  10 1; e  1 1; ",
	};

	add(SIDE_A, "a", NULL, 1, 1, 5);
	add(SIDE_A, "b", NULL, 10, 10, 1);
	add(SIDE_A, "c", NULL, 1, 1, 1);
	add(SIDE_A, "d", NULL, 10, 10, 1);
	add(SIDE_A, "e", NULL, 1, 1, 1);
	add(SIDE_B, "e", NULL, 1, 1, 8);
	add(SIDE_B, "d", NULL, 1, 7, 1);
	add(SIDE_B, "c", NULL, 1, 30, 1);
	add(SIDE_B, "b", NULL, 15, 15, 1);
	add(SIDE_B, "a", NULL, 1, 1, 1);
	/* Times are not compared. */
	for (int side = 0; side < SIDES; side++)
		json_array_foreach(
			json_object_get(json_object_get(reports[side], "functions"), "all"), k,
			function) json_object_set_new(function, "total_ns", json_integer(0));
	make((enum function_order)_i);
	expect_rows(expected[_i]);
	ck_assert(!diff_row_is_equal(&rows.rows[0], METRIC_INSNS) || _i == ORDER_TOTAL);
}
END_TEST

START_TEST(rows_are_equal_if_calls_and_instructions_are)
{
	add(SIDE_A, "a", NULL, 1, 5, 1);
	add(SIDE_B, "a", NULL, 1, 6, 1);
	add(SIDE_A, "b", NULL, 1, 5, 1);
	add(SIDE_B, "b", NULL, 1, 5, 2);
	make(ORDER_NAME);
	ck_assert(diff_row_is_equal(&rows.rows[0], METRIC_INSNS));
	ck_assert(!diff_row_is_equal(&rows.rows[0], METRIC_TOTAL_INSNS));
	ck_assert(!diff_row_is_equal(&rows.rows[1], METRIC_INSNS));
}
END_TEST

static size_t number_of(enum diff_side side, const char *name)
{
	json_t *function;
	size_t i;

	json_array_foreach(
		all_of(side), i,
		function) if (strcmp(json_string_value(json_object_get(function, "name")), name) ==
			      0) return i;
	ck_abort_msg("%s", name);
	return 0;
}

static json_t *function_of(enum diff_side side, const char *name)
{
	return json_array_get(all_of(side), number_of(side, name));
}

/* A function of A, or of B, has some code; 0: unknown. */
static void has_code(enum diff_side side, const char *name, int code)
{
	add(side, name, "/x/prog", 50, 50, 3);
	json_object_set_new(function_of(side, name), "code", json_integer(code));
}

static void calls(enum diff_side side, const char *caller, const char *callee)
{
	json_t *function = function_of(side, caller);

	if (!json_object_get(function, "callees"))
		json_object_set_new(function, "callees", json_array());
	json_array_append_new(json_object_get(function, "callees"),
			      json_integer((json_int_t)number_of(side, callee)));
}

static void pair(void)
{
	diff_rows_make(&rows, (const json_t *const *)reports);
	diff_rows_pair(&rows, (const json_t *const *)reports);
}

/* Each function: its name in B, its name in A, and by what it was paired. */
static void expect_pairs(const char *expected)
{
	char text[500] = "";

	for (size_t i = 0; i < rows.count; i++)
		if (rows.rows[i].was)
			sprintf(text + strlen(text), "%s was %s by %s; ", rows.rows[i].name,
				rows.rows[i].was,
				strcmp(rows.rows[i].was_by, "code") ? "calls" : "code");
	ck_assert_str_eq(text, expected);
}

/* f was renamed to g.  Two functions may be x; p has y's code, but calls another function. */
START_TEST(functions_of_equal_code_are_renamed)
{
	for (int side = 0; side < SIDES; side++) {
		has_code(side, "one", 1);
		has_code(side, "two", 2);
		has_code(side, side ? "g" : "f", 10);
		has_code(side, side ? "n" : "m", 0);
		has_code(side, side ? "y" : "p", 12);
		calls(side, side ? "y" : "p", side ? "one" : "two");
	}
	has_code(SIDE_A, "v", 11);
	has_code(SIDE_A, "w", 11);
	has_code(SIDE_B, "x", 11);
	add(SIDE_A, "[untraced]", NULL, 1, 1, 1);
	calls(SIDE_A, "f", "[untraced]");
	pair();
	expect_pairs("g was f by code; ");
	ck_assert_uint_eq(rows.rows[1].values[SIDE_A][METRIC_INSNS], 50);
	ck_assert(rows.rows[1].has[SIDE_A] && rows.rows[1].has[SIDE_B]);
}
END_TEST

/*
 * main calls f (now g), which calls one, and h (now k), which calls two, and which was changed, as
 * was i (now j), its callee.  A caller alone is not enough: e is not d.
 */
START_TEST(functions_of_equal_callers_and_callees_are_renamed)
{
	for (int side = 0; side < SIDES; side++) {
		const char *f = side ? "g" : "f", *h = side ? "k" : "h", *i = side ? "j" : "i";

		has_code(side, "main", 0);
		has_code(side, "one", 1);
		has_code(side, "two", 2);
		has_code(side, f, 20 + side);
		has_code(side, h, 30 + side);
		has_code(side, i, 40 + side);
		has_code(side, side ? "e" : "d", 50 + side);
		calls(side, "main", f);
		calls(side, f, "one");
		calls(side, "main", h);
		calls(side, h, "two");
		calls(side, h, i);
		calls(side, i, "two");
		calls(side, "main", side ? "e" : "d");
	}
	pair();
	expect_pairs("g was f by calls; j was i by calls; k was h by calls; ");
}
END_TEST

/* The sums of the neighbours' numbers are equal. */
START_TEST(other_callees_are_other_functions)
{
	for (int side = 0; side < SIDES; side++) {
		for (int i = 0; i < 4; i++)
			has_code(side, (const char *[]){ "a", "b", "c", "d" }[i], i + 1);
		has_code(side, side ? "n" : "m", 20);
		calls(side, side ? "n" : "m", side ? "a" : "b");
		calls(side, side ? "n" : "m", side ? "d" : "c");
	}
	pair();
	expect_pairs("");
}
END_TEST

static char *printed(bool markdown)
{
	static char old[] = "old", new[] = "<new>", *const names[SIDES] = { old, new };
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	pair();
	diff_rows_sort(&rows, ORDER_SELF);
	diff_print_table(&rows, METRIC_INSNS, 0, names, markdown, out);
	fclose(out);
	return text;
}

/* main changes by its callees, f itself; a call of f takes 75 instructions in place of 50. */
static void add_callers(void)
{
	add(SIDE_A, "main", "/x/prog", 10, 110, 1);
	add(SIDE_A, "run", "/x/prog", 5, 105, 1);
	add(SIDE_A, "f", "/x/prog", 100, 100, 2);
	add(SIDE_A, "a|<b>_", "/x/prog", 40, 40, 1);
	add(SIDE_B, "main", "/x/prog", 10, 170, 1);
	add(SIDE_B, "run", "/x/prog", 5, 155, 1);
	add(SIDE_B, "f", "/x/prog", 150, 150, 2);
	add(SIDE_B, "c", "/x/prog", 40, 40, 1);
	for (int side = 0; side < SIDES; side++)
		json_object_set_new(function_of(side, side ? "c" : "a|<b>_"), "code",
				    json_integer(1));
}

START_TEST(callers_are_before_the_functions_that_changed)
{
	char *text, *main_row, *run_row, *f_row;

	add_callers();
	text = printed(false);
	main_row = strstr(text, "           110            170    +54.5%    +54.5%          1 ");
	run_row = strstr(text, "           105            155    +47.6%    +47.6%          1 ");
	f_row = strstr(text, "           100            150    +50.0%    +50.0%          2 ");
	ck_assert_msg(main_row && main_row < run_row && run_row < f_row, "%s", text);
	ck_assert_msg(strstr(text, "  c (prog), likely was a|<b>_, by its code\n") != NULL, "%s",
		      text);
	ck_assert_msg(strstr(text, "\n1 likely renamed: 1 by their code, 0 by") != NULL, "%s",
		      text);
	free(text);
}
END_TEST

START_TEST(a_report_is_markdown)
{
	char *text;

	add_callers();
	text = printed(true);
	ck_assert_str_eq(
		text, "**Instructions: 155 -> 205 (+32.3%)**\n\nA: old, B: \\<new\\>\n"
		      "\n| instructions with callees | A | B | change | per call | calls A | B |\n"
		      "| :-- | --: | --: | --: | --: | --: | --: |\n"
		      "| main | 110 | 170 | +54.5% | +54.5% | 1 | 1 |\n"
		      "| run | 105 | 155 | +47.6% | +47.6% | 1 | 1 |\n"
		      "\n| own instructions | A | B | change | per call | calls A | B |\n"
		      "| :-- | --: | --: | --: | --: | --: | --: |\n"
		      "| f | 100 | 150 | +50.0% | +50.0% | 2 | 2 |\n"
		      "| c, likely was a\\|\\<b\\>\\_, by its code | 40 | 40 | = | = | 1 | 1 |\n"
		      "\n2 of 4 functions have the same calls and instructions\n"
		      "\n1 likely renamed: 1 by their code, 0 by their callers and callees\n");
	free(text);
}
END_TEST

/* Sums: 100 -> 112 self instructions; f: 40 -> 44 total, 5 -> 5 calls, 300 -> 300 ns. */
static const struct {
	const char *condition;
	const char *said; /* NULL: it holds */
} limits[] = {
	{ "insns:+12", NULL },
	{ "insns:+11", "all functions: 100 -> 112 (+12, +12.00%)\n" },
	{ "insns:+12%", NULL },
	{ "insns:+11.9%", "all functions: 100 -> 112 (+12, +12.00%)\n" },
	{ "calls:+0", "all functions: 7 -> 8 (+1, +14.29%)\n" },
	{ "insns@f:+4", NULL },
	{ "insns@f:+3", "f: 40 -> 44 (+4, +10.00%)\n" },
	{ "insns@f:+10%", NULL },
	{ "self@f:+0", NULL },
	{ "calls@f:+0", NULL },
	{ "calls@?:+1", NULL },
	{ "calls@*call*:+100", "*call*: 0 -> 0 (no function of this name was called)\n" },
	{ "time@f:+39ns", "f: 400 -> 440 (+40, +10.00%)\n" },
	{ "time@f:+40ns", NULL },
	{ "self@g:+10", NULL },
	{ "self@n::m:+11", "n::m: 0 -> 12 (+12)\n" },
	{ "calls@[[]*:+0", "[syscall]: 1 -> 9 (+8, +800.00%)\n" },
	{ "calls@nothing:+5", "nothing: 0 -> 0 (no function of this name was called)\n" },
	{ "calls@gone:+5", "gone: 1 -> 0 (gone: inlined, renamed or not called)\n" },
};

START_TEST(a_condition_fails_above_its_limit)
{
	const char *pattern = limits[_i].condition;
	const struct pattern_list conditions = { &pattern, 1, 1 };
	json_t *exceeded = json_array();
	char *text, *said = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	add(SIDE_A, "f", NULL, 30, 40, 5);
	add(SIDE_B, "f", NULL, 30, 44, 5);
	add(SIDE_A, "g", NULL, 60, 60, 1);
	add(SIDE_B, "g", NULL, 70, 70, 2);
	add(SIDE_A, "gone", NULL, 10, 10, 1);
	add(SIDE_B, "n::m", NULL, 12, 12, 1);
	add(SIDE_A, "[syscall]", NULL, 0, 0, 1);
	add(SIDE_B, "[syscall]", NULL, 0, 0, 9);
	make(ORDER_NAME);
	ck_assert(diff_limit_is_valid(pattern));
	ck_assert_int_eq(diff_limits_check(&conditions, &rows, exceeded, out),
			 limits[_i].said != NULL);
	fclose(out);
	if (limits[_i].said &&
	    asprintf(&said, "ptrace2ftf: --fail-if=%s: %s", pattern, limits[_i].said))
		ck_assert_ptr_nonnull(strstr(text, said));
	ck_assert_uint_eq(json_array_size(exceeded), limits[_i].said != NULL);
	json_decref(exceeded);
	free(said);
	free(text);
}
END_TEST

START_TEST(a_condition_has_a_metric_and_an_increase)
{
	static const char *const wrong[] = { "insns",    "insns:5",    "insns:+",
					     "insn:+5",  "insns@:+5",  "insns:+5ms",
					     "time:+5x", "insns:+5%%", "@f:+5",
					     "" };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ck_assert_msg(!diff_limit_is_valid(wrong[i]), "%s", wrong[i]);
	ck_assert(diff_limit_is_valid("time:+1.5ms"));
	ck_assert(diff_limit_is_valid("time:+5%"));
}
END_TEST

static void expect_stacks(const char *a, const char *b, const char *expected)
{
	const char *const texts[SIDES] = { a, b };
	const size_t sizes[SIDES] = { strlen(texts[0]), strlen(texts[1]) };
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	diff_print_folded(texts, sizes, out);
	fclose(out);
	ck_assert_str_eq(text, expected);
	free(text);
}

/* As difffolded.pl prints them; "old" is renamed "new", the only unmatched thread of each side. */
START_TEST(stacks_have_the_numbers_of_both_sides)
{
	expect_stacks("t;main;f 5\nt;main 3\nold;main 1\nt;main;f 2\n",
		      "t;main;g 4\nt;main 3\nnew;main 2\n",
		      "new;main 1 2\nt;main 3 3\nt;main;f 7 0\nt;main;g 0 4\n");
}
END_TEST

/* Decimal numbers of any size, and stacks in the order of names, whatever they cost. */
START_TEST(stacks_are_in_the_order_of_names)
{
	expect_stacks("t;b 1234567890123\nt;a 10\nt 9\n", "t;b 10\nt 11\nt;a;c 100\nt;a 12\n",
		      "t 9 11\nt;a 10 12\nt;a;c 0 100\nt;b 1234567890123 10\n");
	/* A frame may have blanks; the number is after the last one. */
	expect_stacks("t;operator new 5\n", "t;operator new 6\n", "t;operator new 5 6\n");
	expect_stacks("", "t;a 12\n", "t;a 0 12\n");
	expect_stacks("", "", "");
	/* A renamed thread has all its stacks. */
	expect_stacks("same 1\nold 5\nold;a 6\nold;b 7\n", "same 1\nnew;b 11\n",
		      "new 5 0\nnew;a 6 0\nnew;b 7 11\nsame 1 1\n");
}
END_TEST

/* The new one of the two is unknown. */
START_TEST(of_two_threads_none_is_renamed)
{
	expect_stacks("a;f 1\nb;f 2\n", "c;f 3\n", "a;f 1 0\nb;f 2 0\nc;f 0 3\n");
	expect_stacks("a;f 1\n", "b;f 2\nc;f 3\n", "a;f 1 0\nb;f 0 2\nc;f 0 3\n");
}
END_TEST

START_TEST(the_table_counts_functions_that_do_not_differ)
{
	char old[] = "old", new[] = "new", *const names[SIDES] = { old, new };
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	add(SIDE_A, "f", "/x/prog", 100, 300, 2);
	add(SIDE_B, "f", "/x/prog", 150, 330, 3);
	add(SIDE_A, "g", NULL, 8, 8, 1);
	add(SIDE_B, "h", NULL, 7, 7, 1);
	add(SIDE_A, "same", NULL, 1, 1, 1);
	add(SIDE_B, "same", NULL, 1, 1, 1);
	make(ORDER_SELF);
	diff_print_table(&rows, METRIC_INSNS, 2, names, false, out);
	fclose(out);
	ck_assert_ptr_nonnull(
		strstr(text, "       100            150    +50.0%         =          2          3"
			     "        1us      1.5us  f (prog)\n"));
	ck_assert_ptr_nonnull(strstr(text, "         8              0      gone "));
	ck_assert_ptr_null(strstr(text, "  h\n"));
	ck_assert_ptr_nonnull(
		strstr(text, "1 more functions differ\n1 of 4 functions have the same"));
	free(text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("diff");
	TCase *all = tcase_create("all");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, functions_of_equal_code_are_renamed);
	tcase_add_test(all, functions_of_equal_callers_and_callees_are_renamed);
	tcase_add_test(all, other_callees_are_other_functions);
	tcase_add_test(all, callers_are_before_the_functions_that_changed);
	tcase_add_test(all, a_report_is_markdown);
	tcase_add_test(all, functions_of_one_name_and_file_are_a_row);
	tcase_add_test(all, functions_of_one_name_have_a_row_each);
	tcase_add_test(all, a_clone_has_its_linkage_name);
	tcase_add_test(all, functions_that_nothing_distinguishes_are_not_matched);
	tcase_add_loop_test(all, the_largest_difference_is_first, 0, ORDER_NAME + 1);
	tcase_add_test(all, rows_are_equal_if_calls_and_instructions_are);
	tcase_add_loop_test(all, a_condition_fails_above_its_limit, 0,
			    sizeof(limits) / sizeof(limits[0]));
	tcase_add_test(all, a_condition_has_a_metric_and_an_increase);
	tcase_add_test(all, stacks_have_the_numbers_of_both_sides);
	tcase_add_test(all, stacks_are_in_the_order_of_names);
	tcase_add_test(all, of_two_threads_none_is_renamed);
	tcase_add_test(all, the_table_counts_functions_that_do_not_differ);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
