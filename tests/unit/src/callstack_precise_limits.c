/* SPDX-License-Identifier: MIT */
/* Where too many calls are open or wait; how branches are fed does not matter. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/precise_depth.h"
#include "tests/unit/src/callstack_precise.h"

/* Random calls, returns and jumps of a few functions at a few addresses. */
static void run_wild(unsigned seed)
{
	static const enum branch_kind kinds[] = { BRANCH_CALL,      BRANCH_CALL, BRANCH_RETURN,
						  BRANCH_RETURN,    BRANCH_JUMP, BRANCH_COND,
						  BRANCH_INTERRUPT, BRANCH_IRET };
	static const char letters[] = "mfghFG";
	struct location from = at('m', 0x10);

	for (int i = 0; i < 2000; i++) {
		enum branch_kind kind = kinds[rand_r(&seed) % 8];
		char letter = letters[rand_r(&seed) % 6];
		bool entry = kind == BRANCH_CALL && rand_r(&seed) % 8;
		uint64_t offset = entry ? 0 : (rand_r(&seed) % 3) * 0x15u;
		struct location to = rand_r(&seed) % 8 ? at(letter, offset) : nameless(0x15);

		now -= rand_r(&seed) % 3 ? 0 : rand_r(&seed) % 3 * 10;
		feed(kind, from, to, rand_r(&seed) % 2 ? BRANCH_INDIRECT : 0);
		/* The next branch is in this one's target, at a possible return address. */
		from = to;
		from.ip += 0x10 - from.ip % 0x10;
		if (rand_r(&seed) % 50 == 0)
			gap(GAP_OVERFLOW);
		if (rand_r(&seed) % 30 == 0)
			show_mark();
		/* Tracing may resume without a packet. */
		if (rand_r(&seed) % 20 == 0)
			feed(BRANCH_SYSCALL, from, (struct location){ 0 }, BRANCH_TRACE_OFF);
	}
	finish();
}

static void begin_anew(void)
{
	teardown();
	setup();
}

START_TEST(what_is_fed_as_plain_has_the_outcome_of_any_branch)
{
	char *expected;

	run_wild((unsigned)_i + 1);
	expected = strdup(slice_log_take(&slices));
	begin_anew();
	at_once = (size_t)_i % AT_ONCE_MOST + 1;
	run_wild((unsigned)_i + 1);
	ck_assert_str_eq(slice_log_take(&slices), expected);
	free(expected);
}
END_TEST

START_TEST(edges_have_the_outcome_of_begins_and_ends_one_by_one)
{
	char *expected;

	at_once = (size_t)_i % AT_ONCE_MOST;
	run_wild((unsigned)_i + 1);
	expected = strdup(slice_log_take(&slices));
	begin_anew();
	at_once = (size_t)_i % AT_ONCE_MOST;
	slices.sink.immediate = false;
	run_wild((unsigned)_i + 1);
	ck_assert_str_eq(slice_log_take(&slices), expected);
	ck_assert_uint_gt(slices.plain, 1000);
	free(expected);
}
END_TEST

static void call_deep(void)
{
	for (int i = 0; i < DEEP; i++)
		call('f', 0x10, 'f');
	feed_held();
}

START_TEST(a_stack_is_given_up_where_too_many_calls_are_open)
{
	struct callstack *other = stack;

	call_deep();
	ck_assert_ptr_null(diag.first);
	stack = callstack_open(machine, NULL);
	call_deep();
	ck_assert_uint_eq(precise_depth(other), DEEP);
	ck_assert_uint_lt(precise_depth(stack), DEEP);
	ck_assert_str_eq(diag.first->kind, "stack-too-deep");
	ck_assert_ptr_nonnull(strstr(slice_log_take(&slices), "[lost: too many open calls]"));
	callstack_finish(other);
	callstack_close(other);
}
END_TEST

/* The frame of changed code is one too many. */
START_TEST(a_stack_is_given_up_at_a_gap_that_adds_a_frame)
{
	struct precise_stack *full = (struct precise_stack *)stack;

	call_deep();
	while (full->now.depth < full->now.room) {
		call('f', 0x10, 'f');
		feed_held();
	}
	machine->open_most = full->now.room;
	gap(GAP_MISMATCH);
	feed_held();
	ck_assert_str_eq(diag.first->kind, "stack-too-deep");
	ck_assert_uint_eq(full->now.depth, 0);
}
END_TEST

