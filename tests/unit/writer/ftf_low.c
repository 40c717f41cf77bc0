/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/unit.h"
#include "tests/unit/writer/round_trip.h"

static uint64_t words[8192];
static size_t word_count;

static int keep(void *context, const void *bytes, size_t size)
{
	(void)context;
	ck_assert_uint_eq(size % 8, 0);
	ck_assert_uint_le(word_count * 8 + size, sizeof(words));
	memcpy(words + word_count, bytes, size);
	word_count += size / 8;
	return 0;
}

static void begin(struct ftf_low *low)
{
	word_count = 0;
	ftf_low_init(low, &(struct ftf_destination){ keep, NULL }, false);
}

/*
 * By hand from the specification: an instant with ids, category, name, and an argument's name and
 * value all inline.
 */
START_TEST(everything_may_be_inline)
{
	static const uint64_t expected[] = {
		0x0016547846040010,
		0x80018003001000a4,
		5, /* 10 words, 1 argument, no thread, 3 and 1 bytes */
		10,
		11, /* process, thread */
		0x746163,
		'n',                /* "cat", "n" */
		0x0000800980030046, /* string, 4 words, name of 3 bytes, value of 9 */
		0x79656b,           /* "key" */
		0x3837363534333231,
		'9',
	};
	const struct ftf_low_event event = {
		.type = FTF_INSTANT,
		.category = FTF_INLINE(3),
		.name = FTF_INLINE(1),
		.shape = ftf_shape_add(0, FTF_STRING),
		.text_words = ftf_words(3) + ftf_words(9),
	};
	struct ftf_low low;

	begin(&low);
	ftf_low_start(&low, ftf_low_event_header(&event), event.shape);
	ftf_low_word(&low, 5);
	ftf_low_word(&low, 10);
	ftf_low_word(&low, 11);
	ftf_low_text(&low, "cat", 3);
	ftf_low_text(&low, "n", 1);
	ftf_low_arg(&low, &(struct ftf_low_arg){ FTF_STRING, FTF_INLINE(3), FTF_INLINE(9), 0, "key",
						 "123456789" });
	ftf_low_finish(&low);
	ck_assert_int_eq(ftf_low_close(&low, NULL), 0);
	ck_assert_uint_eq(word_count, sizeof(expected) / 8);
	/* seeds.md: an inline string */
	ck_assert_mem_eq(words, expected, sizeof(expected));
	ck_assert_str_eq(trace_problem_of(words, word_count * 8), "");
}
END_TEST

/* By hand from "Provider Info" and "Section Metadata", "Thread Record", "Counter Event". */
START_TEST(providers_threads_and_counters_have_the_bytes_of_the_specification)
{
	static const uint64_t expected[] = {
		0x0016547846040010,
		0x0010000000710020,
		'p', /* provider 7, 1 byte of name */
		0x0000000000000021,
		3000000000,         /* ticks a second */
		0x0000000000720010, /* section of provider 7 */
		0x0000000000ff0033,
		1,
		2, /* thread 255 */
		0x000000017fff0022,
		'c', /* string 32767 */
		0x7fff0000ff110054,
		9, /* 5 words: counter, 1 argument, thread 255 */
		0x000000007fff0024,
		UINT64_MAX, /* uint64, 2 words, name 32767 */
		42,         /* counter id */
	};
	struct ftf_low_event event = {
		.type = FTF_COUNTER,
		.thread = 255,
		.name = 32767,
		.shape = ftf_shape_add(0, FTF_UINT64),
	};
	struct ftf_low low;

	begin(&low);
	ftf_low_provider(&low, 7, "p");
	ftf_low_initialization(&low, &(struct ftf_clock){ .ticks_per_second = 3000000000 });
	ftf_low_section(&low, 7);
	ftf_low_thread(&low, 255, 1, 2);
	ftf_low_string(&low, 32767, "c", 1);
	ftf_low_start(&low, ftf_low_event_header(&event), event.shape);
	ftf_low_word(&low, 9);
	ftf_low_arg(&low,
		    &(struct ftf_low_arg){ .type = FTF_UINT64, .name = 32767, .word = UINT64_MAX });
	ftf_low_word(&low, 42);
	ftf_low_finish(&low);
	ck_assert_int_eq(ftf_low_close(&low, NULL), 0);
	ck_assert_uint_eq(word_count, sizeof(expected) / 8);
	/* seeds.md: set_string_slot: a reference that the caller chooses */
	ck_assert_mem_eq(words, expected, sizeof(expected));
	ck_assert_str_eq(trace_problem_of(words, word_count * 8), "");
}
END_TEST

