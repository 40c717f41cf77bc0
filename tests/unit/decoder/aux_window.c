/* SPDX-License-Identifier: MIT */
/*
 * A window over the pieces A (100 bytes) and B (50), which are one run, and the separate C (30) and
 * D (20).  Each byte's value is its position in the stream.
 */
#include "decoder/aux/aux_window.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/support/unit.h"

#define SIZE 200

static uint8_t bytes[SIZE];
static const struct aux_piece pieces[] = {
	{ .bytes = bytes, .size = 100, .aux_offset = 1000 },
	{ .bytes = bytes + 100, .size = 50, .begin = 100, .aux_offset = 1100 },
	{ .bytes = bytes + 150, .size = 30, .begin = 150, .aux_offset = 2000, .apart = true },
	{ .bytes = bytes + 180, .size = 20, .begin = 180, .aux_offset = 3000, .apart = true },
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
	ck_assert_uint_eq(aux_window_aux_end(&window), 1150);
	ck_assert(aux_window_next_run(&window));
	expect(150, 180);
	ck_assert_uint_eq(aux_window_aux_end(&window), 2030);
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
		{ { .at = 150, .piece = 1 }, 150, 150 }, /* the end of a run */
		{ { .at = 150, .piece = 1, .run_begins = true }, 150, 180 },
		{ { .at = 150, .piece = 2 }, 150, 180 }, /* the next one's start */
		{ { .at = 190, .piece = 3 }, 190, 200 },
		{ { .at = 200, .piece = 3 }, 200, 200 },
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

/* Segments must give the same events as the whole stream, so they must see the same next TSC. */
START_TEST(what_reads_a_segment_sees_as_far_ahead_as_clocks_look)
{
	static uint8_t trace[AUX_WINDOW_AHEAD + 100];
	const struct aux_piece piece = { .bytes = trace, .size = sizeof(trace) };
	const struct aux_stream stream = { .pieces = &piece,
					   .piece_count = 1,
					   .size = sizeof(trace) };
	static const struct aux_position begin;

	aux_window_seek(&window, &stream, &begin);
	ck_assert_uint_ge(window.size, AUX_WINDOW_AHEAD);
}
END_TEST

/* ---- Memory -------------------------------------------------------------- */

#define PIECE        ((size_t)256 << 10)
#define PIECES       64u /* of each of two streams */
#define PSB_DISTANCE ((size_t)32 << 10)

/* Returns the bytes of the mapping at `address` that are in memory. */
static size_t resident_bytes(const void *address)
{
	FILE *maps = fopen("/proc/self/smaps", "r");
	unsigned long begin = 0;
	char line[512];
	size_t kib = 0;
	bool found = false;

	ck_assert_ptr_nonnull(maps);
	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-", &begin) == 1 && strchr(line, '-') < strchr(line, ' '))
			found = begin == (uintptr_t)address;
		if (found && sscanf(line, "Rss: %zu", &kib) == 1)
			break;
	}
	fclose(maps);
	ck_assert(found);
	return kib << 10;
}

/* A file with alternating pieces of two streams, with a PSB at each PSB_DISTANCE. */
static uint8_t *map_pieces(struct aux_piece *of_streams[2])
{
	size_t size = 2 * PIECES * PIECE;
	int fd = memfd_create("trace", MFD_CLOEXEC);
	uint8_t *file;

	ck_assert_int_eq(ftruncate(fd, (off_t)size), 0);
	for (size_t at = 0; at < size; at += PSB_DISTANCE)
		ck_assert_int_eq(pwrite(fd, AUX_PSB, AUX_PSB_SIZE, (off_t)at), AUX_PSB_SIZE);
	file = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	ck_assert_ptr_ne(file, MAP_FAILED);
	close(fd);
	for (size_t i = 0; i < 2 * PIECES; i++)
		of_streams[i % 2][i / 2] = (struct aux_piece){ .bytes = file + i * PIECE,
							       .size = PIECE,
							       .begin = i / 2 * PIECE,
							       .before = i * PIECE,
							       .after = size - (i + 1) * PIECE };
	return file;
}

/* Cuts are found in the data that the window has read ahead. */
START_TEST(neither_windows_nor_cuts_keep_pages_of_a_large_file)
{
	static struct aux_piece of_streams[2][PIECES];
	uint8_t *file = map_pieces((struct aux_piece *[2]){ of_streams[0], of_streams[1] });
	struct aux_stream streams[2];
	struct aux_window windows[2];
	struct aux_cuts cuts[2];
	bool more = true;

	for (int i = 0; i < 2; i++) {
		streams[i] = (struct aux_stream){ .pieces = of_streams[i],
						  .piece_count = PIECES,
						  .size = PIECES * PIECE };
		aux_window_init(&windows[i], &streams[i]);
		aux_cuts_init(&cuts[i], &streams[i], 2 * PSB_DISTANCE);
	}
	while (more) {
		for (int i = 0; i < 2; i++) {
			uint64_t end = windows[i].base + windows[i].size;

			while (cuts[i].position.at < end)
				aux_cuts_next(&cuts[i]);
			aux_window_move(&windows[i], windows[i].size);
			more = windows[i].size > 0;
		}
	}
	ck_assert_uint_eq(cuts[0].position.at, AUX_CUTS_NONE);
	ck_assert_uint_le(resident_bytes(file), (size_t)4 << 20);
	for (int i = 0; i < 2; i++)
		aux_window_release(&windows[i]);
	munmap(file, 2 * PIECES * PIECE);
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
	tcase_add_test(tests, what_reads_a_segment_sees_as_far_ahead_as_clocks_look);
	tcase_add_test(tests, neither_windows_nor_cuts_keep_pages_of_a_large_file);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
