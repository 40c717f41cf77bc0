/* SPDX-License-Identifier: MIT */
/* The numbers of a page, of slices made by hand. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/io/output.h"
#include "src/callstack/callstack.h"
#include "src/formats/output_format.h"
#include "src/options/options.h"
#include "src/slices/event_sink.h"
#include "src/slices/track.h"
#include "tests/support/unit.h"
#include "tests/unit/src/slice_feed.h"

#define START UINT64_C(9007199254740993) /* no number of JavaScript */

static struct name_table names;
static struct symbol symbols[4];
static struct track tracks[2];
static struct callstack_machine machine;
static struct options options;
static struct trace_facts facts;
static struct output file; /* unlimited, except for some tests */
static struct format_output *output;
static char *page;
static size_t size;
static FILE *out;
static json_t *data;

static void setup(void)
{
	static const char *const texts[] = { "f", "g", "h", "<i>" };

	name_table_init(&names);
	for (size_t i = 0; i < 4; i++)
		symbols[i] = (struct symbol){ .name = name_intern_text(&names, texts[i]),
					      .linkage = name_intern_text(&names, texts[i]) };
	tracks[0] = (struct track){ .pid = 1, .tid = 1, .index = 0, .thread_name = "main" };
	tracks[1] = (struct track){ .pid = 1, .tid = 2, .index = 1, .thread_name = "worker" };
	machine = (struct callstack_machine){ .times = TIMES_MEASURED };
	options = (struct options){ .input = "a.data" };
	facts = (struct trace_facts){ .wall_base = WALL_BASE_UNKNOWN, .free_id = 100 };
	file = (struct output){ 0 };
	out = open_memstream(&page, &size);
}

static void teardown(void)
{
	json_decref(data);
	data = NULL;
	fclose(out);
	free(page);
	for (int i = 0; i < 2; i++)
		free(tracks[i].open);
	name_table_release(&names);
}

static void open_page(void)
{
	const struct format_request request = {
		.options = &options, .output = &file, .text = out, .names = &names, .facts = facts
	};

	output = output_format_open(&format_html, &request);
	output->machine = &machine;
}

static void close_page(void)
{
	const char *begin;

	format_html.finish(output);
	ck_assert_int_eq(output->err.kind, ERROR_NONE);
	output_format_close(&format_html, output);
	fflush(out);
	begin = strstr(page, "{\"axis\":");
	ck_assert_ptr_nonnull(begin);
	data = json_loads(begin, JSON_DISABLE_EOF_CHECK, NULL);
	ck_assert_ptr_nonnull(data);
}

static void begin(int track, uint64_t time, int symbol, uint16_t flags, uint64_t insns)
{
	slice_sink_emit(&output->sink, &tracks[track],
			&(struct slice_event){ .time = START + time,
					       .symbol = &symbols[symbol],
					       .kind = SLICE_BEGIN,
					       .flags = flags },
			&(struct slice_detail){ .insns = insns, .cycles = 2 * insns });
}

static void end(int track, uint64_t time, uint16_t flags, uint64_t insns)
{
	slice_sink_emit(
		&output->sink, &tracks[track],
		&(struct slice_event){ .time = START + time, .kind = SLICE_END, .flags = flags },
		&(struct slice_detail){ .insns = insns, .cycles = 2 * insns });
}

/* ---- What the page has --------------------------------------------------- */

static const char *text_at(uint64_t index)
{
	return json_string_value(json_array_get(json_object_get(data, "texts"), (size_t)index));
}

static const char *text_of(const json_t *number)
{
	return text_at((uint64_t)json_integer_value(number));
}

/* Unsigned LEB128 (DWARF 5, 7.6) in base64 (RFC 4648). Returns the count of numbers. */
static size_t decode(const char *base64, uint64_t *numbers)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	unsigned bits = 0, bit_count = 0, shift = 0;
	size_t count = 0;

	numbers[0] = 0;
	for (; *base64 && *base64 != '='; base64++) {
		bits = bits << 6 | (unsigned)(strchr(digits, *base64) - digits);
		bit_count += 6;
		if (bit_count < 8)
			continue;
		bit_count -= 8;
		numbers[count] |= (uint64_t)(bits >> bit_count & 127) << shift;
		shift += 7;
		if (bits >> bit_count & 128)
			continue;
		numbers[++count] = 0;
		shift = 0;
	}
	return count;
}

