/* SPDX-License-Identifier: MIT */
#include "overlays/runtime_events.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/runtime_events_ring.h"
#include "tests/support/unit.h"

/* Phases "minor" of both tables: caml/runtime_events.h of 5.2 and 5.3. */
#define MINOR_5_2      10
#define MINOR_5_3      11
#define MINOR_PROMOTED 4

static struct runtime_events open_file(const struct ring_file *built)
{
	struct runtime_events file;
	struct error err = { 0 };

	ck_assert_msg(runtime_events_open(&file, built->bytes, built->size, NULL, &err) == 0, "%s",
		      err.text);
	return file;
}

/* Returns the number of a ring's events; keeps the last one. */
static size_t count_events(const struct runtime_events *file, uint32_t index,
			   struct runtime_event *last)
{
	struct runtime_ring ring;
	struct runtime_event event;
	size_t count = 0;

	runtime_ring_start(&ring, file, index);
	while (runtime_ring_next(&ring, &event)) {
		*last = event;
		count++;
	}
	return count;
}

START_TEST(a_wrapped_ring_gives_what_was_lost_and_then_the_rest_in_order)
{
	struct ring_file built;
	struct runtime_events file;
	struct runtime_ring ring;
	struct runtime_event event;
	uint64_t expected;

	ring_file_init(&built, 2, 64, 8);
	for (uint64_t i = 0; i < 100; i++)
		ring_file_value(&built, 1, RING_COUNTER, 7, 1000 + i, i);
	file = open_file(&built);
	runtime_ring_start(&ring, &file, 0);
	ck_assert_int_eq(runtime_ring_next(&ring, &event), 0);
	runtime_ring_start(&ring, &file, 1);
	ck_assert_int_eq(runtime_ring_next(&ring, &event), 1);
	ck_assert_int_eq(event.kind, RUNTIME_LOST);
	/* seeds.md: a ring begins at its head; what was overwritten is counted as words */
	/* seeds.md: padding fills a ring's end */
	ck_assert_int_eq(event.value, (int64_t)*ring_file_head(&built, 1));
	/* 64 words hold 21 counters of 3 words, less one word that is always free. */
	expected = 100 - 20;
	while (runtime_ring_next(&ring, &event)) {
		ck_assert_uint_eq(event.value, expected);
		ck_assert_uint_eq(event.time, 1000 + expected);
		expected++;
	}
	ck_assert_uint_eq(expected, 100);
	ring_file_release(&built);
}
END_TEST

START_TEST(the_innermost_phase_of_minor_promoted_shows_the_release)
{
	static const unsigned phases[] = { MINOR_5_2, MINOR_5_3 };

	for (int i = 0; i < 2; i++) {
		struct ring_file built;
		struct runtime_events file;

		ring_file_init(&built, 1, 64, 8);
		ring_file_runtime(&built, 0, RING_BEGIN, 6, 1);
		ring_file_runtime(&built, 0, RING_BEGIN, phases[i], 1);
		ring_file_value(&built, 0, RING_COUNTER, MINOR_PROMOTED, 2, 99);
		file = open_file(&built);
		ck_assert(!file.phases_guessed);
		/* seeds.md: the release is that of the reader */
		ck_assert_str_eq(runtime_event_name(&file, RUNTIME_BEGIN, phases[i]), "minor");
		ring_file_release(&built);
	}
}
END_TEST

START_TEST(a_file_without_names_is_of_5_0)
{
	struct ring_file built;
	struct runtime_events file;

	ring_file_init(&built, 1, 64, 0);
	ring_file_runtime(&built, 0, RING_BEGIN, 9, 1);
	file = open_file(&built);
	ck_assert(!file.phases_guessed);
	/* seeds.md: rings of 5.0 to 5.4 are read */
	ck_assert_str_eq(runtime_event_name(&file, RUNTIME_BEGIN, 9), "major_mark");
	ring_file_release(&built);
}
END_TEST

