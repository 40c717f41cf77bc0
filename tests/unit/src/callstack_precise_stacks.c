/* SPDX-License-Identifier: MIT */
/* Switches between stacks: coroutines, goroutines and fibers. */
#include <stdio.h>
#include <string.h>

#include "decoder/history.h"
#include "tests/unit/src/callstack_precise.h"

/* ret to another stack and back: swapcontext() */
START_TEST(a_stack_that_was_left_is_found_again)
{
	call('m', 0x10, 'f');
	call('f', 0x10, 's');
	ret('s', 'x', 0x33); /* to an unknown stack */
	expect_depth(0);
	call('x', 0x50, 's');
	ret('s', 'f', 0x15); /* back on the first stack */
	expect_depth(1);
	ck_assert_uint_eq(machine->doubts.uncertain_levels, 2); /* no code loaded a stack pointer */
	ret('f', 'm', 0x15);
	expect_depth(0);
}
END_TEST

/* Go: mcall() calls the scheduler, whose gogo() jumps to after another goroutine's mcall(). */
START_TEST(gogo_goes_to_the_stack_of_its_goroutine)
{
	function('o')->name = function('o')->linkage = name_intern_text(&names, "gogo");
	call('a', 0x10, 'f');
	call('f', 0x10, 'm');
	call('m', 0x10, 'o');
	jump('o', 'b', 0x33); /* another goroutine, not seen before */
	expect_depth(0);
	call('b', 0x50, 'm');
	call('m', 0x10, 'o');
	jump('o', 'f', 0x15); /* the first one continues */
	expect_depth(1);
	ret('f', 'a', 0x15);
	expect_depth(0);
}
END_TEST

/* Go: gogo() starts a goroutine by a jump to its function, which returns to goexit(). */
START_TEST(a_new_goroutine_is_under_no_scheduler)
{
	function('o')->name = function('o')->linkage = name_intern_text(&names, "gogo");
	call('a', 0x10, 'm');
	call('m', 0x10, 'o');
	jump('o', 'g', 0); /* a new goroutine */
	expect_depth(0);
	call('g', 0x10, 'f');
	expect_depth(1);
	ret('f', 'g', 0x15);
	ret('g', 'e', 0x11); /* goexit() */
	call('e', 0x20, 'm');
	call('m', 0x10, 'o');
	expect_depth(2);
	jump('o', 'm', 0x15); /* the first one continues */
	expect_depth(1);
	ret('m', 'a', 0x15);
	expect_depth(0);
}
END_TEST

/* Go's runtime by names, as in text: mcall() parks a goroutine, gogo() resumes one. */
static void name_scheduler(void)
{
	function('m')->name = function('m')->linkage = name_intern_text(&names, "runtime.mcall");
	function('o')->name = function('o')->linkage = name_intern_text(&names, "gogo");
}

static void park_by(char waiting, uint64_t offset)
{
	call(waiting, offset, 'w');
	call('w', 0x10, 'm');
	call('m', 0x10, 's'); /* the scheduler, on its own stack */
	call('s', 0x10, 'o');
}

START_TEST(a_return_shows_which_of_several_stacks_came_back)
{
	name_scheduler();
	call('a', 0x10, 'f');
	park_by('f', 0x20);
	jump('o', 'g', 0);
	park_by('g', 0x30);
	jump('o', 'w', 0x15); /* of a > f, or of g */
	expect_depth(0);
	ret('w', 'g', 0x35);
	expect_depth(0);
	park_by('g', 0x30);
	jump('o', 'w', 0x15);
	ret('w', 'f', 0x25);
	expect_depth(1);
	ret('f', 'a', 0x15);
	expect_depth(0);
	expect("B 0 f\nB 10 w\nB 20 runtime.mcall\nE 30 runtime.mcall\nE 30 w\nE 30 f\nE 30 a\n"
	       "B 30 s\nB 40 gogo\nE 50 gogo\nE 50 s\nB 50 g\nB 60 w\nB 70 runtime.mcall\n"
	       "E 80 runtime.mcall\nE 80 w\nE 80 g\nB 80 s\nB 90 gogo\nE 100 gogo\nE 100 s\n"
	       "B 100 w\nE 110 w\n"
	       "B 120 w\nB 130 runtime.mcall\nE 140 runtime.mcall\nE 140 w\nE 140 g\nB 140 s\n"
	       "B 150 gogo\nE 160 gogo\nE 160 s\nB 160 w\nE 170 w\nE 180 f\nE 180 a\n"
	       "B 160 a deferred\nB 160 f deferred\nB 100 g deferred\n"
	       "B 0 a inferred deferred\nS\n");
}
END_TEST

/* Go: a signal's handler makes a goroutine call asyncPreempt(), which leaves for the scheduler. */
static void preempt(char running, uint64_t offset)
{
	feed(BRANCH_NONE, at(running, offset), at(0, 0), BRANCH_TRACE_OFF | BRANCH_ASYNC);
	feed(BRANCH_NONE, at(0, 0), at('p', 0), BRANCH_TRACE_ON);
	park_by('p', 0x10);
}