/* A line for each slice: depth, begin, end and name, then its costs and marks. */
static void expect_track(const char *key, size_t thread, const char *expected)
{
	static const char *const words[] = { [2] = " inferred",
					     [3] = " uncertain",
					     [4] = " estimated",
					     [5] = " cut",
					     [7] = " tail" };
	json_t *item = json_array_get(json_object_get(data, key), thread);
	uint64_t numbers[200], now = 0;
	size_t count = decode(json_string_value(json_object_get(item, "data")), numbers), lines = 0;
	size_t marks = 0;
	char text[1000] = "";

	for (const uint64_t *at = numbers; at < numbers + count; lines++) {
		uint64_t first = *at++, duration;

		now += *at++;
		if (first & 64) {
			sprintf(text + strlen(text), "%d @%d %s\n", (int)(first / 256), (int)now,
				text_at(*at++));
			marks++;
			continue;
		}
		duration = *at++;
		sprintf(text + strlen(text), "%d %d-%d %s", (int)(first / 256),
			(int)(now - duration), (int)now,
			text_of(json_array_get(
				json_array_get(json_object_get(data, "symbols"), *at++), 0)));
		if (first & 1) {
			sprintf(text + strlen(text), " insns=%d cycles=%d", (int)at[0], (int)at[1]);
			at += 2;
		}
		if (first & 2) {
			sprintf(text + strlen(text), " folded=%d/%d", (int)at[0], (int)at[1]);
			at += 2;
		}
		for (int bit = 2; bit < 8; bit++)
			if (first >> bit & 1)
				strcat(text, words[bit]);
		strcat(text, "\n");
	}
	ck_assert_str_eq(text, expected);
	ck_assert_int_eq(json_integer_value(json_object_get(item, "slices")), (int)(lines - marks));
}

static void expect_slices(size_t thread, const char *expected)
{
	expect_track("threads", thread, expected);
}

/* A line for each stack: its frames, what it takes with callees, and its calls. */
static void expect_stacks(const char *expected)
{
	json_t *stacks = json_object_get(data, "stacks");
	char text[1000] = "";

	for (size_t i = 0; i < json_array_size(stacks); i++) {
		json_t *stack = json_array_get(stacks, i);

		sprintf(text + strlen(text), "%d %s %d %d\n",
			(int)json_integer_value(json_array_get(stack, 0)),
			text_of(json_array_get(stack, 1)),
			(int)json_integer_value(json_array_get(stack, 2)),
			(int)json_integer_value(json_array_get(stack, 3)));
	}
	ck_assert_str_eq(text, expected);
}

/* f calls g twice, which calls h in the first call; in another thread the trace begins in <i>. */
static void feed(void)
{
	begin(0, 100, 0, 0, 10);
	begin(0, 110, 1, 0, 20);
	begin(0, 120, 2, SLICE_TAIL_CALLED, 30);
	begin(1, 125, 3, SLICE_INFERRED_START, 0);
	end(0, 130, 0, 35);
	end(0, 150, 0, 45);
	begin(0, 160, 1, SLICE_ESTIMATED_TIME, 50);
	end(0, 165, 0, 50);
	end(0, 200, 0, 70);
	end(1, 225, SLICE_CUT, 0);
}

START_TEST(a_slice_has_its_times_name_and_costs)
{
	open_page();
	feed();
	close_page();
	ck_assert_str_eq(json_string_value(json_object_get(data, "origin")), "9007199254741093");
	ck_assert_int_eq(json_integer_value(json_object_get(data, "duration")), 125);
	expect_slices(0, "2 20-30 h insns=5 cycles=10 tail\n"
			 "1 10-50 g insns=25 cycles=50\n"
			 "1 60-65 g estimated\n"
			 "0 0-100 f insns=60 cycles=120\n");
	expect_slices(1, "0 25-125 <i> inferred cut\n");
	ck_assert_ptr_nonnull(
		strstr(page, "<p>125ns from 9007199.254741093 s, threads: 2, slices: 5; "));
	/* What a stack takes includes its callees. */
	expect_stacks("0 main 100 0\n1 f 100 1\n2 g 45 2\n3 h 10 1\n0 worker 100 0\n5 <i> 100 1\n");
	ck_assert_int_eq(json_integer_value(json_object_get(data, "stacks_left_out")), 0);
}
END_TEST

