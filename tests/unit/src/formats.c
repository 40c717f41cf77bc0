/* SPDX-License-Identifier: MIT */
/* Other tools' formats of slices made by hand. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/io/output.h"
#include "src/callstack/callstack.h"
#include "src/formats/output_format.h"
#include "src/formats/text/digits.h"
#include "src/html/html_page.h"
#include "src/options/options.h"
#include "src/slices/event_sink.h"
#include "src/slices/slice_sorter.h"
#include "src/slices/slice_store.h"
#include "src/slices/track.h"
#include "tests/support/unit.h"
#include "tests/unit/src/slice_feed.h"

static struct name_table names;
static struct arena arena;
static struct symbol by_name[64]; /* by id of the name */
static struct track tracks[3];
static const struct symbol *open_slices[3][128];
static size_t depths[3];
static char *text; /* the output */
static size_t size;
static FILE *out;
static const struct output_format *format; /* the open one */
static struct format_output *output;
static bool by_insns;
static uint64_t max_stack;               /* 0: the default */
static struct callstack_machine machine; /* its times are perf script's */

static void setup(void)
{
	name_table_init(&names);
	arena = (struct arena){ 0 };
	tracks[0] = (struct track){
		.pid = 1, .tid = 1, .index = 0, .process_name = "prog", .thread_name = "main"
	};
	tracks[1] = (struct track){ .pid = 1, .tid = 2, .index = 1, .thread_name = "worker" };
	tracks[2] = (struct track){ .pid = 1, .tid = 3, .index = 2 };
	memset(depths, 0, sizeof(depths));
	out = open_memstream(&text, &size);
}

static void teardown(void)
{
	fclose(out);
	free(text);
	for (int i = 0; i < 3; i++)
		free(tracks[i].open);
	name_table_release(&names);
	arena_release(&arena);
}

/* Returns the sink of an output in the format. */
static const struct slice_sink *open_format(const struct output_format *wanted,
					    enum option_args args)
{
	const struct options options = { .input = "a.data", .args = args, .max_stack = max_stack };
	static struct output file; /* unlimited */
	const struct format_request request = {
		.options = &options,
		.output = &file,
		.text = out,
		.names = &names,
		.facts.by_insns = by_insns,
	};

	format = wanted;
	output = output_format_open(format, &request);
	output->machine = &machine;
	ck_assert_ptr_nonnull(output);
	return &output->sink;
}

static void finish_format(void)
{
	format->finish(output);
	ck_assert_int_eq(output->err.kind, ERROR_NONE);
	fflush(out);
	output_format_close(format, output);
}

static bool wrote(const char *part)
{
	fflush(out);
	return strstr(text, part) != NULL;
}

static void expect(const char *part)
{
	ck_assert_msg(wrote(part), "%s", text);
}

static void begin(const struct slice_sink *sink, int track, uint64_t time, const char *name)
{
	const struct name *interned = name_intern_text(&names, name);
	struct symbol *symbol = &by_name[interned->id];

	ck_assert_uint_lt(interned->id, COUNT_OF(by_name));
	symbol->name = symbol->linkage = interned;
	open_slices[track][depths[track]++] = symbol;
	feed_begin(sink, &tracks[track], time, symbol, 0x1000, 0);
}

static void end(const struct slice_sink *sink, int track, uint64_t time)
{
	slice_sink_emit(sink, &tracks[track],
			&(struct slice_event){ .time = time,
					       .symbol = open_slices[track][--depths[track]],
					       .kind = SLICE_END },
			NULL);
}

/* Otherwise a recursion 10,000 deep would take 200 MB of spaces. */
START_TEST(tree_prints_the_depth_instead_of_an_indentation_over_64_levels)
{
	const struct slice_sink *sink = open_format(&format_tree, OPTION_ARGS_NONE);
	char indented[80 + 128];

	for (uint64_t depth = 0; depth < 67; depth++)
		begin(sink, 0, 1000 * depth, depth < 66 ? "f" : "leaf");
	for (uint64_t depth = 67; depth-- > 0;)
		end(sink, 0, 200000 - 1000 * depth);
	finish_format();
	snprintf(indented, sizeof(indented), "| %*sf() {\n", 128, "");
	expect(indented);
	snprintf(indented, sizeof(indented), "| %*s/* depth 65 */ f() {\n", 128, "");
	expect(indented);
	snprintf(indented, sizeof(indented), "| %*s/* depth 66 */ leaf();\n", 128, "");
	expect(indented);
	snprintf(indented, sizeof(indented), "| %*s/* depth 65 */ } /* f */\n", 128, "");
	expect(indented);
}
END_TEST

