/* SPDX-License-Identifier: MIT */
/* Exceptions, and longjmp(). */
#include "tests/unit/src/callstack_precise.h"

START_TEST(a_jump_into_a_function_deeper_down_is_unwinding)
{
	call('m', 0x10, 'f');
	call('f', 0x10, 'g');
	call('g', 0x10, 'u');
	jump('u', 'f', 0x60);
	expect_depth(1);
	ret('f', 'm', 0x15);
	expect_depth(0);
}
END_TEST

/* longjmp() enters the frame that called setjmp(), among several frames of one function. */
START_TEST(longjmp_goes_back_to_the_frame_of_its_setjmp)
{
	function('s')->name = function('s')->linkage = name_intern_text(&names, "_setjmp");
	call('m', 0x10, 'f');
	call('f', 0x20, 's');
	ret('s', 'f', 0x25);
	call('f', 0x30, 'f');
	call('f', 0x30, 'f');
	call('f', 0x40, 'l');
	expect_depth(4);
	jump('l', 'f', 0x25);
	/* seeds.md: longjmp is not known */
	expect_depth(1);
}
END_TEST

/* musl's sigsetjmp() has no return address then: longjmp() finds f's stack. By names, without code.
 */
START_TEST(longjmp_goes_back_to_the_caller_of_sigsetjmp_that_calls_setjmp)
{
	function('w')->name = function('w')->linkage = name_intern_text(&names, "sigsetjmp");
	function('s')->name = function('s')->linkage = name_intern_text(&names, "setjmp");
	call('m', 0x10, 'f');
	call('f', 0x20, 'w');
	call('w', 0x10, 's');
	ret('s', 'w', 0x15);
	ret('w', 'f', 0x25);
	call('f', 0x30, 'f');
	call('f', 0x30, 'g');
	jump('g', 'w', 0x15);
	expect_depth(2);
	ret('w', 'f', 0x25);
	expect_depth(1);
	expect("B 0 f\nB 10 sigsetjmp\nB 20 setjmp\nE 30 setjmp\nE 40 sigsetjmp\nB 50 f\nB 60 g\n"
	       "E 70 g\nE 70 f\nE 80 f\nE 80 m\nB 0 m inferred deferred\nS\n");
}
END_TEST

START_TEST(an_unwinder_goes_on_below_the_frame_that_resumed_it)
{
	function('u')->name = function('u')->linkage = name_intern_text(&names, "_Unwind_Resume");
	call('m', 0x10, 'f');
	call('f', 0x30, 'f');
	call('f', 0x30, 'f');
	call('f', 0x60, 'u'); /* the innermost f has cleaned up */
	expect_depth(4);
	jump('u', 'f', 0x50); /* the landing pad of the frame below */
	expect_depth(2);
}
END_TEST

/* The exception enters an f whose call was not seen: the root, or a caller of it. */
START_TEST(an_exception_to_a_level_that_was_not_seen_marks_it)
{
	function('u')->name = function('u')->linkage = name_intern_text(&names, "_Unwind_Resume");
	call('f', 0x10, 'g');
	call('g', 0x10, 'u');
	jump('u', 'f', 0x60);
	expect_depth(0);
	ck_assert_uint_eq(machine->doubts.uncertain_levels, 1);
	ret('f', 'm', 0x15);
	ck_assert_uint_eq(machine->doubts.uncertain_levels, 1);
	expect("B 0 g\nB 10 _Unwind_Resume\nE 20 _Unwind_Resume\nE 20 g\nE 30 f\nE 30 m\n"
	       "B 0 m inferred deferred\nB 0 f inferred uncertain deferred\nS\n");
}
END_TEST

/* The callers of _Unwind_RaiseException() in C++ never return; in D and Rust they can. */
START_TEST(an_exception_of_any_language_to_a_level_that_was_not_seen_marks_it)
{
	function('u')->name = function('u')->linkage =
		name_intern_text(&names, "_Unwind_RaiseException");
	call('f', 0x10, 'g');
	call('g', 0x10, 'u');
	jump('u', 'm', 0x60);
	expect_depth(0);
	ck_assert_uint_eq(machine->doubts.uncertain_levels, 1);
}
END_TEST

/* There may have been other frames between the unwinder and its target. */
START_TEST(an_exception_out_of_the_first_function_marks_what_it_enters)
{
	function('u')->name = function('u')->linkage = name_intern_text(&names, "_Unwind_Resume");
	call('u', 0x10, 'g');
	ret('g', 'u', 0x15);
	ret('u', 'm', 0x60);
	ck_assert_uint_eq(machine->doubts.uncertain_levels, 1);
	expect("B 0 g\nE 10 g\nE 20 _Unwind_Resume\nE 20 m\n"
	       "B 0 m inferred uncertain deferred\nB 0 _Unwind_Resume inferred deferred\nS\n");
}
END_TEST

