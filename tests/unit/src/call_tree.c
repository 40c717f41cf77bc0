/* SPDX-License-Identifier: MIT */
/* The cost of calls, by path and by function. */
#include "src/slices/call_tree.h"
#include "symbols/dso/dso_store.h"
#include "tests/support/unit.h"
#include "tests/unit/src/slice_feed.h"

static struct name_table names;
static struct symbol f, g, h;
static struct track thread, other;
static struct call_tree tree;
static struct slice_sink sink;

/* The last ended call. */
static struct ended_call ended;
static struct open_call ended_open;
static size_t ends;

static uint32_t enter_path(struct call_tree *paths, struct call_thread *at,
			   const struct slice_event *event, const struct slice_detail *detail)
{
	(void)detail;
	return call_tree_child(paths, call_tree_caller(paths, at), event->symbol->name->id,
			       event->symbol->name);
}

/* f and g count, h does not. */
static uint32_t enter_function(struct call_tree *functions, struct call_thread *at,
			       const struct slice_event *event, const struct slice_detail *detail)
{
	(void)at;
	(void)detail;
	if (event->symbol == &h)
		return NODE_NONE;
	call_tree_add_nodes(functions, 2);
	return event->symbol == &f ? 1 : 2;
}

static void keep_end(struct call_tree *functions, struct call_thread *at,
		     const struct ended_call *end)
{
	(void)functions;
	(void)at;
	ended = *end;
	ended_open = *end->call;
	ends++;
}

static const struct call_rules by_path = { .costs = true, .enter = enter_path, .ended = keep_end };
static const struct call_rules by_function = {
	.costs = true, .recursion = true, .enter = enter_function, .ended = keep_end
};

static void follow_paths(const struct slice_sink *from, void *track,
			 const struct slice_batch *batch)
{
	(void)from;
	call_tree_follow(&tree, track, batch, &by_path);
}

static void follow_functions(const struct slice_sink *from, void *track,
			     const struct slice_batch *batch)
{
	(void)from;
	call_tree_follow(&tree, track, batch, &by_function);
}

static void setup(void)
{
	name_table_init(&names);
	f.name = name_intern_text(&names, "f");
	g.name = name_intern_text(&names, "g");
	h.name = name_intern_text(&names, "h");
	thread = (struct track){ .index = 0, .thread_name = "main" };
	other = (struct track){ .index = 3 };
	sink.events = follow_functions;
	call_tree_init(&tree, NULL, UINT64_MAX);
	ends = 0;
}

static void use_paths(uint64_t max_stack)
{
	sink.events = follow_paths;
	call_tree_release(&tree);
	call_tree_init(&tree, &names, max_stack);
	tree.truncated_key = name_intern_text(&names, TRUNCATED_NAME)->id;
}

static void teardown(void)
{
	call_tree_release(&tree);
	call_tree_release(&tree);
	name_table_release(&names);
}

static void feed(struct track *track, const struct slice_event *event, uint64_t insns,
		 uint64_t cycles)
{
	slice_sink_emit(&sink, track, event,
			&(struct slice_detail){ .insns = insns, .cycles = cycles });
}

static void begin(struct symbol *symbol, uint64_t time, uint64_t insns)
{
	feed(&thread, &(struct slice_event){ .time = time, .symbol = symbol, .kind = SLICE_BEGIN },
	     insns, 2 * insns);
}

static void end(uint64_t time, uint64_t insns)
{
	feed(&thread, &(struct slice_event){ .time = time, .kind = SLICE_END }, insns, 2 * insns);
}

static void expect_costs(const struct call_costs *costs, uint64_t ns, uint64_t insns)
{
	ck_assert_uint_eq(costs->ns, ns);
	ck_assert_uint_eq(costs->insns, insns);
	ck_assert_uint_eq(costs->cycles, 2 * insns);
}

START_TEST(own_costs_are_those_without_callees)
{
	begin(&f, 10, 100);
	begin(&g, 15, 107);
	end(18, 118);
	begin(&g, 20, 120);
	end(21, 125);
	end(40, 150);
	expect_costs(&tree.nodes[1].own, 30 - 3 - 1, 50 - 11 - 5);
	expect_costs(&tree.totals[1].costs, 30, 50);
	expect_costs(&tree.nodes[2].own, 4, 16);
	expect_costs(&tree.totals[2].costs, 4, 16);
	ck_assert_uint_eq(tree.nodes[1].calls, 1);
	ck_assert_uint_eq(tree.nodes[2].calls, 2);
	ck_assert_uint_eq(tree.slices, 3);
}
END_TEST

/* f > f > g > f, and then f alone. */
START_TEST(of_a_recursion_the_outermost_call_counts)
{
	begin(&f, 0, 0);
	begin(&f, 10, 10);
	begin(&g, 20, 20);
	begin(&f, 30, 30);
	end(40, 40);
	ck_assert(!ended.outermost);
	end(50, 50);
	ck_assert(ended.outermost);
	end(60, 60);
	ck_assert(!ended.outermost);
	end(70, 70);
	ck_assert(ended.outermost);
	begin(&f, 100, 100);
	end(101, 101);
	ck_assert(ended.outermost);
	expect_costs(&tree.totals[1].costs, 71, 71);
	expect_costs(&tree.nodes[1].own, 51, 51);
	expect_costs(&tree.totals[2].costs, 30, 30);
	expect_costs(&tree.nodes[2].own, 20, 20);
	ck_assert_uint_eq(tree.nodes[1].calls, 4);
}
END_TEST

