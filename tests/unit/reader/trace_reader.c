/* SPDX-License-Identifier: MIT */
/* Traces made by hand from the specification, word by word, and their errors. */
#include <string.h>

#include "tests/support/unit.h"
#include "tests/unit/writer/round_trip.h"

enum { PROVIDER = 1, TICKS = 4, THREAD = 5, STRING = 8, BEGIN = 10, END = 12, LAST = 14 };

static const uint64_t sound[] = {
	0x0016547846040010,
	0x0010000000110020,
	'p', /* provider 1 */
	0x0000000000000021,
	1000000000, /* initialization */
	0x0000000000010033,
	10,
	11, /* thread 1 */
	0x0000000100010022,
	'f', /* string 1 */
	0x0001000001020024,
	5, /* begin "f" at 5 */
	0x0000000001030024,
	9, /* end at 9 */
};

/* Returns the error after one word is changed. */
static const char *with(size_t index, uint64_t word)
{
	uint64_t changed[LAST];

	memcpy(changed, sound, sizeof(sound));
	changed[index] = word;
	return trace_problem_of(changed, sizeof(changed));
}

START_TEST(a_sound_trace_is_accepted)
{
	/* seeds.md: records come one by one */
	ck_assert_str_eq(with(BEGIN + 1, 5), "");
}
END_TEST

START_TEST(damage_is_named)
{
	/* seeds.md: a wrong size is an error; a wrong magic number is counted */
	ck_assert_str_eq(with(0, 0x0000000000020010), "the first record is not the magic number");
	ck_assert_str_eq(with(TICKS, 0), "0 ticks a second");
	ck_assert_str_eq(with(BEGIN, 0x0002000001020024), "name: string 2 is not defined");
	/* seeds.md: a reference that is not defined is an error */
	ck_assert_str_eq(with(BEGIN, 0x0001000002020024), "thread 2 is not defined");
	ck_assert_str_eq(with(BEGIN, 0x0001000001030024), "ends without a begin on 10/11");
	ck_assert_str_eq(with(END, 0x0000000001020024), "2 durations of 10/11 never end");
	ck_assert_str_eq(with(END + 1, 4), "time goes back from 5 to 4 on 10/11");
	ck_assert_str_eq(with(BEGIN, 0x0001000001020004), "record of 0 words at offset 0x50");
	ck_assert_str_eq(with(BEGIN, 0x0001000001020064),
			 "record of 6 words, 32 bytes are left at offset 0x50");
	ck_assert_str_eq(with(BEGIN, 0x0001000001120024),
			 "a word is missing: the record has only 2");
	ck_assert_str_eq(with(BEGIN, 0x8009000001020024), "name of 9 bytes leaves its record");
	ck_assert_str_eq(with(BEGIN, 0x0001000001040024),
			 "a word is missing: the record has only 2");
	ck_assert_str_eq(with(STRING, 0x0001000100010022),
			 "reserved bits 47..63 of the header are not zero");
	ck_assert_str_eq(with(STRING + 1, 0x6600), "string is not padded with zeros");
	ck_assert_str_eq(with(THREAD, 0x0000000000000033), "thread 0 cannot be defined");
	ck_assert_str_eq(trace_problem_of(sound, sizeof(sound) - 8),
			 "record of 2 words, 8 bytes are left at offset 0x60");
	ck_assert_str_eq(trace_problem_of(sound, sizeof(sound) - 11),
			 "5 bytes after the last record at offset 0x60");
	ck_assert_str_eq(trace_problem_of("", 0), "is empty");
}
END_TEST

/* The error of the sound trace followed by a record of up to six words. */
static const char *after(const uint64_t record[6])
{
	uint64_t longer[LAST + 6];
	size_t words = record[0] >> 4 & 0xfff;

	ck_assert_uint_le(words, 6);
	memcpy(longer, sound, sizeof(sound));
	memcpy(longer + LAST, record, words * 8);
	return trace_problem_of(longer, sizeof(sound) + words * 8);
}

#define RECORD(...) after((uint64_t[6]){ __VA_ARGS__ })

/* The error of an instant at `ticks` with one tick a second. */
static const char *slow(uint64_t ticks)
{
	const uint64_t words[] = { sound[0], 0x21, 1, 0x44, ticks, 0, 0 };

	return trace_problem_of(words, sizeof(words));
}

