/* SPDX-License-Identifier: MIT */
/* Totals of slices, and that slices are passed on. */
#include <stdlib.h>
#include <string.h>

#include "src/formats/output_format.h"
#include "src/report/summary.h"
#include "src/slices/slice_totals.h"
#include "src/slices/track.h"
#include "symbols/dso/dso_store.h"
#include "tests/support/unit.h"
#include "tests/unit/src/slice_feed.h"

static struct name_table names;
static struct symbol f, g;
static struct track track;
static struct slice_totals tally;
static struct options options;
static size_t begins, ends;

static void count_events(const struct slice_sink *sink, void *context,
			 const struct slice_batch *batch)
{
	(void)sink;
	ck_assert_ptr_eq(context, &track);
	for (size_t i = 0; i < batch->count; i++) {
		begins += batch->events[i].kind == SLICE_BEGIN;
		ends += batch->events[i].kind == SLICE_END;
	}
}

static const struct slice_sink counter = { .events = count_events };

static void setup(void)
{
	name_table_init(&names);
	f.name = f.linkage = name_intern_text(&names, "f");
	g.name = g.linkage = name_intern_text(&names, "g");
	track = (struct track){ .pid = 1, .tid = 1 };
	begins = ends = 0;
}

static void teardown(void)
{
	slice_totals_release(&tally);
	name_table_release(&names);
}

/* f calls itself, and g in that; g runs once more on its own. */
static const struct slice_event slices[] = {
	{ .time = 10, .symbol = &f, .kind = SLICE_BEGIN },
	{ .time = 12, .symbol = &f, .kind = SLICE_BEGIN },
	{ .time = 15, .symbol = &g, .kind = SLICE_BEGIN },
	{ .time = 19, .kind = SLICE_END },
	{ .time = 20, .kind = SLICE_END },
	{ .time = 40, .kind = SLICE_END },
	{ .time = 50, .symbol = &g, .kind = SLICE_BEGIN, .flags = SLICE_INFERRED_START },
	{ .time = 51, .kind = SLICE_END },
};
#define SLICE_EVENTS (sizeof(slices) / sizeof(slices[0]))

/* g calls f twice at first, and once more; the second f calls g. */
static const struct slice_event late[] = {
	{ .time = 10, .ip = 2, .kind = SLICE_LATE },
	{ .time = 15, .symbol = &g, .kind = SLICE_BEGIN },
	{ .time = 19, .kind = SLICE_END },
	{ .time = 20, .symbol = &f, .ip = 12, .kind = SLICE_END, .order = SLICE_ORDER_DEFERRED },
	{ .time = 30, .symbol = &f, .kind = SLICE_BEGIN },
	{ .time = 31, .kind = SLICE_END },
	{ .time = 40, .symbol = &g, .ip = 10, .kind = SLICE_END, .order = SLICE_ORDER_DEFERRED },
	{ .time = 10, .symbol = &g, .kind = SLICE_BEGIN, .order = SLICE_ORDER_DEFERRED },
	{ .time = 10, .symbol = &f, .kind = SLICE_BEGIN, .order = SLICE_ORDER_DEFERRED },
	{ .time = 12, .kind = SLICE_END },
	{ .time = 12, .symbol = &f, .kind = SLICE_BEGIN, .order = SLICE_ORDER_DEFERRED },
	{ .time = 10, .kind = SLICE_LATE },
	{ .time = 50, .symbol = &f, .kind = SLICE_BEGIN },
	{ .time = 55, .kind = SLICE_END },
};

/* Returns the counts of the first or second function. */
static const struct call_node *node_of(size_t function)
{
	return &tally.tree.nodes[1 + function];
}

static void expect_function(size_t function, const struct symbol *symbol, uint64_t self,
			    uint64_t total)
{
	ck_assert_ptr_eq(tally.functions.functions[function].symbol, symbol);
	ck_assert_uint_eq(node_of(function)->calls, 2);
	ck_assert_uint_eq(node_of(function)->own.ns, self);
	ck_assert_uint_eq(tally.tree.totals[1 + function].costs.ns, total);
}

