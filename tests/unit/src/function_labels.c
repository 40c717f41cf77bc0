/* SPDX-License-Identifier: MIT */
/* Labels of functions that have one name, and patterns that choose one of them. */
#include <stdlib.h>
#include <string.h>

#include "src/select/function_labels.h"
#include "src/select/name_forms.h"
#include "symbols/dso/dso_store.h"
#include "tests/support/unit.h"

static struct function_facts facts[8];
static size_t count;

static void setup(void)
{
	memset(facts, 0, sizeof(facts));
	count = 0;
}

static char *copy(const char *text)
{
	return text ? strdup(text) : NULL;
}

static struct function_facts *add(const char *linkage, const char *source, const char *library)
{
	struct function_facts *added = &facts[count++];

	*added = (struct function_facts){ .name = "f", .linkage = linkage };
	added->texts[FACT_LINKAGE] = copy(linkage);
	added->texts[FACT_BARE] = copy(linkage);
	added->texts[FACT_SOURCE_PATH] = copy(source);
	added->texts[FACT_SOURCE] = copy(source ? base_name(source) : NULL);
	added->texts[FACT_LIBRARY_PATH] = copy(library);
	added->texts[FACT_LIBRARY] = copy(library ? base_name(library) : NULL);
	return added;
}

/* Each label, and the pattern that chooses it. */
static void expect(const char *expected)
{
	char text[500] = "";

	function_facts_distinguish(facts, count);
	for (size_t i = 0; i < count; i++) {
		char *label = function_facts_label(&facts[i]);
		char *pattern = function_facts_pattern(&facts[i]);

		sprintf(text + strlen(text), "%s%s = %s", i ? "; " : "", label, pattern);
		free(label);
		free(pattern);
		function_facts_release(&facts[i]);
	}
	ck_assert_str_eq(text, expected);
	setup();
}

START_TEST(a_function_alone_has_its_name)
{
	add("_Z1fi", "/x/a.c", "/lib/l.so")->texts[FACT_SIGNATURE] = copy("f(int)");
	expect("f = f");
}
END_TEST

START_TEST(functions_of_one_name_have_the_first_fact_that_distinguishes_them)
{
	add("_Z1fi", "/x/a.c", "/lib/l.so")->texts[FACT_SIGNATURE] = copy("f(int)");
	add("_Z1fd", "/x/a.c", "/lib/l.so")->texts[FACT_SIGNATURE] = copy("f(double)");
	expect("f(int) = f(int); f(double) = f(double)");
	/* Static functions; the last one has no source. */
	add("f", "/x/a.c", "/bin/p");
	add("f", "/x/b.c", "/bin/p");
	add("f", NULL, "/lib/l.so");
	expect("f (a.c) = f@a.c; f (b.c) = f@b.c; f (l.so) = l.so:f");
	/* The loader's malloc(), say, and libc's. */
	add("f", NULL, "/lib/ld.so");
	add("f", "/x/malloc.c", "/lib/libc.so");
	expect("f (ld.so) = ld.so:f; f (malloc.c) = f@malloc.c");
	/* Files of one name; two versions of a library. */
	add("f", "/x/a.c", "/bin/p");
	add("f", "/y/a.c", "/bin/p");
	expect("f (/x/a.c) = f@/x/a.c; f (/y/a.c) = f@/y/a.c");
	add("f", NULL, "/1/l.so");
	add("f", NULL, "/2/l.so");
	expect("f (/1/l.so) = /1/l.so:f; f (/2/l.so) = /2/l.so:f");
}
END_TEST

/* The original has its name alone: the address is known, but says less, and a path chooses it. */
START_TEST(clones_have_their_linkage_names)
{
	add("f", "/x/a.c", "/bin/p")->texts[FACT_PLACE] = copy("p+0x10");
	add("f.part.0", "/x/a.c", "/bin/p")->texts[FACT_PLACE] = copy("p+0x20");
	expect("f = f; f.part.0 = f.part.0");
	add("f", "/x/a.c", "/bin/p")->texts[FACT_PLACE] = copy("p+0x10");
	add("f.part.0", "/y/a.c", "/bin/p")->texts[FACT_PLACE] = copy("p+0x20");
	expect("f (/x/a.c) = f@/x/a.c; f.part.0 = f.part.0");
	/* One clone of two originals. */
	add("f", NULL, "/bin/p")->texts[FACT_PLACE] = copy("p+0x10");
	add("f", NULL, "/bin/p")->texts[FACT_PLACE] = copy("p+0x20");
	add("f.part.0", NULL, "/bin/p")->texts[FACT_PLACE] = copy("p+0x30");
	expect("f (p+0x10) = f; f (p+0x20) = f; f.part.0 = f.part.0");
}
END_TEST

/* Code of a JIT compiler: only the address differs, and it chooses nothing. */
START_TEST(functions_at_two_places_have_their_addresses)
{
	add("f", NULL, "perf-1.map")->texts[FACT_PLACE] = copy("perf-1.map+0x10");
	add("f", NULL, "perf-1.map")->texts[FACT_PLACE] = copy("perf-1.map+0x20");
	expect("f (perf-1.map+0x10) = f; f (perf-1.map+0x20) = f");
	add("f", NULL, NULL);
	add("f", NULL, NULL);
	expect("f = f; f = f");
}
END_TEST