START_TEST(a_return_to_what_a_signal_interrupted_shows_which_stack_came_back)
{
	name_scheduler();
	call('a', 0x10, 'f');
	preempt('f', 0x20);
	jump('o', 'g', 0);
	preempt('g', 0x30);
	jump('o', 'w', 0x15); /* of a > f > p, or of g > p */
	ret('w', 'p', 0x15);
	expect_depth(0);
	ret('p', 'f', 0x20);
	expect_depth(1);
	preempt('f', 0x24);
	jump('o', 'w', 0x15);
	ret('w', 'p', 0x15);
	ret('p', 'g', 0x30);
	expect_depth(0);
	preempt('g', 0x34);
	jump('o', 'w', 0x15);
	ret('w', 'p', 0x15);
	ret('p', 'f', 0x24);
	ret('f', 'a', 0x15);
	expect_depth(0);
	ck_assert_uint_eq(machine->doubts.uncertain_levels, 0);
}
END_TEST

/* It was parked on another thread. The only parked stack that fits is taken for it at first. */
START_TEST(a_return_to_what_no_signal_interrupted_here_leaves_the_stack)
{
	name_scheduler();
	call('a', 0x10, 'f');
	preempt('f', 0x20);
	jump('o', 'w', 0x15);
	ret('w', 'p', 0x15);
	expect_depth(1); /* f, without p, which has no call */
	ret('p', 'x', 0x44);
	expect_depth(0);
	ret('x', 'y', 0x15);
	expect_depth(0);
	ck_assert_uint_eq(machine->doubts.uncertain_levels, 1);
}
END_TEST

/* Preemptive coroutines: a signal's handler switches stacks itself, and returns by its restorer. */
static void preempt_in_handler(char running, uint64_t offset)
{
	feed(BRANCH_NONE, at(running, offset), at(0, 0), BRANCH_TRACE_OFF | BRANCH_ASYNC);
	feed(BRANCH_NONE, at(0, 0), at('h', 0), BRANCH_TRACE_ON);
	park_by('h', 0x10);
}

static void end_handler(char interrupted, uint64_t offset)
{
	ret('w', 'h', 0x15);
	ret('h', 'r', 0); /* the restorer */
	feed(BRANCH_SYSCALL, at('r', 0x10), at(0, 0), BRANCH_TRACE_OFF);
	feed(BRANCH_NONE, at(0, 0), at(interrupted, offset), BRANCH_TRACE_ON);
}

START_TEST(the_end_of_a_handler_that_switched_stacks_shows_which_stack_came_back)
{
	name_scheduler();
	call('a', 0x10, 'f');
	preempt_in_handler('f', 0x20);
	jump('o', 'g', 0);
	preempt_in_handler('g', 0x30);
	jump('o', 'w', 0x15); /* of a > f > h, or of g > h */
	end_handler('f', 0x20);
	expect_depth(1);
	preempt_in_handler('f', 0x24);
	jump('o', 'w', 0x15);
	end_handler('g', 0x30);
	expect_depth(0);
	preempt_in_handler('g', 0x34);
	jump('o', 'w', 0x15);
	end_handler('f', 0x24);
	ret('f', 'a', 0x15);
	expect_depth(0);
	ck_assert_uint_eq(machine->doubts.uncertain_levels, 0);
}
END_TEST

START_TEST(a_stack_that_is_left_before_a_return_is_taken_for_the_one_left_first)
{
	name_scheduler();
	call('a', 0x10, 'f');
	park_by('f', 0x20);
	jump('o', 'g', 0);
	park_by('g', 0x30);
	jump('o', 'w', 0x15);
	call('w', 0x20, 'm'); /* again, in the same function */
	call('m', 0x10, 's');
	jump('s', 'h', 0);
	feed_held();
	ck_assert_uint_eq(machine->doubts.uncertain_levels, 2); /* a > f */
}
END_TEST

/* Another stack was taken for it, so perhaps it is what ran since. */
START_TEST(a_stack_that_could_have_been_resumed_is_marked_when_it_comes_back)
{
	name_scheduler();
	call('a', 0x10, 'f');
	park_by('f', 0x20);
	jump('o', 'g', 0);
	park_by('g', 0x30);
	jump('o', 'w', 0x15);
	call('w', 0x20, 'm');
	call('m', 0x10, 's');
	jump('s', 'h', 0); /* that was a > f > w, or g > w */
	park_by('h', 0x40);
	jump('o', 'w', 0x15);
	feed_held();
	ck_assert_uint_eq(machine->doubts.uncertain_levels, 3); /* a > f, and w */
	ret('w', 'g', 0x35);
	feed_held();
	ck_assert_uint_eq(machine->doubts.uncertain_levels, 4);
}
END_TEST

