/* SPDX-License-Identifier: MIT */
/*
 * The visible slices of one thread that ran
 *
 *	main 0..100
 *	  init 1..9
 *	    tiny 2..3, tiny 5..6
 *	  serve 10..60
 *	    parse 11..20
 *	      tiny 12..13
 *	    serve 21..50
 *	      tiny 30..32
 *	  done 70..71
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "src/select/slice_filter.h"
#include "src/slices/track.h"
#include "tests/support/unit.h"
#include "tests/unit/src/slice_feed.h"
#include "tests/unit/src/slice_log.h"

static struct name_table names;
static struct arena arena;
static struct diag diag;
static struct slice_log slices;
static struct slice_filter filter;
static struct selection selection;
static struct filter_track *track;

static void setup(void)
{
	name_table_init(&names);
	arena = (struct arena){ 0 };
	diag_init(&diag);
	slice_log_init(&slices);
	slices.names_ends = true;
}

static void teardown(void)
{
	slice_filter_release(&filter);
	slice_filter_release(&filter);
	selection_release(&selection);
	name_table_release(&names);
	arena_release(&arena);
	diag_release(&diag);
}

static void begin(uint64_t time, const char *name)
{
	struct symbol *made = arena_alloc(&arena, sizeof(*made));

	made->name = made->linkage = name_intern_text(&names, name);
	feed_begin(&filter.sink, track, time, made, 0, 0);
}

static void end(uint64_t time)
{
	feed_end(&filter.sink, track, time);
}

static void slice(uint64_t from, uint64_t to, const char *name)
{
	begin(from, name);
	end(to);
}

static void start(void)
{
	slice_filter_init(&filter, &selection, &slices.sink, &diag);
	track = slice_filter_track(&filter, NULL);
}

static void feed_all(void)
{
	begin(0, "main");
	begin(1, "init");
	slice(2, 3, "tiny");
	slice(5, 6, "tiny");
	end(9);
	begin(10, "serve");
	begin(11, "parse");
	slice(12, 13, "tiny");
	end(20);
	begin(21, "serve");
	slice(30, 32, "tiny");
	end(50);
	end(60);
	slice(70, 71, "done");
	end(100);
}

static struct slice_event collected[40];
static size_t collected_count;

static void collect(const struct slice_sink *sink, void *context, const struct slice_batch *batch)
{
	(void)sink;
	(void)context;
	collected[collected_count++] = *batch->events;
}

/* All events in one batch, as without details, and then one by one, which must give the same. */
static const char *run(void)
{
	struct slice_log *at_once = malloc(sizeof(*at_once));
	struct slice_sink sink;

	start();
	filter.diag = NULL;
	sink = filter.sink;
	sink.details = false;
	filter.sink.events = collect;
	collected_count = 0;
	feed_all();
	sink.events(&sink, track, &(struct slice_batch){ collected, collected_count, NULL, false });
	*at_once = slices;
	slice_filter_release(&filter);
	slice_log_init(&slices);
	slices.names_ends = true;
	start();
	feed_all();
	slice_filter_finish(&filter);
	ck_assert_str_eq(slice_log_take(&slices), at_once->text);
	free(at_once);
	return slices.text;
}

START_TEST(a_chosen_function_is_shown_with_all_below_it_and_its_callers_as_context)
{
	pattern_list_add(&selection.symbols, "par*");
	ck_assert_str_eq(run(), "B 11 main inferred\nB 11 serve inferred\nB 11 parse\n"
				"B 12 tiny\nE 13 tiny\nE 20 parse\nE 20 serve\nE 20 main\n");
	ck_assert_uint_eq(diag_kinds(&diag), 0);
}
END_TEST

/* ptrace2ftf(1), --symbol: "as shown or as in the symbol table". */
START_TEST(a_function_may_be_chosen_by_its_name_in_the_symbol_table)
{
	struct symbol shown = { .name = name_intern_text(&names, "space::f"),
				.linkage = name_intern_text(&names, "_ZN5space1fEv") };

	pattern_list_add(&selection.symbols, "_ZN5space1f*");
	start();
	begin(0, "main");
	feed_begin(&filter.sink, track, 1, &shown, 0, 0);
	end(2);
	end(3);
	ck_assert_str_eq(slice_log_take(&slices),
			 "B 1 main inferred\nB 1 space::f\nE 2 space::f\nE 2 main\n");
}
END_TEST