/* Trace Event Format: times are microseconds. */
START_TEST(chrome_has_microseconds_names_and_what_is_folded_in_each)
{
	const struct slice_sink *sink = open_format(&format_chrome, OPTION_ARGS_LOC);

	feed_instant(sink, &tracks[1], 6, "mark");
	begin(sink, 0, 1002, "f");
	begin(sink, 0, 2000, "g");
	feed_folded_end(sink, &tracks[0], 3500, 7, 70);
	end(sink, 0, 4002);
	ck_assert_uint_eq(*output->slices, 3);
	finish_format();
	expect("\"otherData\":{\"first_ns\":\"6\"}");
	expect("{\"ph\":\"M\",\"pid\":1,\"tid\":2,\"name\":\"thread_name\",\"args\":{\"name\":\"worker\"}},\n"
	       "{\"ph\":\"i\",\"pid\":1,\"tid\":2,\"ts\":0.000,\"name\":\"mark\",\"s\":\"t\"}");
	expect("\"name\":\"process_name\",\"args\":{\"name\":\"prog\"}}");
	expect("{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":0.996,\"dur\":3.000,\"name\":\"f\"},\n");
	expect("\"dur\":1.500,\"name\":\"g\",\"args\":{\"folded\":7,\"folded_time\":70}},\n");
}
END_TEST

/* Returns the time of a slice as readers find it, and its end. */
static double chrome_times(const char *name, double *last)
{
	char wanted[32];
	const char *at, *line = text;
	double first, length;

	fflush(out);
	snprintf(wanted, sizeof(wanted), "\"name\":\"%s\"", name);
	at = strstr(text, wanted);
	ck_assert_ptr_nonnull(at);
	for (const char *next; (next = strstr(line, "\"ts\":")) && next < at;)
		line = next + 1;
	ck_assert_int_eq(sscanf(line, "ts\":%lf,\"dur\":%lf", &first, &length), 2);
	*last = first + length;
	return first;
}

/* Slices of one ns and less, which begin and end with others; 1.001 * 1000 is less than 1001. */
START_TEST(chrome_nests_for_readers_that_sort_and_cut_times)
{
	const struct slice_sink *sink = open_format(&format_chrome, OPTION_ARGS_NONE);
	double ends[5], begins[5];

	begin(sink, 0, 0, "a");
	begin(sink, 0, 1001, "b");
	begin(sink, 0, 1001, "c");
	end(sink, 0, 1001);
	begin(sink, 0, 1001, "d");
	end(sink, 0, 1002);
	end(sink, 0, 1002);
	begin(sink, 0, 1002, "e");
	end(sink, 0, 1002);
	end(sink, 0, 1002);
	finish_format();
	for (int i = 0; i < 5; i++)
		begins[i] = chrome_times((const char[]){ (char)('a' + i), 0 }, &ends[i]);
	ck_assert(begins[1] <= begins[2] && begins[2] < ends[2] && ends[2] < begins[3]);
	ck_assert(ends[3] < ends[1] && ends[1] < begins[4] && ends[4] < ends[0]);
	ck_assert_uint_eq((uint64_t)(begins[1] * 1000), 1001);
	ck_assert_uint_eq((uint64_t)(begins[4] * 1000), 1002);
	for (int i = 1; i < 5; i++)
		ck_assert_uint_eq((uint64_t)(ends[i] * 1000), i == 2 ? 1001 : 1002);
}
END_TEST

/* Trace Event Format: without "bp":"e", an arrow ends at the next slice of its thread. */
START_TEST(chrome_ends_arrows_at_the_slice_around_them)
{
	struct track_event event = { .time = 7, .track = { 1, 2 }, .name = text_view_of("block") };

	open_format(&format_chrome, OPTION_ARGS_NONE);
	for (event.kind = TRACK_FLOW_BEGIN; event.kind <= TRACK_FLOW_END; event.kind++) {
		event.id = 5;
		event_sink_emit(output->events, &event);
	}
	finish_format();
	expect("{\"ph\":\"s\",\"pid\":1,\"tid\":2,\"ts\":0.000,\"name\":\"block\",\"id\":\"5\"},\n");
	expect("{\"ph\":\"t\",\"pid\":1,\"tid\":2,\"ts\":0.000,\"name\":\"block\",\"id\":\"5\"},\n");
	expect("\"ts\":0.000,\"name\":\"block\",\"id\":\"5\",\"bp\":\"e\"}\n");
}
END_TEST

