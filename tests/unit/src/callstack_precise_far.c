/* SPDX-License-Identifier: MIT */
/* Pauses, signals, the kernel, exec, fork and transactions. */
#include "decoder/timeline/timeline.h"
#include "tests/support/precise_depth.h"
#include "tests/unit/src/callstack_precise.h"

START_TEST(a_pause_is_on_top_until_execution_resumes)
{
	call('m', 0x10, 'f');
	feed(BRANCH_SYSCALL, at('f', 0x20), at(0, 0), BRANCH_TRACE_OFF);
	feed(BRANCH_NONE, at(0, 0), at('f', 0x22), BRANCH_TRACE_ON);
	ret('f', 'm', 0x15);
	expect("B 0 f\nB 10 [syscall]\nE 20 [syscall]\nE 30 f\nE 30 m\nB 0 m inferred deferred\n"
	       "S\n");
}
END_TEST

/* An interrupt stops the trace at 10 ns, on CPU 1; it resumes at 20 ns. */
static const struct resumption {
	uint64_t run; /* ns: when the thread's run began on that CPU, by perf's switches */
	int32_t cpu;
	bool off;
} resumptions[] = {
	{ 5, 1, false }, { 10, 1, false }, { 11, 1, true },
	{ 20, 1, true }, { 21, 1, false }, /* after it has resumed */
	{ 5, 2, true },  { 5, -1, false }, /* buffers of threads do not name the CPU */
};

START_TEST(a_pause_is_off_the_cpu_if_the_thread_left_it)
{
	const struct resumption *resumption = &resumptions[_i];
	const char *pause = resumption->off ? "[untraced: off CPU]" : "[untraced]";
	const struct thread thread = { .tid = 5 };
	struct cpu_switch switches = { BASE + resumption->run, &thread, .cpu = 1 };
	const struct timeline timeline = { .history = { .switches = &switches,
							.switch_count = 1 } };
	struct stack_branch off = { .event = { .time = BASE + 10,
					       .kind = BRANCH_NONE,
					       .flags = BRANCH_TRACE_OFF | BRANCH_ASYNC,
					       .thread = &thread,
					       .cpu = 1 },
				    .from = at('f', 0x20) };
	struct stack_branch on = { .event = { .time = BASE + 20,
					      .kind = BRANCH_NONE,
					      .flags = BRANCH_TRACE_ON,
					      .thread = &thread,
					      .cpu = resumption->cpu },
				   .to = at('f', 0x20) };
	char expected[200];

	((struct precise *)machine)->timeline = &timeline;
	call('m', 0x10, 'f');
	feed_branch(&off);
	feed_branch(&on);
	sprintf(expected, "B 0 f\nB 10 %s\nE 20 %s\nE 20 f\nE 20 m\nB 0 m inferred deferred\nS\n",
		pause, pause);
	expect(expected);
}
END_TEST

/* int $0x80, and another software interrupt */
START_TEST(an_old_system_call_is_a_pause_like_syscall)
{
	call('m', 0x10, 'f');
	feed(BRANCH_SOFTINT, at('f', 0x20), at(0, 0), BRANCH_TRACE_OFF | BRANCH_INT80);
	feed(BRANCH_NONE, at(0, 0), at('f', 0x22), BRANCH_TRACE_ON);
	feed(BRANCH_SOFTINT, at('f', 0x23), at(0, 0), BRANCH_TRACE_OFF);
	feed(BRANCH_NONE, at(0, 0), at('f', 0x24), BRANCH_TRACE_ON);
	expect("B 0 f\nB 10 [syscall]\nE 20 [syscall]\nB 30 [untraced]\nE 40 [untraced]\nE 40 f\n"
	       "E 40 m\nB 0 m inferred deferred\nS\n");
}
END_TEST

/* Only a call or a jump shows a stub as its target. */
START_TEST(a_software_interrupt_to_a_stub_is_no_jump)
{
	call('m', 0x10, 'f');
	feed(BRANCH_SOFTINT, at('f', 0x20), at('G', 0), 0);
	expect("B 0 f\nB 10 G\nE 10 G\nE 10 f\nE 10 m\nB 0 m inferred deferred\nS\n");
}
END_TEST

