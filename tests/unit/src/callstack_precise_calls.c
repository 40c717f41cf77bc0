/* SPDX-License-Identifier: MIT */
/* Calls, returns and jumps within a stack, stubs and thunks. */
#include "tests/unit/src/callstack_precise.h"

START_TEST(a_return_pops_the_frame_that_was_called_from_there)
{
	call('m', 0x10, 'f');
	call('f', 0x10, 'g');
	ret('g', 'f', 0x15);
	ret('f', 'm', 0x15);
	expect("B 0 f\nB 10 g\nE 20 g\nE 30 f\nE 30 m\nB 0 m inferred deferred\nS\n");
}
END_TEST

START_TEST(a_return_deeper_pops_all_above)
{
	call('m', 0x10, 'f');
	call('f', 0x10, 'g');
	call('g', 0x10, 'h');
	expect_depth(3);
	ret('h', 'm', 0x15);
	expect_depth(0);
}
END_TEST

/* A search indexes deep frames; later returns and calls replace some of these. */
START_TEST(a_deep_frame_is_found_after_indexed_ones_were_replaced)
{
	call('m', 0x10, 'f');
	for (unsigned i = 0; i < 100; i++)
		call('f', 0x100 + i * 5, 'f');
	jump('f', 'g', 0x80); /* to no call's return: the search compares all frames */
	ret('g', 'f', 0x100 + 100 * 5);
	for (unsigned i = 99; i > 10; i--)
		ret('f', 'f', 0x100 + i * 5);
	expect_depth(11);
	for (unsigned i = 10; i < 80; i++)
		call('f', 0x800 + i * 5, 'f');
	expect_depth(81);
	ret('f', 'f', 0x800 + 21 * 5);
	expect_depth(21);
}
END_TEST

/* `call $+5; pop`: old compilers' position-independent code reads its address this way. */
START_TEST(a_call_that_reads_the_instruction_pointer_opens_no_slice)
{
	struct symbol *file = function('n');
	struct location from = { 0x9000, file, 0 }, to = { 0x9005, file, 0 };

	/* Code without symbols: the offset in the file's symbol is always 0. */
	file->kind = SYMBOL_FILE;
	call('m', 0x10, 'f');
	feed(BRANCH_CALL, from, to, 0);
	feed(BRANCH_CALL, from, to, 0);
	expect_depth(1);
	/* With symbols, a function after the call is a function. */
	feed(BRANCH_CALL, at('f', 0xffb), at('g', 0), 0);
	expect_depth(2);
}
END_TEST

START_TEST(addresses_distinguish_recursive_calls)
{
	call('m', 0x10, 'f');
	call('f', 0x10, 'f');
	call('f', 0x20, 'f');
	expect_depth(3);
	ret('f', 'f', 0x25);
	expect_depth(2);
	ret('f', 'f', 0x15);
	expect_depth(1);
}
END_TEST

/* GCC moves cold code to FUNCTION.cold, which jumps back into FUNCTION. */
START_TEST(a_jump_to_a_part_of_the_function_is_no_tail_call)
{
	function('c')->function = function('f');
	call('m', 0x10, 'f');
	jump('f', 'c', 0);
	call('c', 0x10, 'g');
	ret('g', 'c', 0x15);
	jump('c', 'f', 0x50);
	ret('f', 'm', 0x15);
	expect("B 0 f\nB 20 g\nE 30 g\nE 50 f\nE 50 m\nB 0 m inferred deferred\nS\n");
}
END_TEST

START_TEST(a_stub_and_its_target_are_one_call)
{
	call('m', 0x10, 'F');
	jump('F', 'f', 0);
	ret('f', 'm', 0x15);
	expect("B 10 f\nE 20 f\nE 20 m\nB 0 m inferred deferred\nS\n");
}
END_TEST

/*
 * As in i386's glibc: "F" is unbound and jumps to ".plt" ("P"), which jumps to the resolver, which
 * ends with `ret $12`.
 */