START_TEST(chrome_shows_whether_a_call_was_seen_and_inlined)
{
	static const int anything;
	struct symbol symbol = { .name = name_intern_text(&names, "f") };
	const struct slice_sink *sink = open_format(&format_chrome, OPTION_ARGS_NONE);

	symbol.linkage = symbol.name;
	symbol.inlined = (const void *)&anything;
	feed_begin(sink, &tracks[0], 1, &symbol, 0, SLICE_INFERRED_START);
	feed_end(sink, &tracks[0], 1);
	finish_format();
	expect("\"name\":\"f\"}");
	sink = open_format(&format_chrome, OPTION_ARGS_LOC);
	feed_begin(sink, &tracks[0], 1, &symbol, 0, SLICE_INFERRED_START);
	feed_end(sink, &tracks[0], 1);
	finish_format();
	expect("\"name\":\"f\",\"args\":{\"inlined\":true,"
	       "\"inferred_start_time\":true}}");
	sink = open_format(&format_chrome, OPTION_ARGS_LOC);
	symbol.inlined = NULL;
	feed_begin(sink, &tracks[0], 2, &symbol, 0, SLICE_INFERRED_START | SLICE_UNCERTAIN_LEVEL);
	feed_end(sink, &tracks[0], 3);
	finish_format();
	/* seeds.md: inferred slices have inferred_start_time */
	expect("\"name\":\"f\",\"args\":{\"inferred_start_time\":true,"
	       "\"uncertain_level\":true}}");
}
END_TEST

/* flamegraph.pl: ';' separates names. */
START_TEST(folded_stacks_have_their_own_time_only)
{
	const struct slice_sink *sink = open_format(&format_folded, OPTION_ARGS_LINE);

	begin(sink, 0, 100, "a;b");
	begin(sink, 0, 100, "empty");
	begin(sink, 0, 100, "c");
	end(sink, 0, 130);
	end(sink, 0, 130);
	end(sink, 0, 150);
	begin(sink, 2, 500, "d"); /* no time passes between */
	end(sink, 2, 501);
	begin(sink, 0, 1000, "d");
	end(sink, 0, 1001);
	finish_format();
	ck_assert_str_eq(text, "main;a?b 20\nmain;a?b;empty;c 30\nunknown;d 1\nmain;d 1\n");
}
END_TEST

/* f calls itself on one thread, and runs on another at the same time. */
START_TEST(functions_count_the_outermost_call_of_each_thread)
{
	const struct slice_sink *sink = open_format(&format_functions, OPTION_ARGS_LINE);

	begin(sink, 0, 0, "f");
	begin(sink, 1, 10, "f");
	begin(sink, 0, 20, "f");
	end(sink, 0, 30);
	end(sink, 0, 100);
	end(sink, 1, 110);
	for (int i = 0; i < 2; i++) {
		begin(sink, 0, 200, i ? "a\x1b\x7f" : "b");
		end(sink, 0, 210);
	}
	finish_format();
	expect("         3      200ns      200ns  90.9%       10ns      100ns      100ns      100ns  f\n"
	       "         1       10ns       10ns   4.5%       10ns       10ns       10ns       10ns  a\\x1b\\x7f\n"
	       "         1       10ns       10ns   4.5%       10ns       10ns       10ns       10ns  b\n"
	       "times are those of perf script\n");
}
END_TEST

/*
 * A thread's slices as a machine finds them, at random: callers when they return, in up to two
 * slices of the parent's stack.
 */
