/* SPDX-License-Identifier: MIT */
/*
 * A window over pieces A (100 bytes) and B (50), which are one run, and C (30) and
 * D (20), which are apart from each other.  Each byte has its position in the stream as its value.
 */
#include "decoder/aux/aux_window.h"

#include <check.h>
#include <stdlib.h>

#include "tests/support/unit.h"

#define SIZE 200

static uint8_t bytes[SIZE];
static const struct aux_piece pieces[] = {
	{ .bytes = bytes, .size = 100 },
	{ .bytes = bytes + 100, .size = 50 },
	{ .bytes = bytes + 150, .size = 30, .apart = true },
	{ .bytes = bytes + 180, .size = 20, .apart = true },
};
static const struct aux_stream aux = { .pieces = (struct aux_piece *)pieces,
				       .piece_count = 4,
				       .size = SIZE };
static struct aux_window window;

static void setup(void)
{
	for (unsigned i = 0; i < SIZE; i++)
		bytes[i] = (uint8_t)i;
	window = (struct aux_window){ 0 };
}

static void teardown(void)
{
	aux_window_release(&window);
}

/* The window holds the stream's bytes [from, to), and the run's end. */
static void expect(uint64_t from, uint64_t to)
{
	ck_assert_uint_eq(window.base, from);
	ck_assert_uint_eq(window.size, to - from);
	if (window.size)
		ck_assert_mem_eq(window.bytes, bytes + from, window.size);
	ck_assert(aux_window_at_end(&window));
}

START_TEST(runs_follow_each_other)
{
	aux_window_init(&window, &aux);
	expect(0, 150);
	ck_assert(aux_window_next_run(&window));
	expect(150, 180);
	ck_assert(aux_window_next_run(&window));
	expect(180, 200);
	ck_assert(!aux_window_next_run(&window));
}
END_TEST

START_TEST(what_was_read_goes_away_and_the_rest_stays)
{
	aux_window_init(&window, &aux);
	aux_window_move(&window, 110);
	expect(110, 150);
	ck_assert(aux_window_next_run(&window));
	aux_window_move(&window, 30);
	expect(180, 180);
}
END_TEST

START_TEST(a_place_may_be_anywhere)
{
	static const struct {
		struct aux_position place;
		uint64_t from, to;
	} places[] = {
		{ { .at = 0 }, 0, 150 },
		{ { .at = 99 }, 99, 150 },
		{ { .at = 100 }, 100, 150 },
		{ { .at = 120 }, 120, 150 },
		{ { .at = 150, .piece = 1, .piece_begin = 100 }, 150, 150 }, /* the end of a run */
		{ { .at = 150, .piece = 1, .piece_begin = 100, .run_begins = true }, 150, 180 },
		{ { .at = 150, .piece = 2, .piece_begin = 150 },
		  150,
		  180 }, /* the next one's begin */
		{ { .at = 190, .piece = 3, .piece_begin = 180 }, 190, 200 },
		{ { .at = 200, .piece = 3, .piece_begin = 180 }, 200, 200 },
	};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		aux_window_seek(&window, &aux, &places[i].place);
		expect(places[i].from, places[i].to);
	}
	aux_window_seek(&window, &aux, &places[4].place);
	ck_assert(aux_window_next_run(&window));
	expect(150, 180);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("aux_window");
	TCase *tests = tcase_create("all");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, runs_follow_each_other);
	tcase_add_test(tests, what_was_read_goes_away_and_the_rest_stays);
	tcase_add_test(tests, a_place_may_be_anywhere);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