/* Fuchsia trace format, "Argument record": the name is string 1 in all. */
START_TEST(arguments_are_what_they_say)
{
	ck_assert_str_eq(RECORD(0x0001000001100034, 9, 0x0000000100010019), "");
	ck_assert_str_eq(RECORD(0x0001000001100034, 9, 0x0000000200010019),
			 "reserved bits of a bool argument are not zero");
	ck_assert_str_eq(RECORD(0x0001000001100034, 9, 0x0000000500010011), "");
	ck_assert_str_eq(RECORD(0x0001000001100044, 9, 0x0000000500010021, 0),
			 "?? words after the data 1");
	ck_assert_str_eq(RECORD(0x0001000001100034, 9, 0x0000000100010013),
			 "a word is missing: the record has only 3");
	ck_assert_str_eq(RECORD(0x0001000001100044, 9, 0x0000000000010023, 5), "");
	ck_assert_str_eq(RECORD(0x0001000001100044, 9, 0x0000000100010023, 5),
			 "reserved bits of an argument are not zero");
}
END_TEST

/* "Extension points": new types, and extra words at a record's end, have a size. */
START_TEST(what_is_not_known_is_passed_over_by_its_size)
{
	/* seeds.md: unknown types are counted and skipped */
	ck_assert_str_eq(RECORD(0x000000000000003e, 1, 2), "?? record type 14");
	ck_assert_str_eq(RECORD(0x0000000000050010), "?? metadata type 5");
	ck_assert_str_eq(RECORD(0x0000000000540010), "?? trace info type 5");
	ck_assert_str_eq(RECORD(0x0020000000130010), "?? provider event 2");
	ck_assert_str_eq(RECORD(0x00010000010c0034, 9, 7), "?? event type 12");
	ck_assert_str_eq(RECORD(0x3000000000000028, 10), "?? scheduling type 3");
	ck_assert_str_eq(RECORD(0x0000001016000028, 10), "?? thread state 6");
	ck_assert_str_eq(RECORD(0x0001000001000034, 9, 0), "?? words after the data 1");
	/* An argument of type 15 and two words, and a valid one after it. */
	ck_assert_str_eq(RECORD(0x0001000001200054, 9, 0x000000000001002f, 7, 0x0000000100010019),
			 "?? argument type 15");
	ck_assert_str_eq(RECORD(0x0001000001200054, 9, 0x000000000001002f, 7, 0x0000000200010019),
			 "reserved bits of a bool argument are not zero");
	ck_assert_str_eq(RECORD(0x0001000001100034, 9, 0x000000000001002f),
			 "an argument of 2 words leaves its record");
}
END_TEST

/* "Large Blob Record": its 32-bit size would not fit into the usual 12 bits. */
START_TEST(large_records_are_passed_over)
{
	static uint64_t longer[LAST + 8192 + 2];

	memcpy(longer, sound, sizeof(sound));
	longer[LAST] = 15 | 8192 << 4;
	longer[LAST + 8192] = 0x0001000001000024;
	/* seeds.md: large records */
	ck_assert_str_eq(trace_problem_of(longer, sizeof(longer)),
			 "?! Perfetto cannot pass over a large record");
	ck_assert_str_eq(trace_problem_of(longer, (LAST + 8191) * 8),
			 "record of 8192 words, 65528 bytes are left at offset 0x70");
	ck_assert_str_eq(trace_problem_of(&longer[LAST], 8192 * 8),
			 "the first record is not the magic number");
}
END_TEST

/* Jane Street's "tracing", write_tick_initialization: ticks a second, base ticks, base time. */
START_TEST(an_initialization_may_say_which_tick_was_when)
{
	/* seeds.md: base ticks and base time of the clock */
	ck_assert_str_eq(RECORD(0x0000000000000041, 3000000000, 17, 1700000000000000000), "");
	ck_assert_str_eq(RECORD(0x0000000000000031, 3000000000, 17), "?? words after the data 1");
}
END_TEST

/* TicksToNs() in Perfetto's fuchsia_trace_utils.cc: times beyond int64 ns are dropped. */
START_TEST(times_fit_into_int64_of_nanoseconds)
{
	ck_assert_str_eq(RECORD(0x0001000001000024, INT64_MAX), "");
	ck_assert_str_eq(RECORD(0x0001000001000024, (uint64_t)INT64_MAX + 1),
			 "9223372036854775808 ticks are 2^63 ns or more");
	ck_assert_str_eq(RECORD(0x0001000001040034, 10, UINT64_MAX),
			 "18446744073709551615 ticks are 2^63 ns or more");
	ck_assert_str_eq(RECORD(0x1000001015000048, UINT64_MAX, 1, 2),
			 "18446744073709551615 ticks are 2^63 ns or more");
	ck_assert_str_eq(RECORD(0x2000000000000038, UINT64_MAX, 1),
			 "18446744073709551615 ticks are 2^63 ns or more");
	/* 10^12 seconds. */
	/* seeds.md: times are ticks since the base */
	ck_assert_str_eq(slow(1000000000000), "1000000000000 ticks are 2^63 ns or more");
	ck_assert_str_eq(slow(9000000000), "");
}
END_TEST

