/* SPDX-License-Identifier: MIT */
/* Code without bytes, and code that changed. */
#include <string.h>

#include "symbols/dso/dso_store.h"
#include "tests/unit/src/callstack_precise.h"

/* The flow reaches unknown code; ip 0: by a return. */
static void lose_code(struct location from, enum gap_reason reason)
{
	struct stack_branch branch = {
		.event = { .time = now, .kind = BRANCH_GAP, .gap = (uint8_t)reason }, .from = from
	};

	feed_branch(&branch);
	now += 10;
}

/* m, f and j run; j has no bytes. */
static void enter_code_without_bytes(void)
{
	call('m', 0x10, 'f');
	call('f', 0x20, 'j');
	now -= 10;
	lose_code(at('j', 0), GAP_NO_CODE);
}

static void find_code(char letter, uint64_t offset)
{
	feed(BRANCH_NONE, at(0, 0), at(letter, offset), BRANCH_TRACE_ON);
}

START_TEST(code_without_bytes_returns_to_its_caller)
{
	enter_code_without_bytes();
	find_code('f', 0x25);
	ret('f', 'm', 0x15);
	expect("B 0 f\nB 10 j uncertain\nE 20 j\nE 30 f\nE 30 m\nB 0 m inferred deferred\nS\n");
	ck_assert_uint_eq(machine->doubts.opaque_frames, 1);
	ck_assert_uint_eq(machine->doubts.opaque_ip, at('j', 0).ip);
	ck_assert_int_eq(machine->doubts.first_uncertain, 10);
}
END_TEST

START_TEST(code_without_bytes_is_marked_though_a_mark_follows_its_begin)
{
	call('m', 0x10, 'f');
	call('f', 0x20, 'j');
	now -= 10;
	show_mark();
	lose_code(at('j', 0), GAP_NO_CODE);
	finish();
	ck_assert_ptr_nonnull(strstr(slice_log_take(&slices), "B 10 j uncertain\n"));
}
END_TEST

START_TEST(code_without_bytes_may_have_returned_often)
{
	call('m', 0x10, 'f');
	call('f', 0x20, 'm');
	call('m', 0x30, 'j');
	lose_code(at('j', 0), GAP_NO_CODE);
	find_code('m', 0x15);
	expect_depth(0);
}
END_TEST

/* A callback or a catch: m may run above f, or f have ended. So m's slice from now on is marked. */
START_TEST(code_without_bytes_leads_to_another_instruction_of_an_active_function)
{
	enter_code_without_bytes();
	find_code('m', 0x50);
	expect("B 0 f\nB 10 j uncertain\nE 20 j\nE 20 f\nE 20 m\nB 20 m uncertain\nE 20 m\n"
	       "B 0 m inferred deferred\nS\n");
	ck_assert_uint_eq(machine->doubts.uncertain_levels, 2);
}
END_TEST

/* g returns to an unknown address, and h to j. */
START_TEST(code_without_bytes_calls_what_it_leads_to)
{
	enter_code_without_bytes();
	find_code('g', 0);
	lose_code(at(0, 0), GAP_NO_CODE);
	find_code('h', 0);
	ret('h', 'j', 0x30);
	lose_code(at('j', 0), GAP_NO_CODE);
	find_code('f', 0x25);
	ret('f', 'm', 0x15);
	expect("B 0 f\nB 10 j uncertain\nB 20 g uncertain\nE 30 g\nB 40 h uncertain\nE 50 h\n"
	       "E 70 j\nE 80 f\nE 80 m\nB 0 m inferred deferred\nS\n");
	ck_assert_uint_eq(machine->doubts.uncertain_levels, 3);
	ck_assert_uint_eq(machine->doubts.opaque_frames, 1);
}
END_TEST