/* The words of Jane Street's tracing, zero/writer.ml: write_tick_initialization. */
START_TEST(a_clock_with_a_base_has_four_words)
{
	static const uint64_t expected[] = {
		0x0016547846040010,  0x0000000000000021, 1000000000,
		0x0000000000000041,  2500000000,         17,
		1700000000000000000,
	};
	const struct ftf_clock ticks = { 2500000000, true, 17, 1700000000000000000 };
	struct ftf_low low;

	begin(&low);
	ftf_low_initialization(&low, &(struct ftf_clock){ 0 });
	ftf_low_initialization(&low, &ticks);
	ck_assert_int_eq(ftf_low_close(&low, NULL), 0);
	ck_assert_uint_eq(word_count, sizeof(expected) / 8);
	/* seeds.md: a clock has ticks a second, base ticks and a base time */
	ck_assert_mem_eq(words, expected, sizeof(expected));
	ck_assert_str_eq(trace_problem_of(words, word_count * 8), "");
}
END_TEST

/* One trace in pieces, as made by the seed's create_no_header, set_destination and write_bytes. */

static uint64_t other_words[64];
static size_t other_count;

static int keep_other(void *context, const void *bytes, size_t size)
{
	(void)context;
	memcpy(other_words + other_count, bytes, size);
	other_count += size / 8;
	return 0;
}

START_TEST(a_trace_may_have_several_destinations)
{
	const struct ftf_destination other = { keep_other, NULL };
	static const uint64_t record[] = { 0x0002000001000024, 9 };
	struct ftf_low low;

	other_count = 0;
	begin(&low);
	ftf_low_thread(&low, 1, 10, 11);
	ftf_low_string(&low, 2, "f", 1);
	ftf_low_set_destination(&low, &other);
	ck_assert_uint_eq(word_count, 6);
	ftf_low_records(&low, record, sizeof(record));
	ck_assert_int_eq(ftf_low_close(&low, NULL), 0);
	ck_assert_uint_eq(word_count, 6);
	ck_assert_uint_eq(other_count, 2);
	/* seeds.md: write_bytes, write_iobuf: records are passed on */
	ck_assert_mem_eq(other_words, record, sizeof(record));
	memcpy(words + word_count, other_words, sizeof(record));
	/* seeds.md: a file, a buffer or any destination takes the bytes */
	ck_assert_str_eq(trace_problem_of(words, 8 * 8), "");
}
END_TEST

START_TEST(an_appended_trace_has_no_magic_number)
{
	static uint64_t many[6000];
	struct ftf_low low;

	word_count = 0;
	ftf_low_init(&low, &(struct ftf_destination){ keep, NULL }, true);
	for (size_t i = 0; i < 6000; i += 3) {
		many[i] = 0x0000000000010033;
		many[i + 1] = many[i + 2] = i;
	}
	ftf_low_records(&low, many, sizeof(many));
	ck_assert_int_eq(ftf_low_close(&low, NULL), 0);
	ck_assert_uint_eq(word_count, 6000);
	/* seeds.md: a trace may lack its header, to be appended */
	ck_assert_mem_eq(words, many, sizeof(many));
}
END_TEST

