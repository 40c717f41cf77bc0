/* SPDX-License-Identifier: MIT */
#include "decoder/streams/auxtrace.h"

#include <intel-pt.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/pt_packets.h"
#include "tests/support/unit.h"

#define PSBS        1000u
#define TICKS       1000u
#define FILE_OFFSET 500u /* of the trace */

static struct pt_packets packets;
static struct arena arena;
static size_t places[PSBS + 2]; /* of each PSB, and the stream's end */
static struct aux_piece pieces[PT_PACKETS_ROOM];
static struct aux_stream aux;

/* PSB number i has TSC (i + 1) * TICKS. */
static void setup(void)
{
	pt_packets_init(&packets);
	arena = (struct arena){ 0 };
	for (unsigned i = 0; i < PSBS; i++) {
		places[i] = pt_packets_size(&packets);
		pt_packets_psb(&packets, (i + 1) * (uint64_t)TICKS, 0x1000);
		for (unsigned k = 0; k < i % 7; k++)
			pt_packets_tnt(&packets, "tnttn");
	}
	places[PSBS] = places[PSBS + 1] = pt_packets_size(&packets);
}

static void teardown(void)
{
	pt_packets_release(&packets);
	arena_release(&arena);
}

/* Cut the bytes into pieces of one size, so that PSBs straddle them. */
static void make_stream(size_t piece_size)
{
	size_t size = pt_packets_size(&packets);

	aux = (struct aux_stream){ .cpu = 0, .tid = -1, .pieces = pieces, .size = size };
	for (size_t at = 0; at < size; at += piece_size)
		pieces[aux.piece_count++] = (struct aux_piece){
			.bytes = packets.bytes + at,
			.size = size - at < piece_size ? size - at : piece_size,
			.begin = at,
			.aux_offset = at,
			.file_offset = FILE_OFFSET + at,
		};
}

static void check_view(uint64_t begin, uint64_t end, size_t from, size_t to)
{
	struct aux_stream view;
	size_t at = from;

	aux_seek(&aux, begin, end, &arena, &view);
	ck_assert_uint_eq(view.size, to - from);
	for (size_t i = 0; i < view.piece_count; i++) {
		const struct aux_piece *piece = &view.pieces[i];

		ck_assert(piece->aux_offset == at && piece->file_offset == FILE_OFFSET + at &&
			  memcmp(piece->bytes, packets.bytes + at, piece->size) == 0);
		at += piece->size;
	}
	ck_assert_uint_eq(at, to);
}

START_TEST(a_view_begins_a_psb_early_and_ends_at_the_second_psb_after)
{
	static const size_t sizes[] = { 1, 5, 16, 31, 4096, PT_PACKETS_ROOM };

	make_stream(sizes[_i]);
	for (unsigned first = 1; first < PSBS; first += 97) {
		for (unsigned last = first; last < PSBS; last += 311)
			check_view((first + 1) * TICKS, (last + 1) * TICKS + 999, places[first - 1],
				   places[last + 2 < PSBS ? last + 2 : PSBS]);
	}
}
END_TEST

START_TEST(a_time_before_the_stream_leaves_nothing_of_it)
{
	make_stream(4096);
	check_view(1, TICKS - 1, 0, 0);
}
END_TEST

START_TEST(a_time_after_the_stream_leaves_its_end)
{
	make_stream(4096);
	check_view(2 * PSBS * TICKS, UINT64_MAX, places[PSBS - 2], places[PSBS]);
}
END_TEST

START_TEST(an_open_beginning_keeps_the_bytes_before_the_first_psb)
{
	make_stream(4096);
	check_view(0, 3 * TICKS, 0, places[4]);
}
END_TEST

START_TEST(a_stream_without_psb_stays_whole)
{
	struct aux_stream view;

	make_stream(4096);
	memset(packets.bytes, 0, sizeof(packets.bytes));
	aux_seek(&aux, 5, 6, &arena, &view);
	ck_assert_uint_eq(view.size, aux.size);
}
END_TEST

START_TEST(a_psb_does_not_straddle_a_place_where_trace_is_missing)
{
	make_stream(places[500] + 8);
	pieces[1].apart = true;
	check_view(501 * TICKS, 501 * TICKS, places[498], places[502]);
}
END_TEST