static void expect_sums(void)
{
	ck_assert_uint_eq(tally.functions.count, 2);
	expect_function(0, &f, 26, 30); /* the inner f is in the outer one's total */
	expect_function(1, &g, 5, 5);
	ck_assert_uint_eq(tally.tree.threads[0].slices, 4);
	ck_assert_uint_eq(tally.tree.threads[0].calls, 3); /* the call of one was not seen */
	ck_assert_uint_eq(tally.tree.threads[0].deepest, 3);
	ck_assert_uint_eq(begins, 4);
	ck_assert_uint_eq(ends, 4);
}

START_TEST(slices_one_by_one_and_at_once_add_up)
{
	slice_totals_init(&tally, &counter, true, false, false);
	feed_edges(&tally.sink, &track, slices, SLICE_EVENTS, _i);
	expect_sums();
}
END_TEST

/* f's begin is inferred next to a gap, with a count later than those of g and of f's end. */
START_TEST(no_function_has_fewer_instructions_than_its_callees)
{
	static const struct slice_event events[] = {
		{ .time = 10, .symbol = &f, .kind = SLICE_BEGIN, .flags = SLICE_INFERRED_START },
		{ .time = 10, .symbol = &g, .kind = SLICE_BEGIN },
		{ .time = 20, .kind = SLICE_END },
		{ .time = 20, .kind = SLICE_END },
	};
	static const struct slice_detail details[] = {
		{ .insns = 150 }, { .insns = 100 }, { .insns = 148 }, { .insns = 150 }
	};
	const struct slice_batch batch = { events, 4, details, false };

	slice_totals_init(&tally, &counter, true, true, false);
	tally.sink.events(&tally.sink, &track, &batch);
	ck_assert_uint_eq(node_of(0)->own.insns, 0);
	ck_assert_uint_eq(node_of(1)->own.insns, 0);
	ck_assert_uint_eq(tally.tree.totals[1].costs.insns, 0);
}
END_TEST

/* The first of the longest calls: f's outer one, and g's in the inner f. */
START_TEST(the_slowest_call_is_known_also_without_a_report)
{
	slice_totals_init(&tally, &counter, _i, false, false);
	/* A batch ends between the begin and the end of a call without callees. */
	feed_edges(&tally.sink, &track, slices, 3, 1);
	feed_edges(&tally.sink, &track, slices + 3, SLICE_EVENTS - 3, 1);
	ck_assert_uint_eq(node_of(0)->own.ns, 26);
	ck_assert_uint_eq(tally.tree.nodes[1].slowest.begin, 10);
	ck_assert_uint_eq(tally.tree.nodes[1].slowest.duration, 30);
	ck_assert_ptr_eq(tally.tree.nodes[1].slowest.track, &track);
	ck_assert_uint_eq(node_of(1)->own.ns, 5);
	ck_assert_uint_eq(tally.tree.nodes[2].slowest.begin, 15);
	ck_assert_uint_eq(tally.tree.nodes[2].slowest.duration, 4);
}
END_TEST

/* Calls of 10 ns set the bound of long calls to 20 ns; one of 15 ns is the slowest, and is not
 * long. */
START_TEST(the_slowest_call_may_be_shorter_than_the_bound_of_long_ones)
{
	struct slice_event events[2 * (TAIL_FIRST + 2)];

	for (uint64_t i = 0; i < TAIL_FIRST + 2; i++) {
		events[2 * i] =
			(struct slice_event){ .time = 100 * i, .symbol = &f, .kind = SLICE_BEGIN };
		events[2 * i + 1] =
			(struct slice_event){ .time = 100 * i + (i == TAIL_FIRST ? 15 : 10),
					      .kind = SLICE_END };
	}
	slice_totals_init(&tally, &counter, _i, false, false);
	feed_edges(&tally.sink, &track, events, sizeof(events) / sizeof(events[0]), true);
	ck_assert_uint_eq(tally.tree.nodes[1].slowest.duration, 15);
	ck_assert_uint_eq(tally.tree.nodes[1].slowest.begin, 100 * TAIL_FIRST);
	ck_assert_uint_eq(tally.tails[1]->bound, 20);
	ck_assert_uint_eq(tally.tails[1]->count, 0);
}
END_TEST