/* Stacks that were left before it come back later. */
START_TEST(a_stack_that_comes_back_after_a_loss_is_marked)
{
	name_scheduler();
	call('a', 0x10, 'f');
	park_by('f', 0x20);
	jump('o', 'g', 0);
	ck_assert_uint_eq(machine->doubts.uncertain_levels, 0);
	gap(GAP_OVERFLOW);
	call('a', 0x10, 'f');
	park_by('f', 0x20);
	jump('o', 'w', 0x15);
	feed_held();
	ck_assert_uint_eq(machine->doubts.uncertain_levels, 1);
}
END_TEST

/* A coroutine that was left before the trace began is more likely than a switch to itself. */
START_TEST(a_switch_to_the_same_call_enters_a_stack_that_the_trace_has_not_shown)
{
	enter_by(BRANCH_CALL, 'a', 'f', CALL_ENTERS);
	enter_by(BRANCH_CALL, 'f', 's', CALL_ENTERS);
	go_by(BRANCH_JUMP, 's', at('f', 0x15), SWITCHES_STACK);
	expect_depth(0);
	ret('f', 'g', 0x15);
	expect_depth(0);
}
END_TEST

/* The handler is in a frame that the candidates do not share. */
START_TEST(an_exception_out_of_what_several_stacks_share_enters_the_one_left_first)
{
	name_scheduler();
	function('u')->name = function('u')->linkage =
		name_intern_text(&names, "_Unwind_RaiseException");
	call('c', 0x10, 'a');
	call('a', 0x10, 'b');
	call('b', 0x10, 'f');
	park_by('f', 0x20);
	jump('o', 'g', 0);
	call('g', 0x10, 'b');
	call('b', 0x10, 'f');
	call('f', 0x30, 'f');
	park_by('f', 0x20);
	jump('o', 'w', 0x15);
	ret('w', 'f', 0x25); /* of c > a > b > f, or of g > b > f > f */
	expect_depth(0);
	call('f', 0x40, 'u');
	jump('u', 'b', 0x60);
	expect_depth(2); /* c > a > b */
	ck_assert_uint_ge(machine->doubts.uncertain_levels, 3);
	ret('b', 'a', 0x15);
	expect_depth(1);
}
END_TEST

START_TEST(a_stack_that_was_left_waits_for_a_hundred_others)
{
	name_scheduler();
	call('a', 0x10, 'f');
	park_by('f', 0x20);
	for (int i = 0; i < 100; i++) {
		jump('o', 'g', 0);
		call('g', 0x30, 'v');
		call('v', 0x10, 'm');
		call('m', 0x10, 'o');
	}
	jump('o', 'w', 0x15);
	expect_depth(2);
	ret('w', 'f', 0x25);
	ret('f', 'a', 0x15);
	expect_depth(0);
}
END_TEST

/* longjmp() goes back to the outer of two calls of f, which called setjmp() before the switch. */
START_TEST(a_stack_that_comes_back_has_its_setjmps)
{
	name_scheduler();
	function('j')->name = function('j')->linkage = name_intern_text(&names, "_setjmp");
	call('a', 0x10, 'f');
	call('f', 0x20, 'j');
	ret('j', 'f', 0x25);
	call('f', 0x30, 'f');
	park_by('f', 0x50);
	jump('o', 'g', 0);
	call('g', 0x10, 'o');
	jump('o', 'w', 0x15);
	ret('w', 'f', 0x55);
	call('f', 0x60, 'l');
	expect_depth(3);
	jump('l', 'f', 0x25);
	expect_depth(1);
}
END_TEST

/* Slices of the old stack and of the new one do not enclose each other. */
START_TEST(a_stack_that_begins_among_calls_of_one_time_is_apart_from_the_old_one)
{
	call('m', 0x10, 'f');
	now -= 10;
	call('f', 0x10, 'g');
	now -= 10;
	ret('g', 'x', 0x33);
	now -= 10;
	call('x', 0x40, 'h');
	ret('h', 'x', 0x45);
	ret('x', 'y', 0x15);
	expect("B 0 f\nB 3 g\nE 6 g\nE 6 f\nE 6 m\nB 0 m inferred deferred\nS\n"
	       "B 6 h\nE 10 h\nE 20 x\nE 20 y\nB 6 y inferred deferred\n"
	       "B 6 x inferred uncertain deferred\nS\n");
}
END_TEST

/* The enclosing slice begins within one ns, after calls of another stack. */
START_TEST(a_stack_that_comes_back_after_too_many_calls_of_one_time_is_marked)
{
	int64_t time;
	int marked = 0;

	name_scheduler();
	call('a', 0x10, 'f');
	park_by('f', 0x20);
	jump('o', 'g', 0);
	park_by('g', 0x30);
	time = now;
	for (int i = 0; i < _i; now = time, i++) {
		call('o', 0x20, 'v');
		now = time;
		ret('v', 'o', 0x25);
	}
	jump('o', 'w', 0x15);
	now = time;
	ret('w', 'f', 0x25);
	finish();
	ck_assert_uint_eq(machine->doubts.uncertain_levels > 0, _i >= SLICE_ORDER_LAST);
	/* A hundred orders leave open which of the other calls the enclosing slices follow. */
	for (const char *at = slice_log_take(&slices); (at = strstr(at, " v uncertain")); at++)
		marked++;
	ck_assert_int_eq(marked, MAX(0, _i - SLICE_ORDER_LAST));
}
END_TEST