START_TEST(a_throw_to_an_entry_continues_the_caller_that_stored_its_stack_pointer)
{
	enter_by(BRANCH_CALL, 'm', 'f', CALL_ENTERS);
	enter_by(BRANCH_CALL, 'f', 'g', CALL_CATCHES);
	enter_by(BRANCH_CALL, 'g', 'x', CALL_ENTERS);
	enter_by(BRANCH_JUMP, 'x', 'h', THROWS_TO_ENTRY);
	ret('h', 'm', 0x15);
	ck_assert_uint_eq(machine->doubts.uncertain_levels, 0);
	expect("B 0 f\nB 10 g\nB 20 x\nE 30 x\nE 30 g\nE 30 f\nB 30 h\nE 40 h\nE 40 m\n"
	       "B 0 m inferred deferred\nS\n");
}
END_TEST

/* The handler may continue in any caller. */
START_TEST(a_throw_to_an_entry_that_no_caller_waits_for_marks_it)
{
	enter_by(BRANCH_CALL, 'm', 'f', CALL_ENTERS);
	enter_by(BRANCH_CALL, 'f', 'g', CALL_ENTERS);
	enter_by(BRANCH_JUMP, 'g', 'h', THROWS_TO_ENTRY);
	ck_assert_uint_eq(machine->doubts.uncertain_levels, 1);
	expect("B 0 f\nB 10 g\nE 20 g\nB 20 h uncertain\nE 20 h\nE 20 f\nE 20 m\n"
	       "B 0 m inferred deferred\nS\n");
}
END_TEST

/* A longjmp() out of traced calls to a setjmp() before the trace. */
START_TEST(a_longjmp_out_of_calls_to_one_that_was_not_seen_marks_it)
{
	function('l')->name = function('l')->linkage = name_intern_text(&names, "longjmp");
	call('f', 0x10, 'g');
	call('g', 0x10, 'l');
	jump('l', 'm', 0x60);
	expect_depth(0);
	expect("B 0 g\nB 10 longjmp\nE 20 longjmp\nE 20 g\nE 20 f\nE 20 m\n"
	       "B 0 m inferred uncertain deferred\nB 0 f inferred deferred\nS\n");
}
END_TEST

/* The landing pad of the frame below directly follows the call of _Unwind_Resume(). */
START_TEST(nothing_returns_from_an_unwinder)
{
	function('u')->name = function('u')->linkage = name_intern_text(&names, "_Unwind_Resume");
	call('m', 0x10, 'f');
	call('f', 0x30, 'f');
	call('f', 0x30, 'f');
	call('f', 0x60, 'u');
	expect_depth(4);
	ret('u', 'f', 0x65);
	expect_depth(2);
}
END_TEST

/* ---- OCaml's exceptions ------------------------------------------------------- */

/*
 * A branch before which the code installed (i) and removed (r) handlers, or (!) of a raise, which
 * enters a handler.
 */
static void with_handlers(enum branch_kind kind, struct location from, struct location to,
			  const char *handlers)
{
	struct trap traps[8] = { { .kind = 0 } };
	struct stack_branch branch = {
		.event = { .time = now, .kind = (uint8_t)kind, .from_length = call_length },
		.from = from,
		.to = to,
		.notes = { .traps = traps, .enters_trap = *handlers == '!' },
		.has_notes = true,
	};

	for (; *handlers == 'i' || *handlers == 'r'; handlers++)
		traps[branch.notes.trap_count++].kind =
			*handlers == 'i' ? TRAP_INSTALLED : TRAP_REMOVED;
	/* No more than are counted. */
	traps[branch.notes.trap_count].kind = TRAP_INSTALLED;
	feed_branch(&branch);
	now += 10;
}

/* f calls itself, and then h; the handlers of both when they call; the depths after raises. */
static const struct {
	const char *outer, *inner;
	size_t depths[3]; /* 0: no more */
} raises[] = {
	{ "i", "", { 1 } },
	{ "i", "i", { 2, 1 } },
	{ "", "i", { 2 } },
	{ "i", "ir", { 1 } },
	{ "ii", "", { 1, 1 } },
	{ "i", "iir", { 2, 1 } },
	{ "i", "ii", { 2, 2, 1 } },
	{ "iri", "irir", { 1 } },
	/* The removal of a handler from before the trace */
	{ "ri", "r", { 1 } },
};

