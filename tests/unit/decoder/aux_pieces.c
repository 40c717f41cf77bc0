/* SPDX-License-Identifier: MIT */
#include "decoder/aux/aux_window.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/unit.h"

#define PSB "\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82"

static struct aux_piece_list list;

static struct aux_piece piece(uint64_t offset, const char *bytes, size_t size)
{
	return (struct aux_piece){ .bytes = (const uint8_t *)bytes,
				   .size = size,
				   .aux_offset = offset };
}

/* The contents of the pieces, with a bar before each separate one. */
static const char *content(void)
{
	static char text[400];
	size_t used = 0;

	for (size_t i = 0; i < list.count; i++) {
		if (list.pieces[i].apart)
			text[used++] = '|';
		memcpy(text + used, list.pieces[i].bytes, list.pieces[i].size);
		used += list.pieces[i].size;
	}
	text[used] = 0;
	return text;
}

static void tear_down(void)
{
	aux_pieces_release(&list);
}

START_TEST(pieces_that_follow_each_other_are_one_run)
{
	struct aux_piece pieces[] = { piece(0, "abc", 3), piece(3, "def", 3), piece(6, "g", 1) };

	aux_pieces_join(&list, pieces, 3, NULL, 0);
	ck_assert_str_eq(content(), "abcdefg");
	ck_assert_uint_eq(list.missing, 0);
}
END_TEST

/* perf's record counts 8 bytes, of which the CPU wrote 5: the next piece begins at 5. */
START_TEST(padding_between_pieces_is_no_trace)
{
	struct aux_piece pieces[] = { piece(0, "abcde\0\0\0", 8), piece(5, "fgh", 3) };

	aux_pieces_join(&list, pieces, 2, NULL, 0);
	ck_assert_str_eq(content(), "abcdefgh");
}
END_TEST

START_TEST(a_piece_that_is_missing_leaves_a_hole)
{
	struct aux_piece pieces[] = { piece(0, "abc", 3), piece(13, "def", 3), piece(2, "x", 1) };

	aux_pieces_join(&list, pieces, 3, NULL, 0);
	ck_assert_str_eq(content(), "abc|def|x");
	ck_assert_uint_eq(list.missing, 10);
}
END_TEST

START_TEST(where_the_buffer_was_full_a_new_run_begins)
{
	struct aux_piece pieces[] = { piece(0, "abcdef", 6), piece(6, "ghi", 3) };
	struct aux_cut cuts[] = {
		{ 0, 0, 1, false }, { 0, 1, 1, true },  { 0, 2, 2, false },  { 0, 2, 3, false },
		{ 0, 6, 4, false }, { 0, 9, 5, false }, { 0, 40, 6, false },
	};

	/* An AUX record without a loss does not end the run. */
	aux_pieces_join(&list, pieces, 2, cuts, 7);
	ck_assert_str_eq(content(), "ab|cdef|ghi");
	ck_assert(!list.pieces[0].resumes && list.pieces[1].resumes && list.pieces[2].resumes);
	ck_assert_uint_eq(list.pieces[1].resume_time, 3);
	ck_assert_uint_eq(list.pieces[2].resume_time, 4);
}
END_TEST

static const char first[] = "end of" PSB "one " PSB "two ";

START_TEST(a_snapshot_that_repeats_the_end_of_the_last_goes_on_with_the_rest)
{
	static const char second[] = "ne " PSB "two " PSB "three ";
	struct aux_piece pieces[] = { piece(0, first, sizeof(first) - 1),
				      piece(7, second, sizeof(second) - 1) };

	aux_pieces_join_copies(&list, pieces, 2);
	ck_assert_str_eq(content(), "end of" PSB "one " PSB "two " PSB "three ");
	ck_assert_uint_eq(list.repeated, 3 + 16 + 4);
}
END_TEST

/* The second one has no new data; the third one still overlaps the first. */
START_TEST(a_snapshot_without_anything_new_is_left_out)
{
	static const char third[] = PSB "two " PSB "three ";
	struct aux_piece pieces[] = { piece(0, first, sizeof(first) - 1),
				      piece(0, first, sizeof(first) - 1),
				      piece(0, third, sizeof(third) - 1) };

	aux_pieces_join_copies(&list, pieces, 3);
	ck_assert_str_eq(content(), "end of" PSB "one " PSB "two " PSB "three ");
}
END_TEST

START_TEST(snapshots_that_do_not_meet_are_apart)
{
	static const char second[] = PSB "another" PSB "three ";
	struct aux_piece pieces[] = { piece(0, first, sizeof(first) - 1),
				      piece(0, second, sizeof(second) - 1), piece(0, "no psb", 6),
				      piece(0, "no psb", 6) };

	aux_pieces_join_copies(&list, pieces, 4);
	ck_assert_str_eq(content(),
			 "end of" PSB "one " PSB "two |" PSB "another" PSB "three |no psb|no psb");
	ck_assert_uint_eq(list.repeated, 0);
}
END_TEST

/* perf fills the first one with zeros where the second one has trace. */
START_TEST(padding_of_a_snapshot_does_not_hide_an_overlap)
{
	static const char padded[] = PSB "two\0\0\0\0\0";
	static const char second[] = PSB "two more";
	struct aux_piece pieces[] = { piece(0, padded, sizeof(padded) - 1),
				      piece(0, second, sizeof(second) - 1) };

	aux_pieces_join_copies(&list, pieces, 2);
	ck_assert_str_eq(content(), PSB "two more");
}
END_TEST

/* The search for an overlap takes linear time with any bytes. */
START_TEST(a_megabyte_of_psbs_takes_no_time)
{
	size_t size = (size_t)1 << 20;
	char *bytes = malloc(size);
	struct aux_piece pieces[8];

	for (size_t i = 0; i < size; i += 16)
		memcpy(bytes + i, PSB, 16);
	for (size_t i = 0; i < 8; i++)
		pieces[i] = piece(0, bytes, size - i);
	aux_pieces_join_copies(&list, pieces, 8);
	ck_assert_uint_ge(list.count, 1);
	free(bytes);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("aux_pieces");
	TCase *all = tcase_create("aux_pieces");

	tcase_add_checked_fixture(all, NULL, tear_down);
	tcase_add_test(all, pieces_that_follow_each_other_are_one_run);
	tcase_add_test(all, padding_between_pieces_is_no_trace);
	tcase_add_test(all, a_piece_that_is_missing_leaves_a_hole);
	tcase_add_test(all, where_the_buffer_was_full_a_new_run_begins);
	tcase_add_test(all, a_snapshot_that_repeats_the_end_of_the_last_goes_on_with_the_rest);
	tcase_add_test(all, a_snapshot_without_anything_new_is_left_out);
	tcase_add_test(all, snapshots_that_do_not_meet_are_apart);
	tcase_add_test(all, padding_of_a_snapshot_does_not_hide_an_overlap);
	tcase_add_test(all, a_megabyte_of_psbs_takes_no_time);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