/* The longest slices are shown; a shorter one is counted in the slice around it. */
START_TEST(what_does_not_fit_is_counted_in_the_slice_around_it)
{
	options.select.fit = 3;
	open_page();
	feed();
	close_page();
	expect_slices(0, "1 10-50 g insns=25 cycles=50 folded=1/10\n"
			 "0 0-100 f insns=60 cycles=120 folded=1/5\n");
	expect_slices(1, "0 25-125 <i> inferred cut\n");
	ck_assert_int_eq(json_integer_value(json_object_get(data, "folded")), 2);
	ck_assert_int_eq(json_integer_value(json_object_get(data, "left_out")), 0);
	/* The graph counts all. */
	expect_stacks("0 main 100 0\n1 f 100 1\n2 g 45 2\n3 h 10 1\n0 worker 100 0\n5 <i> 100 1\n");
}
END_TEST

/* Threads that alternate, with more slices than a page of memory has bytes. */
START_TEST(many_slices_of_two_threads_stay_apart)
{
	enum { SLICES = 5000 };
	uint64_t *numbers = malloc((5 * SLICES + 1) * sizeof(*numbers));

	open_page();
	for (int i = 0; i < SLICES; i++)
		for (int track = 0; track < 2; track++) {
			begin(track, 1000 + 500 * (uint64_t)i + (uint64_t)track, track, 0, 0);
			end(track, 1300 + 500 * (uint64_t)i, 0, 0);
		}
	close_page();
	for (uint64_t track = 0; track < 2; track++) {
		json_t *item = json_array_get(json_object_get(data, "threads"), track);
		uint64_t now = 0;

		ck_assert_uint_eq(decode(json_string_value(json_object_get(item, "data")), numbers),
				  4 * SLICES);
		for (uint64_t i = 0; i < SLICES; i++) {
			now += numbers[4 * i + 1];
			ck_assert_uint_eq(now, 300 + 500 * i);
			ck_assert_uint_eq(numbers[4 * i + 2], 300 - track);
			ck_assert_uint_eq(numbers[4 * i + 3], track);
		}
	}
	free(numbers);
}
END_TEST

/* A stack of less than a 20,000th of all is not drawn. */
START_TEST(stacks_too_small_to_see_are_counted)
{
	open_page();
	begin(0, 0, 0, 0, 0);
	begin(0, 0, 1, 0, 0);
	end(0, 3, 0, 0);
	begin(0, 3, 2, 0, 0);
	begin(0, 3, 1, 0, 0);
	end(0, 5, 0, 0);
	end(0, 5, 0, 0);
	end(0, 40000, 0, 0);
	close_page();
	expect_stacks("0 main 40000 0\n1 f 40000 1\n2 g 3 1\n");
	ck_assert_int_eq(json_integer_value(json_object_get(data, "stacks_left_out")), 2);
}
END_TEST

/* The recording may have any name. Placeholders of the page are lines "@NAME@". */
START_TEST(a_page_is_whole_and_has_its_title)
{
	options.input = "a<b>.data";
	open_page();
	feed();
	close_page();
	ck_assert_int_eq(strncmp(page, "<!DOCTYPE html>\n", 16), 0);
	ck_assert_ptr_nonnull(strstr(page, "<title>\na&lt;b&gt;.data</title>\n"));
	ck_assert_ptr_nonnull(strstr(page, "<h1>\na&lt;b&gt;.data</h1>\n<p>125ns from "));
	ck_assert_ptr_nonnull(strstr(page, "<script type=\"application/json\" id=\"data\">\n{"));
	ck_assert_ptr_nonnull(strstr(page, "}\n</script>\n<script>\n"));
	ck_assert_str_eq(page + size - strlen("</body>\n</html>\n"), "</body>\n</html>\n");
	ck_assert_ptr_null(strstr(page, "@title@"));
	ck_assert_ptr_null(strstr(page, "@data@"));
}
END_TEST

