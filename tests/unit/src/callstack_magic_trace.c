/* SPDX-License-Identifier: MIT */
/*
 * Each rule of magic-trace 1.0's machine.  The expectations were derived by hand from its source
 * code (src/trace_writer.ml), not from this program.
 *
 * Times are ns since the base time.  The first thread's first event is at the base time; events are
 * usually 10 ns apart so that a batch is one event.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "src/callstack/callstack.h"
#include "tests/support/stack_branch.h"
#include "tests/support/unit.h"
#include "tests/unit/src/slice_log.h"

#define BASE   UINT64_C(1000000)
#define KERNEL (UINT64_C(1) << 63)

static struct name_table names;
static struct arena arena;
static struct diag diag;
static struct slice_log slices;
static struct callstack_machine *machine;
static struct callstack *stack;
static bool knows; /* the machine gets near branches as thread_stacks does, by feed_plain */

static void open_in_mode(enum trace_mode mode)
{
	struct callstack_options options = {
		.mode = mode, .sink = &slices.sink, .names = &names, .diag = &diag
	};

	callstack_close(stack);
	callstack_machine_close(machine);
	machine = callstack_magic_trace_open(&options);
	machine->base_time = BASE;
	machine->has_base_time = true;
	stack = callstack_open(machine, NULL);
	slice_log_take(&slices);
}

static void setup(void)
{
	name_table_init(&names);
	arena = (struct arena){ 0 };
	diag_init(&diag);
	slice_log_init(&slices);
	slices.base = BASE;
	open_in_mode(TRACE_MODE_USER);
}

static void setup_known(void)
{
	setup();
	knows = true;
}

static void teardown(void)
{
	knows = false;
	callstack_close(stack);
	callstack_machine_close(machine);
	stack = NULL;
	machine = NULL;
	name_table_release(&names);
	arena_release(&arena);
	diag_release(&diag);
}

/* NULL: unknown. */
static const struct symbol *symbol(const char *name)
{
	struct symbol *made;

	if (!name)
		return NULL;
	made = arena_alloc(&arena, sizeof(*made));
	made->name = made->linkage = name_intern_text(&names, name);
	return made;
}

static void feed(struct callstack *to, uint64_t time, unsigned kind, unsigned flags,
		 const char *target)
{
	struct stack_branch branch = {
		.event = { .time = BASE + time, .kind = (uint8_t)kind, .flags = (uint8_t)flags },
		.from = { .ip = 0x1000 },
		.to = { .ip = target ? 0x2000 : 0, .symbol = symbol(target) },
	};
	struct known_branch known = { .space = NULL };

	/* In these tests, names of kernel functions begin with k. */
	if (target && *target == 'k')
		branch.to.ip |= KERNEL;
	known.locations = location_pair_of(&branch.from, &branch.to, NULL);
	known.locations.reached = true;
	if (knows)
		branch.event.known = &known;
	if (!callstack_feed_plain(to, &branch.event, 1, false))
		stack_branch_feed(to, &branch);
}

static void go(uint64_t time, unsigned kind, const char *target)
{
	feed(stack, time, kind, 0, target);
}

static void on(uint64_t time, const char *target)
{
	feed(stack, time, BRANCH_NONE, BRANCH_TRACE_ON, target);
}

static void off(uint64_t time, unsigned kind)
{
	feed(stack, time, kind, BRANCH_TRACE_OFF, NULL);
}

static void gap_at(uint64_t time, uint64_t ip)
{
	struct stack_branch branch = {
		.event = { .time = BASE + time, .kind = BRANCH_GAP, .gap = GAP_OVERFLOW },
		.from = { .ip = ip },
	};

	stack_branch_feed(stack, &branch);
}

static const char *finish(void)
{
	callstack_finish(stack);
	return slice_log_take(&slices);
}

/* The thread's first event: a jump within a function, so that all later ones are after time 0. */
static void start_in(const char *function)
{
	go(0, BRANCH_JUMP, function);
}

START_TEST(call_begins_a_slice_and_return_ends_it)
{
	start_in("main");
	go(10, BRANCH_CALL, "f");
	go(20, BRANCH_RETURN, "main");
	/* Frames found late are emitted at the segment's end; the return is still pending then. */
	/* seeds.md: a call pushes a frame, a return pops one */
	ck_assert_str_eq(finish(), "B 10 f\n"
				   "B 0 main inferred deferred\n"
				   "E 20 f\n"
				   "E 20 main\n"
				   "S\n");
}
END_TEST

START_TEST(nothing_is_given_out_before_a_later_timestamp_arrives)
{
	start_in("main");
	go(10, BRANCH_CALL, "f");
	go(10, BRANCH_CALL, "g");
	ck_assert_str_eq(slice_log_take(&slices), "");
	go(30, BRANCH_RETURN, "f");
	/* seeds.md: nothing is written for a time before a later one comes */
	ck_assert_str_eq(slice_log_take(&slices), "B 10 f\nB 20 g\n");
}
END_TEST