START_TEST(a_chosen_function_within_itself_is_one_part)
{
	pattern_list_add(&selection.symbols, "serve");
	ck_assert_str_eq(run(), "B 10 main inferred\nB 10 serve\nB 11 parse\nB 12 tiny\nE 13 tiny\n"
				"E 20 parse\nB 21 serve\nB 30 tiny\nE 32 tiny\nE 50 serve\n"
				"E 60 serve\nE 60 main\n");
}
END_TEST

START_TEST(a_function_without_calls_gets_a_warning)
{
	pattern_list_add(&selection.symbols, "nothing");
	ck_assert_str_eq(run(), "");
	ck_assert_uint_eq(diag_kinds(&diag), 1);
}
END_TEST

/* The warning names what was chosen, and says what to do. */
START_TEST(a_selection_without_calls_says_why)
{
	static const char *const expected[] = {
		"no call of 'main' took longer than --within says",
		"no function of a file matching 'lib*' was called",
		"no call matches the options",
		"no call matches the options",
		"no call matches the options",
	};

	static const uint64_t durations[] = { 10 };

	if (_i == 0 || _i == 2)
		selection.within.function = strdup("main");
	if (_i == 1 || _i >= 3)
		pattern_list_add(&selection.dsos, "lib*");
	if (_i == 2 || _i == 3)
		pattern_list_add(&selection.symbols, "serve");
	if (_i == 4)
		selection.start = selection.stop = "serve";
	start();
	slice_filter_set_calls(track, durations, 1000);
	slice(0, 10, "serve");
	slice(20, 30, "main");
	slice_filter_finish(&filter);
	ck_assert_str_eq(slice_log_take(&slices), "");
	ck_assert_uint_ge(diag_kinds(&diag), 1);
	ck_assert_str_eq(diag.first->kind, "nothing-selected");
	ck_assert_msg(strncmp(diag.first->text, expected[_i], strlen(expected[_i])) == 0, "%s",
		      diag.first->text);
}
END_TEST

START_TEST(between_is_from_one_call_to_the_other)
{
	selection.start = "parse";
	selection.stop = "done";
	/* seeds.md: -filter shows what lies between two functions */
	/* seeds.md: it begins with the stack at that moment, as inferred frames */
	ck_assert_str_eq(run(),
			 "B 11 main inferred\nB 11 serve inferred\nB 11 parse\nB 12 tiny\n"
			 "E 13 tiny\nE 20 parse\nB 21 serve\nB 30 tiny\nE 32 tiny\nE 50 serve\n"
			 "E 60 serve\nE 70 main\n");
	ck_assert_uint_eq(diag_kinds(&diag), 0);
}
END_TEST

START_TEST(between_two_calls_of_one_function_are_all_stretches_of_it)
{
	selection.start = selection.stop = "serve";
	ck_assert_str_eq(
		run(), "B 10 main inferred\nB 10 serve\nB 11 parse\nB 12 tiny\nE 13 tiny\n"
		       "E 20 parse\nE 21 serve\nE 21 main\n"
		       "B 21 main inferred\nB 21 serve inferred\nB 21 serve\nB 30 tiny\nE 32 tiny\n"
		       "E 50 serve\nE 60 serve\nB 70 done\nE 71 done\nE 100 main\n");
	ck_assert_uint_eq(diag_kinds(&diag), 1); /* no serve() after the second one */
}
END_TEST

START_TEST(deeper_levels_are_left_out)
{
	selection.depth = 2;
	ck_assert_str_eq(run(), "B 0 main\nB 1 init\nE 9 init\nB 10 serve\nE 60 serve\n"
				"B 70 done\nE 71 done\nE 100 main\n");
}
END_TEST

