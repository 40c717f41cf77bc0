/* SPDX-License-Identifier: MIT */
/*
 * Tail calls: man ptrace2ftf.7, "WHAT A CALL IS". A call lasts until control returns to its caller,
 * so a function that another jumps to is inside of the other.
 */
#include "symbols/dso/dso_store.h"
#include "tests/unit/src/callstack_precise.h"

static void replace_by_tail_calls(void)
{
	((struct precise *)machine)->nests = false;
}

START_TEST(a_tail_call_is_inside_of_the_function_that_jumps)
{
	call('m', 0x10, 'f');
	jump('f', 'g', 0);
	expect_depth(2);
	call('g', 0x10, 'h');
	ret('h', 'g', 0x15);
	ret('g', 'm', 0x15);
	expect_depth(0);
	expect("B 0 f\nB 10 g tail\nB 20 h\nE 30 h\nE 40 g\nE 40 f\nE 40 m\n"
	       "B 0 m inferred deferred\nS\n");
}
END_TEST

/* --stacks=replace */
START_TEST(a_tail_call_replaces_the_function_that_jumps_on_request)
{
	replace_by_tail_calls();
	call('m', 0x10, 'f');
	jump('f', 'g', 0);
	expect_depth(1);
	ret('g', 'm', 0x15);
	expect_depth(0);
	expect("B 0 f\nE 10 f\nB 10 g\nE 20 g\nE 20 m\nB 0 m inferred deferred\nS\n");
}
END_TEST

START_TEST(tail_calls_in_a_row_nest)
{
	call('m', 0x10, 'f');
	jump('f', 'g', 0);
	jump('g', 'h', 0);
	ret('h', 'm', 0x15);
	expect("B 0 f\nB 10 g tail\nB 20 h tail\nE 30 h\nE 30 g\nE 30 f\nE 30 m\n"
	       "B 0 m inferred deferred\nS\n");
}
END_TEST

/* A state machine: g continues, and no staircase grows. */
START_TEST(a_chain_goes_back_to_a_function_that_it_contains)
{
	call('m', 0x10, 'f');
	jump('f', 'g', 0);
	for (int i = 0; i < 3; i++) {
		jump('g', 'h', 0);
		jump('h', 'g', 0);
	}
	expect_depth(2);
	jump('g', 'f', 0);
	expect_depth(1);
	ret('f', 'm', 0x15);
	expect_depth(0);
	expect("B 0 f\nB 10 g tail\nB 20 h tail\nE 30 h\nB 40 h tail\nE 50 h\nB 60 h tail\nE 70 h\n"
	       "E 80 g\nE 90 f\nE 90 m\nB 0 m inferred deferred\nS\n");
}
END_TEST

START_TEST(a_long_chain_replaces_its_last_function)
{
	char letter = 'a';

	call('z', 0x10, letter);
	for (; letter < 'a' + TAIL_CALLS_MOST + 2; letter++) {
		jump(letter, (char)(letter + 1), 0);
		expect_depth(MIN((size_t)(letter - 'a' + 2), TAIL_CALLS_MOST));
	}
	jump(letter, 'c', 0);
	expect_depth(3);
	ret('c', 'z', 0x15);
	expect_depth(0);
}
END_TEST

/* A call within a chain, of a function that is in it, is a call. */
START_TEST(recursion_through_a_chain_is_recursion)
{
	call('m', 0x10, 'f');
	jump('f', 'g', 0);
	call('g', 0x10, 'f');
	jump('f', 'g', 0);
	expect_depth(4);
	ret('g', 'g', 0x15);
	expect_depth(2);
	ret('g', 'm', 0x15);
	expect_depth(0);
}
END_TEST

/* -fPIC: the function jumps to a stub, which jumps to the target. */
START_TEST(a_tail_call_through_a_stub_is_that_of_its_target)
{
	call('m', 0x10, 'f');
	jump('f', 'G', 0);
	jump('G', 'g', 0);
	ret('g', 'm', 0x15);
	expect("B 0 f\nB 20 g tail\nE 30 g\nE 30 f\nE 30 m\nB 0 m inferred deferred\nS\n");
}
END_TEST