START_TEST(time_is_spread_over_the_calls_of_a_batch_and_returns_take_none)
{
	start_in("main");
	go(10, BRANCH_CALL, "f"); /* 10 / 3 = 3: 10..13 */
	go(10, BRANCH_RETURN, "main");
	go(10, BRANCH_CALL, "g"); /* 7 / 2 = 3: 13..16 */
	go(10, BRANCH_CALL, "h"); /* 4 / 1: 16..20 */
	go(10, BRANCH_RETURN, "g");
	go(20, BRANCH_RETURN, "main");
	/* seeds.md: the time up to the next event is divided among the calls; returns take none */
	ck_assert_str_eq(slice_log_take(&slices), "B 10 f\nE 13 f\nB 13 g\nB 16 h\nE 20 h\n");
}
END_TEST

START_TEST(time_that_goes_back_is_spread_backwards)
{
	start_in("main");
	go(20, BRANCH_CALL, "f");
	go(20, BRANCH_CALL, "g");
	go(13, BRANCH_RETURN, "f"); /* -7 / 2 = -3, truncated towards zero */
	/* seeds.md: a negative time is divided as well */
	ck_assert_str_eq(slice_log_take(&slices), "B 20 f\nB 17 g\n");
}
END_TEST

START_TEST(calls_at_the_base_time_wait_for_the_end_of_the_segment)
{
	go(0, BRANCH_CALL, "f");
	go(10, BRANCH_CALL, "g");
	go(20, BRANCH_RETURN, "f");
	ck_assert_str_eq(slice_log_take(&slices), "B 10 g\n");
	go(30, BRANCH_RETURN, "main");
	/* seeds.md: calls of the first instant come after callers found late */
	ck_assert_str_eq(finish(), "E 20 g\n"
				   "B 0 main inferred deferred\n"
				   "B 0 f deferred\n"
				   "E 30 f\n"
				   "E 30 main\n"
				   "S\n");
}
END_TEST

START_TEST(call_off_pushes_its_unknown_target_which_the_next_on_pops)
{
	start_in("main");
	off(10, BRANCH_CALL);
	on(20, "main");
	go(30, BRANCH_CALL, "f");
	/* seeds.md: a call that ends the trace pushes `[unknown]`, which the next start pops */
	ck_assert_str_eq(slice_log_take(&slices), "B 10 [unknown]\nE 20 [unknown]\n");
}
END_TEST

START_TEST(none_off_pushes_untraced)
{
	start_in("main");
	off(10, BRANCH_NONE);
	on(20, "other");
	go(30, BRANCH_CALL, "f");
	/* seeds.md: an end of the trace without a kind pushes `[untraced]` */
	ck_assert_str_eq(slice_log_take(&slices), "B 10 [untraced]\nE 20 [untraced]\n");
}
END_TEST

START_TEST(softint_off_pushes_untraced)
{
	start_in("main");
	off(10, BRANCH_SOFTINT);
	on(20, "main");
	go(30, BRANCH_CALL, "f");
	/* seeds.md: `int` is a jump, and ends the trace as `[untraced]` */
	ck_assert_str_eq(slice_log_take(&slices), "B 10 [untraced]\nE 20 [untraced]\n");
	ck_assert_uint_eq(diag_kinds(&diag), 0);
}
END_TEST

START_TEST(syscall_off_pushes_syscall)
{
	start_in("main");
	off(10, BRANCH_SYSCALL);
	on(20, "main");
	go(30, BRANCH_CALL, "f");
	/* seeds.md: a system call that ends the trace pushes `[syscall]` */
	ck_assert_str_eq(slice_log_take(&slices), "B 10 [syscall]\nE 20 [syscall]\n");
	ck_assert_uint_eq(diag_kinds(&diag), 0);
}
END_TEST

START_TEST(syscall_off_is_warned_about_unless_in_user_mode)
{
	open_in_mode(TRACE_MODE_BOTH);
	start_in("main");
	off(10, BRANCH_SYSCALL);
	off(20, BRANCH_SYSCALL);
	ck_assert_uint_eq(diag_kinds(&diag), 1);
	/* seeds.md: it is a warning unless only user code is traced */
	ck_assert_uint_eq(diag.first->count, 2);
}
END_TEST

START_TEST(return_off_pushes_returned_and_keeps_the_returning_frame)
{
	start_in("main");
	go(10, BRANCH_CALL, "f");
	off(20, BRANCH_RETURN);
	on(30, "main");
	go(40, BRANCH_RETURN, "main");
	/* seeds.md: a return that ends the trace pushes `[returned]` and pops nothing */
	ck_assert_str_eq(finish(), "B 10 f\n"
				   "B 20 [returned]\n"
				   "E 30 [returned]\n"
				   "B 0 main inferred deferred\n"
				   "E 40 f\n"
				   "E 40 main\n"
				   "S\n");
}
END_TEST

