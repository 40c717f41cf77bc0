/* SPDX-License-Identifier: MIT */
#include "overlays/memtrace.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/memtrace_ctf.h"
#include "tests/support/unit.h"

/* One second before an event's 25 bits of time overflow. */
#define START  UINT64_C(1699999997017536)
#define ALLOCS 600
#define PLACES 200

/* A simple generator with the same numbers everywhere. */
static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

struct recipe {
	struct memtrace_event event; /* without backtrace */
	uint64_t backtrace[CTF_BACKTRACE];
};

static void locate_all(struct ctf_file *file, unsigned domain)
{
	for (unsigned i = 0; i < PLACES; i++) {
		char names[2][2][32];
		struct ctf_location locations[2];

		/* More files and functions than the lists hold, repeated. */
		for (unsigned j = 0; j < 2; j++) {
			snprintf(names[j][0], sizeof(names[j][0]), "file%u.ml", (i * 7 + j) % 40);
			snprintf(names[j][1], sizeof(names[j][1]), "f%u", i % 50);
			locations[j] =
				(struct ctf_location){ names[j][0], names[j][1], i * 5000 % 0xfffff,
						       i % 0xff, i * 5 % 0x3ff };
		}
		ctf_locate(file, domain, 1000 + i, locations, i % 3);
	}
}

/* Backtraces with common prefixes, as in a program. */
static void make_recipe(struct recipe *recipes, struct ctf_file *file, unsigned domains)
{
	uint32_t state = 3;
	uint64_t last[CTF_BACKTRACE], length = 0;

	for (unsigned i = 0; i < ALLOCS; i++) {
		struct recipe *recipe = &recipes[i];
		unsigned keep = (unsigned)(length ? next_random(&state) % (length + 1) : 0);

		length = keep + next_random(&state) % (CTF_BACKTRACE - keep);
		for (uint64_t j = keep; j < length; j++)
			last[j] = 1000 + (j * 13 + next_random(&state) % 3) % PLACES;
		memcpy(recipe->backtrace, last, sizeof(last));
		recipe->event = (struct memtrace_event){
			.time = i * 50000,
			.domain = (uint16_t)(i / 100 % domains),
			.source = (uint8_t)(next_random(&state) % 3),
			.words = next_random(&state) % 3 ? 1 + next_random(&state) % 18 : 70000 + i,
			.samples = 1 + next_random(&state) % 3,
			.backtrace_length = length,
		};
		recipe->event.object = ctf_alloc(
			file, recipe->event.domain,
			&(struct ctf_alloc){ START + recipe->event.time, recipe->event.words,
					     recipe->event.samples, recipe->event.source,
					     recipe->backtrace, length });
		if (i % 3 == 0)
			ctf_object(file, recipe->event.domain, i % 2 ? 3 : 4,
				   START + recipe->event.time, recipe->event.object);
		if (i % 100 == 99)
			ctf_flush(file, recipe->event.domain);
	}
}

static struct recipe recipes[ALLOCS];

static void check_alloc(const struct memtrace_event *event, const struct recipe *recipe)
{
	ck_assert_uint_eq(event->time, recipe->event.time);
	ck_assert_uint_eq(event->object, recipe->event.object);
	ck_assert_uint_eq(event->words, recipe->event.words);
	ck_assert_uint_eq(event->samples, recipe->event.samples);
	ck_assert_uint_eq(event->source, recipe->event.source);
	ck_assert_uint_eq(event->domain, recipe->event.domain);
	ck_assert_uint_eq(event->backtrace_length, recipe->event.backtrace_length);
	ck_assert(!event->unknown_backtrace);
	ck_assert_int_eq(memcmp(event->backtrace, recipe->backtrace,
				event->backtrace_length * sizeof(uint64_t)),
			 0);
}

