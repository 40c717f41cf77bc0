/* SPDX-License-Identifier: MIT */
/*
 * What each event does, by the kind of branch and whether tracing starts (ON)
 * or stops (OFF) with it.  "call X" pushes X, "ret" pops the innermost frame,
 * "check" makes the innermost frame the target's function (magic_check_symbol()).
 *
 *  kind           state  action
 *  call           -,OFF  call target
 *  return         -      ret with the OCaml heuristics; check
 *  return         OFF    call [returned]; the returning frame stays below it
 *  jump, cond     -      check
 *  softint        -      check
 *  softint        OFF    call [untraced]
 *  none           ON     kernel only: clear, new stack.  Else, if the stack is
 *                        empty: call target.  Else: ret with the heuristics (this
 *                        pops what OFF pushed) and no check, because a page fault
 *                        at a call's target would then look like a tail call
 *  none           OFF    call [untraced]
 *  none           -      nothing
 *  syscall        OFF    call [syscall]                       (expected in user mode)
 *  syscall        -      set the stack aside, new stack, call target         (both)
 *  interrupt      -      the same                                (both, kernel only)
 *  iret, sysret   OFF    clear; call [untraced]                        (kernel only)
 *  iret           -      clear; take the stack set aside last, without a check; if
 *                        there is none: new stack, check         (both, kernel only)
 *  sysret         -      the same                                             (both)
 *  tx abort       -      check; what its transaction did is dropped
 *  gap                   close all frames, new stack
 *  any other pair        impossible: as if the kind were none
 *
 * A "new stack" remembers since when frames that are found late may have run:
 * since the branch if its target is in the kernel, else since the last gap.
 */
#include "src/callstack/magic_trace/callstack_magic_trace.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "src/callstack/magic_trace/callstack_magic_frames.h"

/* Branches of one transaction that are held back; hardware cannot do more than its caches hold. */
#define TRANSACTION_LIMIT 65536

/* Returns the mode, or what it seems to be from the addresses seen. */
static enum trace_mode mode_of(const struct magic_stack *stack)
{
	const struct magic_trace *machine = magic_machine(stack);

	if (machine->base.mode != TRACE_MODE_GUESS)
		return (enum trace_mode)machine->base.mode;
	if (machine->saw_kernel)
		return machine->saw_user ? TRACE_MODE_BOTH : TRACE_MODE_KERNEL;
	return TRACE_MODE_USER;
}

/* Warn of an event that the trace mode should not give; it is handled all the same. */
static void expect_mode(struct magic_stack *stack, const struct resolved_branch *branch,
			enum trace_mode mode, enum trace_mode other)
{
	const struct callstack_machine *machine = stack->base.machine;

	if (machine->mode == TRACE_MODE_GUESS || machine->mode == mode || machine->mode == other)
		return;
	diag_warn(machine->diag, "branch-not-in-mode",
		  "the trace has branches that its mode (user, kernel) excludes; "
		  "first: kind %u from 0x%llx",
		  branch->event->kind, (unsigned long long)branch->places->from.ip);
}

static void trace_on(struct magic_stack *stack, int64_t time, const struct location *to)
{
	if (mode_of(stack) == TRACE_MODE_KERNEL) {
		magic_clear(stack, time);
		magic_renew(stack, time, to->ip);
	} else if (magic_is_empty(stack)) {
		magic_call(stack, time, to);
	} else {
		magic_ret(stack, time);
	}
}

/* A system call or interrupt runs on a stack of its own. */
static void enter_kernel(struct magic_stack *stack, int64_t time, const struct location *to)
{
	magic_push_level(stack, time, to->ip);
	magic_call(stack, time, to);
}

static void leave_kernel(struct magic_stack *stack, int64_t time, const struct location *to)
{
	magic_clear(stack, time);
	if (magic_pop_level(stack))
		return;
	magic_renew(stack, time, to->ip);
	magic_check_symbol(stack, time, to);
}

static void trace_off(struct magic_stack *stack, int64_t time, const struct resolved_branch *branch,
		      enum branch_kind kind)
{
	switch (kind) {
	case BRANCH_CALL:
		magic_call(stack, time, &branch->places->to);
		break;
	case BRANCH_RETURN:
		magic_call_special(stack, time, MAGIC_RETURNED);
		break;
	case BRANCH_SYSCALL:
		expect_mode(stack, branch, TRACE_MODE_USER, TRACE_MODE_USER);
		magic_call_special(stack, time, MAGIC_SYSCALL);
		break;
	case BRANCH_IRET:
	case BRANCH_SYSRET:
		expect_mode(stack, branch, TRACE_MODE_KERNEL, TRACE_MODE_KERNEL);
		magic_clear(stack, time);
		magic_call_special(stack, time, MAGIC_UNTRACED);
		break;
	default:
		magic_call_special(stack, time, MAGIC_UNTRACED);
		break;
	}
}