/* Under callers, which do not count as levels. */
START_TEST(levels_count_from_the_chosen_function)
{
	pattern_list_add(&selection.symbols, "parse");
	pattern_list_add(&selection.symbols, "init");
	selection.depth = 1;
	ck_assert_str_eq(run(), "B 1 main inferred\nB 1 init\nE 9 init\nE 9 main\n"
				"B 11 main inferred\nB 11 serve inferred\nB 11 parse\nE 20 parse\n"
				"E 20 serve\nE 20 main\n");
}
END_TEST

START_TEST(levels_count_from_where_between_begins)
{
	selection.start = "parse";
	selection.stop = "done";
	selection.depth = 1;
	ck_assert_str_eq(run(), "B 11 main inferred\nB 11 serve inferred\nB 11 parse\nE 20 parse\n"
				"B 21 serve\nE 50 serve\nE 60 serve\nE 70 main\n");
}
END_TEST

START_TEST(stacks_begin_at_a_root)
{
	pattern_list_add(&selection.roots, "serve");
	ck_assert_str_eq(run(), "B 10 serve\nB 11 parse\nB 12 tiny\nE 13 tiny\nE 20 parse\n"
				"B 21 serve\nB 30 tiny\nE 32 tiny\nE 50 serve\nE 60 serve\n");
	ck_assert_uint_eq(filter.counts.outside, 5); /* main, init, tiny, tiny, done */
	ck_assert_uint_eq(diag_kinds(&diag), 0);
}
END_TEST

START_TEST(levels_count_from_a_root)
{
	pattern_list_add(&selection.roots, "serve");
	selection.depth = 2;
	ck_assert_str_eq(run(), "B 10 serve\nB 11 parse\nE 20 parse\nB 21 serve\nE 50 serve\n"
				"E 60 serve\n");
}
END_TEST

/* init calls tiny too, outside serve. */
START_TEST(what_is_chosen_has_callers_from_the_root_on)
{
	pattern_list_add(&selection.roots, "serve");
	pattern_list_add(&selection.symbols, "tiny");
	ck_assert_str_eq(run(), "B 12 serve inferred\nB 12 parse inferred\nB 12 tiny\nE 13 tiny\n"
				"E 13 parse\nE 13 serve\nB 30 serve inferred\nB 30 serve inferred\n"
				"B 30 tiny\nE 32 tiny\nE 32 serve\nE 32 serve\n");
	ck_assert_uint_eq(filter.counts.parts, 2);
}
END_TEST

/* init's tiny begins nothing, because it is outside serve. */
START_TEST(between_begins_under_a_root)
{
	pattern_list_add(&selection.roots, "serve");
	selection.start = "tiny";
	selection.stop = "done";
	ck_assert_str_eq(run(), "B 12 serve inferred\nB 12 parse inferred\nB 12 tiny\nE 13 tiny\n"
				"E 20 parse\nB 21 serve\nB 30 tiny\nE 32 tiny\nE 50 serve\n"
				"E 60 serve\n");
}
END_TEST

START_TEST(what_a_hidden_function_calls_stays)
{
	pattern_list_add(&selection.hidden, "serve");
	pattern_list_add(&selection.hidden, "init");
	selection.depth = 2;
	ck_assert_str_eq(
		run(), "B 0 main\nB 2 tiny\nE 3 tiny\nB 5 tiny\nE 6 tiny\nB 11 parse\nE 20 parse\n"
		       "B 30 tiny\nE 32 tiny\nB 70 done\nE 71 done\nE 100 main\n");
}
END_TEST

START_TEST(short_slices_are_counted_in_what_is_shown_around_them)
{
	/* init is also too short: with its two tiny ones it makes three, of 8 ns. */
	selection.min_duration = 9;
	ck_assert_str_eq(run(), "B 0 main\nB 10 serve\nB 11 parse\nF 1 1\nE 20 parse\nB 21 serve\n"
				"F 1 2\nE 50 serve\nE 60 serve\nF 4 9\nE 100 main\n");
}
END_TEST

