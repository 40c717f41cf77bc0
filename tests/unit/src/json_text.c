/* SPDX-License-Identifier: MIT */
/* Output is parsed by jansson, which accepts only valid JSON and UTF-8. */
#include "src/formats/text/any_text.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "src/formats/text/digits.h"
#include "src/formats/text/event_text.h"
#include "src/formats/text/json_print.h"
#include "src/formats/text/time_note.h"
#include "tests/support/unit.h"

typedef char *put_fn(struct line *line, char *at, const struct name *name);

/* A line leaves characters outside of ASCII as they are. */
static void assert_same_json(const char *a, const char *b)
{
	json_t *values[] = { json_loads(a, JSON_DECODE_ANY, NULL),
			     json_loads(b, JSON_DECODE_ANY, NULL) };

	ck_assert(json_equal(values[0], values[1]));
	json_decref(values[0]);
	json_decref(values[1]);
}

/* A name in a line is printed as any text is, with room for it and without. */
static void assert_same_in_line(const char *text, size_t length, const char *printed, put_fn *put)
{
	static struct line line;
	struct name_table names;
	char *written, *at;
	size_t size;

	name_table_init(&names);
	for (size_t before = 0; before < LINE_ROOM; before += LINE_ROOM - 1) {
		line.out = open_memstream(&written, &size);
		memset(line.text, ' ', before);
		at = put(&line, line.text + before, name_intern(&names, text, length));
		ck_assert(at <= line.text + LINE_ROOM + 2);
		line_end(&line, at);
		fclose(line.out);
		ck_assert_uint_ge(strspn(written, " "), before);
		if (put == line_json_name)
			assert_same_json(written + before, printed);
		else
			ck_assert_str_eq(written + before, printed);
		free(written);
	}
	name_table_release(&names);
}

/*
 * Print and parse; the result is valid until the next call.  jansson's own output of the text is
 * the same.
 */
static const char *again(const char *text, size_t length)
{
	static char copy[400];
	char *printed;
	size_t size;
	FILE *out = open_memstream(&printed, &size);
	json_t *value, *made = json_any_text(text, length);

	json_text_print(text, length, out);
	fclose(out);
	assert_same_in_line(text, length, printed, line_json_name);
	value = json_loadb(printed, size, JSON_DECODE_ANY, NULL);
	ck_assert_msg(json_is_string(value), "%s", printed);
	snprintf(copy, sizeof(copy), "%s", json_string_value(value));
	ck_assert_str_eq(json_string_value(made), copy);
	json_decref(made);
	json_decref(value);
	free(printed);
	return copy;
}