static void call_unbound_stub(void)
{
	call('m', 0x10, 'F');
	jump('F', 'P', 0);
	jump('P', 'r', 0);
	call('r', 0x10, 'x');
	ret('x', 'r', 0x15);
}

START_TEST(a_resolver_that_returns_to_the_function_jumps_to_it)
{
	call('l', 0x10, 'm');
	call_unbound_stub();
	ret('r', 'f', 0);
	expect_depth(2);
	ret('f', 'm', 0x15);
	expect_depth(1);
	ret('m', 'l', 0x15);
	expect("B 0 m\nB 30 r\nB 40 x\nE 50 x\nE 60 r\nB 60 f\nE 70 f\nE 80 m\nE 80 l\n"
	       "B 0 l inferred deferred\nS\n");
}
END_TEST

/* No return matches the call of this stub, and the function still has the stub's caller. */
START_TEST(a_resolver_that_returns_to_a_function_that_throws_jumps_to_it)
{
	function('F')->name = function('F')->linkage = name_intern_text(&names, "_Unwind_Resume");
	call('l', 0x10, 'm');
	call_unbound_stub();
	ret('r', 'f', 0);
	expect_depth(2);
}
END_TEST

/* The stub's page is touched for the first time, so it is read from the file. */
START_TEST(a_page_fault_in_the_stubs_does_not_hide_the_resolver)
{
	call('l', 0x10, 'm');
	call('m', 0x10, 'F');
	jump('F', 'P', 0);
	feed(BRANCH_NONE, at('P', 6), at(0, 0), BRANCH_TRACE_OFF | BRANCH_ASYNC);
	feed(BRANCH_NONE, at(0, 0), at('P', 6), BRANCH_TRACE_ON);
	jump('P', 'r', 0);
	ret('r', 'f', 0);
	expect_depth(2);
	ret('f', 'm', 0x15);
	expect_depth(1);
	ret('m', 'l', 0x15);
	expect_depth(0);
}
END_TEST

/* The resolved function is no resolver: its own return to an entry begins another stack. */
START_TEST(a_resolved_function_may_begin_a_coroutine_by_a_return)
{
	call('l', 0x10, 'm');
	call_unbound_stub();
	ret('r', 'f', 0);
	ret('f', 'c', 0);
	expect_depth(0);
	call('c', 0x10, 'f');
	ret('f', 'm', 0x15);
	expect_depth(1);
	ret('m', 'l', 0x15);
	expect_depth(0);
}
END_TEST

/* The same with a nameless resolver, which jumps to the function. */
START_TEST(a_function_that_a_nameless_resolver_jumps_to_may_begin_a_coroutine_by_a_return)
{
	const struct location resolver = { .ip = 0x900000 };

	call('l', 0x10, 'm');
	call('m', 0x10, 'F');
	jump('F', 'P', 0);
	feed(BRANCH_JUMP, at('P', 0), resolver, 0);
	feed(BRANCH_JUMP, resolver, at('f', 0), 0);
	ret('f', 'c', 0);
	expect_depth(0);
	call('c', 0x10, 'f');
	ret('f', 'm', 0x15);
	expect_depth(1);
	ret('m', 'l', 0x15);
	expect_depth(0);
}
END_TEST

/* A bound stub leaves no resolver's state, nor does a stub of code with retpolines. */
START_TEST(a_function_after_a_bound_stub_may_begin_a_coroutine_by_a_return)
{
	call('l', 0x10, 'm');
	call('m', 0x10, 'F');
	jump('F', 'f', 0);
	ret('f', 'c', 0);
	call('c', 0x10, 'F');
	jump('F', 'R', 0);
	call('R', 0x10, 'R');
	ret('R', 'f', 0);
	ret('f', 'm', 0x15);
	expect_depth(1);
	call('m', 0x20, 'F');
	jump('F', 'R', 0);
	call('R', 0x10, 'R');
	ret('R', 'f', 0);
	ret('f', 'd', 0);
	expect_depth(0);
}
END_TEST