START_TEST(a_signal_handler_runs_on_top_and_sigreturn_ends_it)
{
	call('m', 0x10, 'f');
	feed(BRANCH_NONE, at('f', 0x20), at(0, 0), BRANCH_TRACE_OFF | BRANCH_ASYNC);
	feed(BRANCH_NONE, at(0, 0), at('h', 0), BRANCH_TRACE_ON); /* the handler */
	call('h', 0x10, 'g');
	expect_depth(2);
	ret('g', 'h', 0x15);
	ret('h', 'r', 0); /* its restorer */
	feed(BRANCH_SYSCALL, at('r', 0x10), at(0, 0), BRANCH_TRACE_OFF);
	feed(BRANCH_NONE, at(0, 0), at('f', 0x20), BRANCH_TRACE_ON); /* where f was interrupted */
	expect_depth(1);
	ret('f', 'm', 0x15);
	expect_depth(0);
}
END_TEST

START_TEST(a_function_encloses_the_handler_that_interrupted_it_before_the_trace_began)
{
	struct frame *frames;

	call('h', 0x10, 'g');
	ret('g', 'h', 0x15);
	ret('h', 'r', 1); /* its restorer: glibc's unwind entry begins a byte earlier */
	feed(BRANCH_SYSCALL, at('r', 0x10), at(0, 0), BRANCH_TRACE_OFF);
	feed_held();
	frames = ((struct precise_stack *)stack)->now.frames;
	*function('s') = symbol_special(&names, "[rt_sigreturn]", SPECIAL_SYSCALL);
	function('s')->linkage = name_intern_text(&names, "rt_sigreturn");
	frames[1].symbol = function('s');
	feed(BRANCH_NONE, at(0, 0), at('f', 0x20), BRANCH_TRACE_ON); /* where f was interrupted */
	call('f', 0x30, 'g');
	ret('g', 'f', 0x35);
	ret('f', 'm', 0x15);
	expect("B 0 g\nE 10 g\nE 20 h\nB 30 [syscall]\nE 40 [rt_sigreturn]\nE 40 r\n"
	       "B 50 g\nE 60 g\nE 70 f\nE 70 m\nB 0 m inferred deferred\n"
	       "B 0 f inferred deferred\nB 0 r inferred deferred\nB 0 h inferred deferred\nS\n");
}
END_TEST

/* Code without unwind entries, which nothing calls, is taken for a part of the function before. */
START_TEST(a_signal_handler_may_begin_within_a_function_without_a_name)
{
	function('h')->kind = SYMBOL_UNNAMED;
	call('m', 0x10, 'f');
	feed(BRANCH_NONE, at('f', 0x20), at(0, 0), BRANCH_TRACE_OFF | BRANCH_ASYNC);
	feed(BRANCH_NONE, at(0, 0), at('h', 0x40), BRANCH_TRACE_ON);
	ret('h', 'f', 0x20);
	ret('f', 'm', 0x15);
	ck_assert_uint_eq(machine->doubts.uncertain_levels, 1);
	expect("B 0 f\nB 10 [untraced]\nE 20 [untraced]\nB 20 h uncertain\nE 30 h\nE 40 f\nE 40 m\n"
	       "B 0 m inferred deferred\nS\n");
}
END_TEST

START_TEST(a_signal_handler_does_not_begin_within_an_active_function)
{
	function('h')->kind = SYMBOL_UNNAMED;
	call('m', 0x10, 'h');
	call('h', 0x10, 'f');
	feed(BRANCH_NONE, at('f', 0x20), at(0, 0), BRANCH_TRACE_OFF | BRANCH_ASYNC);
	feed(BRANCH_NONE, at(0, 0), at('h', 0x40), BRANCH_TRACE_ON);
	expect_depth(1);
}
END_TEST

START_TEST(exec_leaves_nothing_of_the_old_stack)
{
	struct stack_branch first = { .event = { .time = BASE + 20, .flags = BRANCH_TRACE_ON },
				      .to = at('n', 0),
				      .notes = { .exec = true },
				      .has_notes = true };

	call('m', 0x10, 'f');
	feed(BRANCH_SYSCALL, at('f', 0x20), at(0, 0), BRANCH_TRACE_OFF);
	feed_branch(&first);
	now += 10;
	call('n', 0x10, 'g');
	expect_depth(1);
}
END_TEST