START_TEST(return_checks_the_function_it_ends_in)
{
	start_in("main");
	go(10, BRANCH_CALL, "f");
	go(20, BRANCH_RETURN, "other");
	go(30, BRANCH_CALL, "g");
	/* f returns into "other", although main called it: main is replaced. */
	/* seeds.md: a return checks the name of the function that it ends in */
	ck_assert_str_eq(slice_log_take(&slices), "B 10 f\nE 20 f\nE 20 main\nB 20 other\n");
}
END_TEST

START_TEST(return_without_call_shows_an_unknown_slice_and_infers_the_caller)
{
	on(0, "main");
	go(10, BRANCH_RETURN, "a");
	go(20, BRANCH_RETURN, "b");
	go(30, BRANCH_RETURN, "b");
	/* b is the innermost frame: it returns to a caller of the same name. */
	ck_assert_str_eq(finish(), "E 10 main\n"
				   "E 20 a\n"
				   "B 0 b inferred deferred\n"
				   "B 0 b inferred deferred\n"
				   "B 0 a inferred deferred\n"
				   "B 0 main deferred\n"
				   "E 30 b\n"
				   "E 30 b\n"
				   "S\n");
	open_in_mode(TRACE_MODE_USER);
	go(0, BRANCH_NONE, NULL);
	go(10, BRANCH_RETURN, "a");
	go(20, BRANCH_CALL, "f");
	go(30, BRANCH_RETURN, "a");
	/* seeds.md: a return from an empty stack is a slice `[unknown]` since the segment's begin
	 */
	ck_assert_str_eq(finish(), "B 20 f\n"
				   "C 0-10 [unknown] deferred\n"
				   "B 0 a inferred deferred\n"
				   "E 30 f\n"
				   "E 30 a\n"
				   "S\n");
}
END_TEST

START_TEST(on_with_an_empty_stack_calls_the_target)
{
	go(0, BRANCH_NONE, NULL);
	on(10, "main");
	go(20, BRANCH_CALL, "f");
	/* seeds.md: on an empty stack, a start of the trace calls its target */
	ck_assert_str_eq(slice_log_take(&slices), "B 10 main\n");
}
END_TEST

START_TEST(on_pops_one_frame_and_does_not_check_the_target)
{
	start_in("main");
	go(10, BRANCH_CALL, "f");
	off(20, BRANCH_NONE);
	on(30, "signal_handler");
	go(40, BRANCH_RETURN, "main");
	/* seeds.md: else it pops one frame and checks no name */
	ck_assert_str_eq(slice_log_take(&slices), "B 10 f\nB 20 [untraced]\nE 30 [untraced]\n");
}
END_TEST

START_TEST(on_in_kernel_mode_clears_the_stack_and_infers_the_frame_later)
{
	open_in_mode(TRACE_MODE_KERNEL);
	on(0, "kentry");
	go(10, BRANCH_CALL, "kf");
	on(20, "kfault");
	go(30, BRANCH_CALL, "kg");
	go(40, BRANCH_RETURN, "kfault");
	/* seeds.md: if only the kernel is traced, it clears the stack */
	ck_assert_str_eq(finish(), "B 10 kf\n"
				   "E 20 kf\n"
				   "B 30 kg\n"
				   "B 20 kfault inferred deferred\n"
				   "E 40 kg\n"
				   "E 40 kfault\n"
				   "S\n");
}
END_TEST

START_TEST(syscall_and_sysret_keep_the_stack_of_user_space)
{
	open_in_mode(TRACE_MODE_BOTH);
	start_in("main");
	go(10, BRANCH_CALL, "f");
	go(20, BRANCH_SYSCALL, "kentry");
	go(30, BRANCH_CALL, "ksys");
	go(40, BRANCH_SYSRET, "other"); /* not checked: f continues */
	go(50, BRANCH_RETURN, "main");
	/* seeds.md: a system call or interrupt sets the stack aside; sysret and iret bring it back
	 * unchecked */
	ck_assert_str_eq(finish(), "B 10 f\n"
				   "B 20 kentry\n"
				   "B 30 ksys\n"
				   "E 40 ksys\n"
				   "E 40 kentry\n"
				   "B 0 main inferred deferred\n"
				   "E 50 f\n"
				   "E 50 main\n"
				   "S\n");
	ck_assert_uint_eq(diag_kinds(&diag), 0);
}
END_TEST

START_TEST(interrupts_nest_in_system_calls)
{
	open_in_mode(TRACE_MODE_BOTH);
	start_in("main");
	go(20, BRANCH_SYSCALL, "kentry");
	go(30, BRANCH_INTERRUPT, "kirq");
	go(40, BRANCH_IRET, "kentry");
	go(50, BRANCH_CALL, "ksys");
	go(60, BRANCH_SYSRET, "main");
	go(70, BRANCH_CALL, "f");
	/* seeds.md: interrupts nest in system calls */
	ck_assert_str_eq(slice_log_take(&slices), "B 20 kentry\n"
						  "B 30 kirq\n"
						  "E 40 kirq\n"
						  "B 50 ksys\n"
						  "E 60 ksys\n"
						  "E 60 kentry\n");
}
END_TEST