static void trace_goes_on(struct magic_stack *stack, int64_t time,
			  const struct resolved_branch *branch)
{
	switch ((enum branch_kind)branch->event->kind) {
	case BRANCH_CALL:
		magic_call(stack, time, &branch->places->to);
		break;
	case BRANCH_RETURN:
		magic_ret(stack, time);
		magic_check_symbol(stack, time, &branch->places->to);
		break;
	case BRANCH_JUMP:
	case BRANCH_COND:
	case BRANCH_SOFTINT:
	case BRANCH_TX_ABORT:
		magic_check_symbol(stack, time, &branch->places->to);
		break;
	case BRANCH_SYSCALL:
		expect_mode(stack, branch, TRACE_MODE_BOTH, TRACE_MODE_BOTH);
		enter_kernel(stack, time, &branch->places->to);
		break;
	case BRANCH_INTERRUPT:
		expect_mode(stack, branch, TRACE_MODE_BOTH, TRACE_MODE_KERNEL);
		enter_kernel(stack, time, &branch->places->to);
		break;
	case BRANCH_SYSRET:
		expect_mode(stack, branch, TRACE_MODE_BOTH, TRACE_MODE_BOTH);
		leave_kernel(stack, time, &branch->places->to);
		break;
	case BRANCH_IRET:
		expect_mode(stack, branch, TRACE_MODE_BOTH, TRACE_MODE_KERNEL);
		leave_kernel(stack, time, &branch->places->to);
		break;
	case BRANCH_NONE:
	case BRANCH_GAP:
	case BRANCH_CPU_EVENT:
		break;
	}
}

/* Returns whether a branch of this kind can be the one with which tracing starts or stops. */
static bool is_possible(enum branch_kind kind, unsigned state)
{
	if (state == BRANCH_TRACE_ON)
		return kind == BRANCH_NONE;
	return kind != BRANCH_INTERRUPT && kind != BRANCH_JUMP && kind != BRANCH_COND &&
	       kind != BRANCH_TX_ABORT;
}

static void dispatch(struct magic_stack *stack, int64_t time, const struct resolved_branch *branch)
{
	unsigned state = branch->event->flags & (BRANCH_TRACE_ON | BRANCH_TRACE_OFF);
	enum branch_kind kind = (enum branch_kind)branch->event->kind;

	if (state == (BRANCH_TRACE_ON | BRANCH_TRACE_OFF))
		return; /* perf prints it for odd streams of other programs; it changes nothing */
	if (!state) {
		trace_goes_on(stack, time, branch);
		return;
	}
	if (!is_possible(kind, state)) {
		diag_warn(stack->base.machine->diag, "impossible-branch",
			  "tracing started or stopped with a branch that cannot do that "
			  "(kind %u from 0x%llx); its kind was ignored",
			  kind, (unsigned long long)branch->places->from.ip);
		kind = BRANCH_NONE;
	}
	if (state == BRANCH_TRACE_ON)
		trace_on(stack, time, &branch->places->to);
	else
		trace_off(stack, time, branch, kind);
}

static void gap(struct magic_stack *stack, int64_t time, const struct resolved_branch *branch,
		const char *message)
{
	const struct callstack_machine *machine = stack->base.machine;
	char text[1024];

	if (!message)
		message = callstack_gap_text((enum gap_reason)branch->event->gap);
	snprintf(text, sizeof(text), "[decode error: %s]", message);
	slice_sink_emit(machine->sink, stack->base.track,
			&(struct slice_event){ .time = callstack_perf_time(machine, time),
					       .text = text,
					       .kind = SLICE_INSTANT },
			NULL);
	magic_restart(stack, time, branch->places->from.ip);
}

static void mark(struct magic_stack *stack, int64_t time, const struct symbol *symbol)
{
	const struct callstack_machine *machine = stack->base.machine;
	uint64_t at = callstack_perf_time(machine, time);

	slice_sink_emit_whole(machine->sink, stack->base.track,
			      &(struct slice_event){ .time = at, .symbol = symbol }, at);
}

/* Returns perf's time as a mapped one; the first of all is the base. */
static int64_t map_time(struct callstack_machine *machine, uint64_t time)
{
	if (!machine->has_base_time) {
		machine->base_time = time;
		machine->has_base_time = true;
	}
	return (int64_t)(time - machine->base_time);
}

/*
 * Returns the time at which an event happens.  One that has exactly the time of
 * the thread's last gap (or, with magic-trace, of its first event) slides on by
 * one ns, so that a new segment never begins at the instant at which the one
 * before it ends.  The run's very first instant is exempt.
 */