/* Another thread ran exec. The kernel ended the thread that had the tid before. */
START_TEST(a_thread_that_another_replaced_ended_at_its_last_event)
{
	struct stack_branch first = { .event = { .time = BASE + 50, .flags = BRANCH_TRACE_ON },
				      .to = at('n', 0),
				      .notes = { .exec = true, .died = true },
				      .has_notes = true };

	call('m', 0x10, 'f');
	feed(BRANCH_SYSCALL, at('f', 0x20), at(0, 0), BRANCH_TRACE_OFF);
	feed_branch(&first);
	expect("B 0 f\nB 10 [syscall]\nE 10 [syscall]\nE 10 f\nE 10 m\nB 0 m inferred deferred\n"
	       "S\nS\n");
}
END_TEST

START_TEST(a_forked_child_has_its_parents_frames)
{
	struct callstack *child;

	call('m', 0x10, 'f');
	feed(BRANCH_SYSCALL, at('f', 0x20), at(0, 0), BRANCH_TRACE_OFF);
	feed_held();
	child = callstack_open(machine, NULL);
	callstack_inherit(child, stack, now);
	ck_assert_uint_eq(precise_depth(child), 1);
	callstack_close(stack);
	stack = child;
	feed(BRANCH_NONE, at(0, 0), at('f', 0x22), BRANCH_TRACE_ON);
	ret('f', 'm', 0x15);
	expect_depth(0);
}
END_TEST

/* They begin at the fork in its track, also if its first branch is later. */
START_TEST(a_forked_childs_frames_begin_at_the_fork)
{
	struct callstack *parent = stack;

	call('m', 0x10, 'f');
	feed(BRANCH_SYSCALL, at('f', 0x20), at(0, 0), BRANCH_TRACE_OFF);
	feed_held();
	stack = callstack_open(machine, NULL);
	now += 5;
	callstack_inherit(stack, parent, now);
	callstack_close(parent);
	slice_log_take(&slices);
	now += 100;
	feed(BRANCH_NONE, at(0, 0), at('f', 0x22), BRANCH_TRACE_ON);
	ret('f', 'm', 0x15);
	expect("E 125 [syscall]\nE 135 f\nE 135 m\nB 25 m inferred deferred\n"
	       "B 25 f inferred deferred\nB 25 [syscall] inferred deferred\nS\n");
}
END_TEST

START_TEST(the_kernel_runs_on_top_and_its_exit_goes_back)
{
	call('m', 0x10, 'f');
	feed(BRANCH_SYSCALL, at('f', 0x20), at('k', 0), 0);
	call('k', 0x10, 'w');
	feed(BRANCH_INTERRUPT, at('w', 0x18), at('i', 0), BRANCH_ASYNC);
	feed(BRANCH_IRET, at('i', 0x30), at('w', 0x18), 0);
	ret('w', 'k', 0x15);
	feed(BRANCH_SYSRET, at('k', 0x40), at('f', 0x22), 0);
	ret('f', 'm', 0x15);
	expect("B 0 f\nB 10 k\nB 20 w\nB 30 i\nE 40 i\nE 50 w\nE 60 k\nE 70 f\nE 70 m\n"
	       "B 0 m inferred deferred\nS\n");
}
END_TEST

/* Linux's sync_core(), and KVM's call of a handler with its frame on the stack. */
START_TEST(an_iret_with_a_frame_of_the_kernels_own_leaves_no_entry)
{
	call('m', 0x10, 'f');
	feed(BRANCH_SYSCALL, at('f', 0x20), at('k', 0), 0);
	call('k', 0x10, 'w');
	feed(BRANCH_IRET, at('w', 0x18), at('w', 0x20), 0);
	call('w', 0x30, 'i');
	feed(BRANCH_IRET, at('i', 0x30), at('w', 0x35), 0);
	ret('w', 'k', 0x15);
	feed(BRANCH_SYSRET, at('k', 0x40), at('f', 0x22), 0);
	ret('f', 'm', 0x15);
	expect("B 0 f\nB 10 k\nB 20 w\nB 40 i\nE 50 i\nE 60 w\nE 70 k\nE 80 f\nE 80 m\n"
	       "B 0 m inferred deferred\nS\n");
}
END_TEST