/* g returns to f, which called j; the next time it returns to j. */
START_TEST(code_without_bytes_jumps_to_what_returned_to_its_caller)
{
	enter_code_without_bytes();
	find_code('g', 0);
	ret('g', 'f', 0x25);
	call('f', 0x20, 'j');
	now -= 10;
	lose_code(at('j', 0), GAP_NO_CODE);
	find_code('g', 0);
	ret('g', 'j', 0x30);
	lose_code(at('j', 0x30), GAP_NO_CODE);
	find_code('g', 0); /* called the last time */
	ret('g', 'j', 0x30);
	lose_code(at('j', 0x30), GAP_NO_CODE);
	find_code('f', 0x25);
	ret('f', 'm', 0x15);
	expect("B 0 f\nB 10 j uncertain\nB 20 g uncertain\nE 30 g\nE 30 j\nB 40 j uncertain\n"
	       "E 50 j\nB 50 g uncertain\nE 60 g\nB 70 j uncertain\nB 80 g uncertain\nE 90 g\n"
	       "E 110 j\nE 120 f\nE 120 m\nB 0 m inferred deferred\nS\n");
	ck_assert_uint_eq(machine->doubts.uncertain_levels, 6);
}
END_TEST

/* The decoder finds by the bits of a packet that g returned to f. */
START_TEST(code_without_bytes_jumps_to_what_was_found_to_return_to_its_caller)
{
	enter_code_without_bytes();
	find_code('g', 0);
	lose_code(at(0, 0), GAP_NO_CODE);
	feed(BRANCH_NONE, at(0, 0), at('f', 0x25), BRANCH_TRACE_ON | BRANCH_INDIRECT);
	call('f', 0x20, 'j');
	now -= 10;
	lose_code(at('j', 0), GAP_NO_CODE);
	find_code('g', 0);
	lose_code(at(0, 0), GAP_NO_CODE);
	find_code('g', 0);
	lose_code(at(0, 0), GAP_NO_CODE);
	find_code('f', 0x25);
	ret('f', 'm', 0x15);
	expect("B 0 f\nB 10 j uncertain\nB 20 g uncertain\nE 30 g\nE 40 j\nB 50 j uncertain\n"
	       "E 60 j\nB 60 g uncertain\nE 70 g\nB 80 g uncertain\nE 90 g\nE 110 f\nE 110 m\n"
	       "B 0 m inferred deferred\nS\n");
}
END_TEST

/* The library's code has no symbols, but its caller's stub has its name. */
START_TEST(code_without_bytes_has_the_name_of_its_stub)
{
	call('m', 0x10, 'F');
	if (_i) {
		feed(BRANCH_JUMP, at('F', 4), nameless(0x100), BRANCH_INDIRECT);
		now -= 10;
	}
	lose_code(_i ? nameless(0x100) : at('F', 4), GAP_NO_CODE);
	find_code('m', 0x15);
	expect("B 10 F uncertain\nE 20 F\nE 20 m\nB 0 m inferred deferred\nS\n");
}
END_TEST

START_TEST(a_return_to_code_without_bytes_ends_inlined_calls)
{
	struct inlined_call call_of_i = { .symbol = function('i') };
	const struct location in_f = at('f', 0x20);

	function('i')->inlined = &call_of_i;
	call('m', 0x10, 'f');
	feed_held();
	callstack_set_inlined(stack, &in_f, &call_of_i);
	lose_code(at(0, 0), GAP_NO_CODE);
	find_code('h', 0);
	expect("B 0 f\nB 0 i\nE 10 i\nE 10 f\nB 20 h uncertain\nE 20 h\nE 20 m\n"
	       "B 0 m inferred deferred\nS\n");
}
END_TEST

static struct location in_kernel(char letter)
{
	return (struct location){ UINT64_C(0xffffffff82000000), function(letter), 0 };
}

START_TEST(code_without_bytes_enters_the_kernel)
{
	enter_code_without_bytes();
	feed(BRANCH_NONE, at(0, 0), in_kernel('k'), BRANCH_TRACE_ON);
	feed(BRANCH_IRET, in_kernel('k'), at('j', 0x30), 0);
	lose_code(at('j', 0x30), GAP_NO_CODE);
	find_code('f', 0x25);
	ret('f', 'm', 0x15);
	expect("B 0 f\nB 10 j uncertain\nB 20 k uncertain\nE 30 k\nE 50 j\nE 60 f\nE 60 m\n"
	       "B 0 m inferred deferred\nS\n");
}
END_TEST