static void feed_late(const struct slice_sink *sink, void *track, unsigned seed)
{
	const struct symbol *open[64], *late[64];
	struct slice_detail detail = { 0 };
	struct slice_event event = { .time = 100 };
	size_t depth = 0, found = 0, inherited = seed % 3;
	bool ended = false;

	for (size_t i = 0; i < 4; i++) {
		const struct name *name = name_intern_text(&names, (const char[]){ "fghi"[i], 0 });

		by_name[i].name = by_name[i].linkage = name;
	}
	slice_sink_since(sink, track, event.time);
	while (event.time < 600 || depth) {
		bool known = depth < inherited && !ended, begins = known;

		seed = seed * 1103515245 + 12345;
		begins |= depth < 8 && event.time < 600 && (seed >> 16 & 1);
		if (!begins && !depth && (inherited || found == COUNT_OF(late)))
			break;
		event.kind = begins ? SLICE_BEGIN : SLICE_END;
		event.symbol = &by_name[seed >> 20 & 3];
		if (begins)
			open[depth++] = event.symbol;
		else if (depth > (event.time < 500 ? inherited : 0) || (depth && found > 8))
			event.symbol = open[--depth];
		else
			late[found++] = event.symbol;
		slice_sink_emit(sink, track, &event, &detail);
		ended |= !begins;
		event.time += known ? depth == inherited : seed >> 24 & 3;
		detail.insns += known ? 0 : seed >> 26 & 7;
	}
	while (found) {
		event = (struct slice_event){
			.time = 100,
			.symbol = late[--found],
			.kind = SLICE_BEGIN,
			.flags = SLICE_INFERRED_START,
			.order = inherited ? (int8_t)(SLICE_ORDER_PLAIN + (int)inherited)
					   : SLICE_ORDER_DEFERRED,
		};
		slice_sink_emit(sink, track, &event, &(struct slice_detail){ 0 });
	}
	slice_sink_flush(sink, track);
}

/* Expect the same sums if callers come before or after the slices inside of them. */
static void compare_late(const struct output_format *sums, unsigned number)
{
	char *tables[2] = { 0 };

	by_insns = number % 2;
	for (int late = 0; late < 2; late++) {
		struct slice_sink sink = *open_format(sums, OPTION_ARGS_NONE);
		struct slice_sorter sorter;
		struct sorter_track *both[2];

		ck_assert(sink.late);
		sink.late = sink.sums = late;
		slice_sorter_init(&sorter, &sink, NULL);
		sorter.depth = SIZE_MAX;
		sorter.part = 10;
		for (int i = 0; i < 2; i++)
			both[i] = slice_sorter_track(&sorter, &tracks[i]);
		for (unsigned i = 0; i < 2; i++)
			feed_late(&sorter.sink, both[i], 2 * number + i);
		slice_sorter_finish(&sorter);
		ck_assert_uint_eq(sorter.unmatched_ends, 0);
		slice_sorter_release(&sorter);
		finish_format();
		tables[late] = strndup(text, size); /* rewind() leaves the rest of the first one */
		rewind(out);
	}
	by_insns = false;
	ck_assert(strcmp(tables[0], tables[1]) == 0); /* they are too long for a message */
	free(tables[0]);
	free(tables[1]);
}

START_TEST(functions_take_callers_late)
{
	compare_late(&format_functions, (unsigned)_i);
}
END_TEST

/* The order of the stacks stays, too; late callers can make others too deep. */
START_TEST(folded_stacks_take_callers_late)
{
	max_stack = (uint64_t[]){ 0, 3, 6 }[_i % 3];
	compare_late(&format_folded, (unsigned)_i / 3);
	max_stack = 0;
}
END_TEST

START_TEST(a_slice_precedes_those_in_it_and_open_ones_are_left_out)
{
	const struct slice_sink *sink = open_format(&format_slices, OPTION_ARGS_NONE);

	begin(sink, 0, 1, "open");
	begin(sink, 1, 5, "outer\\");
	begin(sink, 1, 5, "inner\n");
	end(sink, 1, 6);
	end(sink, 1, 7);
	begin(sink, 1, 8, "f");
	begin(sink, 1, 9, "in f");
	end(sink, 1, 9);
	end(sink, 1, 9);
	begin(sink, 1, 9, "g");
	end(sink, 1, 10);
	finish_format();
	ck_assert_str_eq(text, "1/2 0 5 7 outer\\x5c\n1/2 1 5 6 inner\\x0a\n"
			       "1/2 0 8 9 f\n1/2 1 9 9 in f\n1/2 0 9 10 g\n");
}
END_TEST