/* The missing trace in the view of a time. */
static uint64_t missing_of(uint64_t begin, uint64_t end)
{
	struct aux_stream view;

	aux.missing = aux.repeated = 12345;
	aux_seek(&aux, begin, end, &arena, &view);
	ck_assert_uint_eq(view.repeated, 0);
	return view.missing;
}

START_TEST(a_view_misses_what_is_missing_between_its_pieces)
{
	make_stream(places[500]);
	ck_assert_uint_eq(missing_of(1, TICKS - 1), 0);
	ck_assert_uint_eq(missing_of(TICKS, UINT64_MAX), 0);
	pieces[1].apart = true;
	ck_assert_uint_eq(missing_of(TICKS, UINT64_MAX), 0);
	pieces[1].aux_offset += 50;
	ck_assert_uint_eq(missing_of(TICKS, UINT64_MAX), 50);
	ck_assert_uint_eq(missing_of(TICKS, 100 * TICKS), 0);
	pieces[1].aux_offset -= 100; /* a restart */
	ck_assert_uint_eq(missing_of(TICKS, UINT64_MAX), 0);
	pieces[1].apart = false;
	ck_assert_uint_eq(missing_of(TICKS, UINT64_MAX), 0);
	aux.end_missing = 7;
	ck_assert_uint_eq(missing_of(TICKS, UINT64_MAX), 7);
	ck_assert_uint_eq(missing_of(TICKS, 100 * TICKS), 0);
}
END_TEST

START_TEST(any_order_of_tscs_gives_a_part_of_the_stream)
{
	struct aux_stream view;

	pt_packets_release(&packets);
	pt_packets_init(&packets);
	for (unsigned i = 0; i < PSBS; i++)
		pt_packets_psb(&packets, 1 + (i * 7919u + _i) % 997u, 0);
	make_stream(4096);
	for (uint64_t begin = 0; begin < 1000; begin += 13) {
		aux_seek(&aux, begin, begin + 20, &arena, &view);
		ck_assert_uint_le(view.size, aux.size);
		for (size_t i = 0; i < view.piece_count; i++) {
			ck_assert_uint_le(view.pieces[i].size, 4096);
			ck_assert(view.pieces[i].bytes >= packets.bytes);
		}
	}
}
END_TEST

START_TEST(the_extent_is_the_first_psb_to_the_last_timing_packet)
{
	struct pt_info info = { .tsc_bit = 1 };
	uint64_t first, last;

	pt_packets_tsc(&packets, PSBS * TICKS + 777);
	make_stream(5);
	ck_assert(aux_seek_extent(&aux, &info, &first, &last));
	ck_assert_uint_eq(first, TICKS);
	ck_assert_uint_eq(last, PSBS * TICKS + 777);
}
END_TEST

/* CBR: the core runs at 10 times the bus clock, the TSC at 20 times: two ticks a cycle. */
START_TEST(the_extent_counts_cycles_after_the_last_psb)
{
	const struct pt_packet ratio = { .type = ppt_cbr, .payload.cbr.ratio = 10 };
	const struct pt_packet cycles = { .type = ppt_cyc, .payload.cyc.value = 100 };
	struct pt_info info = { .tsc_bit = 1, .max_nonturbo_ratio = 20 };
	uint64_t first, last;

	pt_packets_add(&packets, &ratio);
	pt_packets_add(&packets, &cycles);
	make_stream(PT_PACKETS_ROOM);
	ck_assert(aux_seek_extent(&aux, &info, &first, &last));
	ck_assert_uint_eq(last, PSBS * TICKS + 200);
}
END_TEST

