/* SPDX-License-Identifier: MIT */
/* Traces made by hand from the specification, word by word, and what is wrong with them. */
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

/* Returns what is wrong when one word is another. */
static const char *with(size_t index, uint64_t word)
{
	uint64_t changed[LAST];

	memcpy(changed, sound, sizeof(sound));
	changed[index] = word;
	return trace_problem_of(changed, sizeof(changed));
}

START_TEST(a_sound_trace_is_accepted)
{
	ck_assert_str_eq(with(BEGIN + 1, 5), "");
}
END_TEST

START_TEST(damage_is_named)
{
	ck_assert_str_eq(with(0, 0x0000000000020010), "the first record is no magic number");
	ck_assert_str_eq(with(TICKS, 0), "0 ticks a second");
	ck_assert_str_eq(with(BEGIN, 0x0002000001020024), "name: string 2 is not defined");
	ck_assert_str_eq(with(BEGIN, 0x0001000002020024), "thread 2 is not defined");
	ck_assert_str_eq(with(BEGIN, 0x0001000001030024), "end without a begin");
	ck_assert_str_eq(with(END, 0x0000000001020024), "2 durations of 10/11 never end");
	ck_assert_str_eq(with(END + 1, 4), "time goes back from 5 to 4 on 10/11");
	ck_assert_str_eq(with(BEGIN, 0x0001000001020004), "record of 0 words at offset 0x50");
	ck_assert_str_eq(with(BEGIN, 0x0001000001020064),
			 "record of 6 words, 32 bytes are left at offset 0x50");
	ck_assert_str_eq(with(BEGIN, 0x00010000010b0024), "event type 11 is not known");
	ck_assert_str_eq(with(BEGIN, 0x000100000102002a), "record type 10 is not known");
	ck_assert_str_eq(with(BEGIN, 0x0001000001120024),
			 "a word is missing: the record has only 2");
	ck_assert_str_eq(with(BEGIN, 0x8009000001020024), "name of 9 bytes leaves its record");
	ck_assert_str_eq(with(BEGIN, 0x0001000001040024),
			 "a word is missing: the record has only 2");
	ck_assert_str_eq(with(STRING, 0x0001000100010022),
			 "reserved bits 47..63 of the header are not zero");
	ck_assert_str_eq(with(STRING + 1, 0x6600), "string is not padded with zeros");
	ck_assert_str_eq(with(THREAD, 0x0000000000000033), "thread 0 cannot be defined");
	ck_assert_str_eq(with(PROVIDER, 0x0000000000120020), "provider 1 is not known");
	ck_assert_str_eq(trace_problem_of(sound, sizeof(sound) - 8),
			 "record of 2 words, 8 bytes are left at offset 0x60");
	ck_assert_str_eq(trace_problem_of(sound, sizeof(sound) - 11),
			 "5 bytes behind the last record at offset 0x60");
	ck_assert_str_eq(trace_problem_of("", 0), "is empty");
}
END_TEST

/* What is wrong with the sound trace and one more record of up to six words behind it. */
static const char *behind(const uint64_t record[6])
{
	uint64_t longer[LAST + 6];
	size_t words = record[0] >> 4 & 0xfff;

	ck_assert_uint_le(words, 6);
	memcpy(longer, sound, sizeof(sound));
	memcpy(longer + LAST, record, words * 8);
	return trace_problem_of(longer, sizeof(sound) + words * 8);
}

#define RECORD(...) behind((uint64_t[6]){ __VA_ARGS__ })

/* Fuchsia trace format, "Argument record": the name is string 1 in all. */
START_TEST(arguments_are_what_they_say)
{
	ck_assert_str_eq(RECORD(0x0001000001100034, 9, 0x0000000100010019), "");
	ck_assert_str_eq(RECORD(0x0001000001100034, 9, 0x0000000200010019),
			 "reserved bits of a bool argument are not zero");
	ck_assert_str_eq(RECORD(0x0001000001100034, 9, 0x0000000500010011), "");
	ck_assert_str_eq(RECORD(0x0001000001100044, 9, 0x0000000500010021, 0),
			 "an argument has 1 words and says 2");
	ck_assert_str_eq(RECORD(0x0001000001100044, 9, 0x0000000000010023, 5), "");
	ck_assert_str_eq(RECORD(0x0001000001100044, 9, 0x0000000100010023, 5),
			 "reserved bits of an argument are not zero");
	ck_assert_str_eq(RECORD(0x0001000001100034, 9, 0x0000000000010001 | 1 << 4 | 10),
			 "argument type 11 is not known");
}
END_TEST

START_TEST(records_end_where_their_data_do)
{
	ck_assert_str_eq(RECORD(0x0001000001000024, 9), "");
	ck_assert_str_eq(RECORD(0x0001000001000034, 9, 0), "1 words behind the record's data");
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
	ck_assert_str_eq(RECORD(0x0000001016000028, 10), "thread state 6 is not known");
}
END_TEST

START_TEST(a_provider_that_begins_again_knows_nothing)
{
	static const uint64_t again[] = { 0x0010000000110020, 'p', 0x0001000001000024, 9 };
	uint64_t longer[LAST + 4];

	memcpy(longer, sound, sizeof(sound));
	memcpy(longer + LAST, again, sizeof(again));
	ck_assert_str_eq(trace_problem_of(longer, sizeof(longer)), "thread 1 is not defined");
}
END_TEST

/* Perfetto drops what is deeper than 512: writer/ftf.h. */
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
				 depth == 512 ? "" : "more than 512 durations open");
	}
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
	complete(1, 20, 30, "behind a");
	trace_finish();
	ck_assert_str_eq(trace.slices, "1/1 0 10 20 a\n1/1 1 12 15 in a\n1/1 1 15 18 in a, too\n"
				       "1/1 0 20 30 behind a\n");
}
END_TEST

/* perf's -1, who nobody knows, is the first of all. */
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

/* Each word gets every single bit flipped: reading ends, and never outside of the bytes (ASan). */
START_TEST(no_flipped_bit_does_harm)
{
	unsigned refused = 0;

	for (size_t i = 0; i < LAST * 64; i++)
		refused += with(i / 64, sound[i / 64] ^ UINT64_C(1) << i % 64)[0] != 0;
	/* Times, ids, the ticks and letters may be anything: the rest may not. */
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
	tcase_add_test(all, records_end_where_their_data_do);
	tcase_add_test(all, a_complete_event_may_take_no_time_and_not_less);
	tcase_add_test(all, states_of_threads_are_known);
	tcase_add_test(all, a_provider_that_begins_again_knows_nothing);
	tcase_add_test(all, so_many_durations_may_be_open_as_perfetto_takes);
	tcase_add_test(all, slices_lie_in_those_that_end_later);
	tcase_add_test(all, threads_are_sorted_as_signed_numbers);
	tcase_add_test(all, what_is_shown_reads_back_and_moves_no_cursor);
	tcase_add_test(all, no_flipped_bit_does_harm);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