START_TEST(what_is_written_is_read)
{
	unsigned version = (unsigned)_i, domains = version >= 3 ? 3 : 1, allocs = 0, others = 0;
	struct memtrace_event event;
	struct memtrace trace;
	struct ctf_file file;
	struct diag diag;

	diag_init(&diag);
	ctf_init(&file, version, 1e-4, 4242, START);
	for (unsigned i = 0; i < domains; i++)
		locate_all(&file, i);
	make_recipe(recipes, &file, domains);
	ck_assert_int_eq(memtrace_open(&trace, file.out.bytes, file.out.size, &diag, NULL), 0);
	ck_assert_uint_eq(trace.info.pid, 4242);
	ck_assert_str_eq(trace.info.executable, "/bin/program");
	/* seeds.md: the first packet has the trace's info */
	ck_assert_str_eq(trace.info.context, version >= 2 ? "context" : "");
	while (memtrace_next(&trace, &event)) {
		if (event.kind == MEMTRACE_ALLOC)
			/* seeds.md: numbers have 1, 3, 5 or 9 bytes */
			/* seeds.md: domains have numbers (version 3) */
			/* seeds.md: a time below 2^25 us carries into the packet's */
			/* seeds.md: allocations: words, samples, source, backtrace */
			/* seeds.md: short allocations of 1 to 16 words */
			/* seeds.md: backtraces are coded by a cache of 2^14 entries with
			 * predictions */
			/* seeds.md: they share a prefix with the previous one of the same domain */
			check_alloc(&event, &recipes[allocs++]);
		else
			/* seeds.md: promotions and collections, by a distance of ids */
			ck_assert_uint_eq(event.object, recipes[3 * others++].event.object);
	}
	/* seeds.md: a file is a sequence of packets with magic, size, times, version, pid and ids
	 */
	ck_assert_uint_eq(allocs, ALLOCS);
	ck_assert_uint_eq(others, ALLOCS / 3);
	/* seeds.md: a packet has as many allocations as its ids (alloc id sync) */
	ck_assert_uint_eq(diag_kinds(&diag), 0);
	for (unsigned i = 0; i < PLACES; i++) {
		size_t count;
		const struct memtrace_location *locations =
			memtrace_locations_borrow(&trace.locations, 1000 + i, &count);
		char name[32];

		ck_assert_uint_eq(count, i % 3);
		for (unsigned j = 0; j < count; j++) {
			snprintf(name, sizeof(name), "file%u.ml", (i * 7 + j) % 40);
			/* seeds.md: locations: file, line, characters and name, by two lists that
			 * move to the front */
			ck_assert_str_eq(locations[j].file, name);
			snprintf(name, sizeof(name), "f%u", i % 50);
			ck_assert_str_eq(locations[j].function, name);
			ck_assert_uint_eq(locations[j].line, i * 5000 % 0xfffff);
		}
	}
	memtrace_close(&trace);
	ctf_release(&file);
	diag_release(&diag);
}
END_TEST

/* Bytes of a packet header: memtrace's src/memtrace.tsdl. */
enum { PACKET_BITS = 4, PACKET_VERSION = 28, PACKET_PID = 30 };

static size_t packet_size(const uint8_t *packet)
{
	uint32_t bits;

	memcpy(&bits, packet + PACKET_BITS, sizeof(bits));
	return bits / 8;
}

/* Returns the number of events, and the last one in *event. */
static unsigned count_events(const struct ctf_file *file, struct diag *diag,
			     struct memtrace_event *event)
{
	struct memtrace_event next;
	struct memtrace trace;
	unsigned count = 0;

	ck_assert_int_eq(memtrace_open(&trace, file->out.bytes, file->out.size, diag, NULL), 0);
	for (; memtrace_next(&trace, &next); count++)
		*event = next;
	memtrace_close(&trace);
	return count;
}

static void alloc_at(struct ctf_file *file, uint64_t time)
{
	ctf_alloc(file, 0, &(struct ctf_alloc){ .time = time, .words = 1, .samples = 1 });
	ctf_flush(file, 0);
}