/* Packets that libipt 2.0 does not know (SDM volume 3, packet definitions), each whole. */
START_TEST(the_extent_knows_packets_that_libipt_does_not_know)
{
	static const struct {
		const char *bytes;
		size_t size;
	} unknown[] = {
		{ "\x02\x13\x01\x20", 4 },                              /* CFE: an interrupt */
		{ "\x02\x53\x00\x11\x22\x33\x44\x55\x66\x77\x00", 11 }, /* EVD */
		{ "\xd9\x00\x01", 3 },                                  /* TRIG */
		{ "\x02\x63\x00", 3 },                                  /* BBP, values of 8 bytes */
		{ "\x04\x02\xff\x00\x00\x00\x00\x00\x00", 9 },          /* BIP */
		{ "\x02\x33", 2 },                                      /* BEP */
	};
	struct pt_info info = { .tsc_bit = 1 };
	uint64_t first, last;

	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		pt_packets_raw(&packets, unknown[i].bytes, unknown[i].size);
	pt_packets_tsc(&packets, PSBS * TICKS + 777);
	make_stream(5);
	ck_assert(aux_seek_extent(&aux, &info, &first, &last));
	ck_assert_uint_eq(last, PSBS * TICKS + 777);
}
END_TEST

/* SKZ84: a byte follows a TMA whose reserved bits are set; this one would begin a TSC. */
START_TEST(the_extent_heeds_errata)
{
	static const uint8_t tma[] = { 0x02, 0x73, 0x34, 0x12, 0x01, 0x56, 0x00, 0x19 };
	struct pt_info info = {
		.tsc_bit = 1, .cpu_is_intel = true, .cpu_family = 6, .cpu_model = 0x55
	};
	uint64_t first, last;

	pt_packets_raw(&packets, tma, sizeof(tma));
	pt_packets_tsc(&packets, PSBS * TICKS + 777);
	make_stream(PT_PACKETS_ROOM);
	ck_assert(aux_seek_extent(&aux, &info, &first, &last));
	ck_assert_uint_eq(last, PSBS * TICKS + 777);
}
END_TEST

/* A packet begins after the hole only if the buffer was full. */
START_TEST(the_extent_reaches_over_a_full_buffer)
{
	struct pt_info info = { .tsc_bit = 1 };
	uint64_t first, last;
	size_t full;

	pt_packets_raw(&packets, "\x6d\x20", 2); /* the start of a TIP */
	full = pt_packets_size(&packets);
	pt_packets_tsc(&packets, PSBS * TICKS + 777);
	make_stream(full);
	pieces[1].apart = true;
	ck_assert(aux_seek_extent(&aux, &info, &first, &last));
	ck_assert_uint_eq(last, PSBS * TICKS);
	pieces[1].resumes = true;
	ck_assert(aux_seek_extent(&aux, &info, &first, &last));
	ck_assert_uint_eq(last, PSBS * TICKS + 777);
}
END_TEST

START_TEST(the_extent_ends_at_damage)
{
	static const uint8_t damage[] = { 0x02, 0xff };
	struct pt_info info = { .tsc_bit = 1 };
	uint64_t first, last;

	pt_packets_tsc(&packets, PSBS * TICKS + 777);
	pt_packets_raw(&packets, damage, sizeof(damage));
	pt_packets_tsc(&packets, PSBS * TICKS + 888);
	make_stream(PT_PACKETS_ROOM);
	ck_assert(aux_seek_extent(&aux, &info, &first, &last));
	ck_assert_uint_eq(last, PSBS * TICKS + 777);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("aux_seek");
	TCase *all = tcase_create("aux_seek");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_loop_test(all, a_view_begins_a_psb_early_and_ends_at_the_second_psb_after, 0, 6);
	tcase_add_test(all, a_time_before_the_stream_leaves_nothing_of_it);
	tcase_add_test(all, a_time_after_the_stream_leaves_its_end);
	tcase_add_test(all, an_open_beginning_keeps_the_bytes_before_the_first_psb);
	tcase_add_test(all, a_stream_without_psb_stays_whole);
	tcase_add_test(all, a_psb_does_not_straddle_a_place_where_trace_is_missing);
	tcase_add_test(all, a_view_misses_what_is_missing_between_its_pieces);
	tcase_add_loop_test(all, any_order_of_tscs_gives_a_part_of_the_stream, 0, 20);
	tcase_add_test(all, the_extent_is_the_first_psb_to_the_last_timing_packet);
	tcase_add_test(all, the_extent_counts_cycles_after_the_last_psb);
	tcase_add_test(all, the_extent_knows_packets_that_libipt_does_not_know);
	tcase_add_test(all, the_extent_heeds_errata);
	tcase_add_test(all, the_extent_reaches_over_a_full_buffer);
	tcase_add_test(all, the_extent_ends_at_damage);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