START_TEST(slices_show_what_is_folded_in_each)
{
	const struct slice_sink *sink = open_format(&format_slices, OPTION_ARGS_LINE);

	begin(sink, 0, 1, "f");
	begin(sink, 0, 2, "g");
	feed_folded_end(sink, &tracks[0], 100, 7, 70);
	end(sink, 0, 101);
	finish_format();
	/* seeds.md: a slice has the argument address */
	ck_assert_str_eq(text, "1/1 0 1 101 f address=0x1000\n"
			       "1/1 1 2 100 g address=0x1000 folded=7 folded_time=70\n");
}
END_TEST

/* ---- Formats that store all slices first ----------------------------------- */

static struct slice_store store;
static struct slice_sink to_store;

static void open_store(void)
{
	store = (struct slice_store){ .names = &names };
	to_store = slice_store_sink(&store, false, true);
}

/* Two threads alternate. */
START_TEST(the_store_replays_what_each_thread_did)
{
	open_store();
	begin(&to_store, 0, 1, "f");
	begin(&to_store, 1, 2, "g");
	begin(&to_store, 0, 3, "in f");
	feed_folded_end(&to_store, &tracks[1], 4, 7, 70);
	end(&to_store, 0, 5);
	feed_instant(&to_store, &tracks[1], 6, "mark");
	end(&to_store, 0, 7);
	slice_store_replay(&store, open_format(&format_slices, OPTION_ARGS_LINE));
	finish_format();
	ck_assert_str_eq(text,
			 "1/1 0 1 7 f address=0x1000\n1/1 1 3 5 in f address=0x1000\n"
			 "1/2 0 2 4 g address=0x1000 folded=7 folded_time=70\n1/2 0 6 6 mark\n");
	ck_assert_uint_eq(store.tracks[1].end, 6);
	slice_store_release(&store);
}
END_TEST

static char replayed[200];

static void note_events(const struct slice_sink *sink, void *at, const struct slice_batch *batch)
{
	(void)sink;
	for (size_t i = 0; i < batch->count; i++)
		sprintf(replayed + strlen(replayed), "%d/%u%s ", (int)batch->events[i].time,
			((struct track *)at)->index,
			slice_batch_detail(batch, &batch->events[i]) ? "*" : "");
}

/* As the sorter emits: a part of one thread, then a part of another. */
START_TEST(the_store_replays_by_time_and_at_equal_times_by_thread)
{
	const struct slice_sink sink = { .events = note_events, .details = true, .folded = true };

	open_store();
	begin(&to_store, 1, 2, "g");
	end(&to_store, 1, 4);
	begin(&to_store, 1, 9, "g");
	begin(&to_store, 0, 1, "f");
	end(&to_store, 0, 2);
	begin(&to_store, 0, 4, "f");
	feed_folded_end(&to_store, &tracks[0], 10, 7, 70);
	end(&to_store, 1, 10);
	slice_store_replay(&store, &sink);
	ck_assert_str_eq(replayed, "1/0 2/0 2/1 4/0 4/1 9/1 10/0* 10/1 ");
	replayed[0] = '\0';
	slice_store_replay_track(&store, 1, &sink);
	ck_assert_str_eq(replayed, "2/1 4/1 9/1 10/1 ");
	ck_assert_uint_eq(store.slices, 4);
	ck_assert_uint_eq(store.tracks[1].slices, 2);
	ck_assert_uint_eq(store.tracks[1].begin, 2);
	slice_store_release(&store);
}
END_TEST

/* Threads without slices get no profile, and their marks do not move the origin. */
START_TEST(speedscope_has_a_profile_per_thread_with_slices)
{
	const struct slice_sink *sink = open_format(&format_speedscope, OPTION_ARGS_LINE);

	begin(sink, 1, 1000, "f");
	end(sink, 1, 1500);
	begin(sink, 2, 2000, "f");
	end(sink, 2, 2001);
	finish_format();
	expect("\"name\":\"a.data\",\"profiles\":[\n{\"type\":\"evented\",\"name\":\"worker 1/2\","
	       "\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":500,\"events\":[\n"
	       "{\"type\":\"O\",\"frame\":0,\"at\":0},\n{\"type\":\"C\",\"frame\":0,\"at\":500}]},\n");
	expect("\"name\":\"thread 1/3\"");
	expect("\"frames\":[\n{\"name\":\"f\"}]}}\n");
}
END_TEST