START_TEST(a_short_slice_that_nothing_is_around_is_shown)
{
	selection.min_duration = 1000;
	ck_assert_str_eq(run(), "B 0 main\nF 9 59\nE 100 main\n");
}
END_TEST

START_TEST(a_mark_keeps_the_slices_around_it)
{
	selection.min_duration = 10;
	start();
	begin(0, "f");
	begin(1, "g");
	feed_instant(&filter.sink, track, 2, "mark");
	end(3);
	end(50);
	ck_assert_str_eq(slice_log_take(&slices), "B 0 f\nB 1 g\nI 2 mark\nE 3 g\nE 50 f\n");
}
END_TEST

static void mark(uint64_t time)
{
	feed_instant(&filter.sink, track, time, "mark");
}

START_TEST(a_mark_is_shown_where_the_part_is)
{
	selection.start = "f";
	selection.stop = "g";
	start();
	mark(1);
	begin(2, "main");
	mark(3);
	begin(4, "f");
	mark(5);
	end(6);
	slice(7, 8, "g");
	mark(9);
	ck_assert_str_eq(slice_log_take(&slices),
			 "B 4 main inferred\nB 4 f\nI 5 mark\nE 6 f\nE 7 main\n");
}
END_TEST

START_TEST(a_mark_before_all_slices_is_shown_if_all_are)
{
	selection.depth = 2;
	start();
	mark(1);
	ck_assert_str_eq(slice_log_take(&slices), "I 1 mark\n");
}
END_TEST

START_TEST(each_part_counts_its_own_short_slices)
{
	selection.start = "f";
	selection.stop = "g";
	selection.min_duration = 5;
	start();
	begin(0, "main");
	slice(1, 10, "f");
	slice(12, 13, "tiny");
	slice(20, 30, "g");
	slice(40, 45, "f");
	slice(50, 60, "g");
	ck_assert_str_eq(slice_log_take(&slices),
			 "B 1 main inferred\nB 1 f\nE 10 f\nF 1 1\nE 20 main\n"
			 "B 40 main inferred\nB 40 f\nE 45 f\nE 50 main\n");
}
END_TEST

START_TEST(choices_narrow_each_other_down)
{
	pattern_list_add(&selection.symbols, "serve");
	pattern_list_add(&selection.hidden, "main");
	selection.start = "init";
	selection.stop = "parse";
	selection.min_duration = 1;
	ck_assert_str_eq(run(), "B 10 serve\nE 11 serve\n");
}
END_TEST

START_TEST(what_a_chosen_function_calls_can_be_hidden_or_a_mark)
{
	const struct symbol f = { .name = name_intern_text(&names, "f"), .linkage = f.name },
			    hidden = { .name = name_intern_text(&names, "hidden"),
				       .linkage = hidden.name };
	const struct slice_event events[] = {
		{ .time = 1, .symbol = &f, .kind = SLICE_BEGIN },
		{ .time = 2, .symbol = &f, .kind = SLICE_BEGIN },
		{ .time = 3, .symbol = &hidden, .kind = SLICE_BEGIN },
		{ .time = 4, .symbol = &f, .kind = SLICE_BEGIN },
		{ .time = 5, .text = "mark", .kind = SLICE_INSTANT },
		{ .time = 6, .kind = SLICE_END },
		{ .time = 7, .kind = SLICE_END },
		{ .time = 8, .kind = SLICE_END },
		{ .time = 9, .kind = SLICE_END },
		{ .time = 10, .kind = SLICE_END }, /* of no slice */
	};

	pattern_list_add(&selection.symbols, "f");
	pattern_list_add(&selection.hidden, "hidden");
	start();
	filter.sink.events(&filter.sink, track,
			   &(struct slice_batch){ events, COUNT_OF(events), NULL, false });
	ck_assert_str_eq(slice_log_take(&slices),
			 "B 1 f\nB 2 f\nB 4 f\nI 5 mark\nE 6 f\nE 8 f\nE 9 f\n");
}
END_TEST