/* Only the return shows the other stack. */
START_TEST(a_stack_that_begins_without_a_cause_is_marked_and_counted)
{
	call('m', 0x10, 'f');
	now += 5;
	ret('f', 'g', 0);
	call('g', 0x10, 'h');
	feed_held();
	ck_assert_uint_eq(machine->doubts.uncertain_levels, 1);
	ck_assert_int_eq(machine->doubts.first_uncertain, 15);
	expect("B 0 f\nE 15 f\nE 15 m\nB 15 g uncertain\nB 25 h\nE 25 h\nE 25 g\n"
	       "B 0 m inferred deferred\nS\n");
}
END_TEST

/* boost's ontop_fcontext(): its function returns to the address where another stack was left. */
START_TEST(a_function_may_run_on_top_of_a_stack_that_was_left)
{
	name_scheduler();
	call('a', 0x10, 'f');
	call('f', 0x20, 'm');
	call('m', 0x10, 'o');
	jump('o', 't', 0);
	call('t', 0x10, 'x');
	ret('x', 't', 0x15);
	ret('t', 'f', 0x25);
	expect_depth(1);
	ret('f', 'a', 0x15);
	expect_depth(0);
}
END_TEST

/* OCaml's effects: an inner handler passes on to an outer one, which continues. */
START_TEST(stacks_that_are_passed_on_come_back_together)
{
	enter_by(BRANCH_CALL, 'm', 'r', CALL_ENTERS); /* caml_runstack() */
	enter_by(BRANCH_CALL, 'r', 'o', CALL_APART);
	enter_by(BRANCH_CALL, 'o', 'r', CALL_ENTERS);
	enter_by(BRANCH_CALL, 'r', 'i', CALL_APART);
	enter_by(BRANCH_CALL, 'i', 'p', CALL_ENTERS);  /* caml_perform() */
	enter_by(BRANCH_JUMP, 'p', 'h', YIELDS_STACK); /* the inner handler */
	enter_by(BRANCH_JUMP, 'h', 'q', CALL_ENTERS);  /* caml_reperform() */
	enter_by(BRANCH_JUMP, 'q', 'k', YIELDS_STACK); /* the outer handler */
	expect_depth(1);
	enter_by(BRANCH_CALL, 'k', 'c', CALL_ENTERS); /* caml_resume() */
	enter_by(BRANCH_JUMP, 'c', 'a', SWITCHES_STACK);
	ret('a', 'i', 0x15);
	ret('i', 'r', 0x15);
	enter_by(BRANCH_JUMP, 'r', 'v', YIELDS_STACK);
	ret('v', 'o', 0x15);
	ret('o', 'r', 0x15);
	enter_by(BRANCH_JUMP, 'r', 'w', YIELDS_STACK);
	ret('w', 'k', 0x15);
	ret('k', 'm', 0x15);
	expect_depth(0);
	expect("B 0 r\nB 10 o\nB 20 r\nB 30 i\nB 40 p\nE 50 p\nE 50 i\nE 50 r\nB 50 h\n"
	       "B 60 q tail\nE 70 q\nE 70 h\nE 70 o\nE 70 r\nB 70 k\nB 80 c\nB 90 a\nE 100 a\n"
	       "E 110 i\nE 120 q\nB 120 v tail\nE 130 v\nE 130 h\nE 140 o\nE 150 c\nB 150 w\n"
	       "E 160 w\nE 170 k\nE 170 m\nB 90 o deferred\nB 90 h deferred\n"
	       "B 90 q tail deferred\nB 90 i deferred\n"
	       "B 0 m inferred deferred\nS\n");
}
END_TEST

/* Go's morestack() calls newstack() on another stack, from which gogo() comes back. */
START_TEST(what_a_stack_is_left_for_by_a_fixed_call_is_part_of_it)
{
	enter_by(BRANCH_CALL, 'a', 'f', CALL_ENTERS);
	enter_by(BRANCH_CALL, 'f', 'm', CALL_ENTERS);
	enter_by(BRANCH_CALL, 'm', 'n', CALL_ENDS_APART);
	enter_by(BRANCH_CALL, 'n', 'o', CALL_ENTERS);
	go_by(BRANCH_JUMP, 'o', at('f', 0x15), DROPS_STACK);
	expect_depth(1);
	expect("B 0 f\nB 10 m\nB 20 n\nB 30 o\nE 40 o\nE 40 n\nE 40 m\nE 40 f\nE 40 a\n"
	       "B 0 a inferred deferred\nS\n");
}
END_TEST