START_TEST(frames_found_late_on_a_kernel_stack_begin_with_it)
{
	open_in_mode(TRACE_MODE_BOTH);
	start_in("main");
	go(20, BRANCH_SYSCALL, "kentry");
	go(30, BRANCH_RETURN, "kcaller");
	/* seeds.md: frames found late in kernel code begin with the entry */
	ck_assert_str_eq(finish(), "B 20 kentry\n"
				   "B 20 kcaller inferred deferred\n"
				   "B 0 main inferred deferred\n"
				   "E 30 kentry\n"
				   "E 30 kcaller\n"
				   "E 30 main\n"
				   "S\n");
}
END_TEST

START_TEST(iret_without_a_stack_set_aside_infers_its_target_since_the_last_gap)
{
	open_in_mode(TRACE_MODE_BOTH);
	on(0, "kfault");
	go(10, BRANCH_IRET, "user");
	go(20, BRANCH_CALL, "f");
	/* seeds.md: an iret without a stack set aside begins a new one */
	ck_assert_str_eq(finish(), "E 10 kfault\n"
				   "B 0 user inferred deferred\n"
				   "B 0 kfault deferred\n"
				   "B 20 f\n"
				   "E 20 f\n"
				   "E 20 user\n"
				   "S\n");
}
END_TEST

START_TEST(iret_and_sysret_off_leave_untraced_alone_on_the_stack)
{
	static const unsigned kinds[] = { BRANCH_IRET, BRANCH_SYSRET };

	for (size_t i = 0; i < 2; i++) {
		open_in_mode(TRACE_MODE_KERNEL);
		on(0, "kentry");
		go(10, BRANCH_CALL, "kf");
		go(20, BRANCH_CALL, "kg");
		off(30, kinds[i]);
		on(40, "kfault");
		go(50, BRANCH_CALL, "kh");
		/* seeds.md: iret or sysret that ends the trace leaves `[untraced]` alone */
		ck_assert_str_eq(slice_log_take(&slices), "B 10 kf\nB 20 kg\nE 30 kg\nE 30 kf\n"
							  "B 30 [untraced]\nE 40 [untraced]\n");
	}
	ck_assert_uint_eq(diag_kinds(&diag), 0);
}
END_TEST

START_TEST(system_calls_seen_in_user_mode_are_handled_and_warned_about)
{
	start_in("main");
	go(10, BRANCH_SYSCALL, "kentry");
	go(20, BRANCH_SYSRET, "main");
	go(30, BRANCH_INTERRUPT, "kirq");
	go(40, BRANCH_IRET, "main");
	ck_assert_uint_eq(diag_kinds(&diag), 1);
	/* seeds.md: kernel branches where only user code is traced are a warning */
	ck_assert_uint_eq(diag.first->count, 4);
	go(50, BRANCH_CALL, "f");
	ck_assert_str_eq(slice_log_take(&slices),
			 "B 10 kentry\nE 20 kentry\nB 30 kirq\nE 40 kirq\n");
}
END_TEST

START_TEST(a_guessed_mode_is_kernel_until_a_user_address_is_seen)
{
	struct stack_branch branch = {
		.event = { .time = BASE + 10, .flags = BRANCH_TRACE_ON },
		.to = { KERNEL, symbol("kf"), 0 },
	};

	open_in_mode(TRACE_MODE_GUESS);
	stack_branch_feed(stack, &branch);
	go(20, BRANCH_JUMP, "user");
	on(30, "kf");
	go(40, BRANCH_SYSCALL, "kentry");
	/* In kernel mode the first "on" calls nothing; in both modes the second one pops. */
	/* seeds.md: kernel and user mode decide the meaning of a start */
	ck_assert_str_eq(slice_log_take(&slices), "E 30 user\n");
	ck_assert_uint_eq(diag_kinds(&diag), 0);
}
END_TEST

START_TEST(jump_into_another_function_replaces_the_frame)
{
	static const unsigned kinds[] = {
		BRANCH_JUMP,
		BRANCH_COND,
		BRANCH_SOFTINT,
		BRANCH_TX_ABORT,
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		open_in_mode(TRACE_MODE_USER);
		start_in("main");
		go(10, BRANCH_CALL, "f");
		go(20, kinds[i], "f");
		go(30, kinds[i], "g");
		go(40, BRANCH_CALL, "h");
		/* seeds.md: a jump into another function replaces the frame */
		/* seeds.md: `int` is a jump, and ends the trace as `[untraced]` */
		ck_assert_str_eq(slice_log_take(&slices), "B 10 f\nE 30 f\nB 30 g\n");
	}
}
END_TEST

START_TEST(functions_are_the_same_if_their_names_are)
{
	start_in("main");
	go(10, BRANCH_CALL, "f");
	go(20, BRANCH_JUMP, "f"); /* another struct symbol of this name */
	go(30, BRANCH_CALL, NULL);
	go(40, BRANCH_JUMP, NULL);
	go(50, BRANCH_CALL, "g");
	/* seeds.md: functions are compared by name only */
	ck_assert_str_eq(slice_log_take(&slices), "B 10 f\nB 30 [unknown]\n");
}
END_TEST

