/* SPDX-License-Identifier: MIT */
/* What is added up of slices, and that they are passed on. */
#include <stdlib.h>

#include "src/slices/slice_totals.h"
#include "src/slices/track.h"
#include "tests/support/unit.h"

static struct name_table names;
static struct symbol f, g;
static struct track track;
static struct slice_totals tally;
static size_t begins, ends;

static void count_begin(const struct slice_sink *sink, void *context, uint64_t time,
			const struct symbol *symbol, uint64_t ip, unsigned flags)
{
	(void)sink;
	(void)time;
	(void)symbol;
	(void)ip;
	(void)flags;
	ck_assert_ptr_eq(context, &track);
	begins++;
}

static void count_end(const struct slice_sink *sink, void *context, uint64_t time,
		      const struct symbol *symbol)
{
	(void)sink;
	(void)time;
	(void)symbol;
	ck_assert_ptr_eq(context, &track);
	ends++;
}

static void count_edges(const struct slice_sink *sink, void *context,
			const struct slice_event *edges, size_t count)
{
	(void)sink;
	ck_assert_ptr_eq(context, &track);
	for (size_t i = 0; i < count; i++) {
		begins += edges[i].kind == SLICE_BEGIN;
		ends += edges[i].kind == SLICE_END;
	}
}

static const struct slice_sink one_by_one = { .begin = count_begin, .end = count_end };
static const struct slice_sink at_once = { .begin = count_begin,
					   .end = count_end,
					   .edges = count_edges };

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

static void expect_function(const struct tally_function *function, const struct symbol *symbol,
			    uint64_t self, uint64_t total)
{
	ck_assert_ptr_nonnull(function);
	ck_assert_ptr_eq(function->symbol, symbol);
	ck_assert_uint_eq(function->calls, 2);
	ck_assert_uint_eq(function->self_ns, self);
	ck_assert_uint_eq(function->total_ns, total);
}

static void expect_sums(void)
{
	expect_function(tally.first, &f, 26, 30); /* the inner f is in the outer one's total */
	expect_function(tally.first->next, &g, 5, 5);
	ck_assert_uint_eq(tally.function_count, 2);
	ck_assert_uint_eq(tally.threads[0].slices, 4);
	ck_assert_uint_eq(tally.threads[0].calls, 3); /* of one the call was not seen */
	ck_assert_uint_eq(tally.threads[0].deepest, 3);
	ck_assert_uint_eq(begins, 4);
	ck_assert_uint_eq(ends, 4);
}

START_TEST(slices_one_by_one_add_up)
{
	const struct slice_sink *sink = &tally.sink;

	slice_totals_init(&tally, &one_by_one);
	ck_assert_ptr_null(sink->edges);
	for (size_t i = 0; i < SLICE_EVENTS; i++) {
		if (slices[i].kind == SLICE_BEGIN)
			sink->begin(sink, &track, slices[i].time, slices[i].symbol, 0,
				    slices[i].flags);
		else
			sink->end(sink, &track, slices[i].time, NULL);
	}
	expect_sums();
}
END_TEST

START_TEST(slices_at_once_add_up)
{
	slice_totals_init(&tally, &at_once);
	tally.sink.edges(&tally.sink, &track, slices, SLICE_EVENTS);
	expect_sums();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("span_tally");
	TCase *tests = tcase_create("all");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, slices_one_by_one_add_up);
	tcase_add_test(tests, slices_at_once_add_up);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