START_TEST(any_text_comes_back)
{
	static const char *const texts[] = { "",
					     "f",
					     "operator\"\" _x",
					     "a\\b",
					     "\t\n\x01\x1f\x7f",
					     "</script>",
					     "na\xc3\xafve \xe2\x82\xac \xf0\x9f\x90\xab",
					     "\xf4\x8f\xbf\xbf",
					     "\xed\x9f\xbf\xee\x80\x80" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		ck_assert_str_eq(again(texts[i], strlen(texts[i])), texts[i]);
}
END_TEST

#define NO "\xef\xbf\xbd" /* U+FFFD */

START_TEST(what_is_no_utf8_is_replaced_byte_by_byte)
{
	ck_assert_str_eq(again("a\xff"
			       "b",
			       3),
			 "a" NO "b");
	ck_assert_str_eq(again("na\xc3\xafve\xff", 7), "na\xc3\xafve" NO);
	ck_assert_str_eq(again("\xc3", 1), NO); /* cut off */
	ck_assert_str_eq(again("\xc3x", 2), NO "x");
	ck_assert_str_eq(again("\xc0\xaf", 2), NO NO);        /* an overlong '/' */
	ck_assert_str_eq(again("\xed\xa0\x80", 3), NO NO NO); /* a surrogate */
	ck_assert_str_eq(again("\xe2\x82", 2), NO NO);
	ck_assert_str_eq(again("\xf4\x90\x80\x80", 4), NO NO NO NO); /* above U+10FFFF */
	ck_assert_str_eq(again("\xf0\x80\x80\x80", 4), NO NO NO NO);
}
END_TEST

/* A line of perf script's text can hold one. */
START_TEST(a_nul_does_not_end_a_text)
{
	json_t *valid = json_any_text("a\0b", 3), *invalid = json_any_text("a\0b\xff", 4);

	ck_assert_uint_eq(json_string_length(valid), 3);
	ck_assert_mem_eq(json_string_value(valid), "a\0b", 3);
	ck_assert_str_eq(json_string_value(invalid), "a" NO "b" NO);
	json_decref(valid);
	json_decref(invalid);
}
END_TEST

START_TEST(each_byte_comes_back_wherever_it_is)
{
	for (size_t at = 0; at < 40; at++) {
		for (int byte = 1; byte < 0x80; byte++) {
			char text[] = "forty plain characters, of two and a half";

			text[at] = (char)byte;
			ck_assert_str_eq(again(text, strlen(text)), text);
		}
	}
}
END_TEST

/* In the lines of other formats: \\xNN of a control character or a backslash. */
START_TEST(each_byte_is_escaped_wherever_it_is)
{
	for (size_t at = 0; at < 40; at++) {
		for (int byte = 1; byte < 256; byte++) {
			char text[] = "forty plain characters, of two and a half", expected[64];
			bool plain = byte >= 0x20 && byte != 0x7f && byte != '\\';
			char *printed;
			size_t size;
			FILE *out = open_memstream(&printed, &size);

			snprintf(expected, sizeof(expected), plain ? "%.*s%c%s" : "%.*s\\x%02x%s",
				 (int)at, text, byte, text + at + 1);
			text[at] = (char)byte;
			escaped_text_print(text, strlen(text), out);
			fclose(out);
			ck_assert_str_eq(printed, expected);
			assert_same_in_line(text, strlen(text), printed, line_name);
			free(printed);
		}
	}
}
END_TEST

START_TEST(every_pair_of_bytes_makes_valid_json)
{
	char text[3] = "xx";

	for (int i = 1; i < 65536; i++) {
		text[0] = (char)(i >> 8 ? i >> 8 : 1);
		text[1] = (char)(i & 255 ? i & 255 : 1);
		again(text, 2);
	}
}
END_TEST

static void assert_form(json_t *object, const char *form, const char *expected)
{
	char *text;
	FILE *out = OPEN_TEXT(text);

	json_print(out, object, 8, form);
	alloc_close_text(out, &text);
	ck_assert_str_eq(text, expected);
	free(text);
	json_decref(object);
}

/* 1536 bytes are 1.5 * 2^10; 2 of 8 are 25 %. */
START_TEST(a_form_has_the_fields_of_an_object)
{
	assert_form(json_pack("{sI ss sn}", "calls", (json_int_t)-2, "path", "a\nb", "none"),
		    "x{calls:5}{path:-5}|{path}{none}{absent}}", "x   -2a?b  |a?b}");
	assert_form(json_pack("{sI sI sI sn}", "a_ns", (json_int_t)1500, "b_insns",
			      (json_int_t)1500, "c_cycles", (json_int_t)7, "d_ns"),
		    "{a:8a}{b:8a}{c:a} {a:12m} {d:3m}", "   1.5us    15007  0.000001500   ?");
	assert_form(json_pack("{sI sI}", "size", (json_int_t)1536, "calls", (json_int_t)2),
		    "{size:9b}|{size:b}|{calls:6p}", "  1.5 KiB|1.5 KiB| 25.0%");
	assert_form(json_pack("{sf ss}", "extra", 2.5, "unit", "ns"), "{extra:e}", "3ns");
	assert_form(json_pack("{sf ss}", "extra", 2.5, "unit", "instructions"), "{extra:e}", "3");
}
END_TEST

START_TEST(a_form_has_titles_and_marks_bounds)
{
	const char form[] = "{calls:6} {share=calls:6p} {time:>5a}";

	assert_form(NULL, form, " calls  share  time");
	assert_form(json_pack("{sI sI sI}", "calls", (json_int_t)8, "time_ns", (json_int_t)9, "cut",
			      (json_int_t)0),
		    form, "     8 100.0%   9ns");
	assert_form(json_pack("{sI sI sI}", "calls", (json_int_t)8, "time_ns", (json_int_t)9, "cut",
			      (json_int_t)1),
		    form, "     8 100.0% > 9ns");
	for (int i = 0; i < 4; i++)
		assert_form(json_pack("{sI sb sb}", "time_ns", (json_int_t)9, "begin_seen", i & 1,
				      "end_seen", i >> 1),
			    "{time:>5a}", i == 3 ? "  9ns" : "> 9ns");
}
END_TEST

START_TEST(parts_of_a_form_depend_on_fields)
{
	static const char form[] = "a{n?}, {n} b{t?}, {t}{yes?}, c{?}.";

	assert_form(json_pack("{sI ss sb}", "n", (json_int_t)1, "t", "x", "yes", true), form,
		    "a, 1 b, x, c.");
	assert_form(json_pack("{sI ss sb}", "n", (json_int_t)0, "t", "", "yes", false), form, "a.");
	assert_form(json_pack("{sn ss}", "n", "t", "x"), form, "a, x.");
}
END_TEST

/* Powers of 1,024; a real number of two decimals; shares of nothing. */
START_TEST(numbers_of_a_form_have_units)
{
	static const struct {
		json_int_t bytes;
		const char *text;
	} sizes[] = { { 0, "0 B" },
		      { 1023, "1023 B" },
		      { 1024, "1.0 KiB" },
		      { 1 << 20, "1.0 MiB" },
		      { (json_int_t)3 << 29, "1.5 GiB" },
		      { (json_int_t)1 << 40, "1.0 TiB" },
		      { (json_int_t)1 << 50, "1024.0 TiB" } };
	json_t *object = json_pack("{sI}", "calls", (json_int_t)3);
	char *text;
	FILE *out = OPEN_TEXT(text);

	for (size_t i = 0; i < COUNT_OF(sizes); i++)
		assert_form(json_pack("{sI}", "size", sizes[i].bytes), "{size:b}", sizes[i].text);
	assert_form(json_pack("{sf sn}", "x", 2.348, "y"), "{x:r} {x:6r} {y:r}", "2.35   2.35 -");
	assert_form(json_pack("{sI}", "t_cycles", (json_int_t)1500), "{t:a}", "1500");
	json_print(out, object, 0, "{calls:p}");
	alloc_close_text(out, &text);
	ck_assert_str_eq(text, "0.0%");
	free(text);
	json_decref(object);
}
END_TEST

static char *csv_of(json_t *rows)
{
	char *text;
	FILE *out = OPEN_TEXT(text);

	csv_rows_print(rows, out);
	json_decref(rows);
	alloc_close_text(out, &text);
	return text;
}

/* RFC 4180: quotes are doubled; the header has the keys. */
START_TEST(rows_are_csv_with_a_header)
{
	static const char *const fields[][2] = { { "plain", "plain" },   { "", "" },
						 { "a,b", "\"a,b\"" },   { "a\"b", "\"a\"\"b\"" },
						 { "a\nb", "\"a\nb\"" }, { "a\rb", "\"a\rb\"" },
						 { "a b", "a b" } };
	char *text = csv_of(json_pack("[{ss sI sn sf sb}, {ss sI sI sf sb}]", "name", "f,g",
				      "calls", (json_int_t)2, "line", "share", 0.5, "own", 1,
				      "name", "h", "calls", (json_int_t)-3, "line", (json_int_t)7,
				      "share", 2.0, "own", 0));

	ck_assert_str_eq(text,
			 "name,calls,line,share,own\n\"f,g\",2,,0.5,true\nh,-3,7,2.0,false\n");
	free(text);
	text = csv_of(json_array());
	ck_assert_str_eq(text, "");
	free(text);
	for (size_t i = 0; i < COUNT_OF(fields); i++) {
		FILE *out = OPEN_TEXT(text);

		csv_text_print(fields[i][0], strlen(fields[i][0]), out);
		alloc_close_text(out, &text);
		ck_assert_str_eq(text, fields[i][1]);
		free(text);
	}
}
END_TEST

/* One argument of each type. */
START_TEST(arguments_of_events_are_text_or_json)
{
	const struct event_arg args[] = {
		{ { "a", 1 }, EVENT_ARG_INT32, { .number = -5 } },
		{ { "b", 1 }, EVENT_ARG_INT64, { .number = INT64_MIN } },
		{ { "c", 1 }, EVENT_ARG_POINTER, { .pointer = 0xabc } },
		{ { "d", 1 }, EVENT_ARG_REAL, { .real = 1.5 } },
		{ { "e", 1 }, EVENT_ARG_REAL, { .real = 1.0 / 0.0 } },
		{ { "f\n", 2 }, EVENT_ARG_TEXT, { .text = { "x\"\n", 3 } } },
	};
	const struct track_event event = { .arg_count = COUNT_OF(args),
					   .args = (struct event_arg *)args };
	char *text;
	FILE *out = OPEN_TEXT(text);

	event_args_print(&event, _i, out);
	alloc_close_text(out, &text);
	ck_assert_str_eq(text,
			 _i ? "{\"a\":-5,\"b\":-9223372036854775808,\"c\":\"0xabc\",\"d\":1.5,"
			      "\"e\":null,\"f\\n\":\"x\\\"\\n\"}"
			    : " a=-5 b=-9223372036854775808 c=0xabc d=1.5 e=inf "
			      "f\\x0a=x\"\\x0a");
	free(text);
}
END_TEST

/* The times of a trace and their accuracy. */
START_TEST(the_source_of_times_is_said)
{
	static const struct {
		enum time_source times;
		uint64_t resolution;
		const char *word, *text; /* text: a part */
	} rows[] = {
		{ TIMES_OF_PERF, 9, "perf", "those of perf script\n" },
		{ TIMES_MEASURED, 0, "measured", "those of timing packets\n" },
		{ TIMES_MEASURED, 1500, "measured", "those of timing packets, to 1.5us\n" },
		{ TIMES_ESTIMATED, 9, "estimated", "compare instructions\n" },
		{ TIMES_INVENTED, 9, "invented", "1 ns an instruction" },
		{ TIMES_OF_LINES, 9, "invented", "1 ns a line" },
		{ TIMES_OF_WORK, 9, "insns", "times are instructions" },
		{ TIMES_OF_CYCLES, 9, "cycles", "times are core cycles" },
	};
	const struct callstack_machine machine = { .times = rows[_i].times,
						   .resolution = rows[_i].resolution };
	json_t *json = json_object();
	char *text;
	FILE *out = OPEN_TEXT(text);

	time_note_print(&machine, out);
	alloc_close_text(out, &text);
	ck_assert_ptr_nonnull(strstr(text, rows[_i].text));
	ck_assert_ptr_eq(strchr(text, '\n'), text + strlen(text) - 1);
	time_note_add(json, &machine);
	ck_assert_str_eq(json_value_text(json, "times"), rows[_i].word);
	ck_assert_int_eq(json_value_number(json, "resolution_ns"),
			 rows[_i].times == TIMES_MEASURED ? rows[_i].resolution : 0);
	ck_assert_int_eq(json_is_null(json_object_get(json, "resolution_ns")),
			 rows[_i].times != TIMES_MEASURED || !rows[_i].resolution);
	json_decref(json);
	free(text);
}
END_TEST

/* Amounts are times, instructions or, with --clock, cycles. */
START_TEST(amounts_have_their_unit)
{
	static const struct {
		const char *work; /* --clock's; NULL: time */
		bool by_insns;
		const char *amount, *unit, *key;
	} rows[] = {
		{ NULL, false, "1.5us", "", "x_ns" },
		{ NULL, true, "1500", " instructions", "x_insns" },
		{ "insns", false, "1500", " instructions", "x_insns" },
		{ "cycles", false, "1500", " cycles", "x_cycles" },
	};
	json_t *json = json_object();

	digits_count_work(rows[_i].work);
	ck_assert_str_eq(amount_text(rows[_i].by_insns, 1500).text, rows[_i].amount);
	ck_assert_str_eq(extra_text(rows[_i].by_insns, 1499.5).text, rows[_i].amount);
	ck_assert_str_eq(extra_text(rows[_i].by_insns, 1500.4).text, rows[_i].amount);
	ck_assert_int_eq(*extra_text(rows[_i].by_insns, -5).text, '0');
	ck_assert_int_eq(*extra_text(rows[_i].by_insns, 0.4).text, '0');
	ck_assert_int_ne(*extra_text(rows[_i].by_insns, 1e300).text, '-');
	ck_assert_str_eq(amount_unit(rows[_i].by_insns), rows[_i].unit);
	amount_set(json, "x", rows[_i].by_insns, 1500);
	ck_assert_int_eq(json_value_number(json, rows[_i].key), 1500);
	amount_set(json, "x", rows[_i].by_insns, UINT64_MAX);
	ck_assert_int_eq(json_value_number(json, rows[_i].key), INT64_MAX);
	digits_count_work(NULL);
	json_decref(json);
}
END_TEST

/* Up to 36 bytes; of a longer name, begin and end, without a part of a character. */
START_TEST(a_short_name_has_36_bytes)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789ABCD";
	char name[100];

	snprintf(name, sizeof(name), "%.36s", letters);
	ck_assert_str_eq(short_name(name).text, name);
	snprintf(name, sizeof(name), "%.37s", letters);
	ck_assert_str_eq(short_name(name).text, "abcdefghijklmnopqr..vwxyz0123456789A");
	ck_assert_str_eq(short_name(letters).text, "abcdefghijklmnopqr..yz0123456789ABCD");
	/* The 18th byte is the first of a character, as the first of the end. */
	ck_assert_str_eq(short_name("abcdefghijklmnopq\xc3\xa4zzzzzz\xc3\xa4"
				    "tuvwxyz01234567")
				 .text,
			 "abcdefghijklmnopq..\xc3\xa4"
			 "tuvwxyz01234567");
	ck_assert_str_eq(short_name("").text, "");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("json_text");
	TCase *all = tcase_create("json_text");

	tcase_add_test(all, any_text_comes_back);
	tcase_add_test(all, what_is_no_utf8_is_replaced_byte_by_byte);
	tcase_add_test(all, a_nul_does_not_end_a_text);
	tcase_add_test(all, each_byte_comes_back_wherever_it_is);
	tcase_add_test(all, each_byte_is_escaped_wherever_it_is);
	tcase_add_test(all, every_pair_of_bytes_makes_valid_json);
	tcase_add_test(all, a_form_has_the_fields_of_an_object);
	tcase_add_test(all, a_form_has_titles_and_marks_bounds);
	tcase_add_test(all, parts_of_a_form_depend_on_fields);
	tcase_add_test(all, numbers_of_a_form_have_units);
	tcase_add_test(all, rows_are_csv_with_a_header);
	tcase_add_loop_test(all, arguments_of_events_are_text_or_json, 0, 2);
	tcase_add_loop_test(all, the_source_of_times_is_said, 0, 8);
	tcase_add_loop_test(all, amounts_have_their_unit, 0, 4);
	tcase_add_test(all, a_short_name_has_36_bytes);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