/* Perfetto's stats fuchsia_invalid_event, _invalid_event_arg_type and _non_numeric_counters. */
START_TEST(what_perfetto_drops_is_no_problem_of_the_format)
{
	ck_assert_str_eq(with(PROVIDER, 0x0000000000120020),
			 "?! the provider is not known, and Perfetto drops what follows");
	ck_assert_str_eq(RECORD(0x0001000001110044, 9, 0x0000000100010019, 0),
			 "?! a counter's value is not a number, and Perfetto drops it");
	/* "weight" must be an int32. */
	ck_assert_str_eq(RECORD(0x2000000000010068, 9, 11, 0x0000000080060032, 0x746867696577, 1),
			 "?! an argument does not have the type that Perfetto needs");
	ck_assert_str_eq(RECORD(0x2000000000010058, 9, 11, 0x0000000180060021, 0x746867696577), "");
}
END_TEST

START_TEST(a_complete_event_may_take_no_time_and_not_less)
{
	ck_assert_str_eq(RECORD(0x0001000001040034, 10, 10), "");
	ck_assert_str_eq(RECORD(0x0001000001040034, 10, 9),
			 "a complete event ends before it begins");
}
END_TEST

/* ZX_THREAD_STATE_DEAD is 5, the last one. */
START_TEST(states_of_threads_are_known)
{
	ck_assert_str_eq(RECORD(0x0000001015000028, 10), "");
}
END_TEST

START_TEST(a_provider_that_begins_again_knows_nothing)
{
	static const uint64_t again[] = { 0x0010000000110020, 'p' };
	const uint64_t event[] = { sound[BEGIN], 9 };
	static const uint64_t thread[] = { 0x0000000000010033, 10, 11 };
	uint64_t longer[LAST + 7];

	memcpy(longer, sound, sizeof(sound));
	memcpy(longer + LAST, again, sizeof(again));
	memcpy(longer + LAST + 2, event, sizeof(event));
	/* seeds.md: all providers have the same strings and threads */
	ck_assert_str_eq(trace_problem_of(longer, (LAST + 4) * 8), "thread 1 is not defined");
	memcpy(longer + LAST + 2, thread, sizeof(thread));
	memcpy(longer + LAST + 5, event, sizeof(event));
	ck_assert_str_eq(trace_problem_of(longer, sizeof(longer)), "name: string 1 is not defined");
}
END_TEST

/* Perfetto drops slices nested more than 512 deep: writer/ftf.h. */
START_TEST(so_many_durations_may_be_open_as_perfetto_takes)
{
	static uint64_t deep[BEGIN + 513 * 4];

	for (size_t depth = 512; depth <= 513; depth++) {
		memcpy(deep, sound, BEGIN * 8);
		for (size_t i = 0; i < 2 * depth; i++) {
			deep[BEGIN + 2 * i] = i < depth ? sound[BEGIN] : sound[END];
			deep[BEGIN + 2 * i + 1] = 5;
		}
		ck_assert_str_eq(trace_problem_of(deep, (BEGIN + depth * 4) * 8),
				 depth == 512
					 ? ""
					 : "?! more than 512 slices are open, and Perfetto drops "
					   "it");
	}
}
END_TEST

/*
 * Slices at 5, one at 12 whose `around` enclosing slices end at 15 and 18, another one at 16 to 17.
 * The enclosing slices begin at `begin`, and follow.
 */