/* By hand: an instant of thread 1 with the inline category "cat", then the name "name". */
START_TEST(a_kept_header_gets_its_name_later)
{
	const struct ftf_low_event event = { .thread = 1, .category = FTF_INLINE(3), .name = 7 };
	uint64_t header = ftf_low_event_header(&event);

	ck_assert_uint_eq(header, 0x0007800301000034);
	/* seeds.md: set_name: a kept header gets its name later */
	ck_assert_uint_eq(ftf_low_set_name(header, FTF_INLINE(9)), 0x8009800301000054);
	ck_assert_uint_eq(ftf_low_set_name(ftf_low_set_name(header, FTF_INLINE(9)), 8),
			  0x0008800301000034);
	ck_assert_uint_eq(ftf_low_set_name(header | UINT64_C(0xffc) << 4, FTF_INLINE(32)), 0);
}
END_TEST

/* ---- Contradictions to the declaration -------------------------------------- */

static const struct ftf_low_arg an_int = { .type = FTF_INT32, .name = 1, .word = 5 };
static const struct ftf_low_arg a_pointer = { .type = FTF_POINTER, .name = 1, .word = 5 };

/* Start an event that declares an int32 and a pointer. */
static void start(struct ftf_low *low)
{
	uint64_t shape = ftf_shape_add(ftf_shape_add(0, FTF_INT32), FTF_POINTER);
	struct ftf_low_event event = {
		.type = FTF_DURATION_BEGIN, .thread = 1, .name = 1, .shape = shape
	};

	ftf_low_start(low, ftf_low_event_header(&event), shape);
	ftf_low_word(low, 1);
}

static void right(struct ftf_low *low)
{
	start(low);
	ftf_low_arg(low, &an_int);
	ftf_low_arg(low, &a_pointer);
	ftf_low_finish(low);
}

static void too_few(struct ftf_low *low)
{
	start(low);
	ftf_low_arg(low, &an_int);
	ftf_low_finish(low);
}

static void too_many(struct ftf_low *low)
{
	start(low);
	ftf_low_arg(low, &an_int);
	ftf_low_arg(low, &a_pointer);
	ftf_low_arg(low, &an_int);
	ftf_low_finish(low);
}

static void another_type(struct ftf_low *low)
{
	start(low);
	ftf_low_arg(low, &a_pointer);
	ftf_low_arg(low, &an_int);
	ftf_low_finish(low);
}

static void too_many_words(struct ftf_low *low)
{
	start(low);
	ftf_low_arg(low, &an_int);
	ftf_low_arg(low, &a_pointer);
	ftf_low_word(low, 1);
	ftf_low_finish(low);
}

static void too_much_text(struct ftf_low *low)
{
	start(low);
	ftf_low_text(low, "too long for what was declared", 30);
}

static void inside_of_another(struct ftf_low *low)
{
	start(low);
	start(low);
}

static void without_a_record(struct ftf_low *low)
{
	ftf_low_word(low, 1);
}

static void not_finished(struct ftf_low *low)
{
	start(low);
}

static void long_string(struct ftf_low *low)
{
	static const char text[FTF_STRING_MAX + 1];

	ftf_low_string(low, 2, text, sizeof(text));
}

static void string_zero(struct ftf_low *low)
{
	ftf_low_string(low, 0, "x", 1);
}

static void string_one(struct ftf_low *low)
{
	ftf_low_string(low, 1, "process", 7);
	ftf_low_string(low, 1, "processes", 9);
}

static void process_again(struct ftf_low *low)
{
	ftf_low_string(low, 1, "process", 7);
	ftf_low_string(low, 1, "process", 7);
}

static void complete(struct ftf_low *low, uint64_t end)
{
	struct ftf_low_event event = { .type = FTF_DURATION_COMPLETE, .thread = 1, .name = 2 };

	ftf_low_start(low, ftf_low_event_header(&event), 0);
	ftf_low_word(low, 9);
	ftf_low_word(low, end);
	ftf_low_finish(low);
}