/* A caller of chosen functions and a system call; and of two equally long calls of f, the first. */
START_TEST(contexts_and_specials_are_no_calls)
{
	struct symbol special = { .name = g.name, .kind = SYMBOL_SPECIAL };
	const struct slice_event events[] = {
		{ .time = 5, .symbol = &g, .kind = SLICE_BEGIN, .flags = SLICE_CONTEXT },
		{ .time = 10, .symbol = &f, .kind = SLICE_BEGIN },
		{ .time = 12, .kind = SLICE_END },
		{ .time = 20, .symbol = &f, .kind = SLICE_BEGIN },
		{ .time = 22, .kind = SLICE_END },
		{ .time = 30, .symbol = &special, .kind = SLICE_BEGIN },
		{ .time = 31, .kind = SLICE_END },
		{ .time = 40, .kind = SLICE_END },
	};

	slice_totals_init(&tally, &counter, true, false, false);
	feed_edges(&tally.sink, &track, events, sizeof(events) / sizeof(events[0]), true);
	ck_assert_uint_eq(tally.functions.count, 2);
	expect_function(0, &f, 4, 4);
	ck_assert_uint_eq(tally.tree.nodes[1].slowest.begin, 10);
	ck_assert_ptr_eq(tally.functions.functions[1].symbol, &special);
	ck_assert_uint_eq(tally.tree.threads[0].slices, 4);
	ck_assert_uint_eq(tally.tree.threads[0].calls, 2);
}
END_TEST

/*
 * A function is an entry of a file; inlined ones are those of one declaration. The last symbol is
 * the entry of code that changed.
 */
START_TEST(functions_have_a_file_and_an_entry_or_a_declaration)
{
	struct dso *files[] = { (struct dso *)(void *)&begins, (struct dso *)(void *)&ends };
	struct inlined_call calls[] = { { .declared = { f.name, 7, 0 } },
					{ .declared = { f.name, 8, 0 } },
					{ .declared = { f.name, 7, 5 } } };
	/* Their lines are known: there is no store to ask. */
	struct cached_symbol symbols[] = {
		{ { .name = f.name, .dso = files[0], .start = 1, .kind = SYMBOL_UNNAMED },
		  true,
		  { 0 } },
		{ { .name = f.name, .dso = files[0], .start = 2, .kind = SYMBOL_UNNAMED },
		  true,
		  { 0 } },
		{ { .name = f.name, .dso = files[0], .inlined = &calls[0] }, true, { 0 } },
		{ { .name = f.name, .dso = files[1], .inlined = &calls[0] }, true, { 0 } },
		{ { .name = g.name, .dso = files[0], .inlined = &calls[0] }, true, { 0 } },
		{ { .name = f.name, .dso = files[0], .inlined = &calls[1] }, true, { 0 } },
		{ { .name = f.name, .dso = files[0], .inlined = &calls[2] }, true, { 0 } },
		{ { .name = f.name, .dso = files[1], .start = 2, .changed = true }, true, { 0 } },
	};
	static const uint32_t numbers[] = { 0, 1, 2, 3, 4, 5, 2, 1 };
	struct function_table table = { 0 };

	ck_assert_uint_eq(function_table_look(&table, &symbols[0].symbol), 0);
	for (size_t i = 0; i < 16; i++)
		ck_assert_uint_eq(function_table_find(&table, &symbols[i % 8].symbol),
				  numbers[i % 8]);
	for (size_t i = 0; i < 8; i++)
		ck_assert_uint_eq(function_table_look(&table, &symbols[i].symbol), numbers[i] + 1);
	ck_assert_uint_eq(table.count, 6);
	function_table_release(&table);
	function_table_release(&table);
}
END_TEST