static const char *deep_before_early(size_t depth, size_t around, uint64_t begin)
{
	static const uint64_t inner[] = { 0x0001000001040034, 12, 13 };
	static const uint64_t between[] = { 0x0001000001040034, 16, 17 };
	static uint64_t words[BEGIN + (512 + 512) * 4 + 6];
	size_t at = BEGIN;

	memcpy(words, sound, BEGIN * 8);
	for (size_t i = 0; i < 2 * depth; i++) {
		words[at++] = i < depth ? sound[BEGIN] : sound[END];
		words[at++] = 5;
	}
	memcpy(words + at, inner, sizeof(inner));
	at += 3;
	for (size_t i = 0; i < 2 * around; i++) {
		if (i == 1) {
			memcpy(words + at, between, sizeof(between));
			at += 3;
		}
		words[at++] = i < around ? sound[END] : sound[BEGIN];
		words[at++] = i < around ? 15 + 3 * (i > 0) : begin;
	}
	return trace_problem_of(words, at * 8);
}

START_TEST(early_slices_count_around_what_is_in_them_alone)
{
	static const char too_deep[] = "?! more than 512 slices are open, and Perfetto drops it";

	ck_assert_str_eq(deep_before_early(512, 2, 5), "");
	ck_assert_str_eq(deep_before_early(510, 2, 4), "");
	ck_assert_str_eq(deep_before_early(511, 2, 4), too_deep);
	ck_assert_str_eq(deep_before_early(512, 511, 5), "");
	ck_assert_str_eq(deep_before_early(512, 512, 5), too_deep);
	/* A slice that has ended encloses no later slice. */
	ck_assert_str_eq(deep_before_early(0, 512, 14), "");
}
END_TEST

static struct ftf_name name(const char *text)
{
	return ftf_text(trace.writer, text);
}

static void complete(uint64_t pid, uint64_t begin, uint64_t end, const char *text)
{
	const struct ftf_event event = { .thread = ftf_thread(trace.writer, pid, pid),
					 .time = begin,
					 .name = name(text) };

	ftf_complete(trace.writer, &event, end);
}

START_TEST(slices_lie_in_those_that_end_later)
{
	trace_begin("");
	complete(1, 10, 20, "a");
	complete(1, 12, 15, "in a");
	complete(1, 15, 18, "in a, too");
	complete(1, 20, 30, "after a");
	trace_finish();
	ck_assert_str_eq(trace.slices, "1/1 0 10 20 a\n1/1 1 12 15 in a\n1/1 1 15 18 in a, too\n"
				       "1/1 0 20 30 after a\n");
}
END_TEST

/* The error of complete and other events of one thread, each { header, time, [end] }. */
#define OF_THREAD(...) thread_problem_of((uint64_t[]){ __VA_ARGS__, 0 })
#define WHOLE          0x0001000001040034
#define OPEN           0x0001000001020024
#define CLOSE          0x0000000001030024

static const char *thread_problem_of(const uint64_t *words)
{
	uint64_t trace_words[BEGIN + 16];
	size_t count = 0;

	memcpy(trace_words, sound, BEGIN * 8);
	for (; words[count]; count++)
		trace_words[BEGIN + count] = words[count];
	return trace_problem_of(trace_words, (BEGIN + count) * 8);
}

/* Perfetto's stats slice_drop_overlapping_complete_event and misplaced_end_event. */
START_TEST(complete_events_lie_in_each_other)
{
	ck_assert_str_eq(OF_THREAD(WHOLE, 10, 20, WHOLE, 12, 20, WHOLE, 20, 30), "");
	ck_assert_str_eq(OF_THREAD(WHOLE, 10, 20, WHOLE, 12, 21),
			 "?! a complete event is partly in another, and Perfetto drops it");
	ck_assert_str_eq(OF_THREAD(WHOLE, 10, 20, OPEN, 12, CLOSE, 20, WHOLE, 20, 30), "");
	ck_assert_str_eq(
		OF_THREAD(WHOLE, 10, 20, OPEN, 12, CLOSE, 21),
		"?! a slice ends after the complete event that it is in, and Perfetto cuts "
		"it");
	ck_assert_str_eq(OF_THREAD(OPEN, 10, WHOLE, 12, 20, CLOSE, 20), "");
	ck_assert_str_eq(OF_THREAD(OPEN, 10, WHOLE, 12, 20, CLOSE, 19),
			 "?! a slice ends before the complete event in it, and Perfetto leaves it "
			 "open");
	/* Written at their ends, as some writers do: Perfetto sorts. */
	ck_assert_str_eq(OF_THREAD(WHOLE, 12, 15, WHOLE, 10, 20), "");
}
END_TEST

