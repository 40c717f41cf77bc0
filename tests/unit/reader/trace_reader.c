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

	tcase_set_timeout(all, 60);
	tcase_add_test(all, a_sound_trace_is_accepted);
	tcase_add_test(all, damage_is_named);
	tcase_add_test(all, no_flipped_bit_does_harm);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