/* A child that continues to write after fork(). */
START_TEST(packets_of_another_process_are_left_out_and_reported)
{
	struct memtrace_event event;
	struct ctf_file file;
	struct diag diag;
	size_t first;

	diag_init(&diag);
	ctf_init(&file, 3, 1e-4, 4242, START);
	first = packet_size(file.out.bytes);
	alloc_at(&file, START + 10);
	alloc_at(&file, START + 20);
	ck_assert_uint_eq(count_events(&file, &diag, &event), 2);
	file.out.bytes[first + packet_size(file.out.bytes + first) + PACKET_PID]++;
	ck_assert_uint_eq(count_events(&file, &diag, &event), 1);
	ck_assert_uint_eq(event.time, 10);
	ck_assert_uint_eq(diag_kinds(&diag), 1);
	/* seeds.md: packets of another pid are skipped (fork) */
	ck_assert_str_eq(diag.first->kind, "memtrace-other-process");
	diag_release(&diag);
	ctf_release(&file);
}
END_TEST

/* Bytes of a version 3 header; without its domain, the later ones are two bytes earlier. */
enum {
	PACKET_BEGIN = 8,
	PACKET_DOMAIN = 38,
	PACKET_SLOT = 40,
	PACKET_FIRST_OBJECT = 52,
	PACKET_LAST_OBJECT = 60,
};

static void assert_backtraces_lost(const struct ctf_file *file)
{
	struct memtrace_event event;
	struct diag diag;

	diag_init(&diag);
	ck_assert_uint_eq(count_events(file, &diag, &event), 2);
	ck_assert(event.unknown_backtrace);
	ck_assert_uint_eq(diag_kinds(&diag), 2);
	ck_assert_str_eq(diag.first->kind, "memtrace-damaged");
	ck_assert_uint_eq(diag.first->count, 1);
	ck_assert_str_eq(diag.first->next->kind, "memtrace-backtraces");
	diag_release(&diag);
}

START_TEST(allocations_that_do_not_continue_lose_their_backtraces_with_a_warning)
{
	unsigned version = (unsigned)_i, shift = version >= 3 ? 0 : 2;
	struct ctf_file file;
	size_t first, second;

	ctf_init(&file, version, 1e-4, 4242, START);
	first = packet_size(file.out.bytes);
	alloc_at(&file, START + 10);
	second = first + packet_size(file.out.bytes + first);
	alloc_at(&file, START + 20);
	file.out.bytes[first + PACKET_LAST_OBJECT - shift]++;
	/* seeds.md: a packet has as many allocations as its ids (alloc id sync) */
	assert_backtraces_lost(&file);
	file.out.bytes[first + PACKET_LAST_OBJECT - shift]--;
	/* Numbers of version 3 may have gaps, but not restart. */
	file.out.bytes[second + PACKET_FIRST_OBJECT - shift] = version >= 3 ? 0 : 2;
	file.out.bytes[second + PACKET_LAST_OBJECT - shift] = version >= 3 ? 1 : 3;
	assert_backtraces_lost(&file);
	ctf_release(&file);
}
END_TEST

/* Three domains allocate their numbers from one counter, three at a time. */
START_TEST(numbers_are_taken_in_chunks_of_any_size)
{
	static const uint8_t firsts[] = { 0, 3, 6, 9, 12, 15, 18, 21, 24 };
	struct memtrace_event event;
	struct ctf_file file;
	struct diag diag;
	size_t at;

	diag_init(&diag);
	ctf_init(&file, 3, 1e-4, 4242, START);
	at = file.out.size;
	for (unsigned i = 0; i < sizeof(firsts); i++) {
		uint64_t backtrace = 7, number = firsts[i];

		for (unsigned k = 0; k < 3; k++)
			ctf_alloc(
				&file, i % 3,
				&(struct ctf_alloc){ START + 10 * i + k, 1, 1, 0, &backtrace, 1 });
		ctf_flush(&file, i % 3);
		memcpy(file.out.bytes + at + PACKET_FIRST_OBJECT, &number, sizeof(number));
		number += 3;
		memcpy(file.out.bytes + at + PACKET_LAST_OBJECT, &number, sizeof(number));
		at = file.out.size;
	}
	ck_assert_uint_eq(count_events(&file, &diag, &event), 27);
	ck_assert_uint_eq(event.object, 26);
	/* seeds.md: domains take their ids in chunks of any size (obj_ids_per_chunk) */
	ck_assert(!event.unknown_backtrace);
	ck_assert_uint_eq(diag_kinds(&diag), 0);
	diag_release(&diag);
	ctf_release(&file);
}
END_TEST