/* As with intel_pt//k: each entry begins a stack, which an exit ends with all open calls. */
/* Trace of the kernel's code, and of user code up to its system call, ends at an IRET. */
START_TEST(an_exit_of_the_kernel_ends_all_its_entries)
{
	call('m', 0x10, 'f');
	feed(BRANCH_SYSCALL, at('f', 0x20), at('k', 0), 0);
	for (int i = 0; i < 100 * _i; i++)
		call('k', 0x10, 'k');
	feed(BRANCH_INTERRUPT, at('k', 0x18), at('i', 0), BRANCH_ASYNC);
	for (int i = 0; i < 100 * _i; i++)
		call('i', 0x10, 'i');
	feed(BRANCH_IRET, at('i', 0x40), at(0, 0), BRANCH_TRACE_OFF);
	expect_depth(1); /* f */
}
END_TEST

START_TEST(entries_into_the_kernel_alone_are_stacks_of_their_own)
{
	feed(BRANCH_NONE, at(0, 0), at('k', 0), BRANCH_TRACE_ON);
	call('k', 0x10, 'w');
	ret('w', 'k', 0x15);
	feed(BRANCH_SYSRET, at('k', 0x40), at(0, 0), BRANCH_TRACE_OFF);
	feed(BRANCH_NONE, at(0, 0), at('k', 0), BRANCH_TRACE_ON);
	call('k', 0x10, 'w');
	feed(BRANCH_INTERRUPT, at('w', 0x18), at('i', 0), BRANCH_ASYNC);
	call('i', 0x10, 'x');
	feed(BRANCH_IRET, at('x', 0x40), at(0, 0), BRANCH_TRACE_OFF);
	feed(BRANCH_NONE, at(0, 0), at('i', 0), BRANCH_TRACE_ON);
	call('i', 0x10, 'x');
	expect("B 10 w\nE 20 w\nE 30 k\nB 30 [untraced]\nE 40 [untraced]\n"
	       "B 40 k\nB 50 w\nB 60 i\nB 70 x\nE 80 x\nE 80 i\nE 80 w\nE 80 k\n"
	       "B 80 [untraced]\nE 90 [untraced]\nB 90 i\nB 100 x\nE 100 x\nE 100 i\n"
	       "B 0 k inferred deferred\nS\n");
}
END_TEST

/* INT n and INT3: the FUP has the instruction's address, and IRET returns after it. */
START_TEST(a_software_interrupt_returns_after_its_instruction)
{
	const uint64_t length = (uint64_t)_i;

	call('m', 0x10, 'f');
	feed(BRANCH_CALL, at('f', 0x20), nameless(0), 0);
	feed(BRANCH_INTERRUPT, nameless(0x18), at('i', 0), BRANCH_ASYNC);
	feed(BRANCH_IRET, at('i', 0x30), nameless(0x18 + length), 0);
	feed(BRANCH_NONE, nameless(0x28), at(0, 0), BRANCH_TRACE_OFF | BRANCH_ASYNC);
	feed(BRANCH_NONE, at(0, 0), nameless(0x28 + length), BRANCH_TRACE_ON);
	/* The handler of its signal also returns there. */
	feed(BRANCH_NONE, nameless(0x38), at(0, 0), BRANCH_TRACE_OFF | BRANCH_ASYNC);
	feed(BRANCH_NONE, at(0, 0), at('h', 0), BRANCH_TRACE_ON);
	feed(BRANCH_SYSCALL, at('h', 0x10), at(0, 0), BRANCH_TRACE_OFF);
	feed(BRANCH_NONE, at(0, 0), nameless(0x38 + length), BRANCH_TRACE_ON);
	expect("B 0 f\nB 10 [file]\nB 20 i\nE 30 i\nB 40 [untraced]\nE 50 [untraced]\n"
	       "B 60 [untraced]\nE 70 [untraced]\nB 70 h\nB 80 [syscall]\nE 90 [syscall]\nE 90 h\n"
	       "E 90 [file]\nE 90 f\nE 90 m\nB 0 m inferred deferred\nS\n");
}
END_TEST

