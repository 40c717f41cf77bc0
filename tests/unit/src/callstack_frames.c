/* SPDX-License-Identifier: MIT */
/* The searches of a stack of frames, against the same searches frame by frame. */
#include <stdlib.h>

#include "src/callstack/callstack_frames.h"
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
	return (struct frame){ .symbol = &functions[below(FUNCTIONS)],
			       .kind = (uint8_t)below(FRAME_ENTRY + 1),
			       .call_ip = 0x1000 + below(40),
			       .traps = below(20) == 0 };
}

/* ---- The model: every search frame by frame ------------------------------ */

enum search { RETURN, FUNCTION, LANDING, RESUMED, ENTRY, TRAP, SEARCHES };

static bool lands(size_t at, const struct symbol *symbol)
{
	return same_function(list.frames[at].symbol, symbol) &&
	       (at + 1 == list.depth || list.frames[at + 1].symbol->name != list.resume);
}

static bool is_meant(enum search search, size_t at, uint64_t ip, const struct symbol *symbol)
{
	const struct frame *frame = &list.frames[at];

	switch (search) {
	case RETURN:
		return frame_returns_to(frame, ip);
	case FUNCTION:
		return same_function(frame->symbol, symbol);
	case LANDING:
		return lands(at, symbol);
	case RESUMED:
		return frame->kind == FRAME_HANDLER && frame->resume_ip == ip;
	case ENTRY:
		return frame->kind == FRAME_ENTRY;
	default:
		return frame->traps != 0;
	}
}

static size_t expected(enum search search, uint64_t ip, const struct symbol *symbol)
{
	size_t at = list.depth;

	while (at && !is_meant(search, at - 1, ip, symbol))
		at--;
	return at;
}

static size_t found(enum search search, uint64_t ip, const struct symbol *symbol)
{
	switch (search) {
	case RETURN:
		return frame_list_find_return(&list, ip);
	case FUNCTION:
		return frame_list_find_function(&list, symbol);
	case LANDING:
		return frame_list_find_landing(&list, symbol);
	case RESUMED:
		return frame_list_find_resumed(&list, ip);
	case ENTRY:
		return frame_list_find_entry(&list);
	default:
		return frame_list_find_trap(&list);
	}
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

/* Mostly of one kind, so that the others are deep down. */
static void add_frames(size_t count)
{
	size_t usual = below(FUNCTIONS);

	while (count--) {
		struct frame frame = { .symbol = &functions[usual],
				       .kind = FRAME_CALLED,
				       .call_ip = 0x2000 };

		*frame_list_add(&list) = below(50) ? frame : random_frame();
	}
}

START_TEST(searches_find_what_looking_at_each_frame_finds)
{
	size_t deep = 0;

	for (int round = 0; round < 20000; round++) {
		enum search search = (enum search)below(SEARCHES);
		uint64_t ip = 0x1000 + below(60);
		const struct symbol *symbol = &functions[below(FUNCTIONS)];

		if (below(3) == 0)
			add_frames(below(200));
		else if (below(2) == 0)
			remove_frames(below(below(40) ? 150 : 5000));
		else
			change_top();
		deep = list.depth > deep ? list.depth : deep;
		ck_assert_uint_eq(found(search, ip, symbol), expected(search, ip, symbol));
	}
	ck_assert_uint_gt(deep, 2000);
}
END_TEST

/* Returns how many frames were looked at by calls each of which is searched for in vain. */
static uint64_t cost_of_depth(size_t depth)
{
	size_t found = 0;

	frame_list_release(&list);
	for (size_t i = 0; i < depth; i++) {
		*frame_list_add(&list) = (struct frame){ .symbol = &functions[3],
							 .kind = FRAME_CALLED,
							 .call_ip = i };
		found += frame_list_find_return(&list, depth + 100);
		found += frame_list_find_landing(&list, &functions[4]);
		found += frame_list_find_entry(&list);
	}
	ck_assert_uint_eq(found, 0);
	return list.looked_at;
}

START_TEST(four_times_as_deep_costs_four_times_as_much)
{
	uint64_t shallow = cost_of_depth(25000), deep = cost_of_depth(100000);

	ck_assert_uint_lt(deep, 5 * shallow);
	ck_assert_uint_lt(deep, UINT64_C(100000) * 300);
}
END_TEST

START_TEST(a_shallow_stack_has_no_index)
{
	add_frames(60);
	frame_list_find_return(&list, 1);
	ck_assert_uint_eq(list.index.count, 0);
	ck_assert_ptr_null(list.index.cells);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("callstack_frames");
	TCase *all = tcase_create("callstack_frames");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, searches_find_what_looking_at_each_frame_finds);
	tcase_add_test(all, four_times_as_deep_costs_four_times_as_much);
	tcase_add_test(all, a_shallow_stack_has_no_index);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