/* Known text of RFC 4648 and LEB128: DWARF 5, 7.6 has 2, 127, 128, 129, 12857. */
START_TEST(a_page_has_numbers_of_leb128_in_base64)
{
	static const uint64_t list[] = { 2, 127, 128, 129, 12857, UINT64_MAX };
	static const char *const base64[] = { "\"\"",
					      "\"Ag==\"",
					      "\"An8=\"",
					      "\"An+AAQ==\"",
					      "\"An+AAYEB\"",
					      "\"An+AAYEBuWQ=\"",
					      "\"An+AAYEBuWT///////////8B\"" };

	for (size_t count = 0; count <= sizeof(list) / sizeof(list[0]); count++) {
		char *printed = NULL;
		size_t bytes;
		FILE *stream = open_memstream(&printed, &bytes);
		struct html_numbers numbers;

		html_numbers_begin(&numbers, stream);
		for (size_t i = 0; i < count; i++)
			html_numbers_print(&numbers, list[i]);
		html_numbers_end(&numbers);
		fclose(stream);
		ck_assert_str_eq(printed, base64[count]);
		free(printed);
	}
}
END_TEST

START_TEST(a_page_has_any_text_without_markup)
{
	static const char printed[] = "<b>\"&\n\t\001\377z";
	char *made = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&made, &bytes);

	html_text_print(printed, sizeof(printed) - 1, stream);
	html_json_print(json_string("</script>\""), stream);
	fclose(stream);
	ck_assert_str_eq(made, "&lt;b&gt;&quot;&amp;\n\t\xef\xbf\xbd\xef\xbf\xbdz"
			       "\"\\u003c/script>\\\"\"");
	free(made);
}
END_TEST

START_TEST(times_are_printed_with_three_digits_after_the_point)
{
	static const struct {
		int64_t ns;
		const char *text;
	} times[] = {
		{ 0, "0ns" },
		{ 19, "19ns" },
		{ 999, "999ns" },
		{ 1000, "1us" },
		{ 1500, "1.5us" },
		{ -1500, "-1.5us" },
		{ 1639, "1.639us" },
		{ 1940, "1.94us" },
		{ 2000, "2us" },
		{ 10000, "10us" },
		{ 999999, "999.999us" },
		{ 112659675, "112.66ms" },
		{ 999999600, "1_000ms" },
		{ 999999999, "1_000ms" },
		{ 1500000000, "1.5s" },
		{ 60000000000, "1m" },
		{ 90000000000, "1.5m" },
		{ 5400000000000, "1.5h" },
		{ 86400000000000, "1d" },
		{ INT64_C(86400000000000) * 2, "2d" },
		{ -5, "-5ns" },
		{ -1639, "-1.639us" },
		{ INT64_MIN, "-106_751.991d" },
	};
	char made[SHORT_TIME_SIZE];

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		digits_time(made, times[i].ns);
		ck_assert_str_eq(made, times[i].text);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("formats");
	TCase *all = tcase_create("formats");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, chrome_has_microseconds_names_and_what_is_folded_in_each);
	tcase_add_test(all, tree_prints_the_depth_instead_of_an_indentation_over_64_levels);
	tcase_add_test(all, chrome_nests_for_readers_that_sort_and_cut_times);
	tcase_add_test(all, chrome_ends_arrows_at_the_slice_around_them);
	tcase_add_test(all, chrome_shows_whether_a_call_was_seen_and_inlined);
	tcase_add_test(all, folded_stacks_have_their_own_time_only);
	tcase_add_test(all, functions_count_the_outermost_call_of_each_thread);
	tcase_add_loop_test(all, functions_take_callers_late, 0, 60);
	tcase_add_loop_test(all, folded_stacks_take_callers_late, 0, 180);
	tcase_add_test(all, a_slice_precedes_those_in_it_and_open_ones_are_left_out);
	tcase_add_test(all, slices_show_what_is_folded_in_each);
	tcase_add_test(all, the_store_replays_what_each_thread_did);
	tcase_add_test(all, the_store_replays_by_time_and_at_equal_times_by_thread);
	tcase_add_test(all, speedscope_has_a_profile_per_thread_with_slices);
	tcase_add_test(all, a_page_has_numbers_of_leb128_in_base64);
	tcase_add_test(all, a_page_has_any_text_without_markup);
	tcase_add_test(all, times_are_printed_with_three_digits_after_the_point);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