START_TEST(a_stub_of_code_without_a_name_is_shown_itself)
{
	call('m', 0x10, 'F');
	feed(BRANCH_JUMP, at('F', 0x4), nameless(0x100), BRANCH_INDIRECT);
	feed(BRANCH_RETURN, nameless(0x120), at('m', 0x15), 0);
	expect("B 10 F\nE 20 F\nE 20 m\nB 0 m inferred deferred\nS\n");
}
END_TEST

/* The slices are those of an uninterrupted call, plus the pause. */
START_TEST(a_stub_that_is_interrupted_is_no_call_of_its_own)
{
	call('m', 0x10, 'F');
	feed(BRANCH_NONE, at('F', 0x4), at(0, 0), BRANCH_TRACE_OFF | BRANCH_ASYNC);
	feed(BRANCH_NONE, at(0, 0), at('F', 0x4), BRANCH_TRACE_ON);
	jump('F', 'f', 0);
	ret('f', 'm', 0x15);
	expect("B 10 [untraced]\nE 20 [untraced]\nB 30 f\nE 40 f\nE 40 m\n"
	       "B 0 m inferred deferred\nS\n");
}
END_TEST

static uint64_t begin_of_f, insns_of_f;

static void count_f(struct slice_log *log, const struct slice_event *event,
		    const struct slice_detail *detail)
{
	(void)log;
	if (event->symbol != function('f'))
		return;
	if (event->kind == SLICE_BEGIN)
		begin_of_f = detail->insns;
	else
		insns_of_f = detail->insns - begin_of_f;
}

/* Two instructions of the stub and seven of f count; the interruption's 100 do not. */
START_TEST(what_interrupts_a_stub_is_no_part_of_its_target)
{
	slices.sink.details = true;
	slices.before = count_f;
	call('m', 0x10, 'F');
	insns = 1;
	if (_i) {
		feed(BRANCH_INTERRUPT, at('F', 0x4), at('k', 0), BRANCH_ASYNC);
		insns = 100;
		feed(BRANCH_IRET, at('k', 0x40), at('F', 0x4), 0);
	} else {
		feed(BRANCH_NONE, at('F', 0x4), at(0, 0), BRANCH_TRACE_OFF | BRANCH_ASYNC);
		feed(BRANCH_NONE, at(0, 0), at('h', 0), BRANCH_TRACE_ON); /* a signal handler */
		insns = 100;
		feed(BRANCH_SYSCALL, at('h', 0x10), at(0, 0), BRANCH_TRACE_OFF);
		feed(BRANCH_NONE, at(0, 0), at('F', 0x4), BRANCH_TRACE_ON);
	}
	insns = 1;
	jump('F', 'f', 0);
	insns = 7;
	ret('f', 'm', 0x15);
	finish();
	ck_assert_uint_eq(insns_of_f, 9);
	slice_log_take(&slices);
}
END_TEST

/* It leads to its target's entry, though a call may come first. */
START_TEST(a_stub_does_not_return)
{
	feed(BRANCH_CALL, nameless(0x100), at('f', 0), 0);
	call('f', 0x10, 'F');
	feed(BRANCH_JUMP, at('F', 0x4), nameless(0x105), BRANCH_INDIRECT);
	expect_depth(2);
	feed(BRANCH_JUMP, nameless(0x120), nameless(0x105), BRANCH_INDIRECT);
	expect_depth(0);
}
END_TEST

/* In code without names, `r` runs twice, the inner time by a tail call of f, and loops. */
START_TEST(a_jump_by_its_own_address_in_code_without_names_leaves_nothing)
{
	call('m', 0x10, 'f');
	feed(BRANCH_CALL, nameless(0x100), at('g', 0), 0);
	feed(BRANCH_JUMP, at('g', 0x10), nameless(0x80), 0);
	feed(BRANCH_JUMP, nameless(0x120), nameless(0x105), 0);
	expect_depth(2);
	feed(BRANCH_COND, nameless(0x120), nameless(0x105), 0);
	expect_depth(2);
	feed(BRANCH_JUMP, nameless(0x120), nameless(0x105), BRANCH_INDIRECT);
	expect_depth(1);
}
END_TEST