START_TEST(none_without_state_changes_nothing)
{
	start_in("main");
	go(10, BRANCH_CALL, "f");
	go(20, BRANCH_NONE, "g");
	feed(stack, 20, BRANCH_NONE, BRANCH_TRACE_ON | BRANCH_TRACE_OFF, "g");
	/* seeds.md: tr strt tr end changes nothing */
	/* seeds.md: a branch without kind and state changes nothing */
	ck_assert_str_eq(slice_log_take(&slices), "");
	ck_assert_uint_eq(diag_kinds(&diag), 0);
}
END_TEST

START_TEST(impossible_pairs_are_warned_about_and_handled_as_without_a_kind)
{
	static const unsigned off_kinds[] = { BRANCH_INTERRUPT, BRANCH_JUMP, BRANCH_COND };

	for (size_t i = 0; i < 3; i++) {
		open_in_mode(TRACE_MODE_USER);
		start_in("main");
		off(10, off_kinds[i]);
		feed(stack, 20, BRANCH_CALL + (unsigned)i, BRANCH_TRACE_ON, "main");
		go(30, BRANCH_CALL, "f");
		ck_assert_str_eq(slice_log_take(&slices), "B 10 [untraced]\nE 20 [untraced]\n");
	}
	ck_assert_uint_eq(diag_kinds(&diag), 1);
	/* seeds.md: an impossible pair is recognised */
	ck_assert_uint_eq(diag.first->count, 6);
}
END_TEST

START_TEST(a_gap_closes_everything_and_starts_anew)
{
	start_in("main");
	go(10, BRANCH_CALL, "f");
	gap_at(20, 0x2000);
	/* seeds.md: a decode error ends all frames of all stacks */
	/* seeds.md: frames found after it begin at the error */
	ck_assert_str_eq(slice_log_take(&slices), "I 20 [decode error: Overflow packet]\n"
						  "B 0 main inferred deferred\n"
						  "B 10 f\n"
						  "E 20 f\n"
						  "E 20 main\n"
						  "S\n");
	on(30, "g");
	go(40, BRANCH_RETURN, "main");
	ck_assert_str_eq(finish(), "B 30 g\n"
				   "B 20 main inferred deferred\n"
				   "E 40 g\n"
				   "E 40 main\n"
				   "S\n");
}
END_TEST

START_TEST(a_gap_closes_the_stacks_set_aside_as_well)
{
	open_in_mode(TRACE_MODE_BOTH);
	start_in("main");
	go(10, BRANCH_SYSCALL, "kentry");
	go(20, BRANCH_INTERRUPT, "kirq");
	gap_at(30, KERNEL);
	/* seeds.md: a decode error ends all frames of all stacks */
	ck_assert_str_eq(slice_log_take(&slices), "B 10 kentry\n"
						  "I 30 [decode error: Overflow packet]\n"
						  "B 0 main inferred deferred\n"
						  "B 20 kirq\n"
						  "E 30 kirq\n"
						  "E 30 kentry\n"
						  "E 30 main\n"
						  "S\n");
}
END_TEST

START_TEST(events_at_the_time_of_a_gap_slide_by_one_nanosecond)
{
	start_in("main");
	gap_at(20, 0x2000);
	on(20, "f");
	go(20, BRANCH_CALL, "g");
	slice_log_take(&slices);
	go(31, BRANCH_RETURN, "f");
	/* seeds.md: an event at the time of a decode error is 1 ns later */
	ck_assert_str_eq(slice_log_take(&slices), "B 21 f\nB 26 g\n");
}
END_TEST

START_TEST(a_second_gap_at_the_same_time_slides_and_what_follows_does_not)
{
	start_in("main");
	gap_at(20, 0x2000);
	slice_log_take(&slices);
	gap_at(20, 0x2000);
	ck_assert_str_eq(slice_log_take(&slices), "I 21 [decode error: Overflow packet]\nS\n");
	on(20, "f");
	go(30, BRANCH_RETURN, "main");
	/* seeds.md: of two errors at one time, what follows the second comes before it */
	ck_assert_str_eq(finish(), "B 20 f\n"
				   "B 21 main inferred deferred\n"
				   "E 30 f\n"
				   "E 30 main\n"
				   "S\n");
}
END_TEST

START_TEST(a_later_threads_first_instant_slides_but_the_runs_first_does_not)
{
	char track[] = "t2";

	start_in("main");
	go(0, BRANCH_RETURN, "a");
	callstack_finish(stack);
	callstack_close(stack);
	slice_log_take(&slices);
	stack = callstack_open(machine, track);
	go(5, BRANCH_CALL, "f");
	go(5, BRANCH_CALL, "g");
	go(16, BRANCH_RETURN, "f");
	go(16, BRANCH_RETURN, "main");
	/* Frames found late keep their time before sliding. */
	/* seeds.md: so is the first instant of each thread but the run's first */
	ck_assert_str_eq(finish(), "t2 B 6 f\n"
				   "t2 B 11 g\n"
				   "t2 B 5 main inferred deferred\n"
				   "t2 E 16 g\n"
				   "t2 E 16 f\n"
				   "t2 E 16 main\n"
				   "t2 S\n");
}
END_TEST

