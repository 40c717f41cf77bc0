/* SPDX-License-Identifier: MIT */
#include "decoder/engine/fast/tnt_bits.h"

#include <string.h>

#include "tests/support/unit.h"

/* Writes "t" and "n" for the bits, in the order of their use. */
static const char *text_of(uint64_t bits)
{
	static char text[65];
	size_t at = 0;

	for (; bits != TNT_BITS_NONE; bits <<= 1)
		text[at++] = tnt_bits_next(bits) ? 't' : 'n';
	text[at] = '\0';
	return text;
}

/* SDM volume 3, "Taken/Not-taken (TNT) Packet": up to six bits after a stop bit 1, then a 0. */
START_TEST(a_byte_has_the_bits_after_its_first_one)
{
	static const struct {
		uint8_t byte;
		const char *text;
	} bytes[] = {
		{ 0x04, "n" },      { 0x06, "t" },      { 0x08, "nn" },
		{ 0x0a, "nt" },     { 0x0e, "tt" },     { 0x1a, "tnt" },
		{ 0x80, "nnnnnn" }, { 0xfe, "tttttt" }, { 0xaa, "ntntnt" },
	};

	for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
		unsigned count;
		uint64_t bits = tnt_bits_of_byte(bytes[i].byte, &count);

		ck_assert_str_eq(text_of(bits), bytes[i].text);
		ck_assert_uint_eq(count, strlen(bytes[i].text));
		ck_assert_uint_eq(tnt_bits_count(bits), count);
	}
}
END_TEST

START_TEST(a_packet_of_any_length_has_its_bits_the_oldest_first)
{
	ck_assert_uint_eq(tnt_bits(0, 0), TNT_BITS_NONE);
	ck_assert_str_eq(text_of(tnt_bits(0x5, 3)), "tnt");
	ck_assert_str_eq(text_of(tnt_bits(0x5, 5)), "nntnt");
	for (unsigned count = 0; count <= 63; count++) {
		ck_assert_uint_eq(tnt_bits_count(tnt_bits(0, count)), count);
		ck_assert_uint_eq(strlen(text_of(tnt_bits(UINT64_MAX >> 1, count))), count);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tnt_bits");
	TCase *all = tcase_create("all");

	tcase_add_test(all, a_byte_has_the_bits_after_its_first_one);
	tcase_add_test(all, a_packet_of_any_length_has_its_bits_the_oldest_first);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
