/* SPDX-License-Identifier: MIT */
/* Compares the searches of a stack of frames with the same searches frame by frame. */
#include <stdlib.h>

#include "src/callstack/precise/frame_list.h"
#include "tests/support/unit.h"

#define FUNCTIONS 5

static struct name names[FUNCTIONS];
static struct symbol functions[FUNCTIONS];
static struct frame_list list;

/* Function 0 is _Unwind_Resume(), 1 a part of 2. */
static void setup(void)
{
	for (int i = 0; i < FUNCTIONS; i++) {
		functions[i] = (struct symbol){ .name = &names[i] };
		names[i].id = (uint32_t)i + 1;
	}
	functions[1].function = &functions[2];
	list = (struct frame_list){ .resume = &names[0] };
	srandom(1);
}

static void teardown(void)
{
	frame_list_release(&list);
}

static size_t below(size_t limit)
{
	return (size_t)random() % limit;
}

static struct frame random_frame(void)
{
	struct frame frame = { .symbol = &functions[below(FUNCTIONS)],
			       .kind = (uint8_t)below(FRAME_ENTRY + 1),
			       .traps = below(20) == 0 };

	frame_set_return(&frame, 0x1000 + below(40), below(2) ? 2 + (uint8_t)below(6) : 0);
	return frame;
}

/* ---- The model: every search frame by frame ------------------------------ */

static bool lands(size_t at, const struct symbol *symbol)
{
	return same_function(list.frames[at].symbol, symbol) &&
	       (at + 1 == list.depth || list.frames[at + 1].symbol->name != list.resume);
}

static bool is_meant(enum frame_key key, size_t at, uint64_t ip, const struct symbol *symbol)
{
	const struct frame *frame = &list.frames[at];

	switch (key) {
	case FRAME_BY_RETURN:
		return frame_returns_to(frame, ip);
	case FRAME_BY_FUNCTION:
		return same_function(frame->symbol, symbol);
	case FRAME_BY_LANDING:
		return lands(at, symbol);
	case FRAME_BY_RESUME:
		return frame->kind == FRAME_HANDLER && frame->resume_ip == ip;
	case FRAME_BY_ENTRY:
		return frame->kind == FRAME_ENTRY;
	default:
		return frame->traps != 0;
	}
}

static size_t expected(enum frame_key key, uint64_t ip, const struct symbol *symbol)
{
	size_t at = list.depth;

	while (at && !is_meant(key, at - 1, ip, symbol))
		at--;
	return at;
}

static size_t found(enum frame_key key, uint64_t ip, const struct symbol *symbol)
{
	uint64_t value = ip;

	if (key == FRAME_BY_FUNCTION || key == FRAME_BY_LANDING)
		value = frame_function(symbol);
	else if (key == FRAME_BY_ENTRY || key == FRAME_BY_TRAP)
		value = 0;
	return frame_list_find(&list, key, value);
}

/* ---- Changes ------------------------------------------------------------- */

static void remove_frames(size_t count)
{
	count = count < list.depth ? count : list.depth;
	frame_list_cut(&list, list.depth - count);
	list.depth -= count;
}

static void change_top(void)
{
	if (!list.depth)
		return;
	frame_list_cut(&list, list.depth - 1);
	list.frames[list.depth - 1] = random_frame();
}

/* Mostly of one function, so that the others are deep. */
static void add_frames(size_t count)
{
	size_t usual = below(FUNCTIONS);

	while (count--) {
		struct frame frame = { .symbol = &functions[usual],
				       .kind = FRAME_CALLED,
				       .return_ip = 0x2000 };

		*frame_list_add(&list) = below(50) ? frame : random_frame();
	}
}

START_TEST(searches_find_what_looking_at_each_frame_finds)
{
	size_t deep = 0;

	for (int round = 0; round < 20000; round++) {
		enum frame_key key = (enum frame_key)below(FRAME_BY_TRAP + 1);
		uint64_t ip = 0x1000 + below(60);
		const struct symbol *symbol = &functions[below(FUNCTIONS)];

		if (below(3) == 0)
			add_frames(below(200));
		else if (below(2) == 0)
			remove_frames(below(below(40) ? 150 : 5000));
		else
			change_top();
		deep = list.depth > deep ? list.depth : deep;
		ck_assert_uint_eq(found(key, ip, symbol), expected(key, ip, symbol));
	}
	ck_assert_uint_gt(deep, 2000);
}
END_TEST

START_TEST(a_deep_search_compares_few_frames_and_keys)
{
	const size_t most = 64;

	for (size_t i = 0; i < 100000; i++) {
		*frame_list_add(&list) = (struct frame){ .symbol = &functions[3],
							 .kind = FRAME_CALLED,
							 .return_ip = i };
		ck_assert_uint_eq(found(FRAME_BY_RETURN, 200000, NULL), 0);
		ck_assert_uint_eq(found(FRAME_BY_LANDING, 0, &functions[4]), 0);
		ck_assert_uint_eq(found(FRAME_BY_ENTRY, 0, NULL), 0);
		ck_assert_uint_le(list.depth - list.indexed, most);
		/* Each frame is distinct by its call, and all are of one function. */
		ck_assert_uint_le(list.key_count, list.indexed + 2);
	}
}
END_TEST

/* In text, no call has a length: it returns to up to 15 bytes after its first one. */
START_TEST(deep_calls_of_unknown_length_are_found)
{
	for (uint64_t i = 0; i < 1000; i++) {
		struct frame *frame = frame_list_add(&list);

		*frame = (struct frame){ .symbol = &functions[3], .kind = FRAME_CALLED };
		frame_set_return(frame, 0x1000 + 0x20 * i, 0);
	}
	for (uint64_t i = 0; i < 1000; i++) {
		uint64_t call = 0x1000 + 0x20 * i;

		ck_assert_uint_eq(found(FRAME_BY_RETURN, call, NULL), 0);
		ck_assert_uint_eq(found(FRAME_BY_RETURN, call + 1, NULL), i + 1);
		ck_assert_uint_eq(found(FRAME_BY_RETURN, call + 15, NULL), i + 1);
		ck_assert_uint_eq(found(FRAME_BY_RETURN, call + 16, NULL), 0);
	}
}
END_TEST

START_TEST(a_shallow_stack_has_no_index)
{
	add_frames(60);
	found(FRAME_BY_RETURN, 1, NULL);
	ck_assert_uint_eq(list.indexed, 0);
	ck_assert_ptr_null(list.ids.cells);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("frame_list");
	TCase *all = tcase_create("frame_list");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, searches_find_what_looking_at_each_frame_finds);
	tcase_add_test(all, a_deep_search_compares_few_frames_and_keys);
	tcase_add_test(all, deep_calls_of_unknown_length_are_found);
	tcase_add_test(all, a_shallow_stack_has_no_index);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