/* Returns how many calls are open afterwards. */
static size_t give_up(size_t fed_at_once)
{
	struct callstack *other = stack;
	size_t depth;

	at_once = fed_at_once;
	call_deep();
	stack = callstack_open(machine, NULL);
	call_deep();
	depth = precise_depth(stack);
	callstack_close(other);
	begin_anew();
	return depth;
}

START_TEST(a_stack_is_given_up_at_the_same_place_however_it_is_fed)
{
	size_t depth = give_up(0);

	ck_assert_uint_lt(depth, DEEP);
	for (size_t fed_at_once = 1; fed_at_once <= AT_ONCE_MOST; fed_at_once++)
		ck_assert_uint_eq(give_up(fed_at_once), depth);
}
END_TEST

START_TEST(calls_that_have_ended_leave_room_for_others)
{
	struct callstack *other = stack;

	call_deep();
	gap(GAP_OVERFLOW);
	feed_held();
	stack = callstack_open(machine, NULL);
	call_deep();
	expect_depth(DEEP);
	ck_assert_ptr_null(diag.first);
	callstack_close(other);
}
END_TEST

/* A call and its return, repeated, at one time. */
static void call_often(unsigned times)
{
	for (unsigned i = 0; i < times; i++) {
		call('f', 0x10, 'g');
		now -= 10;
		ret('g', 'f', 0x15);
		now -= 10;
	}
	feed_held();
}

START_TEST(calls_of_one_time_wait_for_the_next_where_there_is_room)
{
	call_often(DEEP / 4);
	ck_assert_str_eq(slice_log_take(&slices), "");
}
END_TEST

START_TEST(calls_of_one_time_do_not_wait_where_there_is_no_room)
{
	struct callstack *other = stack;

	call_often(DEEP / 4);
	stack = callstack_open(machine, NULL);
	call_often(DEEP / 4);
	ck_assert_str_ne(slice_log_take(&slices), "");
	ck_assert_uint_le(machine->pending_room, DEEP + 1024);
	callstack_close(other);
	ck_assert_uint_le(machine->pending_room, 1024);
}
END_TEST

/* The number of calls of g that begin between two times. */
static size_t count_between(const char *text, long from, long to)
{
	size_t count = 0;

	for (const char *line = strstr(text, "B "); line; line = strstr(line + 1, "B ")) {
		long time = strtol(line + 2, NULL, 10);

		count += time > from && time < to;
	}
	return count;
}

/* Calls before the mark are emitted in parts: the last part waits, and shares the time. */
START_TEST(calls_of_one_time_and_a_mark_share_the_time)
{
	machine->pending_most = 7000; /* limits of 4096 edges and 2048 events */
	call_often(2000);
	show_mark();
	now += 100000;
	call('f', 0x10, 'g');
	finish();
	ck_assert_uint_gt(count_between(slice_log_take(&slices), 0, 100000), 10);
}
END_TEST

START_TEST(a_child_of_too_many_calls_begins_without_them)
{
	struct callstack *parent = stack;

	call_deep();
	stack = callstack_open(machine, NULL);
	callstack_inherit(stack, parent, now);
	expect_depth(0);
	ck_assert_str_eq(diag.first->kind, "stack-too-deep");
	callstack_close(parent);
}
END_TEST

/* Tracing begins in `m`, at a program's entry if `entry`; then m calls f repeatedly. */
static void run_program(bool entry, int calls)
{
	struct stack_branch start = { .event = { .time = now, .flags = BRANCH_TRACE_ON },
				      .to = at('m', 0),
				      .notes = { .has_no_caller = entry },
				      .has_notes = true };

	feed_branch(&start);
	now += 10;
	for (int i = 0; i < calls; i++) {
		call('m', 0x10, 'f');
		ret('f', 'm', 0x15);
	}
}

/* More branches than are kept. */
#define MANY 2500

START_TEST(what_nothing_has_called_is_given_out_as_it_comes)
{
	const char *text;

	run_program(true, MANY);
	feed_held();
	text = slice_log_take(&slices);
	ck_assert_ptr_nonnull(strstr(text, "B 10 f\nE 20 f\n"));
	/* The program's slice begins before all slices emitted with it. */
	ck_assert_ptr_nonnull(strstr(text, "B 0 m inferred deferred\nS\n"));
	finish();
	text = slice_log_take(&slices);
	ck_assert_ptr_null(strstr(text, "B 0 m"));
	ck_assert_ptr_nonnull(strstr(text, " m\nS\n"));
}
END_TEST

