/* SPDX-License-Identifier: MIT */
/* How calls of one time share it, also before a gap. */
#include <string.h>

#include "tests/unit/src/callstack_precise.h"

START_TEST(a_gap_is_a_slice_and_a_new_segment_begins_after_it)
{
	call('m', 0x10, 'f');
	gap(GAP_OVERFLOW);
	gap(GAP_OVERFLOW);
	feed(BRANCH_NONE, at(0, 0), at('f', 0x50), BRANCH_TRACE_ON);
	ret('f', 'm', 0x15);
	expect("B 0 f\nE 10 f\nE 10 m\n"
	       "B 10 [lost: Overflow packet]\nE 30 [lost: Overflow packet]\n"
	       "B 0 m inferred deferred\nS\n"
	       "E 40 f\nE 40 m\nB 30 m inferred deferred\nB 30 f inferred deferred\nS\n");
}
END_TEST

/* Slices of other threads follow, so it does not wait for the thread's next segment. */
START_TEST(a_segment_that_ended_is_passed_on_at_the_next_time)
{
	call('m', 0x10, 'f');
	ret('f', 'm', 0x15);
	feed_held();
	ck_assert_uint_eq(slices.flushes, 0);
	gap(GAP_OVERFLOW);
	feed(BRANCH_NONE, at(0, 0), at('f', 0x50), BRANCH_TRACE_ON);
	call('f', 0x60, 'g');
	feed_held();
	ck_assert_uint_eq(slices.flushes, 1);
	ret('g', 'f', 0x65);
	feed_held();
	ck_assert_uint_eq(slices.flushes, 1);
}
END_TEST

/* All events but the first have one time. */
static void at_one_time(void)
{
	now -= 10;
}

/* f with `f_insns` instructions, then, 10 after it, g with 30, share the time up to `next`. */
static void call_f_and_g(uint32_t f_insns, uint64_t next)
{
	jump('m', 'm', 0x10);
	call('m', 0x10, 'f');
	at_one_time();
	insns = f_insns;
	ret('f', 'm', 0x15);
	at_one_time();
	insns = 10;
	call('m', 0x20, 'g');
	now = BASE + next;
	insns = 30;
	ret('g', 'm', 0x25);
}

/* 102 ns are 1 for each call and 1 for each instruction. */
START_TEST(calls_of_one_time_share_it_by_their_instructions)
{
	call_f_and_g(60, 112);
	expect("B 10 f\nE 71 f\nB 81 g\nE 112 g\nE 112 m\nB 0 m inferred deferred\nS\n");
}
END_TEST

START_TEST(a_call_of_few_instructions_has_a_length)
{
	call_f_and_g(0, 30);
	expect("B 10 f\nE 11 f\nB 15 g\nE 30 g\nE 30 m\nB 0 m inferred deferred\nS\n");
}
END_TEST

/* 100 ns are 1 for the call and 1 for each of 99 instructions. */
START_TEST(a_mark_takes_no_time_of_the_calls_that_share_it_by_instructions)
{
	jump('m', 'm', 0x10);
	call('m', 0x10, 'f');
	at_one_time();
	show_mark();
	insns = 60;
	ret('f', 'm', 0x15);
	now = BASE + 110;
	insns = 39;
	call('m', 0x20, 'g');
	expect("B 10 f\nB 11 x\nE 11 x\nE 71 f\nB 110 g\nE 110 g\nE 110 m\nB 0 m inferred deferred\n"
	       "S\n");
}
END_TEST

/* An instruction takes 10 ns, but the next packet would come within 50 ns. */
START_TEST(calls_of_one_time_do_not_last_beyond_the_next_timing_packet)
{
	machine->resolution = 50;
	call_f_and_g(5, 10 + 452);
	expect("B 10 f\nE 59 f\nB 59 g\nE 462 g\nE 462 m\nB 0 m inferred deferred\nS\n");
}
END_TEST

/* m calls f, g and h at 10: the 20 ns up to 30 are three shares and one of the gap. */
START_TEST(calls_before_a_gap_share_the_time_up_to_its_end)
{
	jump('m', 'm', 0x10);
	call('m', 0x10, 'f');
	at_one_time();
	ret('f', 'm', 0x15);
	at_one_time();
	call('m', 0x20, 'g');
	at_one_time();
	call('g', 0x10, 'h');
	at_one_time();
	gap(GAP_OVERFLOW);
	now += 10;
	feed(BRANCH_NONE, at(0, 0), at('n', 0x50), BRANCH_TRACE_ON);
	expect("B 10 f estimated\nE 15 f\nB 15 g estimated\nB 20 h estimated\n"
	       "E 25 h\nE 25 g\nE 25 m\n"
	       "B 25 [lost: Overflow packet] estimated\nE 30 [lost: Overflow packet]\n"
	       "B 0 m inferred deferred\nS\nS\n");
}
END_TEST

/* Two calls of 10 ns take 5 ns each, so the one before the gap does not take 500 of 1,000. */
START_TEST(calls_before_a_long_gap_are_as_fast_as_the_last_ones)
{
	jump('m', 'm', 0x10);
	call('m', 0x10, 'f');
	at_one_time();
	ret('f', 'm', 0x15);
	at_one_time();
	call('m', 0x20, 'f');
	at_one_time();
	ret('f', 'm', 0x25);
	call('m', 0x30, 'g');
	at_one_time();
	gap(GAP_OVERFLOW);
	now = BASE + 1020;
	feed(BRANCH_NONE, at(0, 0), at('n', 0x50), BRANCH_TRACE_ON);
	expect("B 10 f\nE 15 f\nB 15 f\nE 20 f\nB 20 g estimated\nE 25 g\nE 25 m\n"
	       "B 25 [lost: Overflow packet] estimated\nE 1020 [lost: Overflow packet]\n"
	       "B 0 m inferred deferred\nS\nS\n");
}
END_TEST