/* Three functions of one name have a row each. */
START_TEST(functions_of_one_name_are_distinguished)
{
	struct symbol second = { .name = f.name, .linkage = name_intern_text(&names, "_Z1fi") };
	struct symbol third = { .name = f.name, .linkage = name_intern_text(&names, "f.part.0") };
	struct symbol special = { .name = g.name, .kind = SYMBOL_SPECIAL };
	const struct slice_event events[] = {
		{ .time = 10, .symbol = &f, .kind = SLICE_BEGIN },
		{ .time = 12, .kind = SLICE_END },
		{ .time = 20, .symbol = &second, .kind = SLICE_BEGIN },
		{ .time = 25, .kind = SLICE_END },
		{ .time = 30, .symbol = &third, .kind = SLICE_BEGIN },
		{ .time = 31, .kind = SLICE_END },
		{ .time = 40, .symbol = &special, .kind = SLICE_BEGIN },
		{ .time = 42, .kind = SLICE_END },
	};
	char *text;

	slice_totals_init(&tally, &counter, false, false, false);
	tally.names = &names;
	ck_assert_ptr_null(top_functions_make(&tally, &options));
	feed_edges(&tally.sink, &track, events, sizeof(events) / sizeof(events[0]), 1);
	text = top_functions_make(&tally, &options);
	ck_assert_ptr_nonnull(text);
	ck_assert_ptr_nonnull(
		strstr(text, " 5ns  50.0%            5ns          0.000000020        1  f(int)\n"
			     "         2ns  20.0%            2ns          0.000000010        1  f\n"
			     "         1ns  10.0%            1ns          0.000000030        1  "
			     "f.part.0\n"));
	ck_assert_ptr_null(strstr(text, "  g\n"));
	free(text);
}
END_TEST

/* By self time, then by name. */
START_TEST(the_five_functions_with_most_self_time_are_named)
{
	static const struct {
		const char *name;
		uint64_t self;
	} calls[] = { { "c", 5 }, { "a", 9 }, { "e", 3 }, { "x", 2 }, { "b", 5 }, { "d", 3 } };
	static const char *const expected[] = { "  a\n", "  b\n", "  c\n", "  d\n", "  e\n" };
	struct symbol symbols[6];
	char *text, *at;

	slice_totals_init(&tally, &counter, false, false, false);
	for (size_t i = 0; i < 6; i++) {
		struct slice_event events[] = {
			{ .time = 10 * i, .symbol = &symbols[i], .kind = SLICE_BEGIN },
			{ .time = 10 * i + calls[i].self, .kind = SLICE_END },
		};

		symbols[i] = (struct symbol){ .name = name_intern_text(&names, calls[i].name) };
		feed_edges(&tally.sink, &track, events, 2, 1);
	}
	text = at = top_functions_make(&tally, &options);
	for (size_t i = 0; i < 5; i++) {
		at = strstr(at, expected[i]);
		ck_assert_msg(at != NULL, "%s is not in its line of\n%s", expected[i], text);
	}
	ck_assert_ptr_null(strstr(text, "  x\n"));
	free(text);
}
END_TEST

/* ---- Slow calls ----------------------------------------------------------- */

static struct symbol library_function, stop, syscall_slice;
static uint64_t now;

static void enter(const struct symbol *symbol)
{
	feed_begin(&tally.sink, &track, now, symbol, 0, 0);
}

static void leave(uint64_t ns)
{
	now += ns;
	feed_end(&tally.sink, &track, now);
}

static void spend(const struct symbol *symbol, uint64_t ns)
{
	enter(symbol);
	leave(ns);
}