/* Returns whether a file whose packets verify these slots of an empty cache has backtraces. */
static bool slots_are_whole(const uint16_t *slots, size_t count)
{
	struct memtrace_event event;
	struct ctf_file file;
	struct diag diag;

	diag_init(&diag);
	ctf_init(&file, 3, 1e-4, 4242, START);
	for (size_t i = 0; i < count; i++) {
		size_t at = file.out.size;

		alloc_at(&file, START + 10 * i);
		memcpy(file.out.bytes + at + PACKET_SLOT, &slots[i], sizeof(slots[i]));
	}
	ck_assert_uint_eq(count_events(&file, &diag, &event), count);
	ck_assert_uint_eq(diag_kinds(&diag), event.unknown_backtrace ? 2 : 0);
	diag_release(&diag);
	ctf_release(&file);
	return !event.unknown_backtrace;
}

/* memtrace's encoder: none, 4242, and each 5413 further, modulo 16384. */
START_TEST(a_missing_packet_shows_in_the_order_of_verified_slots)
{
	static const uint16_t whole[] = { 0xffff, 4242, 9655, 15068, 4097, 9510 },
			      without_first[] = { 4242, 9655, 15068 },
			      without_second[] = { 0xffff, 9655, 15068 },
			      without_fourth[] = { 0xffff, 4242, 9655, 4097 },
			      of_another[] = { 0, 0, 17, 0 };

	ck_assert(slots_are_whole(whole, 6));
	ck_assert(!slots_are_whole(without_first, 3));
	ck_assert(!slots_are_whole(without_second, 3));
	ck_assert(!slots_are_whole(without_fourth, 4));
	/* seeds.md: a missing packet is noticed only if the verified slot has changed */
	ck_assert(slots_are_whole(of_another, 4));
}
END_TEST

START_TEST(a_block_is_not_promoted_before_it_is_allocated)
{
	struct memtrace_event event;
	struct ctf_file file;
	struct diag diag;

	for (unsigned code = 3; code <= 4; code++) {
		diag_init(&diag);
		ctf_init(&file, 3, 1e-4, 4242, START);
		alloc_at(&file, START + 10);
		ctf_object(&file, 0, code, START + 20, 5);
		ctf_flush(&file, 0);
		alloc_at(&file, START + 30);
		/* Another domain's block may be collected. */
		ck_assert_uint_eq(count_events(&file, &diag, &event), code == 3 ? 2 : 3);
		ck_assert_int_eq(event.unknown_backtrace, code == 3);
		/* seeds.md: a promotion names a block allocated before it (promote id sync), a
		 * collection any */
		ck_assert_uint_eq(diag_kinds(&diag), code == 3 ? 2 : 0);
		diag_release(&diag);
		ctf_release(&file);
	}
}
END_TEST

START_TEST(a_packet_that_ends_before_it_begins_is_left_out_with_a_warning)
{
	static const unsigned fields[] = { PACKET_BEGIN, PACKET_FIRST_OBJECT };
	struct memtrace_event event;
	struct ctf_file file;
	struct diag diag;
	size_t packet;

	diag_init(&diag);
	ctf_init(&file, 3, 1e-4, 4242, START);
	packet = file.out.size;
	alloc_at(&file, START + 10);
	alloc_at(&file, START + 20);
	file.out.bytes[packet + fields[_i] + 7] = 1;
	ck_assert_uint_eq(count_events(&file, &diag, &event), 1);
	ck_assert_uint_eq(event.time, 20);
	ck_assert(event.unknown_backtrace);
	/* seeds.md: a packet that ends before it begins, by its times or ids, ends the run */
	ck_assert_str_eq(diag.first->kind, "memtrace-damaged");
	diag_release(&diag);
	ctf_release(&file);
}
END_TEST