START_TEST(a_stub_goes_back_to_a_function_that_the_chain_contains)
{
	call('m', 0x10, 'f');
	jump('f', 'g', 0);
	jump('g', 'F', 0);
	jump('F', 'f', 0);
	expect_depth(1);
	ret('f', 'm', 0x15);
	expect("B 0 f\nB 10 g tail\nE 30 g\nE 40 f\nE 40 m\nB 0 m inferred deferred\nS\n");
}
END_TEST

START_TEST(a_jump_into_the_body_of_a_function_of_the_chain_continues_it)
{
	call('m', 0x10, 'f');
	jump('f', 'g', 0);
	jump('g', 'f', 0x60);
	ret('f', 'm', 0x15);
	expect("B 0 f\nB 10 g tail\nE 20 g\nE 30 f\nE 30 m\nB 0 m inferred deferred\nS\n");
}
END_TEST

/* f's frame is g's: code of f that an exception enters is that of the outer call. */
START_TEST(a_function_that_jumped_on_is_entered_no_more)
{
	call('m', 0x10, 'f');
	call('f', 0x10, 'a');
	call('a', 0x10, 'f');
	jump('f', 'g', 0);
	call('g', 0x10, 'h');
	jump('h', 'f', 0x60);
	expect_depth(1);
	ret('f', 'm', 0x15);
	expect_depth(0);
}
END_TEST

START_TEST(longjmp_ends_whole_chains)
{
	function('s')->name = function('s')->linkage = name_intern_text(&names, "_setjmp");
	function('l')->name = function('l')->linkage = name_intern_text(&names, "longjmp");
	call('m', 0x10, 'f');
	call('f', 0x10, 's');
	ret('s', 'f', 0x15);
	call('f', 0x20, 'g');
	jump('g', 'h', 0);
	call('h', 0x10, 'l');
	jump('l', 'f', 0x15);
	expect_depth(1);
	ret('f', 'm', 0x15);
	expect_depth(0);
}
END_TEST

/* The caller of setjmp() is that of the function which jumps to it. */
START_TEST(a_setjmp_by_a_tail_call_returns_to_its_physical_caller)
{
	function('l')->name = function('l')->linkage = name_intern_text(&names, "longjmp");
	call('m', 0x10, 'f');
	call('f', 0x10, 'w');
	enter_by(BRANCH_JUMP, 'w', 's', JUMP_SETJMP);
	ret('s', 'f', 0x15);
	call('f', 0x20, 'g');
	call('g', 0x10, 'l');
	jump('l', 'f', 0x15);
	expect_depth(1);
	ret('f', 'm', 0x15);
	expect_depth(0);
}
END_TEST

START_TEST(a_first_function_that_jumps_returns_to_an_unseen_caller)
{
	jump('f', 'g', 0);
	jump('g', 'h', 0);
	ret('h', 'm', 0x15);
	call('m', 0x20, 'g');
	ret('g', 'm', 0x25);
	expect("B 0 g tail\nB 10 h tail\nE 20 h\nE 20 g\nE 20 f\nB 30 g\nE 40 g\nE 40 m\n"
	       "B 0 m inferred deferred\nB 0 f inferred deferred\nS\n");
}
END_TEST

START_TEST(a_handler_of_a_signal_that_jumps_ends_with_its_chain)
{
	call('m', 0x10, 'f');
	feed(BRANCH_NONE, at('f', 0x30), at(0, 0), BRANCH_TRACE_OFF | BRANCH_ASYNC);
	feed(BRANCH_NONE, at(0, 0), at('h', 0), BRANCH_TRACE_ON);
	jump('h', 'k', 0);
	ret('k', 'f', 0x30);
	ret('f', 'm', 0x15);
	expect("B 0 f\nB 10 [untraced]\nE 20 [untraced]\nB 20 h\nB 30 k tail\nE 40 k\nE 40 h\nE 50 f\n"
	       "E 50 m\nB 0 m inferred deferred\nS\n");
}
END_TEST