static struct name_table names;

static void expect_identity(const struct function_labels *labels, const struct symbol *symbol,
			    const char *expected)
{
	char *identity = function_identity(labels, symbol);

	ck_assert_str_eq(identity, expected);
	free(identity);
}

/* Inlined functions of one file, but for the fourth; instances of Rust; local ones by address. */
START_TEST(an_identity_is_the_same_in_each_recording)
{
	static const char *const expected[] = {
		"f@a.c#2/2", "f@a.c#1/2", "f@b.c", "_ZN1f#1/2", "_ZN1f#2/2", "g#2/2", "g#1/2", "h",
	};
	struct inlined_call calls[3] = { { .declared = { NULL, 9, 0 } },
					 { .declared = { NULL, 7, 0 } },
					 { .declared = { NULL, 7, 0 } } };
	struct symbol symbols[8] = {
		{ .inlined = &calls[0] }, { .inlined = &calls[1] }, { .inlined = &calls[2] },
		{ .start = 10 },          { .start = 20 },          { .start = 40 },
		{ .start = 30 },          { .start = 50 },
	};
	static const char *const texts[] = {
		"f", "f", "f", "_ZN1f17h0123456789abcdefE", "_ZN1f17hfedcba9876543210E",
		"g", "g", "h",
	};
	struct function_table table = { 0 };
	struct function_labels labels = { 0 };

	name_table_init(&names);
	calls[0].declared.file = calls[1].declared.file = name_intern_text(&names, "/x/a.c");
	calls[2].declared.file = name_intern_text(&names, "/x/b.c");
	for (size_t i = 0; i < COUNT_OF(symbols); i++) {
		symbols[i].linkage = name_intern_text(&names, texts[i]);
		symbols[i].name = name_intern_text(&names, i == 3 || i == 4 ? "f" : texts[i]);
		symbols[i].kind = i < 3 ? SYMBOL_FUNCTION : SYMBOL_UNNAMED;
		function_table_find(&table, &symbols[i]);
	}
	function_labels_make(&labels, &table, &names);
	for (size_t i = 0; i < COUNT_OF(symbols); i++)
		expect_identity(&labels, &symbols[i], expected[i]);
	function_labels_release(&labels);
	function_table_release(&table);
	name_table_release(&names);
}
END_TEST

static bool chooses(const char *pattern, const char *linkage)
{
	struct name_forms forms = { 0 };
	bool found;

	name_forms_set(&forms, linkage);
	found = function_pattern_match(pattern, &forms, "/src/x/a.c", "/usr/lib/libl.so.1");
	name_forms_release(&forms);
	return found;
}

START_TEST(a_pattern_can_name_the_source_and_the_library)
{
	static const char *const right[] = {
		"f",       "f@a.c",           "f@/src/x/a.c",         "f@*.c", "libl.so.1:f",
		"libl*:f", "libl.so.1:f@a.c", "/usr/lib/libl.so.1:f", "*@a.c", "libl.so.1:*",
	};
	static const char *const wrong[] = {
		"g@a.c", "f@b.c", "f@x/a.c",    "libl.so:f",  "libl.so.1:g", "libl.so.1:f@b.c",
		"f@",    ":f",    "libl.so.1:", "libm:f@a.c", "f@@a.c",
	};

	for (size_t i = 0; i < COUNT_OF(right); i++)
		ck_assert_msg(chooses(right[i], "f"), "%s", right[i]);
	for (size_t i = 0; i < COUNT_OF(wrong); i++)
		ck_assert_msg(!chooses(wrong[i], "f"), "%s", wrong[i]);
	/* Names with these characters, and C++'s colons: n::f(int). */
	ck_assert(chooses("f@plt", "f@plt"));
	ck_assert(chooses("libl.so.1:f@plt", "f@plt"));
	ck_assert(chooses("n::f", "_ZN1n1fEi"));
	ck_assert(chooses("n::f@a.c", "_ZN1n1fEi"));
	ck_assert(chooses("libl.so.1:n::f(int)", "_ZN1n1fEi"));
	ck_assert(!chooses("libl.so.1:n::f(char)", "_ZN1n1fEi"));
	ck_assert(!chooses("m:n::f", "_ZN1n1fEi"));
	ck_assert(function_pattern_has_file("libl.so.1:n::f"));
	ck_assert(!function_pattern_has_file("n::f(int)"));
	ck_assert(!function_pattern_has_file("f(a:b)"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("function_labels");
	TCase *all = tcase_create("all");

	tcase_add_checked_fixture(all, setup, NULL);
	tcase_add_test(all, a_function_alone_has_its_name);
	tcase_add_test(all, functions_of_one_name_have_the_first_fact_that_distinguishes_them);
	tcase_add_test(all, clones_have_their_linkage_names);
	tcase_add_test(all, functions_at_two_places_have_their_addresses);
	tcase_add_test(all, an_identity_is_the_same_in_each_recording);
	tcase_add_test(all, a_pattern_can_name_the_source_and_the_library);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