START_TEST(a_custom_event_has_exactly_its_bytes)
{
	char bytes[100];
	struct ring_file built;
	struct runtime_events file;
	struct runtime_event event;

	memset(bytes, 'x', sizeof(bytes));
	for (size_t size = 0; size < sizeof(bytes); size++) {
		struct runtime_ring ring;

		ring_file_init(&built, 1, 64, 8);
		ring_file_name(&built, 3, "program.event");
		ring_file_custom(&built, 0, 3, 5, bytes, size);
		file = open_file(&built);
		runtime_ring_start(&ring, &file, 0);
		ck_assert_int_eq(runtime_ring_next(&ring, &event), 1);
		/* seeds.md: user events of a custom type */
		ck_assert_int_eq(event.kind, RUNTIME_USER_CUSTOM);
		ck_assert_uint_eq(event.payload_size, size);
		ck_assert_int_eq(memcmp(event.payload, bytes, size), 0);
		ring_file_release(&built);
	}
}
END_TEST

START_TEST(a_damaged_message_costs_itself_and_no_other_ring_anything)
{
	/* Lengths of 0, past the tail, and past the ring's end; an unknown type. */
	static const uint64_t damage[] = { 0, UINT64_C(9) << 54, UINT64_C(1000) << 54,
					   UINT64_C(2) << 54 | UINT64_C(9) << 49 };
	struct ring_file built;
	struct runtime_events file;
	struct runtime_event event;

	for (size_t i = 0; i < sizeof(damage) / sizeof(damage[0]); i++) {
		ring_file_init(&built, 2, 64, 8);
		for (uint64_t time = 1; time <= 5; time++) {
			ring_file_runtime(&built, 0, RING_BEGIN, 6, time);
			ring_file_runtime(&built, 1, RING_BEGIN, 6, time);
		}
		*ring_file_word(&built, 0, 4) = damage[i];
		file = open_file(&built);
		/* Two, the gap, two. */
		ck_assert_uint_eq(count_events(&file, 0, &event), 5);
		ck_assert_uint_eq(event.time, 5);
		ck_assert_uint_eq(count_events(&file, 1, &event), 5);
		/* The last one: nothing follows it. */
		*ring_file_word(&built, 0, 8) = damage[i];
		*ring_file_word(&built, 0, 6) = damage[i];
		/* seeds.md: a bad message ends the run, or none does (5.0 to 5.2) */
		ck_assert_uint_eq(count_events(&file, 0, &event), 2);
		ring_file_release(&built);
	}
}
END_TEST

START_TEST(a_head_that_passed_what_was_read_makes_a_gap)
{
	struct ring_file built;
	struct runtime_events file;
	struct runtime_ring ring;
	struct runtime_event event;

	ring_file_init(&built, 1, 64, 8);
	for (uint64_t i = 0; i < 10; i++)
		ring_file_value(&built, 0, RING_COUNTER, 7, 1000 + i, i);
	file = open_file(&built);
	runtime_ring_start(&ring, &file, 0);
	ck_assert_int_eq(runtime_ring_next(&ring, &event), 1);
	ck_assert_int_eq(event.value, 0);
	/* The program continues and overwrites the next four messages. */
	*ring_file_head(&built, 0) = 15;
	ck_assert_int_eq(runtime_ring_next(&ring, &event), 1);
	ck_assert_int_eq(event.kind, RUNTIME_LOST);
	ck_assert_int_eq(event.value, 12);
	ck_assert_int_eq(runtime_ring_next(&ring, &event), 1);
	/* seeds.md: the head may pass a reader */
	ck_assert_int_eq(event.value, 5);
	ring_file_release(&built);
}
END_TEST

START_TEST(a_torn_copy_gives_its_newest_whole_run_in_order_of_time)
{
	struct ring_file built;
	struct runtime_events file;
	struct runtime_ring ring;
	struct runtime_event event;
	uint64_t head, tail, last = 0;
	size_t count = 0;

	ring_file_init(&built, 1, 64, 8);
	for (uint64_t i = 0; i < 100; i++)
		ring_file_value(&built, 0, RING_COUNTER, 7, 1000 + i, i);
	head = *ring_file_head(&built, 0);
	tail = *ring_file_tail(&built, 0);
	for (uint64_t i = 100; i < 107; i++)
		ring_file_runtime(&built, 0, RING_BEGIN, 6, 1000 + i);
	/* The header was copied before the last seven messages overwrote old ones. */
	*ring_file_head(&built, 0) = head;
	*ring_file_tail(&built, 0) = tail;
	file = open_file(&built);
	runtime_ring_start(&ring, &file, 0);
	while (runtime_ring_next(&ring, &event)) {
		if (event.kind == RUNTIME_LOST)
			continue;
		ck_assert_uint_ge(event.time, last);
		last = event.time;
		count++;
	}
	ck_assert_uint_eq(last, 1099);
	/* seeds.md: a copy of a running program's file may be torn */
	ck_assert_uint_ge(count, 14);
	ring_file_release(&built);
}
END_TEST