static void plain_call(bool slow)
{
	spend(&f, slow ? 1000 : 10);
}

static void slow_callee(bool slow)
{
	enter(&f);
	spend(&g, slow ? 991 : 1);
	leave(9);
}

static void slow_library(bool slow)
{
	enter(&f);
	spend(&library_function, slow ? 991 : 1);
	leave(9);
}

static void stopped(bool slow)
{
	enter(&f);
	spend(&stop, slow ? 990 : 0);
	leave(10);
}

static void waiting(bool slow)
{
	enter(&f);
	enter(&syscall_slice);
	spend(&stop, slow ? 990 : 0);
	leave(0);
	leave(10);
}

static void recursive(bool slow)
{
	enter(&f);
	spend(&f, 5);
	leave(slow ? 995 : 5);
}

static const struct {
	void (*call)(bool slow);
	unsigned every; /* one call of so many is slow */
	unsigned calls;
	const char *line; /* NULL: none */
	unsigned after;   /* the first calls are not slow */
} tails[] = {
	{ plain_call, 100, 1000, "\n  some calls of f take", 0 },
	/* An inner function is named, unless it is of another file. */
	{ slow_callee, 100, 1000, "\n  some calls of g take", 0 },
	{ slow_library, 100, 1000, "\n  some calls of f take", 0 },
	/* A stop can hit any function, but a wait in a system call is its own. */
	{ stopped, 100, 1000, NULL, 0 },
	{ waiting, 100, 1000, "\n  some calls of f take", 0 },
	{ recursive, 100, 1000, NULL, 0 },
	{ plain_call, 10, 1000, NULL, 100 },
	/* A tenth of the calls is usual; 49 calls are few; a short one does not count. */
	{ plain_call, 10, 1000, NULL, 0 },
	{ plain_call, 49, 49, NULL, 0 },
	{ plain_call, 100000, 99999, NULL, 0 },
};

START_TEST(the_function_with_slow_calls_is_named)
{
	char *text;

	now = 1000;
	library_function = (struct symbol){ .name = name_intern_text(&names, "lib"),
					    .dso = (struct dso *)(void *)&begins };
	stop = symbol_special(&names, "stops", SPECIAL_UNTRACED);
	syscall_slice = symbol_special(&names, "[reads]", SPECIAL_SYSCALL);
	slice_totals_init(&tally, &counter, false, false, false);
	for (unsigned i = 1; i <= tails[_i].calls; i++)
		tails[_i].call(i % tails[_i].every == 0 && i > tails[_i].after);
	text = top_functions_make(&tally, &options);
	ck_assert_msg(tails[_i].line ? strstr(text, tails[_i].line) != NULL
				     : strstr(text, "some calls of") == NULL,
		      "%s", text);
	free(text);
}
END_TEST

START_TEST(slices_whose_begins_come_late_add_up)
{
	slice_totals_init(&tally, &counter, false, false, false);
	tally.sink.events(
		&tally.sink, &track,
		&(struct slice_batch){ late, sizeof(late) / sizeof(late[0]), NULL, false });
	ck_assert_uint_eq(tally.functions.count, 2);
	ck_assert_uint_eq(node_of(0)->calls, 2);
	ck_assert_uint_eq(node_of(0)->own.ns, 4 + (30 - 2 - 8 - 1)); /* g */
	ck_assert_uint_eq(node_of(1)->calls, 4);
	ck_assert_uint_eq(node_of(1)->own.ns, 2 + (8 - 4) + 1 + 5);
	ck_assert_uint_eq(tally.tree.threads[0].top - tally.tree.threads[0].open, 0);
}
END_TEST