START_TEST(an_entry_of_the_kernel_that_jumps_ends_with_its_chain)
{
	call('m', 0x10, 'f');
	feed(BRANCH_SYSCALL, at('f', 0x20), at('k', 0), 0);
	jump('k', 'w', 0);
	feed(BRANCH_SYSRET, at('w', 0x40), at('f', 0x22), 0);
	ret('f', 'm', 0x15);
	expect("B 0 f\nB 10 k\nB 20 w tail\nE 30 w\nE 30 k\nE 40 f\nE 40 m\n"
	       "B 0 m inferred deferred\nS\n");
}
END_TEST

START_TEST(a_gap_ends_a_chain)
{
	call('m', 0x10, 'f');
	jump('f', 'g', 0);
	gap(GAP_OVERFLOW);
	expect_depth(0);
	call('g', 0x10, 'h');
	ret('h', 'g', 0x15);
	ret('g', 'm', 0x15);
	expect_depth(0);
}
END_TEST

START_TEST(a_stack_that_is_resumed_has_its_chains)
{
	call('m', 0x10, 'f');
	jump('f', 'g', 0);
	call('g', 0x10, 's');
	go_by(BRANCH_JUMP, 's', at('x', 0), SWITCHES_STACK);
	call('x', 0x10, 's');
	go_by(BRANCH_JUMP, 's', at('g', 0x15), SWITCHES_STACK);
	expect_depth(2);
	ret('g', 'm', 0x15);
	expect_depth(0);
}
END_TEST

/* The return shows which stack it was, but not how g was entered before: that is marked. */
START_TEST(stacks_that_differ_share_no_part_of_a_chain)
{
	for (int i = 0; i < 2; i++) {
		call('m', (uint64_t)(0x100 * i), 'f');
		if (i)
			jump('f', 'g', 0);
		else
			call('f', 0x10, 'g');
		call('g', 0x10, 's');
		go_by(BRANCH_JUMP, 's', at('x', 0), SWITCHES_STACK);
		if (!i)
			ret('x', 'm', 0x200);
	}
	go_by(BRANCH_JUMP, 'x', at('g', 0x15), SWITCHES_STACK);
	ck_assert_uint_gt(machine->doubts.uncertain_levels, 0);
	ret('g', 'm', 0x105);
	expect_depth(0);
}
END_TEST

START_TEST(an_abort_restores_a_chain)
{
	call('m', 0x10, 'f');
	jump('f', 'g', 0);
	feed(BRANCH_JUMP, at('g', 0x20), at('g', 0x30), BRANCH_IN_TX);
	feed(BRANCH_RETURN, at('g', 0x80), at('m', 0x15), BRANCH_IN_TX);
	feed(BRANCH_TX_ABORT, at('m', 0x20), at('g', 0x40), 0);
	expect_depth(2);
	ret('g', 'm', 0x15);
	expect_depth(0);
}
END_TEST

START_TEST(code_without_bytes_jumps_back_within_its_chain)
{
	call('m', 0x10, 'f');
	jump('f', 'g', 0);
	feed(BRANCH_JUMP, at('g', 0x40), nameless(0x900000), 0);
	gap(GAP_NO_CODE);
	feed(BRANCH_NONE, at(0, 0), at('g', 0x50), BRANCH_TRACE_ON);
	ret('g', 'm', 0x15);
	expect_depth(0);
}
END_TEST