/* The scheduler's frames are dropped; the goroutine comes back to its call. */
START_TEST(what_a_stack_is_left_for_may_go_to_another_one)
{
	enter_by(BRANCH_CALL, 'a', 'f', CALL_ENTERS);
	enter_by(BRANCH_CALL, 'f', 'm', CALL_ENTERS);
	enter_by(BRANCH_CALL, 'm', 'n', CALL_ENDS_APART);
	enter_by(BRANCH_JUMP, 'n', 'g', DROPS_STACK);
	enter_by(BRANCH_CALL, 'g', 's', CALL_ENTERS);
	go_by(BRANCH_JUMP, 's', at('f', 0x15), SWITCHES_STACK);
	expect_depth(1);
	ret('f', 'a', 0x15);
	expect_depth(0);
}
END_TEST

/* Forget a stack that nothing resumes before a stack that was left earlier. */
START_TEST(a_stack_waits_for_any_number_that_were_dropped)
{
	machine->open_most = SIZE_MAX;
	enter_by(BRANCH_CALL, 'a', 'f', CALL_ENTERS);
	enter_by(BRANCH_CALL, 'f', 'm', CALL_ENTERS);
	enter_by(BRANCH_JUMP, 'm', 'g', SWITCHES_STACK);
	for (int i = 0; i < 2 * STACKS_MAX; i++)
		enter_by(BRANCH_JUMP, i % 2 ? 'h' : 'g', i % 2 ? 'g' : 'h', DROPS_STACK);
	go_by(BRANCH_JUMP, 'g', at('f', 0x15), SWITCHES_STACK);
	expect_depth(1);
	ret('f', 'a', 0x15);
	expect_depth(0);
}
END_TEST

/* The stack that it leaves takes no room from it, though it was left first of as many as fit. */
START_TEST(a_stack_comes_back_where_no_more_stacks_fit)
{
	machine->open_most = SIZE_MAX;
	enter_by(BRANCH_CALL, 'a', 'f', CALL_ENTERS);
	enter_by(BRANCH_CALL, 'f', 'm', CALL_ENTERS);
	enter_by(BRANCH_JUMP, 'm', 'g', SWITCHES_STACK);
	for (int i = 1; i < STACKS_MAX; i++)
		enter_by(BRANCH_JUMP, i % 2 ? 'g' : 'h', i % 2 ? 'h' : 'g', SWITCHES_STACK);
	go_by(BRANCH_JUMP, 'h', at('f', 0x15), SWITCHES_STACK);
	expect_depth(1);
	ret('f', 'a', 0x15);
	expect_depth(0);
}
END_TEST

/* Nothing else shows that a stack comes back: only the one left last may. 1: another one was. */
START_TEST(a_jump_to_no_call_resumes_only_the_stack_left_last)
{
	enter_by(BRANCH_CALL, 'a', 'f', CALL_ENTERS);
	enter_by(BRANCH_CALL, 'f', 'm', CALL_ENTERS);
	enter_by(BRANCH_JUMP, 'm', 'g', SWITCHES_STACK);
	if (_i)
		enter_by(BRANCH_JUMP, 'g', 'x', SWITCHES_STACK);
	go_by(BRANCH_JUMP, _i ? 'x' : 'g', at('f', 0x60), SWITCHES_STACK);
	expect_depth(_i ? 0 : 1);
}
END_TEST

/* Code without symbols is no function: an address in it identifies no stack. */
START_TEST(a_jump_into_code_without_symbols_resumes_no_stack)
{
	function('n')->kind = SYMBOL_FILE;
	enter_by(BRANCH_CALL, 'a', 'f', CALL_ENTERS);
	enter_by(BRANCH_CALL, 'f', 'n', CALL_ENTERS);
	enter_by(BRANCH_JUMP, 'n', 'g', SWITCHES_STACK);
	go_by(BRANCH_JUMP, 'g', at('n', 0x60), SWITCHES_STACK);
	expect_depth(0);
}
END_TEST

/* A return without a load of the stack pointer does not show which stack it is. */
START_TEST(a_stack_that_a_return_leads_to_without_a_caller_is_marked)
{
	enter_by(BRANCH_CALL, 'a', 'f', CALL_ENTERS);
	enter_by(BRANCH_CALL, 'f', 'm', CALL_ENTERS);
	enter_by(BRANCH_CALL, 'm', 'n', CALL_ENDS_APART);
	enter_by(BRANCH_JUMP, 'n', 'g', SWITCHES_STACK);
	call('g', 0x10, 'h');
	ret('h', 'm', 0x15); /* the call's stack had no other frame */
	expect_depth(0);
	ck_assert_uint_eq(machine->doubts.uncertain_levels, 1);
}
END_TEST

/*
 * OCaml's discontinue: an exception enters a function that _i fibers have. Its frame is a guess,
 * and so is one of two fibers.
 */