START_TEST(a_gap_without_a_time_is_at_the_threads_last_event)
{
	struct stack_branch branch = { .event = { .kind = BRANCH_GAP },
				       .notes = { .message = "Odd message", .untimed = true },
				       .has_notes = true };

	start_in("main");
	go(10, BRANCH_CALL, "f");
	stack_branch_feed(stack, &branch);
	/* seeds.md: an error may lack its time */
	/* seeds.md: an error without a time is at the thread's last event */
	ck_assert_str_eq(slice_log_take(&slices), "I 10 [decode error: Odd message]\n"
						  "B 0 main inferred deferred\n"
						  "B 10 f\n"
						  "E 10 f\n"
						  "E 10 main\n"
						  "S\n");
}
END_TEST

START_TEST(a_run_with_one_timestamp_has_ends_without_beginnings)
{
	go(0, BRANCH_CALL, "f");
	/* seeds.md: a trace of one instant has ends without begins */
	ck_assert_str_eq(finish(), "E 0 f\nS\n");
}
END_TEST

START_TEST(start_events_found_while_closing_come_with_the_next_segment)
{
	go(0, BRANCH_NONE, NULL);
	go(10, BRANCH_RETURN, "a"); /* its [unknown] is still pending when the gap comes */
	gap_at(20, 0x2000);
	ck_assert_str_eq(slice_log_take(&slices), "I 20 [decode error: Overflow packet]\n"
						  "B 0 a inferred deferred\n"
						  "E 20 a\n");
	on(30, "f");
	go(40, BRANCH_CALL, "g");
	/* There is no segment end before: these are frames left from before the gap. */
	/* seeds.md: frames found while the frames are closed come with the next segment */
	ck_assert_str_eq(finish(), "B 30 f\n"
				   "C 0-10 [unknown] deferred\n"
				   "B 40 g\n"
				   "E 40 g\n"
				   "E 40 f\n"
				   "S\n");
}
END_TEST

START_TEST(an_ocaml_exception_unwinds_the_frames_it_passed)
{
	start_in("main");
	go(10, BRANCH_CALL, "a");
	go(20, BRANCH_CALL, "b");
	go(30, BRANCH_CALL, "caml_raise_exn");
	for (uint64_t i = 0; i < 3; i++) {
		go(40 + i * 10, BRANCH_CALL, "caml_next_frame_descriptor");
		go(45 + i * 10, BRANCH_RETURN, "caml_raise_exn");
	}
	go(70, BRANCH_JUMP, "caml_raise_exn");
	slice_log_take(&slices);
	/* Three frames passed: two more than the return itself pops. */
	go(80, BRANCH_RETURN, "main");
	go(90, BRANCH_CALL, "f");
	/* seeds.md: a raised OCaml exception pops the frames that caml_next_frame_descriptor
	 * counted */
	ck_assert_str_eq(slice_log_take(&slices), "E 65 caml_next_frame_descriptor\n"
						  "E 80 caml_raise_exn\nE 80 b\nE 80 a\n");
}
END_TEST

START_TEST(an_ocaml_exception_raised_from_c_unwinds_two_frames_more)
{
	start_in("main");
	go(10, BRANCH_CALL, "a");
	go(20, BRANCH_CALL, "c1");
	go(30, BRANCH_CALL, "c2");
	go(40, BRANCH_CALL, "caml_raise_exception");
	slice_log_take(&slices);
	go(50, BRANCH_RETURN, "a");
	go(60, BRANCH_CALL, "f");
	/* seeds.md: caml_raise_exception pops two more */
	ck_assert_str_eq(slice_log_take(&slices), "B 40 caml_raise_exception\n"
						  "E 50 caml_raise_exception\nE 50 c2\nE 50 c1\n");
}
END_TEST

START_TEST(caml_stash_backtrace_counts_as_a_frame_only_for_newer_versions)
{
	for (int newer = 0; newer < 2; newer++) {
		open_in_mode(TRACE_MODE_USER);
		machine->newer_upstream = newer;
		start_in("main");
		go(10, BRANCH_CALL, "a");
		go(20, BRANCH_CALL, "caml_raise_exn");
		go(30, BRANCH_CALL, "caml_stash_backtrace");
		go(40, BRANCH_CALL, "caml_next_frame_descriptor");
		go(50, BRANCH_RETURN, "caml_stash_backtrace");
		go(60, BRANCH_RETURN, "caml_raise_exn");
		go(70, BRANCH_JUMP, "caml_raise_exn");
		slice_log_take(&slices);
		go(80, BRANCH_RETURN, newer ? "main" : "a");
		go(90, BRANCH_CALL, "f");
		/* seeds.md: caml_stash_backtrace counts, too (1.1) */
		ck_assert_str_eq(slice_log_take(&slices),
				 newer ? "E 60 caml_stash_backtrace\n"
					 "E 80 caml_raise_exn\nE 80 a\n"
				       : "E 60 caml_stash_backtrace\nE 80 caml_raise_exn\n");
	}
}
END_TEST

