/* SPDX-License-Identifier: MIT */
/* Where a stream is cut: at PSBs (SDM volume 3: 02 82, eight times) with a minimum distance. */
#include "decoder/aux/aux_window.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/unit.h"

#define SIZE   ((uint64_t)2 << 20)
#define STRIDE ((uint64_t)1 << 20) /* searched at a time */

static uint8_t *bytes;

static void setup(void)
{
	bytes = calloc(1, SIZE);
}

static void teardown(void)
{
	free(bytes);
}

static void add_psb(uint64_t at)
{
	for (int i = 0; i < 16; i++)
		bytes[at + (uint64_t)i] = i % 2 ? 0x82 : 0x02;
}

/* The cuts of a stream of adjacent pieces are these, up to AUX_CUTS_NONE. */
static void expect(const uint64_t *sizes, size_t count, uint64_t distance, const uint64_t *cuts)
{
	struct aux_piece pieces[4] = { 0 };
	struct aux_stream aux = { .pieces = pieces, .piece_count = count };
	struct aux_cuts cursor;

	for (size_t i = 0; i < count; i++) {
		pieces[i] = (struct aux_piece){ .bytes = bytes + aux.size,
						.size = sizes[i],
						.begin = aux.size };
		aux.size += sizes[i];
	}
	aux_cuts_init(&cursor, &aux, distance);
	for (size_t i = 0; cuts[i] != AUX_CUTS_NONE; i++) {
		ck_assert_uint_eq(cursor.position.at, cuts[i]);
		aux_cuts_next(&cursor);
	}
	ck_assert_uint_eq(cursor.position.at, AUX_CUTS_NONE);
	aux_cuts_next(&cursor);
	ck_assert_uint_eq(cursor.position.at, AUX_CUTS_NONE);
}

START_TEST(cuts_are_a_distance_apart_at_least)
{
	static const uint64_t all[] = { 0, 100, 150, 300, 399, 450 };
	const uint64_t size = 500;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		add_psb(all[i]);
	expect(&size, 1, 100, (uint64_t[]){ 100, 300, 450, AUX_CUTS_NONE });
	expect(&size, 1, 101, (uint64_t[]){ 150, 300, 450, AUX_CUTS_NONE });
	expect(&size, 1, 151, (uint64_t[]){ 300, AUX_CUTS_NONE });
	expect(&size, 1, 1000, (uint64_t[]){ AUX_CUTS_NONE });
}
END_TEST

START_TEST(a_packet_may_end_in_bytes_of_a_psb)
{
	const uint64_t size = 2 * STRIDE;

	add_psb(98); /* the first two bytes belong to another packet */
	add_psb(100);
	/* From 200 on, one STRIDE is searched: this PSB ends there. */
	add_psb(STRIDE + 190);
	add_psb(STRIDE + 206);
	expect(&size, 1, 100, (uint64_t[]){ 100, STRIDE + 206, AUX_CUTS_NONE });
}
END_TEST

START_TEST(a_psb_in_two_pieces_is_no_cut)
{
	static const uint64_t sizes[] = { 200, 300 }, large[] = { STRIDE + 414, 100 };

	add_psb(100);
	add_psb(190);
	add_psb(300);
	expect(sizes, 2, 50, (uint64_t[]){ 100, 300, AUX_CUTS_NONE });
	/* Its last byte is the first of the next piece. */
	add_psb(STRIDE + 399);
	expect(large, 2, 400, (uint64_t[]){ AUX_CUTS_NONE });
}
END_TEST

START_TEST(a_psb_is_found_wherever_it_begins)
{
	const uint64_t size = SIZE;

	add_psb(STRIDE - 1 + 50);
	add_psb(SIZE - 16);
	expect(&size, 1, 50, (uint64_t[]){ STRIDE + 49, SIZE - 16, AUX_CUTS_NONE });
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("aux_cuts");
	TCase *tests = tcase_create("all");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, cuts_are_a_distance_apart_at_least);
	tcase_add_test(tests, a_packet_may_end_in_bytes_of_a_psb);
	tcase_add_test(tests, a_psb_in_two_pieces_is_no_cut);
	tcase_add_test(tests, a_psb_is_found_wherever_it_begins);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