/* Without a script, a browser shows the first lines of --format=functions, below its header. */
START_TEST(a_page_without_a_script_has_the_first_functions)
{
	struct symbol many[60];
	size_t lines = 0;
	char name[8];
	const char *begin_of, *end_of;

	open_page();
	for (uint64_t i = 0; i < 60; i++) {
		sprintf(name, "f%d", (int)i);
		many[i] = (struct symbol){ .name = name_intern_text(&names, name) };
		many[i].linkage = many[i].name;
		feed_begin(&output->sink, &tracks[0], START + 100 * i, &many[i], 0, 0);
		feed_end(&output->sink, &tracks[0], START + 100 * i + 99 - i);
	}
	close_page();
	begin_of = strstr(page, "<noscript><pre>") + strlen("<noscript><pre>");
	end_of = strstr(page, "</pre></noscript>\n");
	for (const char *at = begin_of; at < end_of; at++)
		lines += *at == '\n';
	ck_assert_uint_eq(lines, 41);
	ck_assert_int_eq(strncmp(end_of - 4, " f39", 4) & strncmp(end_of - 5, " f39\n", 5), 0);
	ck_assert_uint_eq(json_array_size(json_object_get(data, "functions")), 60);
}
END_TEST

/* Instructions are read only if they are shown, or are the unit. */
START_TEST(a_page_asks_for_the_costs_that_it_shows)
{
	static const struct {
		enum option_args args;
		bool by_insns, costs;
		const char *unit;
	} choices[] = { { OPTION_ARGS_NONE, false, false, "ns" },
			{ OPTION_ARGS_LINE, false, true, "ns" },
			{ OPTION_ARGS_NONE, true, true, "insns" } };

	options.args = choices[_i].args;
	facts.by_insns = machine.by_insns = choices[_i].by_insns;
	open_page();
	ck_assert_int_eq(output->sink.details, choices[_i].costs);
	ck_assert(output->sink.folded);
	feed();
	close_page();
	ck_assert_str_eq(json_string_value(json_object_get(data, "axis")), "ns");
	ck_assert_str_eq(json_string_value(json_object_get(data, "unit")), choices[_i].unit);
	/* Of 60 instructions in f, 25 are in g, of which 5 are in h. */
	expect_stacks(_i < 2 ? "0 main 100 0\n1 f 100 1\n2 g 45 2\n3 h 10 1\n0 worker 100 0\n"
			       "5 <i> 100 1\n"
			     : "0 main 60 0\n1 f 60 1\n2 g 25 2\n3 h 5 1\n");
}
END_TEST

/* ---- Marks and events --------------------------------------------------------- */

/* Marks have the depth of the slices around them, and no duration; the limit does not count them.
 */
START_TEST(marks_are_between_slices)
{
	options.select.fit = _i ? 1 : 0;
	open_page();
	feed_instant(&output->sink, &tracks[0], START + 5, "start");
	begin(0, 10, 0, 0, 0);
	begin(0, 20, 1, 0, 0);
	feed_instant(&output->sink, &tracks[0], START + 25, "<mark>");
	end(0, 40, 0, 0);
	end(0, 60, 0, 0);
	close_page();
	expect_slices(0, _i ? "0 @0 start\n2 @20 <mark>\n0 5-55 f folded=1/20\n"
			    : "0 @0 start\n2 @20 <mark>\n1 15-35 g\n0 5-55 f\n");
	ck_assert_int_eq(json_integer_value(json_object_get(
				 json_array_get(json_object_get(data, "threads"), 0), "marks")),
			 2);
	ck_assert_ptr_null(strstr(page, "<mark>"));
}
END_TEST