START_TEST(gogo_returns_past_mcall_and_its_caller_for_newer_versions)
{
	machine->newer_upstream = true;
	start_in("main");
	go(10, BRANCH_CALL, "runtime.gosched");
	go(20, BRANCH_CALL, "runtime.mcall");
	go(30, BRANCH_CALL, "schedule");
	go(40, BRANCH_CALL, "gogo");
	slice_log_take(&slices);
	go(50, BRANCH_JUMP, "runtime.gosched");
	go(60, BRANCH_CALL, "f");
	/* seeds.md: Go's gogo pops past mcall or morestack and its caller (1.1) */
	ck_assert_str_eq(slice_log_take(&slices), "B 40 gogo\n"
						  "E 50 gogo\nE 50 schedule\n"
						  "E 50 runtime.mcall\nE 50 runtime.gosched\n"
						  "B 50 runtime.gosched\n");
	go(70, BRANCH_CALL, "gogo");
	go(80, BRANCH_JUMP, "other");
	go(90, BRANCH_CALL, "g");
	/* seeds.md: gogo elsewhere begins a new stack (1.1) */
	ck_assert_str_eq(slice_log_take(&slices), "B 60 f\nB 70 gogo\n"
						  "B 0 main inferred deferred\n"
						  "E 80 gogo\nE 80 f\n"
						  "E 80 runtime.gosched\nE 80 main\nS\n"
						  "B 80 other\n");
}
END_TEST

START_TEST(a_transaction_shows_when_it_ends_and_not_if_it_is_rolled_back)
{
	start_in("main");
	feed(stack, 10, BRANCH_CALL, BRANCH_IN_TX, "f");
	go(20, BRANCH_TX_ABORT, "main");
	feed(stack, 30, BRANCH_CALL, BRANCH_IN_TX, "g");
	go(40, BRANCH_RETURN, "main");
	go(50, BRANCH_CALL, "h");
	/* seeds.md: a transaction's branches wait for its end, and are dropped if it is aborted */
	ck_assert_str_eq(slice_log_take(&slices), "B 30 g\nE 40 g\n");
}
END_TEST

START_TEST(a_gap_in_a_transaction_drops_its_branches_with_a_warning)
{
	start_in("main");
	feed(stack, 10, BRANCH_CALL, BRANCH_IN_TX, "f");
	gap_at(20, 0x2000);
	/* seeds.md: an error in a transaction drops them */
	ck_assert_str_eq(slice_log_take(&slices), "I 20 [decode error: Overflow packet]\n"
						  "B 0 main inferred deferred\n"
						  "E 20 main\n"
						  "S\n");
	ck_assert_uint_eq(diag_kinds(&diag), 1);
}
END_TEST

START_TEST(the_base_time_is_that_of_the_first_event_even_if_it_is_rolled_back)
{
	open_in_mode(TRACE_MODE_USER);
	machine->has_base_time = false;
	feed(stack, 10, BRANCH_CALL, BRANCH_IN_TX, "f");
	go(20, BRANCH_TX_ABORT, "main");
	/* seeds.md: times count from the run's first event */
	ck_assert_uint_eq(machine->base_time, BASE + 10);
}
END_TEST

START_TEST(a_mark_is_given_out_at_once_without_length)
{
	struct stack_branch branch = { .event = { .time = BASE + 20 },
				       .notes = { .mark = symbol("PTWRITE") },
				       .has_notes = true };

	start_in("main");
	go(10, BRANCH_CALL, "f");
	stack_branch_feed(stack, &branch);
	ck_assert_str_eq(slice_log_take(&slices), "C 20-20 PTWRITE\n");
}
END_TEST

START_TEST(times_before_the_base_time_do_not_go_below_zero)
{
	struct stack_branch branch = { .event = { .kind = BRANCH_CALL },
				       .to = { 1, symbol("f"), 0 } };

	open_in_mode(TRACE_MODE_USER);
	machine->base_time = 5;
	slices.base = 0;
	branch.event.time = 10;
	stack_branch_feed(stack, &branch);
	branch.event.time = 0;
	stack_branch_feed(stack, &branch);
	branch.event.time = UINT64_MAX;
	stack_branch_feed(stack, &branch);
	branch.event.time = UINT64_C(1) << 63;
	stack_branch_feed(stack, &branch);
	callstack_finish(stack);
}
END_TEST