START_TEST(calls_of_two_threads_are_no_recursion)
{
	begin(&f, 0, 0);
	feed(&other, &(struct slice_event){ .time = 5, .symbol = &f, .kind = SLICE_BEGIN }, 0, 0);
	begin(&f, 10, 0);
	end(20, 0);
	ck_assert(!ended.outermost);
	feed(&other, &(struct slice_event){ .time = 25, .kind = SLICE_END }, 0, 0);
	ck_assert(ended.outermost);
	end(30, 0);
	ck_assert(ended.outermost);
	ck_assert_uint_eq(tree.totals[1].costs.ns, 20 + 30);
	ck_assert_uint_eq(tree.nodes[1].own.ns, 20 + 30);
}
END_TEST

START_TEST(calls_that_do_not_count_keep_their_costs)
{
	begin(&h, 0, 0);
	begin(&f, 10, 10);
	begin(&h, 20, 20);
	end(25, 25);
	ck_assert_uint_eq(ended_open.node, NODE_NONE);
	end(40, 40);
	end(50, 50);
	expect_costs(&tree.nodes[1].own, 25, 25);
	expect_costs(&tree.totals[1].costs, 30, 30);
	ck_assert_uint_eq(tree.slices, 3);
	ck_assert_uint_eq(call_tree_sum(&tree).ns, 25);
}
END_TEST

/*
 * A caller of chosen functions has a node, but its call does not count, and the time in which only
 * it is shown is of a chosen call that is not shown.
 */
START_TEST(a_context_is_no_call)
{
	feed_begin(&sink, &thread, 0, &g, 0, SLICE_CONTEXT);
	begin(&f, 10, 10);
	end(15, 15);
	end(20, 20);
	ck_assert_uint_eq(tree.nodes[2].calls, 0);
	expect_costs(&tree.nodes[2].own, 0, 0);
	expect_costs(&tree.nodes[1].own, 5, 5);
	feed_begin(&sink, &thread, 30, &f, 0, SLICE_CONTEXT);
	feed_begin(&sink, &thread, 31, &f, 0, SLICE_INFERRED_START);
	ck_assert_uint_eq(tree.nodes[1].calls, 2);
	ck_assert(tree.threads[0].open[2].inferred);
	ck_assert(!tree.threads[0].open[1].inferred);
}
END_TEST

START_TEST(an_end_has_the_costs_of_its_call)
{
	begin(&f, 10, 100);
	begin(&g, 15, 110);
	end(25, 140);
	feed(&thread, &(struct slice_event){ .time = 40, .kind = SLICE_END, .flags = SLICE_CUT },
	     150, 300);
	ck_assert_uint_eq(ends, 2);
	ck_assert(ended.cut);
	expect_costs(&ended.all, 30, 50);
	expect_costs(&ended_open.own, 20, 20);
	expect_costs(&ended_open.begin, 10, 100);
	ck_assert_uint_eq(call_thread_depth(&tree.threads[0]), 0);
	ck_assert_uint_eq(tree.threads[0].deepest, 2);
	begin(&f, 50, 150);
	end(60, 160);
	ck_assert(!ended.cut);
	ck_assert_uint_eq(tree.threads[0].deepest, 2);
}
END_TEST

/* Next to a gap a counter may be lower than before, or unknown. */
START_TEST(counters_do_not_go_back)
{
	begin(&f, 10, 100);
	begin(&g, 20, 90);
	end(30, 120);
	feed_end(&sink, &thread, 40);
	expect_costs(&tree.nodes[1].own, 20, 0);
	expect_costs(&tree.totals[1].costs, 30, 20);
	expect_costs(&tree.totals[2].costs, 10, 20);
}
END_TEST

START_TEST(ends_and_instants_outside_of_calls_are_no_calls)
{
	uint64_t first, last;

	ck_assert(!call_tree_times(&tree, &first, &last));
	feed_instant(&sink, &thread, 5, "hit");
	ck_assert(!call_tree_times(&tree, &first, &last));
	end(10, 0);
	begin(&f, 20, 0);
	feed_instant(&sink, &thread, 25, "hit");
	end(30, 0);
	feed_instant(&sink, &thread, 50, "hit");
	feed_begin(&sink, &other, 8, &g, 0, 0);
	feed_end(&sink, &other, 9);
	ck_assert_uint_eq(ends, 2);
	ck_assert_uint_eq(tree.nodes[1].own.ns, 10);
	ck_assert(call_tree_times(&tree, &first, &last));
	ck_assert_uint_eq(first, 8);
	ck_assert_uint_eq(last, 30);
}
END_TEST