/* Events are sorted by time, and keep their order at equal times. */
START_TEST(begins_may_follow_what_is_in_them)
{
	ck_assert_str_eq(OF_THREAD(WHOLE, 12, 13, CLOSE, 15, CLOSE, 16, OPEN, 10, OPEN, 11), "");
	ck_assert_str_eq(OF_THREAD(CLOSE, 15, OPEN, 10, OPEN, 10, CLOSE, 10, OPEN, 16, CLOSE, 17),
			 "");
	ck_assert_str_eq(OF_THREAD(CLOSE, 15, CLOSE, 16, OPEN, 10),
			 "ends without a begin on 10/11");
	ck_assert_str_eq(OF_THREAD(CLOSE, 15, OPEN, 10, OPEN, 10, OPEN, 16),
			 "ends without a begin on 10/11");
}
END_TEST

START_TEST(slices_whose_begins_follow_are_around_those_before)
{
	struct ftf_event event = { .time = 4 };

	trace_begin("");
	event.thread = ftf_thread(trace.writer, 1, 1);
	complete(1, 2, 3, "inner");
	ftf_end(trace.writer, &event);
	complete(1, 4, 5, "next");
	event.time = 6;
	ftf_end(trace.writer, &event);
	event.time = 1;
	event.name = name("main");
	ftf_begin(trace.writer, &event);
	event.name = name("f");
	ftf_begin(trace.writer, &event);
	trace_finish();
	ck_assert_str_eq(trace.slices,
			 "1/1 0 1 6 main\n1/1 1 1 4 f\n1/1 2 2 3 inner\n1/1 1 4 5 next\n");
}
END_TEST

/* perf's -1, an unknown thread, comes first. */
START_TEST(threads_are_sorted_as_signed_numbers)
{
	trace_begin("");
	complete(7, 1, 2, "seven");
	complete(UINT32_MAX, 1, 2, "nobody");
	trace_finish();
	ck_assert_str_eq(trace.slices, "-1/-1 0 1 2 nobody\n7/7 0 1 2 seven\n");
}
END_TEST

START_TEST(what_is_shown_reads_back_and_moves_no_cursor)
{
	struct ftf_event event = { .time = 1 };

	trace_begin("");
	const struct ftf_arg arg = ftf_arg_double(name("x"), 0.1 + 0.2);

	event.thread = ftf_thread(trace.writer, 1, 1);
	event.name = name("a\x7f\x1b\\b");
	event.args = &arg;
	event.arg_count = 1;
	ftf_complete(trace.writer, &event, 2);
	trace_finish();
	ck_assert_str_eq(trace.slices, "1/1 0 1 2 a\\x7f\\x1b\\x5cb x=0.30000000000000004\n");
}
END_TEST

/* Each bit of each word is flipped: reading ends, without reads outside the bytes (ASan). */
START_TEST(no_flipped_bit_does_harm)
{
	unsigned refused = 0;

	for (size_t i = 0; i < LAST * 64; i++)
		refused += with(i / 64, sound[i / 64] ^ UINT64_C(1) << i % 64)[0] != 0;
	/* Times, ids, ticks and letters may have any value, the rest not. */
	ck_assert_uint_gt(refused, LAST * 64 / 3);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("trace_reader");
	TCase *all = tcase_create("trace_reader");

	tcase_add_test(all, a_sound_trace_is_accepted);
	tcase_add_test(all, damage_is_named);
	tcase_add_test(all, arguments_are_what_they_say);
	tcase_add_test(all, what_is_not_known_is_passed_over_by_its_size);
	tcase_add_test(all, large_records_are_passed_over);
	tcase_add_test(all, an_initialization_may_say_which_tick_was_when);
	tcase_add_test(all, times_fit_into_int64_of_nanoseconds);
	tcase_add_test(all, what_perfetto_drops_is_no_problem_of_the_format);
	tcase_add_test(all, a_complete_event_may_take_no_time_and_not_less);
	tcase_add_test(all, states_of_threads_are_known);
	tcase_add_test(all, a_provider_that_begins_again_knows_nothing);
	tcase_add_test(all, so_many_durations_may_be_open_as_perfetto_takes);
	tcase_add_test(all, early_slices_count_around_what_is_in_them_alone);
	tcase_add_test(all, slices_lie_in_those_that_end_later);
	tcase_add_test(all, complete_events_lie_in_each_other);
	tcase_add_test(all, begins_may_follow_what_is_in_them);
	tcase_add_test(all, slices_whose_begins_follow_are_around_those_before);
	tcase_add_test(all, threads_are_sorted_as_signed_numbers);
	tcase_add_test(all, what_is_shown_reads_back_and_moves_no_cursor);
	tcase_add_test(all, no_flipped_bit_does_harm);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