/* Elided locks: lock() begins a transaction and returns in it, unlock() commits. */
START_TEST(an_abort_brings_back_the_stack_of_the_transactions_begin)
{
	call('m', 0x10, 'l');
	feed(BRANCH_RETURN, at('l', 0x80), at('m', 0x15), BRANCH_IN_TX);
	feed(BRANCH_CALL, at('m', 0x20), at('w', 0), BRANCH_IN_TX);
	feed(BRANCH_TX_ABORT, at('w', 0x30), at('l', 0x40), BRANCH_ASYNC);
	ret('l', 'm', 0x15);
	expect_depth(0);
	expect("B 0 l\nE 10 l\n"
	       "B 20 w\n"
	       "E 30 w\n"
	       "B 30 l\n"
	       "E 40 l\n"
	       "E 40 m\n"
	       "B 0 m inferred deferred\n"
	       "S\n");
}
END_TEST

START_TEST(a_commit_keeps_the_stack)
{
	call('m', 0x10, 'l');
	feed(BRANCH_RETURN, at('l', 0x80), at('m', 0x15), BRANCH_IN_TX);
	feed(BRANCH_CALL, at('m', 0x20), at('u', 0), BRANCH_IN_TX);
	ret('u', 'm', 0x25);
	feed(BRANCH_CALL, at('m', 0x30), at('w', 0), BRANCH_IN_TX);
	call('w', 0x10, 'x');
	feed(BRANCH_TX_ABORT, at('x', 0x30), at('x', 0x40), BRANCH_ASYNC);
	expect_depth(2);
	expect("B 0 l\nE 10 l\n"
	       "B 20 u\n"
	       "E 30 u\n"
	       "B 40 w\n"
	       "B 50 x\n"
	       "E 60 x\n"
	       "E 60 w\n"
	       "E 60 m\n"
	       "B 0 m inferred deferred\n"
	       "S\n");
}
END_TEST

void add_far_tests(TCase *tests)
{
	tcase_add_test(tests, a_pause_is_on_top_until_execution_resumes);
	tcase_add_loop_test(tests, a_pause_is_off_the_cpu_if_the_thread_left_it, 0,
			    COUNT_OF(resumptions));
	tcase_add_test(tests, an_old_system_call_is_a_pause_like_syscall);
	tcase_add_test(tests, a_software_interrupt_to_a_stub_is_no_jump);
	tcase_add_test(tests, a_signal_handler_runs_on_top_and_sigreturn_ends_it);
	tcase_add_test(tests,
		       a_function_encloses_the_handler_that_interrupted_it_before_the_trace_began);
	tcase_add_test(tests, a_signal_handler_may_begin_within_a_function_without_a_name);
	tcase_add_test(tests, a_signal_handler_does_not_begin_within_an_active_function);
	tcase_add_test(tests, exec_leaves_nothing_of_the_old_stack);
	tcase_add_test(tests, a_thread_that_another_replaced_ended_at_its_last_event);
	tcase_add_test(tests, a_forked_child_has_its_parents_frames);
	tcase_add_test(tests, a_forked_childs_frames_begin_at_the_fork);
	tcase_add_test(tests, the_kernel_runs_on_top_and_its_exit_goes_back);
	tcase_add_test(tests, an_iret_with_a_frame_of_the_kernels_own_leaves_no_entry);
	tcase_add_loop_test(tests, an_exit_of_the_kernel_ends_all_its_entries, 0, 2);
	tcase_add_test(tests, entries_into_the_kernel_alone_are_stacks_of_their_own);
	tcase_add_loop_test(tests, a_software_interrupt_returns_after_its_instruction, 1, 3);
	tcase_add_test(tests, an_abort_brings_back_the_stack_of_the_transactions_begin);
	tcase_add_test(tests, a_commit_keeps_the_stack);
}