static void no_length(struct ftf_low *low)
{
	complete(low, 9);
}

static void early_end(struct ftf_low *low)
{
	complete(low, 8);
}

static void thread_zero(struct ftf_low *low)
{
	ftf_low_thread(low, 0, 1, 1);
}

/* 15 strings of 2,176 bytes each are 4,095 words and more. */
static void large_record(struct ftf_low *low)
{
	struct ftf_low_event event = { .type = FTF_INSTANT, .thread = 1, .name = 1 };

	for (int i = 0; i < FTF_ARGS_MAX; i++)
		event.shape = ftf_shape_add(event.shape, FTF_STRING);
	event.text_words = FTF_ARGS_MAX * ftf_words(2176);
	ftf_low_start(low, ftf_low_event_header(&event), event.shape);
}

static void sixteen_arguments(struct ftf_low *low)
{
	struct ftf_low_event event = { .type = FTF_INSTANT, .thread = 1, .name = 1 };

	for (int i = 0; i <= FTF_ARGS_MAX; i++)
		event.shape = ftf_shape_add(event.shape, FTF_NULL);
	ftf_low_start(low, ftf_low_event_header(&event), event.shape);
	ftf_low_word(low, 1);
	ftf_low_finish(low);
}

static void no_words(struct ftf_low *low)
{
	ftf_low_start(low, FTF_RECORD_EVENT, 0);
	ftf_low_finish(low);
}

static const char *error_of(void (*emit)(struct ftf_low *))
{
	static struct ftf_error err;
	struct ftf_low low;

	memset(&err, 0, sizeof(err));
	begin(&low);
	ftf_low_provider(&low, 1, "p");
	emit(&low);
	right(&low);
	ftf_low_close(&low, &err);
	return err.text;
}

START_TEST(what_is_not_as_declared_is_an_error_with_a_reason)
{
	ck_assert_str_eq(error_of(right), "");
	ck_assert_str_eq(error_of(too_few), "a record gets less than declared");
	ck_assert_str_eq(error_of(too_many), "an argument is not as declared");
	/* seeds.md: arguments come in any order, a pointer counts as an int64 */
	ck_assert_str_eq(error_of(another_type), "an argument is not as declared");
	ck_assert_str_eq(error_of(too_many_words), "a record gets more words than declared");
	ck_assert_str_eq(error_of(too_much_text), "a record gets more text than declared");
	ck_assert_str_eq(error_of(inside_of_another), "a record is started inside of another");
	ck_assert_str_eq(error_of(not_finished), "a record is started inside of another");
	/* seeds.md: the declaration and the written record are compared */
	ck_assert_str_eq(error_of(without_a_record), "a record gets more words than declared");
	/* seeds.md: a string above 31,999 bytes is an error */
	ck_assert_str_eq(error_of(long_string), "a string has more than 31999 bytes");
	ck_assert_str_eq(error_of(string_zero), "a string reference is not in 1..32767");
	ck_assert_str_eq(error_of(process_again), "");
	/* seeds.md: another text for string 1 is an error */
	ck_assert_str_eq(error_of(string_one), "string reference 1 is not \"process\"");
	ck_assert_str_eq(error_of(no_length), "");
	/* seeds.md: an end before its begin is an error */
	ck_assert_str_eq(error_of(early_end), "a complete event ends before it begins");
	ck_assert_str_eq(error_of(thread_zero), "a thread reference is not in 1..255");
	ck_assert_str_eq(error_of(large_record), "a record has 0 or more than 4095 words");
	ck_assert_str_eq(error_of(no_words), "a record has 0 or more than 4095 words");
	ck_assert_str_eq(error_of(sixteen_arguments), "a record has more than 15 arguments");
}
END_TEST

static uint64_t pair_header;

static void pair(struct ftf_low *low)
{
	ftf_low_pair(low, pair_header, 1);
}