START_TEST(an_exception_into_one_of_several_fibers_is_marked)
{
	char from = 'm';

	for (int i = 0; i < _i; i++, from = 'h') {
		enter_by(BRANCH_CALL, from, 'r', CALL_ENTERS);
		enter_by(BRANCH_CALL, 'r', 'i', CALL_APART);
		enter_by(BRANCH_CALL, 'i', 'p', CALL_ENTERS);
		enter_by(BRANCH_JUMP, 'p', 'h', YIELDS_STACK);
	}
	enter_by(BRANCH_CALL, 'h', 'c', CALL_ENTERS);
	enter_by(BRANCH_JUMP, 'c', 'a', SWITCHES_STACK);
	go_by(BRANCH_JUMP, 'a', at('i', 0x60), SWITCHES_STACK);
	feed_held();
	ck_assert_uint_eq(machine->doubts.uncertain_levels, (uint64_t)_i);
}
END_TEST

/* Two goroutines stopped in one function's morestack(); 0: the first one continues, 1: the last. */
START_TEST(a_return_shows_whether_a_stack_was_left_for_its_own)
{
	char caller = _i ? 'g' : 'a';

	for (int i = 0; i < 2; i++) {
		enter_by(BRANCH_CALL, i ? 'g' : 'a', 'f', CALL_ENTERS);
		enter_by(BRANCH_CALL, 'f', 'm', CALL_ENTERS);
		enter_by(BRANCH_CALL, 'm', 'n', CALL_ENDS_APART);
		if (!i)
			enter_by(BRANCH_JUMP, 'n', 'g', DROPS_STACK);
	}
	go_by(BRANCH_JUMP, 'n', at('f', 0x15), DROPS_STACK);
	expect_depth(0); /* f alone is certain */
	ret('f', caller, 0x15);
	expect_depth(0);
	call(caller, 0x20, 'f');
	expect_depth(1);
	feed_held();
	ck_assert_uint_eq(machine->doubts.uncertain_levels, 0);
}
END_TEST

/*
 * State Threads: t calls setjmp() for a stack that it makes, and returns. A jump there begins a
 * stack each time, though others of the kind began in t. 1: after many setjmps of a loop.
 */
START_TEST(a_setjmp_of_a_function_that_returned_begins_a_stack)
{
	call('m', 0x10, 't');
	enter_by(BRANCH_CALL, 't', 'j', CALL_SETJMP);
	ret('j', 't', 0x15);
	ret('t', 'm', 0x15);
	for (int i = 0; i < _i * JUMP_POINTS; i++) {
		enter_by(BRANCH_CALL, 'm', 'j', CALL_SETJMP);
		ret('j', 'm', 0x15);
	}
	go_by(BRANCH_JUMP, 'm', at('t', 0x15), SWITCHES_STACK);
	call('t', 0x30, 'x');
	call('x', 0x30, 'y');
	go_by(BRANCH_JUMP, 'y', at('t', 0x15), SWITCHES_STACK);
	expect_depth(0);
	go_by(BRANCH_JUMP, 't', at('x', 0x35), SWITCHES_STACK); /* the first one comes back */
	expect_depth(1);
	ret('x', 't', 0x35);
	expect_depth(0);
	feed_held();
	ck_assert_uint_eq(machine->doubts.uncertain_levels, 0);
}
END_TEST

/* The same with a setjmp() before the trace. */
START_TEST(a_function_in_which_stacks_begin_identifies_no_stack)
{
	call('m', 0x10, 'l');
	go_by(BRANCH_JUMP, 'l', at('t', 0x15), SWITCHES_STACK);
	call('t', 0x30, 'x');
	call('x', 0x30, 'y');
	go_by(BRANCH_JUMP, 'y', at('m', 0x15), SWITCHES_STACK);
	go_by(BRANCH_JUMP, 'm', at('t', 0x15), SWITCHES_STACK);
	expect_depth(0);
	go_by(BRANCH_JUMP, 't', at('x', 0x35), SWITCHES_STACK);
	expect_depth(1);
}
END_TEST

/* m called setjmp() on a stack that waits, and has returned; it may have done so on this one. */
START_TEST(a_setjmp_that_ended_on_another_stack_hides_no_unseen_caller)
{
	call('t', 0x10, 'm');
	enter_by(BRANCH_CALL, 'm', 'j', CALL_SETJMP);
	ret('j', 'm', 0x15);
	ret('m', 't', 0x15);
	call('t', 0x20, 'x');
	ret('x', 'y', 0x33); /* a stack that was there before the trace */
	ret('y', 'm', 0x50);
	call('m', 0x60, 'l');
	go_by(BRANCH_JUMP, 'l', at('m', 0x15), SWITCHES_STACK);
	call('m', 0x70, 'x');
	ret('x', 'm', 0x75);
	expect_depth(0);
	feed_held();
	ck_assert_uint_eq(machine->doubts.uncertain_levels, 2);
}
END_TEST