START_TEST(a_far_return_that_no_far_call_precedes_is_a_jump)
{
	call('m', 0x10, 'f');
	feed(BRANCH_IRET, at('f', 0x30), at('g', 0), 0);
	call('g', 0x10, 'h');
	ret('h', 'g', 0x15);
	feed(BRANCH_IRET, at('g', 0x30), at('f', 0x40), 0);
	ret('f', 'm', 0x15);
	expect("B 0 f\nB 10 g tail\nB 20 h\nE 30 h\nE 40 g\nE 50 f\nE 50 m\n"
	       "B 0 m inferred deferred\nS\n");
}
END_TEST

/* SDM volume 2, "JMP": far jumps through memory (FF /5) and, in 32-bit code, direct ones (EA). */
static const uint8_t far_code[0x100] = {
	[0x30] = 0xff, 0x6c, 0x24, 0x10, /* ljmp *0x10(%rsp) */
	[0x50] = 0xff, 0x5c, 0x24, 0x10, /* lcall *0x10(%rsp) */
	[0x70] = 0xea, 0,    0,    0,    0, 0x33, 0,
};

/* A function's code. */
static struct dso *have_far_code(char letter)
{
	struct dso *dso = alloc_zeroed(1, sizeof(*dso));
	struct symbol *symbol = function(letter);

	*symbol = (struct symbol){ .name = symbol->name,
				   .linkage = symbol->linkage,
				   .dso = dso,
				   .start = (uint64_t)letter * 0x1000,
				   .size = sizeof(far_code) };
	dso->elf.code = alloc_zeroed(1, sizeof(*dso->elf.code));
	*dso->elf.code = (struct code_range){ 0, sizeof(far_code), symbol->start };
	dso->elf.code_count = 1;
	dso->elf.header.e_machine = EM_X86_64;
	dso->elf.bytes = (uint8_t *)(uintptr_t)far_code;
	return dso;
}

static void release_far_code(struct dso *dso)
{
	free(dso->elf.code);
	free(dso);
}

/* WoW64 of Wine and Windows: 64-bit code calls 32-bit code, which jumps back into the function. */
START_TEST(a_far_jump_pushes_no_frame)
{
	struct dso *f = have_far_code('f'), *g = have_far_code('g');

	call('m', 0x10, 'f');
	feed(BRANCH_SOFTINT, at('f', 0x30), at('g', 0), 0);
	call('g', 0x10, 'h');
	ret('h', 'g', 0x15);
	feed(BRANCH_SOFTINT, at('g', 0x70), at('f', 0x40), 0);
	ret('f', 'm', 0x15);
	expect("B 0 f\nB 10 g tail\nB 20 h\nE 30 h\nE 40 g\nE 50 f\nE 50 m\n"
	       "B 0 m inferred deferred\nS\n");
	release_far_code(f);
	release_far_code(g);
}
END_TEST

START_TEST(a_far_call_returns)
{
	struct dso *f = have_far_code('f');

	call('m', 0x10, 'f');
	feed(BRANCH_SOFTINT, at('f', 0x50), at('g', 0), 0);
	feed(BRANCH_IRET, at('g', 0x30), at('f', 0x54), 0);
	ret('f', 'm', 0x15);
	expect("B 0 f\nB 10 g\nE 20 g\nE 30 f\nE 30 m\nB 0 m inferred deferred\nS\n");
	release_far_code(f);
}
END_TEST

/*
 * Physical frames are those of the machine that replaces functions: feed both the same random
 * branches to entries, and returns of open calls.
 */