START_TEST(a_raise_goes_to_the_innermost_handler_and_uses_it_up)
{
	enum branch_kind kind = _i % 2 ? BRANCH_RETURN : BRANCH_JUMP;
	const size_t *depths = raises[_i / 2].depths;

	call('m', 0x10, 'f');
	with_handlers(BRANCH_CALL, at('f', 0x10), at('f', 0), raises[_i / 2].outer);
	with_handlers(BRANCH_CALL, at('f', 0x10), at('h', 0), raises[_i / 2].inner);
	with_handlers(kind, at('h', 0x10), at('f', 0x60), "!");
	expect_depth(depths[0]);
	for (int i = 1; i < 3 && depths[i]; i++) {
		with_handlers(kind, at('f', 0x70), at('f', 0x60), "!");
		expect_depth(depths[i]);
	}
}
END_TEST

/* It was installed before the trace: the function of its handler called m. */
START_TEST(a_raise_without_a_handler_enters_a_caller_that_was_not_seen)
{
	call('m', 0x10, 'f');
	call('f', 0x10, 'h');
	with_handlers(BRANCH_JUMP, at('h', 0x10), at('x', 0x60), "!");
	expect_depth(0);
	ck_assert_uint_eq(machine->doubts.uncertain_levels, 1);
	expect("B 0 f\nB 10 h\nE 20 h\nE 20 f\nE 20 m\nE 20 x\n"
	       "B 0 x inferred uncertain deferred\nB 0 m inferred deferred\nS\n");
}
END_TEST

/* A handler of f, which called h: the target is in no function that installed one. */
START_TEST(a_raise_to_another_function_than_the_handlers_is_a_jump)
{
	call('m', 0x10, 'f');
	with_handlers(BRANCH_CALL, at('f', 0x10), at('h', 0), "i");
	with_handlers(BRANCH_JUMP, at('h', 0x10), at('x', 0), "!");
	expect_depth(3); /* a tail call */
	with_handlers(BRANCH_JUMP, at('x', 0x10), at('f', 0x60), "!");
	expect_depth(1);
	ret('f', 'm', 0x15);
	expect_depth(0);
	ck_assert_uint_eq(machine->doubts.uncertain_levels, 0);
}
END_TEST

/* The first function of the trace stored its stack pointer. */
START_TEST(a_throw_to_an_entry_may_end_all_calls)
{
	enter_by(BRANCH_CALL, 'm', 'g', CALL_CATCHES);
	enter_by(BRANCH_CALL, 'g', 'x', CALL_ENTERS);
	enter_by(BRANCH_JUMP, 'x', 'h', THROWS_TO_ENTRY);
	ck_assert_uint_eq(machine->doubts.uncertain_levels, 0);
	expect("B 0 g\nB 10 x\nE 20 x\nE 20 g\nE 20 m\nB 20 h\nE 20 h\n"
	       "B 0 m inferred deferred\nS\n");
}
END_TEST

void add_exception_tests(TCase *tests)
{
	tcase_add_test(tests, a_raise_without_a_handler_enters_a_caller_that_was_not_seen);
	tcase_add_test(tests, a_raise_to_another_function_than_the_handlers_is_a_jump);
	tcase_add_test(tests, a_throw_to_an_entry_may_end_all_calls);
	tcase_add_test(tests, a_jump_into_a_function_deeper_down_is_unwinding);
	tcase_add_test(tests, longjmp_goes_back_to_the_frame_of_its_setjmp);
	tcase_add_test(tests, longjmp_goes_back_to_the_caller_of_sigsetjmp_that_calls_setjmp);
	tcase_add_test(tests, an_unwinder_goes_on_below_the_frame_that_resumed_it);
	tcase_add_test(tests, nothing_returns_from_an_unwinder);
	tcase_add_test(tests, an_exception_to_a_level_that_was_not_seen_marks_it);
	tcase_add_test(tests, an_exception_of_any_language_to_a_level_that_was_not_seen_marks_it);
	tcase_add_test(tests, an_exception_out_of_the_first_function_marks_what_it_enters);
	tcase_add_test(tests,
		       a_throw_to_an_entry_continues_the_caller_that_stored_its_stack_pointer);
	tcase_add_test(tests, a_throw_to_an_entry_that_no_caller_waits_for_marks_it);
	tcase_add_test(tests, a_longjmp_out_of_calls_to_one_that_was_not_seen_marks_it);
	tcase_add_loop_test(tests, a_raise_goes_to_the_innermost_handler_and_uses_it_up, 0,
			    2 * COUNT_OF(raises));
}