/* Code without a function, and lost trace, have colours of their own. */
START_TEST(symbols_without_functions_have_lists_of_their_own)
{
	static const struct {
		uint8_t kind, special;
		const char *other, *lost;
	} kinds[] = {
		{ SYMBOL_FUNCTION, 0, "", "" },
		{ SYMBOL_FILE, 0, "g", "" },
		{ SYMBOL_SPECIAL, SPECIAL_SYSCALL, "g", "" },
		{ SYMBOL_SPECIAL, SPECIAL_GAP, "", "g" },
	};

	symbols[1].kind = kinds[_i].kind;
	symbols[1].special = kinds[_i].special;
	open_page();
	begin(0, 10, 0, 0, 0);
	begin(0, 20, 1, 0, 0);
	end(0, 40, 0, 0);
	begin(0, 45, 1, 0, 0);
	end(0, 50, 0, 0);
	end(0, 60, 0, 0);
	close_page();
	ck_assert_uint_eq(json_array_size(json_object_get(data, "other")), *kinds[_i].other != 0);
	ck_assert_uint_eq(json_array_size(json_object_get(data, "lost")), *kinds[_i].lost != 0);
	if (*kinds[_i].other)
		ck_assert_str_eq(text_of(json_array_get(json_object_get(data, "other"), 0)), "g");
	if (*kinds[_i].lost)
		ck_assert_str_eq(text_of(json_array_get(json_object_get(data, "lost"), 0)), "g");
	ck_assert_uint_eq(json_array_size(json_object_get(data, "symbols")), 2);
}
END_TEST

static struct event_record record;

/* Start an event of process 50. */
static void event_of(uint64_t tid, uint64_t time, const char *name)
{
	event_record_init(&record, output->events, (struct event_track){ 50, tid }, NULL, name,
			  START + time);
}

static const char *symbol_text(int number, size_t column)
{
	json_t *symbol = json_array_get(json_object_get(data, "symbols"), (size_t)number);
	json_int_t text = json_integer_value(json_array_get(symbol, column));

	return column == 0 ? text_of(json_array_get(symbol, 0))
	       : text      ? text_at((uint64_t)text - 1)
			   : "";
}

/* Other writers' slices and marks are tracks; their times are within the page's. */
START_TEST(events_have_tracks_with_arguments)
{
	json_t *events;

	options.args = _i ? OPTION_ARGS_LINE : OPTION_ARGS_NONE;
	open_page();
	feed();
	event_sink_name_process(output->events, 50, "cpus");
	event_sink_name_track(output->events, (struct event_track){ 50, 51 }, "CPU 0");
	event_of(51, 80, "interrupt");
	event_record_add_number(&record, "vector", 3);
	event_record_emit(&record, TRACK_BEGIN);
	event_of(51, 90, "wakes");
	event_record_add_number(&record, "vector", 3);
	event_record_emit(&record, TRACK_INSTANT);
	event_of(51, 300, NULL);
	event_record_emit(&record, TRACK_END);
	event_of(52, 110, NULL);
	event_record_emit(&record, TRACK_END); /* ends nothing */
	close_page();
	ck_assert_str_eq(json_string_value(json_object_get(data, "origin")), "9007199254741073");
	ck_assert_int_eq(json_integer_value(json_object_get(data, "duration")), 220);
	/* Slices of calls alone are counted. */
	ck_assert_ptr_nonnull(strstr(page, "threads: 2, slices: 5; "));
	ck_assert_uint_eq(json_array_size(json_object_get(data, "threads")), 2);
	events = json_object_get(data, "events");
	ck_assert_str_eq(json_string_value(json_object_get(json_array_get(events, 0), "name")),
			 "CPU 0");
	ck_assert_int_eq(json_integer_value(json_object_get(json_array_get(events, 0), "tid")), 51);
	ck_assert_int_eq(json_integer_value(json_object_get(json_array_get(events, 0), "slices")),
			 1);
	expect_track("events", 0, "1 @10 wakes vector=3\n0 0-220 interrupt\n");
	ck_assert_str_eq(symbol_text(4, 0), "interrupt");
	ck_assert_str_eq(symbol_text(4, 1), _i ? "vector=3" : "");
	/* The calls begin 20 ns later. */
	expect_slices(1, "0 45-145 <i> inferred cut\n");
}
END_TEST