/* A gap has no time: magic-trace 1.0 counts from 0 if it comes first, else from the first time. */
START_TEST(the_base_time_is_that_of_the_first_event)
{
	static const struct {
		unsigned kind;
		bool like_upstream;
		uint64_t base;
	} firsts[] = {
		{ BRANCH_CALL, true, BASE + 5 },
		{ BRANCH_GAP, true, 0 },
		{ BRANCH_GAP, false, BASE + 5 },
	};

	machine->has_base_time = false;
	machine->like_upstream = firsts[_i].like_upstream;
	go(5, firsts[_i].kind, "f");
	ck_assert(machine->has_base_time);
	ck_assert_uint_eq(machine->base_time, firsts[_i].base);
}
END_TEST

static TCase *all_tests(const char *name, void (*set_up)(void))
{
	TCase *all = tcase_create(name);

	tcase_add_checked_fixture(all, set_up, teardown);
	tcase_add_loop_test(all, the_base_time_is_that_of_the_first_event, 0, 3);
	tcase_add_test(all, call_begins_a_slice_and_return_ends_it);
	tcase_add_test(all, nothing_is_given_out_before_a_later_timestamp_arrives);
	tcase_add_test(all, time_is_spread_over_the_calls_of_a_batch_and_returns_take_none);
	tcase_add_test(all, time_that_goes_back_is_spread_backwards);
	tcase_add_test(all, calls_at_the_base_time_wait_for_the_end_of_the_segment);
	tcase_add_test(all, call_off_pushes_its_unknown_target_which_the_next_on_pops);
	tcase_add_test(all, none_off_pushes_untraced);
	tcase_add_test(all, softint_off_pushes_untraced);
	tcase_add_test(all, syscall_off_pushes_syscall);
	tcase_add_test(all, syscall_off_is_warned_about_unless_in_user_mode);
	tcase_add_test(all, return_off_pushes_returned_and_keeps_the_returning_frame);
	tcase_add_test(all, return_checks_the_function_it_ends_in);
	tcase_add_test(all, return_without_call_shows_an_unknown_slice_and_infers_the_caller);
	tcase_add_test(all, on_with_an_empty_stack_calls_the_target);
	tcase_add_test(all, on_pops_one_frame_and_does_not_check_the_target);
	tcase_add_test(all, on_in_kernel_mode_clears_the_stack_and_infers_the_frame_later);
	tcase_add_test(all, syscall_and_sysret_keep_the_stack_of_user_space);
	tcase_add_test(all, interrupts_nest_in_system_calls);
	tcase_add_test(all, frames_found_late_on_a_kernel_stack_begin_with_it);
	tcase_add_test(all, iret_without_a_stack_set_aside_infers_its_target_since_the_last_gap);
	tcase_add_test(all, iret_and_sysret_off_leave_untraced_alone_on_the_stack);
	tcase_add_test(all, system_calls_seen_in_user_mode_are_handled_and_warned_about);
	tcase_add_test(all, a_guessed_mode_is_kernel_until_a_user_address_is_seen);
	tcase_add_test(all, jump_into_another_function_replaces_the_frame);
	tcase_add_test(all, functions_are_the_same_if_their_names_are);
	tcase_add_test(all, none_without_state_changes_nothing);
	tcase_add_test(all, impossible_pairs_are_warned_about_and_handled_as_without_a_kind);
	tcase_add_test(all, a_gap_closes_everything_and_starts_anew);
	tcase_add_test(all, a_gap_closes_the_stacks_set_aside_as_well);
	tcase_add_test(all, events_at_the_time_of_a_gap_slide_by_one_nanosecond);
	tcase_add_test(all, a_second_gap_at_the_same_time_slides_and_what_follows_does_not);
	tcase_add_test(all, a_later_threads_first_instant_slides_but_the_runs_first_does_not);
	tcase_add_test(all, a_gap_without_a_time_is_at_the_threads_last_event);
	tcase_add_test(all, a_run_with_one_timestamp_has_ends_without_beginnings);
	tcase_add_test(all, start_events_found_while_closing_come_with_the_next_segment);
	tcase_add_test(all, an_ocaml_exception_unwinds_the_frames_it_passed);
	tcase_add_test(all, an_ocaml_exception_raised_from_c_unwinds_two_frames_more);
	tcase_add_test(all, caml_stash_backtrace_counts_as_a_frame_only_for_newer_versions);
	tcase_add_test(all, gogo_returns_past_mcall_and_its_caller_for_newer_versions);
	tcase_add_test(all, a_transaction_shows_when_it_ends_and_not_if_it_is_rolled_back);
	tcase_add_test(all, a_gap_in_a_transaction_drops_its_branches_with_a_warning);
	tcase_add_test(all, the_base_time_is_that_of_the_first_event_even_if_it_is_rolled_back);
	tcase_add_test(all, a_mark_is_given_out_at_once_without_length);
	tcase_add_test(all, times_before_the_base_time_do_not_go_below_zero);
	return all;
}

int main(void)
{
	Suite *suite = suite_create("callstack_magic_trace");

	suite_add_tcase(suite, all_tests("callstack_magic_trace", setup));
	suite_add_tcase(suite, all_tests("callstack_magic_trace, known branches", setup_known));
	return unit_run(suite);
}
