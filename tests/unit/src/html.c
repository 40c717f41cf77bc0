/* SPDX-License-Identifier: MIT */
/* The numbers of a page, of slices made by hand. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/io/output.h"
#include "src/callstack/callstack.h"
#include "src/formats/output_format.h"
#include "src/options/options.h"
#include "src/slices/track.h"
#include "tests/support/unit.h"
#include "tests/unit/src/slice_feed.h"

#define START UINT64_C(9007199254740993) /* no number of JavaScript */

static struct name_table names;
static struct symbol symbols[4];
static struct track tracks[2];
static struct callstack_machine machine;
static struct options options;
static struct output file; /* unlimited */
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
		.options = &options, .output = &file, .text = out, .names = &names
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

static const char *text_of(json_t *number)
{
	return json_string_value(
		json_array_get(json_object_get(data, "texts"), (size_t)json_integer_value(number)));
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
static void expect_slices(size_t thread, const char *expected)
{
	static const char *const words[] = { [2] = " inferred",
					     [3] = " uncertain",
					     [4] = " estimated",
					     [5] = " cut",
					     [7] = " tail" };
	json_t *item = json_array_get(json_object_get(data, "threads"), thread);
	uint64_t numbers[200], now = 0;
	size_t count = decode(json_string_value(json_object_get(item, "data")), numbers), lines = 0;
	char text[1000] = "";

	for (const uint64_t *at = numbers; at < numbers + count; lines++) {
		uint64_t first = *at++, duration;

		now += *at++;
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
	ck_assert_int_eq(json_integer_value(json_object_get(item, "slices")), (int)lines);
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

int main(void)
{
	Suite *suite = suite_create("html");
	TCase *all = tcase_create("html");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, a_slice_has_its_times_name_and_costs);
	tcase_add_test(all, what_does_not_fit_is_counted_in_the_slice_around_it);
	tcase_add_test(all, many_slices_of_two_threads_stay_apart);
	tcase_add_test(all, stacks_too_small_to_see_are_counted);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