/* ---- With --fibers ------------------------------------------------------- */

static struct symbol stack_symbols[8];
static const struct symbol *stack_firsts[8];

static const struct symbol *add_stack(void *context, void *track, uint32_t number,
				      const struct symbol *first)
{
	char text[16];

	ck_assert_ptr_eq(context, &stack_symbols);
	ck_assert_ptr_null(track);
	ck_assert_uint_lt(number, 8);
	snprintf(text, sizeof(text), "<%u>", (unsigned)number);
	stack_symbols[number] = symbol_special(&names, text, SPECIAL_STACK);
	stack_firsts[number] = first;
	return &stack_symbols[number];
}

static const struct callstack_fibers fibers = { add_stack, &stack_symbols };

/* Replace the machine by one that shows stacks. */
static void show_stacks(void)
{
	struct callstack_options options = {
		.sink = &slices.sink, .names = &names, .diag = &diag, .fibers = &fibers
	};

	callstack_close(stack);
	callstack_machine_close(machine);
	machine = callstack_precise_open(&options);
	stack = callstack_open(machine, NULL);
}

/* f calls s, which goes to g on another stack, whose s comes back. */
START_TEST(slices_between_switches_are_in_one_of_their_stack)
{
	show_stacks();
	call('f', 0x10, 's');
	enter_by(BRANCH_JUMP, 's', 'g', SWITCHES_STACK);
	call('g', 0x10, 's');
	go_by(BRANCH_JUMP, 's', at('f', 0x15), SWITCHES_STACK);
	call('f', 0x20, 'h');
	ret('h', 'f', 0x25);
	ck_assert_ptr_null(stack_firsts[0]);
	ck_assert_ptr_eq(stack_firsts[1], function('g'));
	expect("B 0 s\nE 10 s\nE 10 f\nE 10 <0>\nB 10 g\nB 20 s\nE 30 s\nE 30 g\nE 30 <1>\n"
	       "B 30 f\nB 40 h\nE 50 h\nE 50 f\nE 50 <0>\nB 30 <0> deferred\nB 10 <1> deferred\n"
	       "B 0 <0> deferred\nB 0 f inferred deferred\nS\n");
}
END_TEST

/* Two stacks wait in the same calls: either can have come back, which is counted. */
START_TEST(one_of_two_equal_stacks_is_marked)
{
	show_stacks();
	call('f', 0x10, 's');
	for (int i = 0; i < 2; i++) {
		enter_by(BRANCH_JUMP, 's', 'g', SWITCHES_STACK);
		call('g', 0x10, 's');
	}
	go_by(BRANCH_JUMP, 's', at('f', 0x15), SWITCHES_STACK);
	feed_held();
	ck_assert_uint_eq(machine->doubts.uncertain_levels, 0);
	call('f', 0x10, 's');
	go_by(BRANCH_JUMP, 's', at('g', 0x15), SWITCHES_STACK);
	call('g', 0x20, 's');
	go_by(BRANCH_JUMP, 's', at('f', 0x15), SWITCHES_STACK);
	feed_held();
	ck_assert_uint_eq(machine->fibers, 2);
	ck_assert_uint_eq(machine->doubts.uncertain_levels, 1);
}
END_TEST

/* Go: mcall() calls the scheduler on its stack, which begins anew each time. */
START_TEST(a_stack_that_begins_anew_is_the_same)
{
	show_stacks();
	name_scheduler();
	call('r', 0x10, 'o');
	enter_by(BRANCH_JUMP, 'o', 'g', DROPS_STACK);
	for (int i = 0; i < 3; i++) {
		park_by('g', 0x20);
		jump('o', 'w', 0x15);
		ret('w', 'g', 0x25);
	}
	feed_held();
	ck_assert_uint_eq(machine->fibers, 1);
}
END_TEST

/* Threads of a process share the stacks that they left: a stack that one resumes is no other's. */
START_TEST(a_stack_that_another_thread_resumes_does_not_come_back_here)
{
	static const struct process process = { .pid = 1 };
	static const struct thread threads[] = { { .process = &process, .tid = 1 },
						 { .process = &process, .tid = 2 } };
	struct callstack *first, *second;

	show_stacks();
	name_scheduler();
	first = stack;
	second = callstack_open(machine, NULL);
	run_thread = &threads[0];
	call('a', 0x10, 'f');
	park_by('f', 0x20);
	jump('o', 'g', 0);
	park_by('g', 0x30);
	jump('o', 'w', 0x15); /* of a > f, or of g */
	expect_depth(0);
	stack = second;
	run_thread = &threads[1];
	call('b', 0x10, 'o');
	jump('o', 'w', 0x15); /* the same here */
	ret('w', 'f', 0x25);  /* it was a > f */
	expect_depth(1);
	stack = first;
	run_thread = &threads[0];
	call('w', 0x50, 'v'); /* so this one is g */
	ret('v', 'w', 0x55);
	ret('w', 'g', 0x35);
	call('g', 0x40, 'h');
	expect_depth(1);
	feed_held();
	run_thread = NULL;
	callstack_close(second);
}
END_TEST