static void note_context(const struct slice_sink *sink, void *context,
			 const struct slice_batch *batch)
{
	char *text = sink->context;

	(void)context;
	for (size_t i = 0; i < batch->count; i++)
		if (batch->events[i].kind == SLICE_BEGIN && batch->events[i].flags & SLICE_CONTEXT)
			strcat(strcat(text, batch->events[i].symbol->name->text), " ");
}

/* A part of --between can begin in a chosen call, whose time after it belongs to the part. */
START_TEST(only_callers_of_chosen_calls_are_context)
{
	static const struct {
		const char *symbol, *start, *within, *context;
	} cases[] = {
		{ "serve", NULL, NULL, "main " },
		{ NULL, "parse", NULL, "" },
		{ "serve", "parse", NULL, "main " },
		{ "tiny", "parse", NULL, "main serve parse main serve serve " },
		{ NULL, NULL, "serve", "main " },
		{ NULL, "parse", "serve", "main " },
		{ "parse", NULL, "serve", "main serve " },
	};
	char text[200] = "";
	static const uint64_t lengths[] = { 30, 29 };

	slices.sink = (struct slice_sink){ .events = note_context, .context = text };
	if (cases[_i].symbol)
		pattern_list_add(&selection.symbols, cases[_i].symbol);
	if (cases[_i].start) {
		selection.start = cases[_i].start;
		selection.stop = "done";
	}
	if (cases[_i].within)
		ck_assert(selection_within(&selection, "serve>1ns"));
	start();
	slice_filter_set_calls(track, lengths, 0);
	feed_all();
	ck_assert_str_eq(text, cases[_i].context);
}
END_TEST

START_TEST(slices_that_end_after_a_part_end_with_it)
{
	selection.start = "f";
	selection.stop = "g";
	start();
	begin(0, "f");
	begin(1, "inner");
	slice(2, 3, "g");
	end(4);
	end(5);
	ck_assert_str_eq(slice_log_take(&slices), "B 0 f\nB 1 inner\nE 2 inner\nE 2 f\n");
}
END_TEST

static void expect_detail(struct slice_log *log, const struct slice_event *event,
			  const struct slice_detail *detail)
{
	(void)log;
	ck_assert_ptr_nonnull(detail);
	ck_assert_uint_eq(detail->insns, event->time);
}

START_TEST(details_stay_with_their_events)
{
	const struct symbol f = { .name = name_intern_text(&names, "f"), .linkage = f.name };

	slices.sink.details = true;
	slices.before = expect_detail;
	start();
	for (uint64_t time = 1; time < 5; time++)
		slice_sink_emit(&filter.sink, track,
				&(struct slice_event){ .time = time,
						       .symbol = &f,
						       .kind = time < 3 ? SLICE_BEGIN : SLICE_END },
				&(struct slice_detail){ .insns = time });
	ck_assert_str_eq(slice_log_take(&slices), "B 1 f\nB 2 f\nE 3 f\nE 4 f\n");
}
END_TEST

/* The caller's counts begin where it is first shown, not where it was called. */
START_TEST(details_of_a_caller_are_of_the_time_at_which_it_is_shown)
{
	const struct symbol made[] = {
		{ .name = name_intern_text(&names, "f"), .linkage = made[0].name },
		{ .name = name_intern_text(&names, "g"), .linkage = made[1].name }
	};

	pattern_list_add(&selection.symbols, "g");
	slices.sink.details = true;
	slices.before = expect_detail;
	start();
	for (uint64_t time = 1; time < 5; time++)
		slice_sink_emit(&filter.sink, track,
				&(struct slice_event){ .time = time,
						       .symbol = &made[time == 2 || time == 3],
						       .kind = time < 3 ? SLICE_BEGIN : SLICE_END },
				&(struct slice_detail){ .insns = time });
	ck_assert_str_eq(slice_log_take(&slices), "B 2 f inferred\nB 2 g\nE 3 g\nE 3 f\n");
}
END_TEST