/*
 * The call of h takes 10 ns and is no basis for estimates.  With details the times are the same,
 * although calls of one time are marked.
 */
START_TEST(arguments_do_not_change_times_before_a_gap)
{
	callstack_close(stack);
	slices.sink.details = _i;
	stack = callstack_open(machine, NULL);
	jump('m', 'm', 0x10);
	call('m', 0x10, 'f');
	at_one_time();
	ret('f', 'm', 0x15);
	at_one_time();
	call('m', 0x20, 'g');
	call('g', 0x20, 'h');
	call('h', 0x20, 'i');
	at_one_time();
	gap(GAP_OVERFLOW);
	now = BASE + 1020;
	feed(BRANCH_NONE, at(0, 0), at('n', 0x50), BRANCH_TRACE_ON);
	finish();
	ck_assert_ptr_nonnull(strstr(slices.text, "B 30 i estimated\nE 35 i\n"));
}
END_TEST

/*
 * Without a timing packet after a gap, the calls before and after it share the time up to the next
 * one.
 */
START_TEST(a_gap_without_a_time_after_it_lies_between_the_calls_of_one_time)
{
	jump('m', 'm', 0x10);
	for (int i = 0; i < 2; i++) {
		call('m', 0x10, 'f');
		at_one_time();
		gap(GAP_OVERFLOW);
		at_one_time();
		feed(BRANCH_NONE, at(0, 0), at('g', 0x50), BRANCH_TRACE_ON);
		at_one_time();
		ret('g', 'm', 0x15);
		at_one_time();
	}
	now = BASE + 60;
	ret('m', 'l', 0x15);
	expect("B 10 f estimated\nE 20 f\nE 20 m\n"
	       "B 20 [lost: Overflow packet] estimated\n"
	       "E 30 [lost: Overflow packet]\nB 0 m inferred deferred\nS\n"
	       "E 30 g\nB 30 f estimated\nE 40 f\nE 40 m\n"
	       "B 40 [lost: Overflow packet] estimated\n"
	       "E 50 [lost: Overflow packet]\n"
	       "B 30 m inferred estimated deferred\nB 30 g inferred estimated deferred\nS\n"
	       "E 50 g\nE 60 m\nE 60 l\nB 50 l inferred estimated deferred\n"
	       "B 50 m inferred estimated deferred\nB 50 g inferred estimated deferred\nS\n");
}
END_TEST

START_TEST(calls_at_one_time_are_spread_and_returns_take_none)
{
	call('m', 0x10, 'a');
	now = BASE + 100;
	call('a', 0x10, 'b');
	now = BASE + 100;
	call('b', 0x10, 'c');
	now = BASE + 100;
	ret('c', 'b', 0x15);
	now = BASE + 200;
	ret('b', 'a', 0x15);
	expect("B 0 a\nB 100 b\nB 150 c\nE 200 c\nE 200 b\nE 200 a\nE 200 m\n"
	       "B 0 m inferred deferred\nS\n");
}
END_TEST

/* Only their order distinguishes them: nothing may be delayed. */
START_TEST(calls_at_the_first_time_stay_beside_each_other)
{
	call('m', 0x10, 'f');
	now = BASE;
	ret('f', 'm', 0x15);
	now = BASE;
	call('m', 0x20, 'g');
	now = BASE;
	ret('g', 'm', 0x25);
	now = BASE + 1;
	ret('m', 'a', 0x15);
	expect("B 0 f\n"
	       "E 0 f\n"
	       "B 0 g\n"
	       "E 1 g\n"
	       "E 1 m\n"
	       "E 1 a\n"
	       "B 0 a inferred deferred\n"
	       "B 0 m inferred deferred\n"
	       "S\n");
}
END_TEST

START_TEST(a_mark_takes_no_time_and_follows_the_calls_before_it)
{
	struct stack_branch mark = { .notes = { .mark = function('x') }, .has_notes = true };

	call('m', 0x10, 'f');
	mark.event.time = now - 10;
	feed_branch(&mark);
	ret('f', 'm', 0x15);
	expect("B 0 f\nB 10 x\nE 10 x\nE 10 f\nE 10 m\nB 0 m inferred deferred\nS\n");
}
END_TEST

void add_time_tests(TCase *tests)
{
	tcase_add_test(tests, a_segment_that_ended_is_passed_on_at_the_next_time);
	tcase_add_test(tests, a_gap_is_a_slice_and_a_new_segment_begins_after_it);
	tcase_add_test(tests, calls_of_one_time_share_it_by_their_instructions);
	tcase_add_test(tests, a_call_of_few_instructions_has_a_length);
	tcase_add_test(tests, a_mark_takes_no_time_of_the_calls_that_share_it_by_instructions);
	tcase_add_test(tests, calls_of_one_time_do_not_last_beyond_the_next_timing_packet);
	tcase_add_test(tests, calls_before_a_gap_share_the_time_up_to_its_end);
	tcase_add_test(tests, calls_before_a_long_gap_are_as_fast_as_the_last_ones);
	tcase_add_loop_test(tests, arguments_do_not_change_times_before_a_gap, 0, 2);
	tcase_add_test(tests, a_gap_without_a_time_after_it_lies_between_the_calls_of_one_time);
	tcase_add_test(tests, calls_at_one_time_are_spread_and_returns_take_none);
	tcase_add_test(tests, calls_at_the_first_time_stay_beside_each_other);
	tcase_add_test(tests, a_mark_takes_no_time_and_follows_the_calls_before_it);
}