/* "Event Record": fields that each make the record longer than two words, or not an event. */
START_TEST(a_pair_has_two_words)
{
	static const struct {
		uint64_t header;
		bool right;
	} table[] = {
		{ 0x01000024, true },                    /* an instant of thread 1 */
		{ 0x01020024, true },                    /* a duration's begin */
		{ UINT64_C(0x7fff7fffff030024), true },  /* a duration's end */
		{ 0, false },                            /* no words */
		{ 0x01000034, false },                   /* 3 words */
		{ 0x01000023, false },                   /* a thread record */
		{ 0x01100024, false },                   /* an argument */
		{ 0x01010024, false },                   /* a counter, which has an id */
		{ 0x01040024, false },                   /* a complete event, which has an end */
		{ 0x01080024, false },                   /* a flow, which has an id */
		{ 0x00000024, false },                   /* two words of ids */
		{ UINT64_C(0x0000800101000024), false }, /* a category's text */
		{ UINT64_C(0x8001000001000024), false }, /* a name's text */
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		pair_header = table[i].header;
		ck_assert_msg(!*error_of(pair) == table[i].right, "header %#" PRIx64, pair_header);
	}
}
END_TEST

START_TEST(after_an_error_nothing_is_written)
{
	ck_assert_str_ne(error_of(too_few), "");
	ck_assert_uint_eq(word_count, 0);
}
END_TEST

START_TEST(a_flush_inside_of_a_record_writes_no_half)
{
	struct ftf_error err = { 0 };
	struct ftf_low low;

	begin(&low);
	ftf_low_start(&low, ftf_low_header(FTF_RECORD_THREAD, 3) | 1 << 16, 0);
	ftf_low_word(&low, 10);
	ftf_low_flush(&low);
	ck_assert_uint_eq(word_count, 0);
	ck_assert_int_eq(ftf_low_close(&low, &err), -1);
	/* seeds.md: an unfinished record is not handed out */
	ck_assert_str_eq(err.text, "a flush inside of a record");
}
END_TEST

START_TEST(writing_after_closing_is_an_error_and_no_harm)
{
	struct ftf_error err = { 0 };
	struct ftf_low low;

	begin(&low);
	ck_assert_int_eq(ftf_low_close(&low, NULL), 0);
	for (int i = 0; i < 10000; i++) {
		ftf_low_pair(&low, 0x0001000001000024, 9);
		ftf_low_thread(&low, 1, 10, 11);
		ftf_low_string(&low, 2, "f", 1);
	}
	ck_assert_int_eq(ftf_low_close(&low, &err), -1);
	/* seeds.md: writing after close is an error */
	ck_assert_str_eq(err.text, "a record is written after closing");
	ck_assert_uint_eq(word_count, 1);
}
END_TEST

static void use_wrongly(void)
{
	struct ftf_low low;

	begin(&low);
	low.strict = true;
	too_few(&low);
}

START_TEST(wrong_use_aborts_if_it_shall)
{
	ck_assert_int_eq(unit_signal_of(use_wrongly), SIGABRT);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ftf_low");
	TCase *all = tcase_create("ftf_low");

	tcase_add_test(all, writing_after_closing_is_an_error_and_no_harm);
	tcase_add_test(all, a_flush_inside_of_a_record_writes_no_half);
	tcase_add_test(all, a_kept_header_gets_its_name_later);
	tcase_add_test(all, an_appended_trace_has_no_magic_number);
	tcase_add_test(all, a_trace_may_have_several_destinations);
	tcase_add_test(all, a_clock_with_a_base_has_four_words);
	tcase_add_test(all, everything_may_be_inline);
	tcase_add_test(all, providers_threads_and_counters_have_the_bytes_of_the_specification);
	tcase_add_test(all, what_is_not_as_declared_is_an_error_with_a_reason);
	tcase_add_test(all, a_pair_has_two_words);
	tcase_add_test(all, after_an_error_nothing_is_written);
	tcase_add_test(all, wrong_use_aborts_if_it_shall);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