START_TEST(a_kernel_without_bytes_calls_its_known_code)
{
	struct location kernel = nameless(UINT64_C(0xffffffff81000000));

	call('m', 0x10, 'f');
	feed(BRANCH_INTERRUPT, at('f', 0x20), kernel, BRANCH_ASYNC);
	lose_code(kernel, GAP_NO_CODE);
	feed(BRANCH_NONE, at(0, 0), in_kernel('k'), BRANCH_TRACE_ON);
	feed(BRANCH_IRET, in_kernel('k'), at('f', 0x20), 0);
	call('f', 0x30, 'g');
	expect("B 0 f\nB 10 [file] uncertain\nB 30 k uncertain\nE 40 k\nE 40 [file]\nB 50 g\n"
	       "E 50 g\nE 50 f\nE 50 m\nB 0 m inferred deferred\nS\n");
}
END_TEST

/* The kernel returns from a system call to code that is not known. */
START_TEST(code_without_bytes_ends_a_pause)
{
	call('m', 0x10, 'f');
	feed(BRANCH_SYSCALL, at('f', 0x20), at(0, 0), BRANCH_TRACE_OFF);
	lose_code(at('f', 0x22), GAP_NO_CODE);
	find_code('m', 0x15);
	finish();
	/* Whether f is marked depends on whether its begin was emitted. */
	ck_assert_ptr_nonnull(strstr(slice_log_take(&slices), "E 20 [syscall]\nE 30 f\n"));
}
END_TEST

START_TEST(code_without_bytes_leads_to_code_without_a_name)
{
	enter_code_without_bytes();
	feed(BRANCH_NONE, at(0, 0), nameless(0x100), BRANCH_TRACE_ON);
	feed(BRANCH_RETURN, nameless(0x120), at('f', 0x25), 0);
	expect("B 0 f\nB 10 j uncertain\nE 30 j\nE 30 f\nE 30 m\nB 0 m inferred deferred\nS\n");
}
END_TEST

START_TEST(code_without_bytes_leads_into_an_active_function)
{
	enter_code_without_bytes();
	find_code('f', 0x60);
	ret('f', 'm', 0x15);
	expect("B 0 f\nB 10 j uncertain\nE 20 j\nE 30 f\nE 30 m\nB 0 m inferred deferred\nS\n");
}
END_TEST

/* An interpreter that calls itself jumps to what its compiler made, and back. */
START_TEST(code_without_bytes_jumps_back_to_the_function_that_jumped_to_it)
{
	call('m', 0x10, 'f');
	call('f', 0x20, 'm');
	feed(BRANCH_JUMP, at('m', 0x40), nameless(0x100), BRANCH_INDIRECT);
	lose_code(nameless(0x100), GAP_NO_CODE);
	find_code('m', 0x60);
	ret('m', 'f', 0x25);
	expect_depth(1);
}
END_TEST

START_TEST(only_the_function_that_jumped_to_code_without_bytes_takes_its_frame)
{
	call('m', 0x10, 'f');
	call('f', 0x20, 'm');
	feed(BRANCH_JUMP, at('m', 0x40), nameless(0x100), BRANCH_INDIRECT);
	lose_code(nameless(0x100), GAP_NO_CODE);
	find_code('f', 0x60);
	expect_depth(1);
	/* This time f calls such code. */
	call('f', 0x20, 'j');
	lose_code(at('j', 0), GAP_NO_CODE);
	find_code('m', 0x60);
	expect_depth(0);
}
END_TEST

/* Else a loop in m would look like a recursion. */
START_TEST(code_without_bytes_leads_to_another_call_of_an_active_function)
{
	enter_code_without_bytes();
	find_code('f', 0);
	ret('f', 'm', 0x15);
	expect("B 0 f\nB 10 j uncertain\nE 20 j\nE 20 f\nB 20 f uncertain\nE 30 f\nE 30 m\n"
	       "B 0 m inferred deferred\nS\n");
}
END_TEST

/* CPython's trampolines call the interpreter (0), trampolines on the stack jump (1). */
START_TEST(code_without_bytes_that_leads_straight_to_an_active_function_runs_it_again)
{
	enter_code_without_bytes();
	feed(BRANCH_NONE, at(0, 0), at('f', 0),
	     BRANCH_TRACE_ON | BRANCH_DIRECT | (unsigned)_i * BRANCH_INDIRECT);
	expect_depth(_i ? 3 : 2); /* calls that were seen, and jumps */
	feed_held();
	ck_assert_uint_eq(machine->doubts.uncertain_levels, _i ? 1 : 2);
	if (_i)
		ret('f', 'f', 0x25);
	else
		lose_code(at(0, 0), GAP_NO_CODE);
	expect_depth(_i ? 1 : 2);
}
END_TEST