START_TEST(a_time_outside_of_its_packet_is_damage)
{
	struct memtrace_event event;
	struct ctf_file file;
	struct diag diag;
	size_t packet;

	diag_init(&diag);
	ctf_init(&file, 3, 1e-4, 4242, START);
	packet = file.out.size;
	alloc_at(&file, START + 10);
	alloc_at(&file, START + 20);
	file.out.bytes[packet + 68]++;
	ck_assert_uint_eq(count_events(&file, &diag, &event), 1);
	/* seeds.md: a time outside of its packet ends the run */
	ck_assert_uint_eq(event.time, 20);
	ck_assert(event.unknown_backtrace);
	ck_assert_str_eq(diag.first->kind, "memtrace-damaged");
	diag_release(&diag);
	ctf_release(&file);
}
END_TEST

START_TEST(each_packet_is_read_by_its_own_version)
{
	struct memtrace_event event;
	struct ctf_file file;
	struct diag diag;
	size_t packet, size;
	uint8_t *header;
	uint32_t bits;

	diag_init(&diag);
	ctf_init(&file, 3, 1e-4, 4242, START);
	packet = file.out.size;
	alloc_at(&file, START + 10);
	size = file.out.size - packet;
	alloc_at(&file, START + 20);
	/* The first header is as in version 2: without the domain. */
	header = file.out.bytes + packet;
	header[PACKET_VERSION] = 2;
	bits = (uint32_t)(size - 2) * 8;
	memcpy(header + PACKET_BITS, &bits, sizeof(bits));
	memmove(header + PACKET_DOMAIN, header + PACKET_SLOT, file.out.size - packet - PACKET_SLOT);
	file.out.size -= 2;
	ck_assert_uint_eq(count_events(&file, &diag, &event), 2);
	ck_assert_uint_eq(event.time, 20);
	ck_assert(!event.unknown_backtrace);
	/* seeds.md: each packet is read by its own version */
	ck_assert_uint_eq(diag_kinds(&diag), 0);
	diag_release(&diag);
	ctf_release(&file);
}
END_TEST

START_TEST(a_time_before_the_start_is_reported)
{
	struct memtrace_event event;
	struct ctf_file file;
	struct diag diag;

	diag_init(&diag);
	ctf_init(&file, 3, 1e-4, 4242, START);
	alloc_at(&file, START - 10);
	ck_assert_uint_eq(count_events(&file, &diag, &event), 1);
	/* seeds.md: a time that goes back, or is before the start, ends the run */
	ck_assert_uint_eq(event.time, 0);
	ck_assert_str_eq(diag.first->kind, "memtrace-clock");
	diag_release(&diag);
	ctf_release(&file);
}
END_TEST

START_TEST(a_location_code_with_two_meanings_is_reported)
{
	const struct ctf_location one = { "a.ml", "f", 1, 2, 3 }, other = { "a.ml", "f", 1, 2, 4 };
	struct memtrace_event event;
	struct ctf_file file;
	struct diag diag;

	diag_init(&diag);
	ctf_init(&file, 3, 1e-4, 4242, START);
	ctf_locate(&file, 0, 7, &one, 1);
	ctf_locate(&file, 0, 7, &other, 1);
	alloc_at(&file, START + 10);
	count_events(&file, &diag, &event);
	ck_assert_uint_eq(diag_kinds(&diag), 1);
	/* seeds.md: a location code has one meaning */
	ck_assert_str_eq(diag.first->kind, "memtrace-locations");
	ck_assert_uint_eq(diag.first->count, 1);
	diag_release(&diag);
	ctf_release(&file);
}
END_TEST

START_TEST(bytes_after_the_description_are_reported)
{
	struct memtrace trace;
	struct ctf_file file;
	struct diag diag;
	uint8_t *longer;
	uint32_t bits;

	diag_init(&diag);
	ctf_init(&file, 3, 1e-4, 4242, START);
	longer = calloc(file.out.size + 1, 1);
	memcpy(longer, file.out.bytes, file.out.size);
	bits = (uint32_t)(file.out.size + 1) * 8;
	memcpy(longer + PACKET_BITS, &bits, sizeof(bits));
	ck_assert_int_eq(memtrace_open(&trace, longer, file.out.size + 1, &diag, NULL), 0);
	memtrace_close(&trace);
	ck_assert_uint_eq(diag_kinds(&diag), 1);
	/* seeds.md: the info fills its packet */
	ck_assert_str_eq(diag.first->kind, "memtrace-info");
	free(longer);
	diag_release(&diag);
	ctf_release(&file);
}
END_TEST