START_TEST(what_may_have_callers_is_not_complete_before_its_end)
{
	run_program(false, MANY);
	ck_assert_ptr_null(strstr(slice_log_take(&slices), "S\n"));
	finish();
}
END_TEST

/* Impossible, but a recording may contain it. */
START_TEST(a_caller_of_a_program_begins_when_it_is_returned_to)
{
	char expected[80];

	run_program(true, MANY);
	slice_log_take(&slices);
	ret('m', 'x', 0x15);
	snprintf(expected, sizeof(expected), "B %d x inferred deferred\nS\n",
		 (int)(now - BASE - 10));
	finish();
	ck_assert_ptr_nonnull(strstr(slice_log_take(&slices), expected));
}
END_TEST

START_TEST(after_a_gap_callers_may_be_found_again)
{
	run_program(true, MANY);
	gap(GAP_OVERFLOW);
	slice_log_take(&slices);
	run_program(false, MANY);
	ret('m', 'x', 0x15);
	finish();
	ck_assert_ptr_nonnull(
		strstr(slice_log_take(&slices), " x inferred deferred\nB 50020 m inferred "));
}
END_TEST

/* A copy takes frames from a common limit, and has all frames or none. */
START_TEST(a_copy_of_a_stack_has_its_frames_if_they_are_not_too_many)
{
	struct callstack *copy = callstack_open(machine, NULL);
	uint64_t most = 3;

	call('m', 0x10, 'f');
	call('f', 0x10, 'g');
	expect_depth(2);
	ck_assert(callstack_copy(copy, stack, &most)); /* m, f, g */
	ck_assert_uint_eq(most, 0);
	ck_assert_uint_eq(precise_depth(copy), 2);
	ck_assert(!callstack_copy(copy, stack, &most));
	ck_assert_uint_eq(precise_depth(copy), 0);
	most = 2;
	ck_assert(!callstack_copy(copy, stack, &most));
	ck_assert_uint_eq(most, 2);
	most = 7;
	ck_assert(callstack_copy(copy, stack, &most));
	ck_assert_uint_eq(most, 4);
	ret('g', 'f', 0x15);
	expect_depth(1);
	ck_assert_uint_eq(precise_depth(copy), 2); /* its own frames */
	callstack_close(copy);
	/* Another one would be too many frames for the machine. */
	copy = callstack_open(machine, NULL);
	machine->open_most = 1;
	ck_assert(!callstack_copy(copy, stack, &most));
	ck_assert_uint_eq(most, 4);
	ck_assert_uint_eq(precise_depth(copy), 0);
	callstack_close(copy);
}
END_TEST

void add_limit_tests(TCase *tests)
{
	tcase_add_test(tests, a_copy_of_a_stack_has_its_frames_if_they_are_not_too_many);
	tcase_add_test(tests, a_stack_is_given_up_where_too_many_calls_are_open);
	tcase_add_test(tests, a_stack_is_given_up_at_a_gap_that_adds_a_frame);
	tcase_add_test(tests, calls_that_have_ended_leave_room_for_others);
	tcase_add_test(tests, calls_of_one_time_wait_for_the_next_where_there_is_room);
	tcase_add_test(tests, calls_of_one_time_do_not_wait_where_there_is_no_room);
	tcase_add_test(tests, calls_of_one_time_and_a_mark_share_the_time);
	tcase_add_test(tests, a_child_of_too_many_calls_begins_without_them);
	tcase_add_test(tests, what_nothing_has_called_is_given_out_as_it_comes);
	tcase_add_test(tests, what_may_have_callers_is_not_complete_before_its_end);
	tcase_add_test(tests, a_caller_of_a_program_begins_when_it_is_returned_to);
	tcase_add_test(tests, after_a_gap_callers_may_be_found_again);
}

/* These feed in several ways themselves. */
void add_feeding_tests(TCase *tests)
{
	tcase_add_test(tests, a_stack_is_given_up_at_the_same_place_however_it_is_fed);
	tcase_add_loop_test(tests, what_is_fed_as_plain_has_the_outcome_of_any_branch, 0, 20);
	tcase_add_loop_test(tests, edges_have_the_outcome_of_begins_and_ends_one_by_one, 0, 20);
}