START_TEST(more_slices_than_the_output_can_take_are_counted)
{
	start();
	filter.most = 2;
	begin(0, "a");
	slice(0, 1, "b");
	begin(1, "b");
	begin(2, "c");
	end(3);
	end(4);
	end(5);
	slice_filter_finish(&filter);
	ck_assert_str_eq(slice_log_take(&slices), "B 0 a\nB 0 b\nE 1 b\nB 1 b\nE 4 b\nE 5 a\n");
	ck_assert_uint_eq(filter.counts.too_deep, 1);
	ck_assert_uint_eq(diag_kinds(&diag), 1);
}
END_TEST

/* The depth, the greatest one, the number of begins, and the largest batch. */
static void note_depth(const struct slice_sink *sink, void *context,
		       const struct slice_batch *batch)
{
	size_t *depths = sink->context;

	(void)context;
	depths[3] = MAX(batch->count, depths[3]);
	for (size_t i = 0; i < batch->count; i++) {
		depths[0] += batch->events[i].kind == SLICE_BEGIN;
		depths[0] -= batch->events[i].kind == SLICE_END;
		depths[2] += batch->events[i].kind == SLICE_BEGIN;
		depths[1] = MAX(depths[0], depths[1]);
	}
}

/* A recursion of 300 calls inside of serve and main, in one batch or in parts. */
START_TEST(a_deep_recursion_stays_in_a_part)
{
	enum { DEPTH = 300, EVENTS = 2 * DEPTH + 4 };
	const size_t part = _i ? (size_t)_i : EVENTS;
	struct symbol made[] = { { .name = name_intern_text(&names, "main") },
				 { .name = name_intern_text(&names, "serve") },
				 { .name = name_intern_text(&names, "down") } };
	struct slice_event events[EVENTS];
	size_t depths[4] = { 0 };

	for (size_t i = 0; i < EVENTS; i++)
		events[i] =
			(struct slice_event){ .time = i,
					      .symbol = &made[MIN(i, 2)],
					      .kind = i < EVENTS / 2 ? SLICE_BEGIN : SLICE_END };
	pattern_list_add(&selection.symbols, "serve");
	slices.sink = (struct slice_sink){ .events = note_depth, .context = depths };
	start();
	for (size_t i = 0; i < EVENTS; i += part)
		filter.sink.events(
			&filter.sink, track,
			&(struct slice_batch){ events + i, MIN(part, EVENTS - i), NULL, false });
	ck_assert_uint_eq(depths[1], DEPTH + 2);
	ck_assert_uint_eq(depths[0], 0);
}
END_TEST

/* 400 parts of 6 events each, of which a run of two fills the waiting events. */
START_TEST(many_parts_pass_whole)
{
	enum { PARTS = 400, EVENTS = 4 * PARTS + 1 };
	struct symbol made[] = { { .name = name_intern_text(&names, "main") },
				 { .name = name_intern_text(&names, "serve") },
				 { .name = name_intern_text(&names, "parse") } };
	struct slice_event events[EVENTS];
	size_t depths[4] = { 0 };

	for (size_t i = 0; i < EVENTS; i++)
		events[i] = (struct slice_event){ .time = i,
						  .symbol = &made[i ? 1 + (i - 1) % 4 % 2 : 0],
						  .kind = i && (i - 1) % 4 > 1 ? SLICE_END
									       : SLICE_BEGIN };
	pattern_list_add(&selection.symbols, "serve");
	slices.sink = (struct slice_sink){ .events = note_depth, .context = depths };
	start();
	filter.sink.events(&filter.sink, track,
			   &(struct slice_batch){ events, EVENTS, NULL, false });
	ck_assert_uint_eq(depths[1], 3);
	ck_assert_uint_eq(depths[0], 0);
	ck_assert_uint_eq(depths[2], 3 * PARTS);
	ck_assert_uint_le(depths[3], SLICE_FILTER_WAITING);
}
END_TEST