/* The clock is that of the day. */
START_TEST(a_clock_that_is_set_back_does_not_move)
{
	struct memtrace_event event;
	struct ctf_file file;
	struct diag diag;

	diag_init(&diag);
	ctf_init(&file, 3, 1e-4, 4242, START);
	alloc_at(&file, START + 5000);
	alloc_at(&file, START + 2000);
	ck_assert_uint_eq(count_events(&file, &diag, &event), 2);
	/* seeds.md: a time that goes back, or is before the start, ends the run */
	ck_assert_uint_eq(event.time, 5000);
	ck_assert_uint_eq(diag_kinds(&diag), 1);
	ck_assert_str_eq(diag.first->kind, "memtrace-clock");
	diag_release(&diag);
	ctf_release(&file);
}
END_TEST

START_TEST(versions_that_are_not_known_are_refused)
{
	struct ctf_file file;
	struct memtrace trace;

	ctf_init(&file, 3, 1e-4, 4242, START);
	for (unsigned version = 0; version <= 4; version += 4) {
		struct error err = { 0 };

		file.out.bytes[PACKET_VERSION] = (uint8_t)version;
		ck_assert_int_eq(memtrace_open(&trace, file.out.bytes, file.out.size, NULL, &err),
				 -1);
		/* seeds.md: versions 1 to 3 are read, later ones refused */
		ck_assert_int_eq(err.kind, ERROR_UNSUPPORTED);
		memtrace_close(&trace);
	}
	ctf_release(&file);
}
END_TEST

START_TEST(no_damage_makes_the_reader_hang_or_overrun)
{
	uint32_t state = 1;
	struct ctf_file file;

	ctf_init(&file, 3, 1e-4, 4242, START);
	locate_all(&file, 0);
	make_recipe(recipes, &file, 2);
	for (int round = 0; round < 1500; round++) {
		size_t size = round % 4 ? file.out.size : next_random(&state) % file.out.size,
		       events = 0;
		uint8_t *copy = malloc(size ? size : 1);
		struct memtrace_event event;
		struct memtrace trace;

		/* A copy without spare room, so that a sanitizer sees an overrun. */
		memcpy(copy, file.out.bytes, size);
		for (uint32_t flips = next_random(&state) % 4; flips && size; flips--)
			copy[next_random(&state) % size] = (uint8_t)next_random(&state);
		if (memtrace_open(&trace, copy, size, NULL, NULL) == 0)
			while (memtrace_next(&trace, &event))
				/* seeds.md: any other damage ends the run */
				ck_assert_uint_le(++events, size);
		memtrace_close(&trace);
		free(copy);
	}
	ctf_release(&file);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("memtrace");
	TCase *tests = tcase_create("files");

	tcase_add_loop_test(tests, what_is_written_is_read, 1, 4);
	tcase_add_test(tests, packets_of_another_process_are_left_out_and_reported);
	tcase_add_loop_test(
		tests, allocations_that_do_not_continue_lose_their_backtraces_with_a_warning, 1, 4);
	tcase_add_test(tests, numbers_are_taken_in_chunks_of_any_size);
	tcase_add_test(tests, a_missing_packet_shows_in_the_order_of_verified_slots);
	tcase_add_test(tests, a_block_is_not_promoted_before_it_is_allocated);
	tcase_add_loop_test(tests, a_packet_that_ends_before_it_begins_is_left_out_with_a_warning,
			    0, 2);
	tcase_add_test(tests, a_time_outside_of_its_packet_is_damage);
	tcase_add_test(tests, each_packet_is_read_by_its_own_version);
	tcase_add_test(tests, a_time_before_the_start_is_reported);
	tcase_add_test(tests, a_location_code_with_two_meanings_is_reported);
	tcase_add_test(tests, bytes_after_the_description_are_reported);
	tcase_add_test(tests, a_clock_that_is_set_back_does_not_move);
	tcase_add_test(tests, versions_that_are_not_known_are_refused);
	tcase_add_test(tests, no_damage_makes_the_reader_hang_or_overrun);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