START_TEST(a_kernel_without_bytes_goes_back_to_the_program)
{
	struct location kernel = nameless(UINT64_C(0xffffffff81000000));

	call('m', 0x10, 'f');
	feed(BRANCH_INTERRUPT, at('f', 0x20), kernel, BRANCH_ASYNC);
	lose_code(kernel, GAP_NO_CODE);
	find_code('h', 0); /* a signal handler */
	expect("B 0 f\nB 10 [file] uncertain\nE 30 [file]\nB 30 h\nE 30 h\nE 30 f\nE 30 m\n"
	       "B 0 m inferred deferred\nS\n");
}
END_TEST

START_TEST(code_that_does_not_fit_the_trace_ends_no_other_slice)
{
	call('m', 0x10, 'f');
	call('f', 0x20, 'g');
	lose_code(at('g', 0), GAP_MISMATCH);
	find_code('f', 0x25);
	ret('f', 'm', 0x15);
	expect("B 0 f\nB 10 g\nB 20 [lost: Trace doesn't match instruction]\n"
	       "E 30 [lost: Trace doesn't match instruction]\nE 30 g\nE 40 f\nE 40 m\n"
	       "B 0 m inferred deferred\nS\n");
}
END_TEST

START_TEST(known_code_ends_the_slice_of_code_that_does_not_fit_the_trace)
{
	call('m', 0x10, 'f');
	lose_code(at('f', 0), GAP_MISMATCH);
	find_code('h', 0);
	expect("B 0 f\nB 10 [lost: Trace doesn't match instruction]\n"
	       "E 20 [lost: Trace doesn't match instruction]\nB 20 h uncertain\nE 20 h\nE 20 f\n"
	       "E 20 m\nB 0 m inferred deferred\nS\n");
}
END_TEST

void add_opaque_tests(TCase *tests)
{
	tcase_add_test(tests, code_without_bytes_is_marked_though_a_mark_follows_its_begin);
	tcase_add_loop_test(tests, code_without_bytes_has_the_name_of_its_stub, 0, 2);
	tcase_add_test(tests, a_return_to_code_without_bytes_ends_inlined_calls);
	tcase_add_test(tests, code_without_bytes_enters_the_kernel);
	tcase_add_test(tests, a_kernel_without_bytes_calls_its_known_code);
	tcase_add_test(tests, code_without_bytes_ends_a_pause);
	tcase_add_test(tests, code_without_bytes_leads_to_code_without_a_name);
	tcase_add_test(tests, only_the_function_that_jumped_to_code_without_bytes_takes_its_frame);
	tcase_add_test(tests, known_code_ends_the_slice_of_code_that_does_not_fit_the_trace);
	tcase_add_test(tests, code_without_bytes_returns_to_its_caller);
	tcase_add_test(tests, code_without_bytes_may_have_returned_often);
	tcase_add_test(tests,
		       code_without_bytes_leads_to_another_instruction_of_an_active_function);
	tcase_add_test(tests, code_without_bytes_calls_what_it_leads_to);
	tcase_add_test(tests, code_without_bytes_jumps_to_what_returned_to_its_caller);
	tcase_add_test(tests, code_without_bytes_jumps_to_what_was_found_to_return_to_its_caller);
	tcase_add_test(tests, code_without_bytes_leads_into_an_active_function);
	tcase_add_test(tests, code_without_bytes_jumps_back_to_the_function_that_jumped_to_it);
	tcase_add_test(tests, code_without_bytes_leads_to_another_call_of_an_active_function);
	tcase_add_loop_test(
		tests, code_without_bytes_that_leads_straight_to_an_active_function_runs_it_again,
		0, 2);
	tcase_add_test(tests, a_kernel_without_bytes_goes_back_to_the_program);
	tcase_add_test(tests, code_that_does_not_fit_the_trace_ends_no_other_slice);
}