START_TEST(physical_frames_do_not_depend_on_how_tail_calls_are_shown)
{
	struct slice_sink none = { .events = slice_sink_drop };
	struct callstack_options options = {
		.sink = &none, .names = &names, .diag = &diag, .tail_calls = TAIL_CALLS_REPLACE
	};
	struct callstack_machine *other = callstack_precise_open(&options);
	struct precise_stack *b = (struct precise_stack *)callstack_open(other, NULL);
	struct precise_stack *a = (struct precise_stack *)stack;
	uint32_t random = (uint32_t)_i + 1;

	call('m', 0x10, 'f');
	feed_held();
	stack_branch_feed(&b->base,
			  &(struct stack_branch){
				  .event = { .time = BASE, .kind = BRANCH_CALL, .from_length = 5 },
				  .from = at('m', 0x10),
				  .to = at('f', 0) });
	for (int i = 0; i < 2000; i++) {
		const struct frame *last = &b->now.frames[b->now.depth - 1];
		struct stack_branch branch = { .event = { .time = now, .from_length = 5 } };
		size_t depth = 0;

		random = random * 1664525 + 1013904223;
		branch.from = at(last->symbol->name->text[0], 0x10 + (random >> 20 & 3) * 0x10);
		branch.to = at((char)('a' + (random >> 24 & 7)), 0);
		branch.event.kind = random >> 30 ? BRANCH_JUMP : BRANCH_CALL;
		if (random >> 30 == 3 && b->now.depth > 2) {
			branch.event.kind = BRANCH_RETURN;
			branch.to = (struct location){ last->return_ip, last[-1].symbol, 0 };
			branch.to.offset =
				branch.to.ip - (uint64_t)branch.to.symbol->name->text[0] * 0x1000;
		}
		stack_branch_feed(&b->base, &branch);
		feed(branch.event.kind, branch.from, branch.to, 0);
		feed_held();
		for (size_t n = 0; n < a->now.depth; n++) {
			if (frame_is_left(&a->now, n))
				continue;
			ck_assert_uint_lt(depth, b->now.depth);
			ck_assert_ptr_eq(a->now.frames[n].symbol, b->now.frames[depth].symbol);
			ck_assert_uint_eq(a->now.frames[n].return_ip,
					  b->now.frames[depth++].return_ip);
		}
		ck_assert_uint_eq(depth, b->now.depth);
		slice_log_take(&slices);
	}
	callstack_close(&b->base);
	callstack_machine_close(other);
}
END_TEST

void add_tail_tests(TCase *tests)
{
	tcase_add_test(tests, a_tail_call_is_inside_of_the_function_that_jumps);
	tcase_add_test(tests, a_tail_call_replaces_the_function_that_jumps_on_request);
	tcase_add_test(tests, tail_calls_in_a_row_nest);
	tcase_add_test(tests, a_chain_goes_back_to_a_function_that_it_contains);
	tcase_add_test(tests, a_long_chain_replaces_its_last_function);
	tcase_add_test(tests, recursion_through_a_chain_is_recursion);
	tcase_add_test(tests, a_tail_call_through_a_stub_is_that_of_its_target);
	tcase_add_test(tests, a_stub_goes_back_to_a_function_that_the_chain_contains);
	tcase_add_test(tests, a_jump_into_the_body_of_a_function_of_the_chain_continues_it);
	tcase_add_test(tests, a_function_that_jumped_on_is_entered_no_more);
	tcase_add_test(tests, longjmp_ends_whole_chains);
	tcase_add_test(tests, a_setjmp_by_a_tail_call_returns_to_its_physical_caller);
	tcase_add_test(tests, a_first_function_that_jumps_returns_to_an_unseen_caller);
	tcase_add_test(tests, a_handler_of_a_signal_that_jumps_ends_with_its_chain);
	tcase_add_test(tests, an_entry_of_the_kernel_that_jumps_ends_with_its_chain);
	tcase_add_test(tests, a_gap_ends_a_chain);
	tcase_add_test(tests, a_stack_that_is_resumed_has_its_chains);
	tcase_add_test(tests, stacks_that_differ_share_no_part_of_a_chain);
	tcase_add_test(tests, an_abort_restores_a_chain);
	tcase_add_test(tests, code_without_bytes_jumps_back_within_its_chain);
	tcase_add_test(tests, a_far_return_that_no_far_call_precedes_is_a_jump);
	tcase_add_test(tests, a_far_jump_pushes_no_frame);
	tcase_add_test(tests, a_far_call_returns);
	tcase_add_loop_test(tests, physical_frames_do_not_depend_on_how_tail_calls_are_shown, 0, 3);
}