/* Calls of serve take 10, 30 (with one of 10 inside), and 20 ns, on two threads. */
START_TEST(within_shows_what_runs_in_calls_slower_than_a_bound)
{
	static const struct {
		const char *within, *expected;
	} cases[] = {
		{ "serve>20ns", "B 30 main inferred\nB 30 serve\nB 35 serve\nB 40 in\nE 41 in\n"
				"E 45 serve\nE 60 serve\nE 60 main\n" },
		{ "serve>30ns", "" },
		{ "ser*>p70", "B 30 main inferred\nB 30 serve\nB 35 serve\nB 40 in\nE 41 in\n"
			      "E 45 serve\nE 60 serve\nE 60 main\n" },
	};
	struct track threads[] = { { .tid = 1, .index = 0 }, { .tid = 2, .index = 1 } };
	struct slice_within within;
	const struct {
		uint64_t time;
		const char *name; /* NULL: an end */
	} events[] = { { 0, "main" },   { 5, "serve" }, { 15, NULL }, { 30, "serve" },
		       { 35, "serve" }, { 40, "in" },   { 41, NULL }, { 45, NULL },
		       { 60, NULL },    { 90, NULL } };
	struct symbol made[10];

	ck_assert(selection_within(&selection, cases[_i].within));
	start();
	slice_within_init(&within, &filter, &names);
	slice_within_add_track(&within, &threads[0], track);
	slice_within_add_track(&within, &threads[1], slice_filter_track(&filter, NULL));
	for (size_t i = 0; i < 10; i++) {
		made[i] = (struct symbol){ .name = name_intern_text(
						   &names, events[i].name ? events[i].name : "") };
		made[i].linkage = made[i].name;
		if (events[i].name)
			feed_begin(&within.sink, &threads[0], events[i].time, &made[i], 0, 0);
		else
			feed_end(&within.sink, &threads[0], events[i].time);
	}
	feed_begin(&within.sink, &threads[1], 10, &made[1], 0, 0);
	feed_end(&within.sink, &threads[1], 30);
	slice_within_finish(&within);
	slice_filter_finish(&filter);
	ck_assert_str_eq(slice_log_take(&slices), cases[_i].expected);
	slice_within_release(&within);
}
END_TEST

/* A call of serve outside main also has a duration, which is not the next one's. */
START_TEST(within_counts_calls_outside_of_a_root)
{
	struct track thread = { .tid = 1, .index = 0 };
	struct slice_within within;
	const struct symbol made[] = {
		{ .name = name_intern_text(&names, "serve"), .linkage = made[0].name },
		{ .name = name_intern_text(&names, "main"), .linkage = made[1].name }
	};

	pattern_list_add(&selection.roots, "main");
	ck_assert(selection_within(&selection, "serve>20ns"));
	start();
	slice_within_init(&within, &filter, &names);
	slice_within_add_track(&within, &thread, track);
	feed_begin(&within.sink, &thread, 0, &made[0], 0, 0);
	feed_end(&within.sink, &thread, 10);
	feed_begin(&within.sink, &thread, 20, &made[1], 0, 0);
	feed_begin(&within.sink, &thread, 30, &made[0], 0, 0);
	feed_end(&within.sink, &thread, 60);
	feed_end(&within.sink, &thread, 90);
	slice_within_finish(&within);
	slice_filter_finish(&filter);
	ck_assert_str_eq(slice_log_take(&slices),
			 "B 30 main inferred\nB 30 serve\nE 60 serve\nE 60 main\n");
	slice_within_release(&within);
}
END_TEST

/* An end at the begin of the chosen work is not in it; a begin at its end is. */
START_TEST(what_is_open_at_a_bound_of_the_chosen_work_is_cut)
{
	static const struct {
		uint64_t from, to;
		const char *text;
	} ranges[] = {
		{ 15, 29,
		  "B 15 main inferred\nB 15 serve inferred\nB 15 parse inferred\nE 20 parse\n"
		  "B 21 serve\nE 29 serve\nE 29 serve\nE 29 main\n" },
		{ 40, 45,
		  "B 40 main inferred\nB 40 serve inferred\nB 40 serve inferred\nE 45 serve\n"
		  "E 45 serve\nE 45 main\n" },
		{ 0, 1, "B 0 main\nB 1 init\nE 1 init\nE 1 main\n" },
		{ 60, 70, "B 60 main inferred\nB 70 done\nE 70 done\nE 70 main\n" },
		{ 71, UINT64_MAX, "B 71 main inferred\nE 100 main\n" },
		{ 101, 200, "" },
	};

	selection.work = (struct work_range){ true, false, ranges[_i].from, ranges[_i].to };
	start();
	feed_all();
	ck_assert_str_eq(slice_log_take(&slices), ranges[_i].text);
}
END_TEST