/* After a fork, g returns inside of f, which the parent called; both have the begin of the part. */
START_TEST(slices_begin_late_inside_of_inherited_ones)
{
	static const struct slice_event forked[] = {
		{ .time = 10, .kind = SLICE_LATE, .flags = SLICE_INFERRED_START },
		{ .time = 10, .symbol = &f, .kind = SLICE_BEGIN },
		{ .time = 20, .symbol = &g, .kind = SLICE_END },
		{ 50, { &f }, 10, 0, 0, SLICE_END, SLICE_ORDER_DEFERRED },
		{ 10, { &g }, 0, 0, 0, SLICE_BEGIN, SLICE_ORDER_DEFERRED },
		{ .time = 10, .kind = SLICE_LATE },
	};

	slice_totals_init(&tally, &counter, false, false, false);
	tally.sink.events(
		&tally.sink, &track,
		&(struct slice_batch){ forked, sizeof(forked) / sizeof(forked[0]), NULL, false });
	ck_assert_uint_eq(tally.functions.count, 2);
	ck_assert_uint_eq(node_of(0)->calls, 1);
	ck_assert_uint_eq(node_of(0)->own.ns, 30); /* f */
	ck_assert_uint_eq(node_of(1)->calls, 1);
	ck_assert_uint_eq(node_of(1)->own.ns, 10);
}
END_TEST

/* The calls of f and then g end after the limit: decoding may end before. Of these f is known. */
START_TEST(only_the_innermost_late_slice_ends_at_the_limit)
{
	const uint16_t late_flags = SLICE_INFERRED_START;
	const struct slice_event events[] = {
		{ .time = 10, .kind = SLICE_LATE },
		{ .time = 15, .symbol = &g, .kind = SLICE_BEGIN },
		{ .time = 19, .kind = SLICE_END },
		{ 20, { &f }, 10, 0, late_flags, SLICE_END, SLICE_ORDER_DEFERRED },
		{ 30, { &g }, 10, 0, late_flags, SLICE_END, SLICE_ORDER_DEFERRED },
		{ 10, { &g }, 0, 0, late_flags, SLICE_BEGIN, SLICE_ORDER_DEFERRED },
		{ 10, { &f }, 0, 0, late_flags, SLICE_BEGIN, SLICE_ORDER_DEFERRED },
		{ .time = 10, .kind = SLICE_LATE },
	};
	struct output output = { 0 };
	struct slice_limit limit;

	slice_limit_init(&limit, &counter, &output);
	for (int i = 0; i < (int)(sizeof(events) / sizeof(events[0])); i++) {
		output.cut |= i == _i;
		slice_sink_emit(&limit.sink, &track, &events[i], NULL);
	}
	ck_assert_uint_eq(begins, (size_t)_i);
	ck_assert_uint_eq(ends, (size_t)_i);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("slice_totals");
	TCase *tests = tcase_create("all");

	tcase_add_test(tests, no_function_has_fewer_instructions_than_its_callees);
	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_loop_test(tests, slices_one_by_one_and_at_once_add_up, 0, 2);
	tcase_add_loop_test(tests, the_slowest_call_is_known_also_without_a_report, 0, 2);
	tcase_add_loop_test(tests, the_slowest_call_may_be_shorter_than_the_bound_of_long_ones, 0,
			    2);
	tcase_add_test(tests, slices_whose_begins_come_late_add_up);
	tcase_add_test(tests, slices_begin_late_inside_of_inherited_ones);
	tcase_add_loop_test(tests, only_the_innermost_late_slice_ends_at_the_limit, 0, 1);
	tcase_add_loop_test(tests, only_the_innermost_late_slice_ends_at_the_limit, 2, 3);
	tcase_add_test(tests, functions_of_one_name_are_distinguished);
	tcase_add_test(tests, the_five_functions_with_most_self_time_are_named);
	tcase_add_loop_test(tests, the_function_with_slow_calls_is_named, 0,
			    sizeof(tails) / sizeof(tails[0]));
	tcase_add_test(tests, contexts_and_specials_are_no_calls);
	tcase_add_test(tests, functions_have_a_file_and_an_entry_or_a_declaration);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