/* A simple generator with the same numbers everywhere. */
static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

START_TEST(no_damage_makes_a_reader_hang_or_overrun)
{
	uint32_t state = 1;

	for (int round = 0; round < 3000; round++) {
		struct ring_file built;
		struct runtime_events file;
		struct runtime_event event;
		uint8_t *copy;
		size_t size;

		ring_file_init(&built, 3, 32, 4);
		for (uint64_t i = 0; i < 30; i++)
			ring_file_value(&built, i % 3, RING_COUNTER, 7, 1000 + i, i);
		for (uint32_t flips = 1 + next_random(&state) % 4; flips; flips--)
			built.bytes[next_random(&state) % (round % 2 ? 304 : built.size)] =
				(uint8_t)next_random(&state);
		/* A copy without spare room, so that a sanitizer sees an overrun. */
		size = round % 5 ? built.size : next_random(&state) % built.size;
		copy = malloc(size ? size : 1);
		memcpy(copy, built.bytes, size);
		if (runtime_events_open(&file, copy, size, NULL, NULL) == 0)
			for (uint32_t i = 0; i < file.rings; i++)
				ck_assert_uint_le(count_events(&file, i, &event), size);
		free(copy);
		ring_file_release(&built);
	}
}
END_TEST

START_TEST(known_custom_events_are_read_by_name)
{
	static const uint8_t fiber[] = { 7, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0 };
	static const uint8_t metric[] = { 0xfe, 255, 255, 255, 255, 255, 255, 255, 'h', 'i' };
	struct runtime_custom custom;

	ck_assert(runtime_custom_read(&custom, "eio.create_fiber", fiber, sizeof(fiber)));
	ck_assert_str_eq(custom.fields[0].name, "id");
	ck_assert_uint_eq(custom.fields[0].bits, 7);
	ck_assert_str_eq(custom.fields[1].name, "cancellation_context");
	ck_assert_uint_eq(custom.fields[1].bits, 3);
	ck_assert(!runtime_custom_read(&custom, "eio.create_fiber", fiber, 15));
	ck_assert(runtime_custom_read(&custom, "trace.metric.int", metric, sizeof(metric)));
	ck_assert_int_eq(custom.kind, RUNTIME_CUSTOM_COUNTER);
	ck_assert_uint_eq(custom.count, 1);
	ck_assert_int_eq((int64_t)custom.fields[0].bits, -2);
	ck_assert_uint_eq(custom.text.length, 2);
	/* seeds.md: eio-trace shows fibres and their switches */
	ck_assert(runtime_custom_read(&custom, "trace.span.enter", metric, 3));
	ck_assert_int_eq(custom.kind, RUNTIME_CUSTOM_SPAN_BEGIN);
	/* seeds.md: user events of a custom type */
	ck_assert(!runtime_custom_read(&custom, "somebody.else", metric, 3));
}
END_TEST

/* The newer one stays. */
START_TEST(times_that_go_back_are_two_rings_in_one)
{
	static const uint64_t times[] = { 1000, 1001, 500, 501 };
	struct ring_file built;
	struct runtime_events file;
	struct runtime_ring ring;
	struct runtime_event event;

	ring_file_init(&built, 1, 64, 8);
	for (int i = 0; i < 4; i++)
		ring_file_runtime(&built, 0, RING_BEGIN, 6, times[i]);
	file = open_file(&built);
	runtime_ring_start(&ring, &file, 0);
	ck_assert_int_eq(runtime_ring_next(&ring, &event), 1);
	ck_assert_int_eq(event.kind, RUNTIME_LOST);
	ck_assert_int_eq(event.value, 4); /* words */
	ck_assert_int_eq(runtime_ring_next(&ring, &event), 1);
	ck_assert_uint_eq(event.time, 500);
	ck_assert_int_eq(runtime_ring_next(&ring, &event), 1);
	ck_assert_uint_eq(event.time, 501);
	/* seeds.md: a ring of a thread that ended is reused */
	ck_assert_int_eq(runtime_ring_next(&ring, &event), 0);
	ring_file_release(&built);
}
END_TEST