static int64_t event_time(struct magic_stack *stack, const struct branch_event *event, bool untimed)
{
	int64_t time = untimed ? 0 : map_time(stack->base.machine, event->time);

	if (!stack->started) {
		stack->started = true;
		stack->last_gap_time = stack->last_event_time = time;
		magic_renew(stack, time, 0);
	}
	if (untimed)
		time = stack->last_event_time;
	stack->last_event_time = time;
	if (time == stack->last_gap_time && time != 0)
		time = (int64_t)((uint64_t)time + 1);
	return time;
}

static void note_address(struct magic_trace *machine, uint64_t ip)
{
	machine->saw_kernel |= magic_is_kernel(ip);
	machine->saw_user |= ip && !magic_is_kernel(ip);
}

static void deliver(struct magic_stack *stack, const struct resolved_branch *branch,
		    const struct branch_notes *notes)
{
	int64_t time = event_time(stack, branch->event, notes->untimed);

	note_address(magic_machine(stack), branch->places->from.ip);
	note_address(magic_machine(stack), branch->places->to.ip);
	if (branch->event->kind == BRANCH_GAP)
		gap(stack, time, branch, notes->message);
	else if (notes->mark)
		mark(stack, time, notes->mark);
	else
		dispatch(stack, time, branch);
}

static void deliver_transaction(struct magic_stack *stack)
{
	for (size_t i = 0; i < stack->transaction_count; i++) {
		const struct held_branch *held = &stack->transaction[i];

		deliver(stack, &(struct resolved_branch){ &held->event, &held->places },
			&held->notes);
	}
	stack->transaction_count = 0;
}

static void hold_back(struct magic_stack *stack, const struct resolved_branch *branch,
		      const struct branch_notes *notes)
{
	stack->transaction = alloc_grow(stack->transaction, &stack->transaction_room,
					stack->transaction_count + 1, sizeof(*stack->transaction));
	stack->transaction[stack->transaction_count++] =
		(struct held_branch){ *branch->event, *branch->places, *notes };
}

/* What a transaction does is shown only when it is known not to be rolled back. */
static void feed_one(struct magic_stack *stack, const struct resolved_branch *branch,
		     const struct branch_notes *notes)
{
	struct callstack_machine *machine = stack->base.machine;

	if (!notes->untimed)
		map_time(machine, branch->event->time); /* a held branch may be the run's first */
	if (branch->event->kind == BRANCH_TX_ABORT) {
		stack->transaction_count = 0;
	} else if (branch->event->kind == BRANCH_GAP) {
		if (stack->transaction_count)
			diag_warn(machine->diag, "transaction-lost",
				  "a gap cut a transaction short; its branches are not shown");
		stack->transaction_count = 0;
	} else if (branch->event->flags & BRANCH_IN_TX) {
		if (stack->transaction_count >= TRANSACTION_LIMIT)
			deliver_transaction(stack);
		hold_back(stack, branch, notes);
		return;
	}
	deliver_transaction(stack);
	deliver(stack, branch, notes);
}

static void magic_trace_feed(struct callstack *stack, const struct resolved_branch *branches,
			     size_t count, const struct branch_notes *notes)
{
	static const struct branch_notes none;

	for (size_t i = 0; i < count; i++)
		feed_one((struct magic_stack *)stack, &branches[i], notes ? notes : &none);
}

static void magic_trace_finish(struct callstack *base)
{
	struct magic_stack *stack = (struct magic_stack *)base;

	magic_end_segment(stack, stack->last_event_time);
	magic_tell_segment_end(stack);
}

static struct callstack *magic_trace_open(struct callstack_machine *machine, void *track)
{
	struct magic_stack *stack = alloc_zeroed(1, sizeof(*stack));

	stack->base.machine = machine;
	stack->base.track = track;
	stack->group.owner = &stack->base;
	magic_push_level(stack, 0, 0);
	return &stack->base;
}

static void magic_trace_close(struct callstack *base)
{
	struct magic_stack *stack = (struct magic_stack *)base;

	timestamp_group_release(&stack->group);
	free(stack->frames);
	free(stack->levels);
	free(stack->transaction);
	free(stack);
}

static void magic_trace_machine_close(struct callstack_machine *machine)
{
	free(machine);
}

static const struct callstack_ops magic_trace_ops = {
	.open = magic_trace_open,
	.feed = magic_trace_feed,
	.finish = magic_trace_finish,
	.close = magic_trace_close,
	.machine_close = magic_trace_machine_close,
};

struct callstack_machine *callstack_magic_trace_open(const struct callstack_options *options)
{
	struct magic_trace *machine = alloc_zeroed(1, sizeof(*machine));

	machine->base.ops = &magic_trace_ops;
	machine->base.sink = options->sink;
	machine->base.diag = options->diag;
	machine->base.mode = (uint8_t)options->mode;
	machine->base.pending_most =
		options->pending_most ? options->pending_most : CALLSTACK_PENDING_MOST;
	magic_names_init(machine, options->names);
	return &machine->base;
}