START_TEST(chosen_work_has_the_counts_of_its_bounds)
{
	const struct symbol f = { .name = name_intern_text(&names, "f"), .linkage = f.name };

	slices.sink.details = true;
	slices.before = expect_detail;
	selection.work = (struct work_range){ true, false, 3, 5 };
	start();
	for (uint64_t time = 1; time < 10; time += 8)
		slice_sink_emit(&filter.sink, track,
				&(struct slice_event){ .time = time,
						       .symbol = &f,
						       .kind = time < 2 ? SLICE_BEGIN : SLICE_END },
				&(struct slice_detail){ .insns = time });
	ck_assert_str_eq(slice_log_take(&slices), "B 3 f inferred\nE 5 f\n");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("span_filter");
	TCase *all = tcase_create("span_filter");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all,
		       a_chosen_function_is_shown_with_all_below_it_and_its_callers_as_context);
	tcase_add_test(all, a_function_may_be_chosen_by_its_name_in_the_symbol_table);
	tcase_add_test(all, a_chosen_function_within_itself_is_one_part);
	tcase_add_test(all, a_function_without_calls_gets_a_warning);
	tcase_add_loop_test(all, a_selection_without_calls_says_why, 0, 5);
	tcase_add_test(all, between_is_from_one_call_to_the_other);
	tcase_add_test(all, between_two_calls_of_one_function_are_all_stretches_of_it);
	tcase_add_test(all, deeper_levels_are_left_out);
	tcase_add_test(all, levels_count_from_the_chosen_function);
	tcase_add_test(all, levels_count_from_where_between_begins);
	tcase_add_test(all, stacks_begin_at_a_root);
	tcase_add_test(all, levels_count_from_a_root);
	tcase_add_test(all, what_is_chosen_has_callers_from_the_root_on);
	tcase_add_test(all, between_begins_under_a_root);
	tcase_add_test(all, what_a_hidden_function_calls_stays);
	tcase_add_test(all, short_slices_are_counted_in_what_is_shown_around_them);
	tcase_add_test(all, a_short_slice_that_nothing_is_around_is_shown);
	tcase_add_test(all, a_mark_keeps_the_slices_around_it);
	tcase_add_test(all, a_mark_is_shown_where_the_part_is);
	tcase_add_test(all, a_mark_before_all_slices_is_shown_if_all_are);
	tcase_add_test(all, each_part_counts_its_own_short_slices);
	tcase_add_test(all, choices_narrow_each_other_down);
	tcase_add_test(all, what_a_chosen_function_calls_can_be_hidden_or_a_mark);
	tcase_add_loop_test(all, only_callers_of_chosen_calls_are_context, 0, 7);
	tcase_add_test(all, slices_that_end_after_a_part_end_with_it);
	tcase_add_test(all, details_stay_with_their_events);
	tcase_add_test(all, details_of_a_caller_are_of_the_time_at_which_it_is_shown);
	tcase_add_test(all, more_slices_than_the_output_can_take_are_counted);
	tcase_add_loop_test(all, a_deep_recursion_stays_in_a_part, 0, 3);
	tcase_add_test(all, many_parts_pass_whole);
	tcase_add_loop_test(all, within_shows_what_runs_in_calls_slower_than_a_bound, 0, 3);
	tcase_add_test(all, within_counts_calls_outside_of_a_root);
	tcase_add_loop_test(all, what_is_open_at_a_bound_of_the_chosen_work_is_cut, 0, 6);
	tcase_add_test(all, chosen_work_has_the_counts_of_its_bounds);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