START_TEST(numbers_of_ocaml_have_63_bits)
{
	struct ring_file built;
	struct runtime_events file;
	struct runtime_event event;

	ring_file_init(&built, 1, 64, 8);
	ring_file_value(&built, 0, RING_COUNTER, 7, 1, INT64_MAX);
	file = open_file(&built);
	ck_assert_uint_eq(count_events(&file, 0, &event), 1);
	/* seeds.md: numbers have 63 bits */
	ck_assert_int_eq(event.value, -1);
	ring_file_release(&built);
}
END_TEST

/* caml/runtime_events.h of 5.3 and 5.4: additions. */
START_TEST(what_is_new_in_a_release_shows_it)
{
	for (int i = 0; i < 2; i++) {
		struct ring_file built;
		struct runtime_events file;

		ring_file_init(&built, 1, 64, 8);
		if (i)
			ring_file_value(&built, 0, RING_COUNTER, 17, 1, 5);
		else
			ring_file_runtime(&built, 0, RING_BEGIN, 48, 1);
		file = open_file(&built);
		ck_assert(!file.phases_guessed);
		ck_assert_str_eq(runtime_event_name(&file, RUNTIME_BEGIN, 48), "empty_minor");
		/* seeds.md: rings of 5.0 to 5.4 are read */
		ck_assert_str_eq(runtime_event_name(&file, RUNTIME_BEGIN, 49), "minor_ephe_clean");
		ring_file_release(&built);
	}
}
END_TEST

START_TEST(the_times_of_a_file_are_those_of_all_rings)
{
	struct ring_file built;
	struct runtime_events file;

	ring_file_init(&built, 3, 64, 8);
	ring_file_runtime(&built, 0, RING_BEGIN, 6, 50);
	ring_file_runtime(&built, 1, RING_BEGIN, 6, 20);
	ring_file_runtime(&built, 1, RING_BEGIN, 6, 70);
	ring_file_runtime(&built, 2, RING_BEGIN, 6, 60);
	file = open_file(&built);
	ck_assert_uint_eq(file.first_time, 20);
	ck_assert_uint_eq(file.last_time, 70);
	ring_file_release(&built);
}
END_TEST

START_TEST(rings_that_are_cut_off_are_left_out_and_reported)
{
	struct ring_file built;
	struct runtime_events file;
	struct diag diag;

	diag_init(&diag);
	ring_file_init(&built, 3, 64, 0);
	ring_file_runtime(&built, 0, RING_BEGIN, 6, 50);
	ck_assert_int_eq(
		runtime_events_open(&file, built.bytes, built.data + 2 * 64 * 8, &diag, NULL), 0);
	ck_assert_uint_eq(file.rings, 2);
	ck_assert_uint_eq(diag_kinds(&diag), 1);
	/* seeds.md: a ring that is cut off ends the run */
	ck_assert_ptr_nonnull(strstr(diag.first->text, "2 of 3 rings"));
	diag_release(&diag);
	ring_file_release(&built);
}
END_TEST

START_TEST(the_last_name_of_a_file_is_read)
{
	struct ring_file built;
	struct runtime_events file;
	char name[128];

	ring_file_init(&built, 1, 64, 8);
	ring_file_name(&built, 7, "last");
	ck_assert_uint_eq(built.size, built.names + 8 * 128);
	file = open_file(&built);
	/* seeds.md: names of user events are in the file */
	ck_assert_uint_eq(runtime_events_user_name(&file, 7, name), 4);
	ck_assert_str_eq(name, "last");
	runtime_events_user_name(&file, 8, name);
	ck_assert_str_eq(name, "event 8");
	ring_file_release(&built);
}
END_TEST