/* s copies the stack, so it returns once on the copy, and later on the stack itself. */
START_TEST(a_stack_that_is_copied_comes_back_with_its_callers)
{
	call('a', 0x10, 'f');
	call('f', 0x20, 's');
	go_by(BRANCH_RETURN, 's', at('f', 0x25), COPIES_STACK);
	expect_depth(1);
	ret('f', 'a', 0x15);
	call('a', 0x30, 'g');
	call('g', 0x40, 'f');
	call('f', 0x20, 's');
	go_by(BRANCH_RETURN, 's', at('f', 0x25), COPIES_STACK);
	expect_depth(1);
	ret('f', 'a', 0x15);
	expect_depth(0);
	call('a', 0x50, 'f');
	call('f', 0x20, 's');
	go_by(BRANCH_RETURN, 's', at('f', 0x25), COPIES_STACK);
	ret('f', 'g', 0x45);
	expect_depth(1);
}
END_TEST

void add_stack_tests(TCase *tests)
{
	tcase_add_test(tests, slices_between_switches_are_in_one_of_their_stack);
	tcase_add_test(tests, a_stack_that_another_thread_resumes_does_not_come_back_here);
	tcase_add_test(tests, one_of_two_equal_stacks_is_marked);
	tcase_add_test(tests, a_stack_that_begins_anew_is_the_same);
	tcase_add_test(tests, a_stack_that_is_copied_comes_back_with_its_callers);
	tcase_add_loop_test(tests, a_setjmp_of_a_function_that_returned_begins_a_stack, 0, 2);
	tcase_add_test(tests, a_function_in_which_stacks_begin_identifies_no_stack);
	tcase_add_test(tests, a_setjmp_that_ended_on_another_stack_hides_no_unseen_caller);
	tcase_add_test(tests, a_stack_that_was_left_is_found_again);
	tcase_add_test(tests,
		       a_stack_that_begins_among_calls_of_one_time_is_apart_from_the_old_one);
	tcase_add_test(tests, gogo_goes_to_the_stack_of_its_goroutine);
	tcase_add_test(tests, a_new_goroutine_is_under_no_scheduler);
	tcase_add_test(tests, a_return_shows_which_of_several_stacks_came_back);
	tcase_add_test(tests, a_return_to_what_a_signal_interrupted_shows_which_stack_came_back);
	tcase_add_test(tests, a_return_to_what_no_signal_interrupted_here_leaves_the_stack);
	tcase_add_test(tests,
		       the_end_of_a_handler_that_switched_stacks_shows_which_stack_came_back);
	tcase_add_test(tests, a_stack_that_is_left_before_a_return_is_taken_for_the_one_left_first);
	tcase_add_test(tests, a_stack_that_could_have_been_resumed_is_marked_when_it_comes_back);
	tcase_add_test(tests, a_stack_that_comes_back_after_a_loss_is_marked);
	tcase_add_test(tests,
		       a_switch_to_the_same_call_enters_a_stack_that_the_trace_has_not_shown);
	tcase_add_test(tests,
		       an_exception_out_of_what_several_stacks_share_enters_the_one_left_first);
	tcase_add_test(tests, a_stack_that_was_left_waits_for_a_hundred_others);
	tcase_add_test(tests, a_stack_that_comes_back_has_its_setjmps);
	for (int calls = 90; calls <= 120; calls += 30)
		tcase_add_loop_test(
			tests, a_stack_that_comes_back_after_too_many_calls_of_one_time_is_marked,
			calls, calls + 1);
	tcase_add_test(tests, a_stack_that_begins_without_a_cause_is_marked_and_counted);
	tcase_add_test(tests, a_function_may_run_on_top_of_a_stack_that_was_left);
	tcase_add_test(tests, stacks_that_are_passed_on_come_back_together);
	tcase_add_test(tests, what_a_stack_is_left_for_by_a_fixed_call_is_part_of_it);
	tcase_add_test(tests, what_a_stack_is_left_for_may_go_to_another_one);
	tcase_add_test(tests, a_stack_waits_for_any_number_that_were_dropped);
	tcase_add_test(tests, a_stack_comes_back_where_no_more_stacks_fit);
	tcase_add_loop_test(tests, a_jump_to_no_call_resumes_only_the_stack_left_last, 0, 2);
	tcase_add_test(tests, a_jump_into_code_without_symbols_resumes_no_stack);
	tcase_add_test(tests, a_stack_that_a_return_leads_to_without_a_caller_is_marked);
	tcase_add_loop_test(tests, an_exception_into_one_of_several_fibers_is_marked, 1, 3);
	tcase_add_loop_test(tests, a_return_shows_whether_a_stack_was_left_for_its_own, 0, 2);
}