START_TEST(a_call_of_the_next_instruction_is_none)
{
	call('m', 0x10, 'f');
	feed(BRANCH_CALL, at('f', 0x10), at('f', 0x15), 0);
	expect_depth(1);
}
END_TEST

/* m calls f, which calls g, at an offset. */
static void call_into(uint64_t entry)
{
	enter_by(BRANCH_CALL, 'm', 'f', CALL_ENTERS);
	go_by(BRANCH_CALL, 'f', at('g', entry), CALL_ENTERS);
}

START_TEST(a_jump_out_of_code_that_dropped_nothing_takes_its_frame)
{
	call_into(8);
	go_with(BRANCH_JUMP, 'g', at('m', 0x60), JUMP_STAYS, 8);
	expect_depth(2);
}
END_TEST

START_TEST(a_jump_out_of_code_that_may_have_dropped_its_frame_continues_a_caller)
{
	call_into(0);
	go_with(BRANCH_JUMP, 'g', at('m', 0x60), JUMP_STAYS, 8);
	expect_depth(0);
	call_into(0);
	/* h was not entered at its begin, so its frame was built by g. */
	jump('g', 'h', 0x30);
	go_with(BRANCH_JUMP, 'h', at('m', 0x60), JUMP_STAYS, 8);
	expect_depth(0);
	/* c is a part of g, whose code was not looked at. */
	function('c')->function = function('g');
	call_into(0);
	jump('g', 'c', 0);
	jump('c', 'g', 0x30);
	go_with(BRANCH_JUMP, 'g', at('m', 0x60), JUMP_STAYS, 0);
	expect_depth(0);
}
END_TEST

/* A landing pad 7 bytes after the recursive call, as in small functions. */
START_TEST(a_call_returns_to_the_byte_after_it)
{
	call('m', 0x10, 'f');
	call('f', 0x30, 'f');
	call('f', 0x30, 'f');
	call('f', 0x20, 'u');
	expect_depth(4);
	jump('u', 'f', 0x3c);
	expect_depth(3);
	ret('f', 'f', 0x35);
	expect_depth(2);
}
END_TEST

/* In text, a call's length is unknown. */
START_TEST(a_call_of_unknown_length_returns_to_a_byte_near_it)
{
	call_length = 0;
	call('m', 0x10, 'f');
	call('f', 0x10, 'f');
	call('f', 0x20, 'f');
	ret('f', 'f', 0x12);
	expect_depth(1);
	ret('f', 'm', 0x1f);
	expect_depth(0);
}
END_TEST

/* call thunk; in it: call over; mov %rax,(%rsp); ret to the target */
START_TEST(a_retpoline_is_a_jump)
{
	call('m', 0x10, 't');
	feed(BRANCH_CALL, at('t', 0), at('t', 0xc), 0);
	expect_depth(2);
	feed(BRANCH_RETURN, at('t', 0x10), at('g', 0), 0);
	expect_depth(1);
	ret('g', 'm', 0x15);
	expect_depth(0);
}
END_TEST

/* "R" is a retpoline or return thunk: no slice for it. */
/* The thunk returns to the caller, so the call ends there. */
START_TEST(a_function_that_leaves_by_a_return_thunk_ends_with_it)
{
	call('m', 0x10, 'f');
	call('f', 0x10, 'R');
	feed(BRANCH_CALL, at('R', 0), at('R', 0xc), 0);
	feed(BRANCH_RETURN, at('R', 0x10), at('g', 0), 0);
	jump('g', 'R', 0);
	ret('R', 'f', 0x15);
	expect("B 0 f\nB 30 g\nE 50 g\nE 50 f\nE 50 m\nB 0 m inferred deferred\nS\n");
}
END_TEST