/* Its last byte is the number of padding bytes: at most seven and itself. */
START_TEST(a_custom_event_cannot_be_less_than_empty)
{
	const uint64_t payload = UINT64_C(8) << 56;
	struct ring_file built;
	struct runtime_events file;
	struct runtime_event event;

	ring_file_init(&built, 1, 64, 8);
	ring_file_add(&built, &(struct ring_message){ .user = true,
						      .type = RING_CUSTOM,
						      .id = 3,
						      .time = 1,
						      .payload = &payload,
						      .payload_words = 1 });
	file = open_file(&built);
	ck_assert_uint_eq(count_events(&file, 0, &event), 1);
	ck_assert_uint_eq(event.payload_size, 7);
	ring_file_release(&built);
}
END_TEST

/* Eio's lib_eio/runtime_events/eio_runtime_events.ml. */
START_TEST(types_of_contexts_and_objects_are_words)
{
	static const uint8_t context[] = { 7, 0, 0, 0, 0, 0, 0, 0, 5 };
	static const uint8_t object[] = { 7, 0, 0, 0, 0, 0, 0, 0, 19 };
	static const uint8_t metric[] = { 0, 0, 0, 0, 0, 0, 0xf8, 0x3f, 'h' };
	struct runtime_custom custom;

	ck_assert(runtime_custom_read(&custom, "eio.create_cc", context, sizeof(context)));
	ck_assert_str_eq(custom.fields[1].word, "sub");
	ck_assert(runtime_custom_read(&custom, "eio.create_obj", object, sizeof(object)));
	ck_assert_str_eq(custom.fields[1].word, "mutex");
	ck_assert(runtime_custom_read(&custom, "eio.create_obj", context, sizeof(context)));
	ck_assert_uint_eq(custom.count, 1);
	ck_assert(runtime_custom_read(&custom, "trace.metric.float", metric, sizeof(metric)));
	ck_assert(custom.fields[0].is_real);
	ck_assert_uint_eq(custom.fields[0].bits, UINT64_C(0x3ff8000000000000));
}
END_TEST

/* caml/runtime_events.h of 5.5: the last two counters, of which one is in bytes. */
START_TEST(counters_have_names_and_units)
{
	ck_assert_str_eq(runtime_event_name(NULL, RUNTIME_COUNTER, 26), "minor_allocated_words");
	ck_assert_str_eq(runtime_counter_unit(26), "bytes");
	ck_assert_str_eq(runtime_event_name(NULL, RUNTIME_COUNTER, 27), "minor_promoted_words");
	ck_assert_str_eq(runtime_counter_unit(27), "words");
	/* seeds.md: counters have values, by name */
	ck_assert_ptr_null(runtime_event_name(NULL, RUNTIME_COUNTER, 28));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("runtime_events");
	TCase *tests = tcase_create("rings");

	tcase_add_test(tests, a_wrapped_ring_gives_what_was_lost_and_then_the_rest_in_order);
	tcase_add_test(tests, the_innermost_phase_of_minor_promoted_shows_the_release);
	tcase_add_test(tests, a_file_without_names_is_of_5_0);
	tcase_add_test(tests, a_custom_event_has_exactly_its_bytes);
	tcase_add_test(tests, a_damaged_message_costs_itself_and_no_other_ring_anything);
	tcase_add_test(tests, a_head_that_passed_what_was_read_makes_a_gap);
	tcase_add_test(tests, a_torn_copy_gives_its_newest_whole_run_in_order_of_time);
	tcase_add_test(tests, no_damage_makes_a_reader_hang_or_overrun);
	tcase_add_test(tests, known_custom_events_are_read_by_name);
	tcase_add_test(tests, times_that_go_back_are_two_rings_in_one);
	tcase_add_test(tests, numbers_of_ocaml_have_63_bits);
	tcase_add_test(tests, what_is_new_in_a_release_shows_it);
	tcase_add_test(tests, the_times_of_a_file_are_those_of_all_rings);
	tcase_add_test(tests, rings_that_are_cut_off_are_left_out_and_reported);
	tcase_add_test(tests, the_last_name_of_a_file_is_read);
	tcase_add_test(tests, a_custom_event_cannot_be_less_than_empty);
	tcase_add_test(tests, types_of_contexts_and_objects_are_words);
	tcase_add_test(tests, counters_have_names_and_units);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