/* A counter has a curve for each argument: ns since the value before, value. */
START_TEST(counters_have_a_curve_for_each_argument)
{
	char *dumped;

	open_page();
	feed();
	event_sink_name_process(output->events, 50, "cpus");
	for (uint64_t i = 0; i < 3; i++) {
		event_of(51, 110 + 10 * i * i, "power");
		record.event.id = 1;
		event_record_add_double(&record, "watts", i == 1 ? NAN : 1.5);
		if (i < 2)
			event_record_add_number(&record, "steps", i ? -1 : 7);
		event_record_emit(&record, TRACK_COUNTER);
	}
	close_page();
	dumped = json_dumps(json_object_get(data, "counters"),
			    JSON_COMPACT | JSON_REAL_PRECISION(15));
	ck_assert_str_eq(
		dumped,
		"[{\"pid\":50,\"begin\":10,\"name\":\"power\",\"unit\":\"watts\",\"tid\":51,"
		"\"track\":\"\",\"process\":\"cpus\","
		"\"points\":[0,1.5,10,0,30,1.5]},"
		"{\"pid\":50,\"begin\":10,\"name\":\"power\",\"unit\":\"steps\",\"tid\":51,"
		"\"track\":\"\",\"process\":\"cpus\","
		"\"points\":[0,7,10,-1]}]");
	free(dumped);
}
END_TEST

/* ---- The limit of the output ---------------------------------------------------- */

/* Without room for a slice, a page has the table and the graph of all. */
START_TEST(slices_after_the_limit_are_left_out)
{
	file.limit = 100;
	open_page();
	feed();
	close_page();
	ck_assert(file.cut);
	expect_slices(0, "");
	expect_slices(1, "");
	expect_stacks("0 main 100 0\n1 f 100 1\n2 g 45 2\n3 h 10 1\n0 worker 100 0\n5 <i> 100 1\n");
	ck_assert_uint_eq(json_array_size(json_object_get(data, "functions")), 4);
	ck_assert_ptr_nonnull(strstr(page, "threads: 2, slices: 5; "));
}
END_TEST

/* Numbers are in blocks of memory, and a slice needs up to 80 bytes. */
START_TEST(numbers_of_many_bytes_are_whole)
{
	enum { SLICES = 2000 };
	uint64_t *numbers = malloc((8 * SLICES + 1) * sizeof(*numbers)), now = 0, insns = 0;
	const uint64_t step = UINT64_C(1) << 50;
	size_t count;

	open_page();
	for (uint64_t i = 0; i < SLICES; i++) {
		begin(0, step + i * step, 0, 0, insns);
		insns += (UINT64_C(1) << 50) + i;
		end(0, step + i * step + step / 2, 0, insns);
	}
	close_page();
	count = decode(json_string_value(json_object_get(
			       json_array_get(json_object_get(data, "threads"), 0), "data")),
		       numbers);
	ck_assert_uint_eq(count, 6 * SLICES);
	for (uint64_t i = 0; i < SLICES; i++) {
		now += numbers[6 * i + 1];
		ck_assert_uint_eq(numbers[6 * i], 1);
		ck_assert_uint_eq(now, i * step + step / 2);
		ck_assert_uint_eq(numbers[6 * i + 2], step / 2);
		ck_assert_uint_eq(numbers[6 * i + 4], (UINT64_C(1) << 50) + i);
		ck_assert_uint_eq(numbers[6 * i + 5], 2 * ((UINT64_C(1) << 50) + i));
	}
	free(numbers);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("html");
	TCase *all = tcase_create("html");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, a_slice_has_its_times_name_and_costs);
	tcase_add_test(all, what_does_not_fit_is_counted_in_the_slice_around_it);
	tcase_add_test(all, many_slices_of_two_threads_stay_apart);
	tcase_add_test(all, stacks_too_small_to_see_are_counted);
	tcase_add_test(all, a_page_is_whole_and_has_its_title);
	tcase_add_test(all, a_page_without_a_script_has_the_first_functions);
	tcase_add_loop_test(all, a_page_asks_for_the_costs_that_it_shows, 0, 3);
	tcase_add_loop_test(all, marks_are_between_slices, 0, 2);
	tcase_add_loop_test(all, symbols_without_functions_have_lists_of_their_own, 0, 4);
	tcase_add_loop_test(all, events_have_tracks_with_arguments, 0, 2);
	tcase_add_test(all, counters_have_a_curve_for_each_argument);
	tcase_add_test(all, slices_after_the_limit_are_left_out);
	tcase_add_test(all, numbers_of_many_bytes_are_whole);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
