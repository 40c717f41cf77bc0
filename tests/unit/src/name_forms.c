/* SPDX-License-Identifier: MIT */
/*
 * Expectations by the Itanium C++ ABI, by Rust's and OCaml's naming rules, and by users' spelling.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "src/select/name_forms.h"
#include "tests/support/unit.h"

static struct name_forms forms;

static void teardown(void)
{
	name_forms_release(&forms);
	name_forms_release(&forms);
}

/* NULL ends the patterns. */
static void expect_each(bool expected, const char *name, va_list patterns)
{
	const char *pattern;

	name_forms_set(&forms, name);
	while ((pattern = va_arg(patterns, const char *)))
		ck_assert_msg(name_forms_match(&forms, pattern) == expected, "%s %s %s", pattern,
			      expected ? "does not match" : "matches", name);
}

static void matches(const char *name, ...)
{
	va_list patterns;

	va_start(patterns, name);
	expect_each(true, name, patterns);
	va_end(patterns);
}

static void differs(const char *name, ...)
{
	va_list patterns;

	va_start(patterns, name);
	expect_each(false, name, patterns);
	va_end(patterns);
}

/* app::parse_number(char const*) */
#define PARSE_NUMBER "_ZN3app12parse_numberEPKc"

START_TEST(a_function_has_its_name_with_and_without_namespace_and_parameters)
{
	matches(PARSE_NUMBER, "app::parse_number", "parse_number", "parse_*", "app::*",
		PARSE_NUMBER, "_ZN3app*", "app::parse_number(char const*)",
		"parse_number(char const*)", "parse_number(*)", NULL);
	differs(PARSE_NUMBER, "parse", "number", "app", "*char*", "app::parse_number(int)", NULL);
}
END_TEST

START_TEST(a_template_has_its_name_with_and_without_arguments)
{
	/* app::value app::parse<app::text>(app::text) */
	const char *name = "_ZN3app5parseINS_4textEEENS_5valueET_";

	matches(name, "app::parse", "parse", "parse<*>", "app::parse<app::text>",
		"parse<app::text>", "app::parse<app::text>(app::text)", "parse<*>(*)", NULL);
	/* Return type and argument types are no names of the function. */
	differs(name, "app::value*", "value", "text", "*text*", "parse<int>", NULL);
}
END_TEST

START_TEST(an_equals_sign_precedes_a_whole_name_that_is_no_pattern)
{
	matches(PARSE_NUMBER, "=app::parse_number", "=app::parse_number(char const*)",
		"=" PARSE_NUMBER, NULL);
	differs(PARSE_NUMBER, "=parse_number", "=parse_number(char const*)", "=app::*", "=",
		"==app::parse_number", "=_ZN3app*", NULL);
	matches("_ZN1SixEi", "=S::operator[]", "=S::operator[](int)", NULL);
	matches("a[b]*", "=a[b]*", NULL);
	differs("ab", "=a[b]*", "=a?", NULL);
	matches("ab", "a[b]*", NULL);
}
END_TEST

START_TEST(brackets_in_a_name_do_not_end_it)
{
	matches("_ZN12_GLOBAL__N_14helpEv", "help", "(anonymous namespace)::help", "help()", NULL);
	matches("_ZN1SlsEi", "S::operator<<", "operator<<", NULL);
	matches("_ZN1SclEi", "S::operator()", "operator()", "operator()(int)", NULL);
	/* <app::T as app::Run>::go, as Rust's older mangling has it */
	matches("_ZN35_$LT$app..T$u20$as$u20$app..Run$GT$2go17h0123456789abcdefE", "go", NULL);
}
END_TEST

START_TEST(names_of_other_languages_have_their_own_separators)
{
	matches("_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write", "fmt::write", "write",
		NULL);
	matches("camlStdlib__List__map_345", "Stdlib.List.map", "List.map", "map", NULL);
}
END_TEST

START_TEST(a_name_that_is_not_mangled_is_matched_as_it_is)
{
	matches("main", "main", "m*", "[a-m]ain", NULL);
	differs("main", "_main", "mai", "app::main", NULL);
	matches("[unknown]", "[unknown]", NULL);
	matches("space::f", "f", NULL); /* as a JIT compiler may name code */
	differs("memcpy.part", "part", NULL);
}
END_TEST

START_TEST(a_hostile_name_costs_little)
{
	size_t length = 60000;
	char *name = calloc(1, length + 1);

	for (size_t i = 0; i < length; i += 3)
		memcpy(name + i, "a::", 3);
	differs(name, "*x", NULL);
	matches(name, "a::*", NULL);
	free(name);
}
END_TEST

static const char *nearest(const char *pattern)
{
	static const char *const known[] = {
		"main",        "parse",        "app::parse_number",
		"parse_value", "fibonacci",    "std::vector<int>::push_back",
		"[unknown]",   "parse_values", "alpha_2",
		"alpha_1",     "alpha_3"
	};
	static char text[300];
	struct nearest_names search;
	struct name_table names;

	name_table_init(&names);
	nearest_names_init(&search, pattern);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		nearest_names_consider(&search, name_intern_text(&names, known[i]));
	nearest_names_print(&search, text, sizeof(text));
	name_table_release(&names);
	return text;
}

START_TEST(the_nearest_names_are_those_of_fewest_edits_and_then_those_around_the_word)
{
	ck_assert_str_eq(nearest("mian"), "; nearest: main");
	ck_assert_str_eq(nearest("parse_valu"), "; nearest: parse_value, parse_values");
	ck_assert_str_eq(nearest("parse_"), "; nearest: parse, parse_value, parse_values");
	ck_assert_str_eq(nearest("push"), "; nearest: std::vector<int>::push_back");
	ck_assert_str_eq(nearest("app::parse_nunber"), "; nearest: app::parse_number");
	ck_assert_str_eq(nearest("*acci"), "; nearest: fibonacci");
	/* Jobs number names in any order. */
	ck_assert_str_eq(nearest("alpha_"), "; nearest: alpha_1, alpha_2, alpha_3");
	ck_assert_str_eq(nearest("unrelated"), "");
	/* A name in brackets is no function. */
	ck_assert_str_eq(nearest("unknown"), "");
	ck_assert_str_eq(nearest("[unknown"), "");
	ck_assert_str_eq(nearest("*"), "");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("name_forms");
	TCase *all = tcase_create("name_forms");

	tcase_add_checked_fixture(all, NULL, teardown);
	tcase_add_test(all, a_function_has_its_name_with_and_without_namespace_and_parameters);
	tcase_add_test(all, a_template_has_its_name_with_and_without_arguments);
	tcase_add_test(all, an_equals_sign_precedes_a_whole_name_that_is_no_pattern);
	tcase_add_test(all, brackets_in_a_name_do_not_end_it);
	tcase_add_test(all, names_of_other_languages_have_their_own_separators);
	tcase_add_test(all, a_name_that_is_not_mangled_is_matched_as_it_is);
	tcase_add_test(all, a_hostile_name_costs_little);
	tcase_add_test(all,
		       the_nearest_names_are_those_of_fewest_edits_and_then_those_around_the_word);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