/* No instruction of the target ran before the interrupt, which is its caller's. */
START_TEST(an_interrupt_in_a_retpoline_is_before_its_target)
{
	call('m', 0x10, 'f');
	call('f', 0x10, 'R');
	feed(BRANCH_CALL, at('R', 0), at('R', 0xc), 0);
	feed(BRANCH_INTERRUPT, at('R', 0xc), at('k', 0), 0);
	feed(BRANCH_IRET, at('k', 0x10), at('R', 0xc), 0);
	feed(BRANCH_RETURN, at('R', 0x10), at('g', 0), 0);
	ret('g', 'f', 0x15);
	expect("B 0 f\nB 30 k\nE 40 k\nB 50 g\nE 60 g\nE 60 f\nE 60 m\nB 0 m inferred deferred\nS\n");
}
END_TEST

START_TEST(a_caller_that_was_never_seen_is_inferred_below)
{
	call('f', 0x10, 'g');
	ret('g', 'f', 0x15);
	ret('f', 'm', 0x15);
	expect("B 0 g\nE 10 g\nE 20 f\nE 20 m\nB 0 m inferred deferred\nB 0 f inferred deferred\n"
	       "S\n");
}
END_TEST

void add_call_tests(TCase *tests)
{
	tcase_add_test(tests, a_return_pops_the_frame_that_was_called_from_there);
	tcase_add_test(tests, a_call_that_reads_the_instruction_pointer_opens_no_slice);
	tcase_add_test(tests, a_return_deeper_pops_all_above);
	tcase_add_test(tests, a_deep_frame_is_found_after_indexed_ones_were_replaced);
	tcase_add_test(tests, addresses_distinguish_recursive_calls);
	tcase_add_test(tests, a_jump_to_a_part_of_the_function_is_no_tail_call);
	tcase_add_test(tests, a_stub_and_its_target_are_one_call);
	tcase_add_test(tests, a_resolver_that_returns_to_the_function_jumps_to_it);
	tcase_add_test(tests, a_resolver_that_returns_to_a_function_that_throws_jumps_to_it);
	tcase_add_test(
		tests,
		a_function_that_a_nameless_resolver_jumps_to_may_begin_a_coroutine_by_a_return);
	tcase_add_test(tests, a_page_fault_in_the_stubs_does_not_hide_the_resolver);
	tcase_add_test(tests, a_resolved_function_may_begin_a_coroutine_by_a_return);
	tcase_add_test(tests, a_function_after_a_bound_stub_may_begin_a_coroutine_by_a_return);
	tcase_add_test(tests, a_stub_of_code_without_a_name_is_shown_itself);
	tcase_add_test(tests, a_stub_that_is_interrupted_is_no_call_of_its_own);
	tcase_add_loop_test(tests, what_interrupts_a_stub_is_no_part_of_its_target, 0, 2);
	tcase_add_test(tests, a_stub_does_not_return);
	tcase_add_test(tests, a_jump_by_its_own_address_in_code_without_names_leaves_nothing);
	tcase_add_test(tests, a_call_of_the_next_instruction_is_none);
	tcase_add_test(tests, a_call_returns_to_the_byte_after_it);
	tcase_add_test(tests, a_call_of_unknown_length_returns_to_a_byte_near_it);
	tcase_add_test(tests, a_retpoline_is_a_jump);
	tcase_add_test(tests, an_interrupt_in_a_retpoline_is_before_its_target);
	tcase_add_test(tests, a_function_that_leaves_by_a_return_thunk_ends_with_it);
	tcase_add_test(tests, a_caller_that_was_never_seen_is_inferred_below);
	tcase_add_test(tests, a_jump_out_of_code_that_dropped_nothing_takes_its_frame);
	tcase_add_test(tests,
		       a_jump_out_of_code_that_may_have_dropped_its_frame_continues_a_caller);
}