/* Returns the path of names below a thread, each a callee of the one before; 0: there is none. */
static uint32_t path(const char *texts[])
{
	uint32_t at = 0;

	for (; *texts; texts++) {
		const struct name *name = name_intern_text(&names, *texts);
		size_t count = tree.count;

		at = call_tree_child(&tree, at, name->id, name);
		if (tree.count > count)
			return 0;
	}
	return at;
}

#define PATH(...) path((const char *[]){ __VA_ARGS__, NULL })

START_TEST(a_path_is_a_function_and_its_callers)
{
	use_paths(UINT64_MAX);
	begin(&f, 10, 0);
	begin(&g, 20, 0);
	begin(&f, 30, 0);
	end(31, 0);
	end(41, 0);
	end(51, 0);
	begin(&g, 100, 0);
	end(105, 0);
	begin(&f, 200, 0);
	end(201, 0);
	feed_begin(&sink, &other, 300, &f, 0, 0);
	feed_end(&sink, &other, 302);
	ck_assert_uint_eq(tree.nodes[PATH("main", "f")].own.ns, 10 + 10 + 1);
	call_tree_add_up(&tree);
	ck_assert_uint_eq(tree.totals[PATH("main", "f")].costs.ns, 41 + 1);
	ck_assert_uint_eq(tree.nodes[PATH("main", "f", "g")].own.ns, 20);
	ck_assert_uint_eq(tree.totals[PATH("main", "f", "g", "f")].costs.ns, 1);
	ck_assert_uint_eq(tree.nodes[PATH("main", "g")].own.ns, 5);
	ck_assert_uint_eq(tree.nodes[PATH("unknown", "f")].own.ns, 2);
	ck_assert_uint_eq(tree.totals[PATH("main")].costs.ns, 41 + 5 + 1);
	ck_assert_uint_eq(PATH("main", "g", "f"), 0);
}
END_TEST

/* Deeper calls are below TRUNCATED_NAME, a callee of the second function. */
START_TEST(deep_paths_are_cut_in_the_middle)
{
	use_paths(2);
	for (uint64_t i = 0; i < 5; i++)
		begin(i < 4 ? &f : &g, i, 0);
	for (uint64_t i = 5; i < 10; i++)
		end(i, 0);
	ck_assert_uint_eq(tree.cut_slices, 3);
	ck_assert_uint_eq(tree.nodes[PATH("main", "f")].own.ns, 1 + 1);
	ck_assert_uint_eq(tree.nodes[PATH("main", "f", "f")].own.ns, 1 + 1);
	ck_assert_uint_eq(tree.nodes[PATH("main", "f", "f", TRUNCATED_NAME)].own.ns, 0);
	ck_assert_uint_eq(tree.nodes[PATH("main", "f", "f", TRUNCATED_NAME, "f")].own.ns, 4);
	ck_assert_uint_eq(tree.nodes[PATH("main", "f", "f", TRUNCATED_NAME, "g")].own.ns, 1);
	ck_assert_uint_eq(call_tree_sum(&tree).ns, 9);
	begin(&g, 20, 0);
	begin(&g, 20, 0);
	begin(&f, 20, 0);
	ck_assert_uint_ne(PATH("main", "g", "g", TRUNCATED_NAME, "f"), 0);
}
END_TEST

/* Two sites where f is inlined are one function; in another file, it is another one. */
START_TEST(inlined_calls_of_one_name_and_file_are_one_function)
{
	static const struct inlined_call calls[3];
	static char files[2]; /* are not read */
	struct function_table table = { 0 };
	struct symbol sites[3];

	for (size_t i = 0; i < 3; i++)
		sites[i] = (struct symbol){ .name = f.name,
					    .dso = (struct dso *)(void *)&files[i / 2],
					    .inlined = &calls[i] };
	ck_assert_uint_eq(function_table_find(&table, &f), 0);
	ck_assert_uint_eq(function_table_find(&table, &sites[0]), 1);
	ck_assert_uint_eq(function_table_find(&table, &sites[1]), 1);
	ck_assert_uint_eq(function_table_find(&table, &sites[2]), 2);
	ck_assert_uint_eq(function_table_find(&table, &f), 0);
	function_table_release(&table);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("call_tree");
	TCase *all = tcase_create("all");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, own_costs_are_those_without_callees);
	tcase_add_test(all, of_a_recursion_the_outermost_call_counts);
	tcase_add_test(all, calls_of_two_threads_are_no_recursion);
	tcase_add_test(all, calls_that_do_not_count_keep_their_costs);
	tcase_add_test(all, a_context_is_no_call);
	tcase_add_test(all, an_end_has_the_costs_of_its_call);
	tcase_add_test(all, counters_do_not_go_back);
	tcase_add_test(all, ends_and_instants_outside_of_calls_are_no_calls);
	tcase_add_test(all, a_path_is_a_function_and_its_callers);
	tcase_add_test(all, deep_paths_are_cut_in_the_middle);
	tcase_add_test(all, inlined_calls_of_one_name_and_file_are_one_function);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
