/* SPDX-License-Identifier: MIT */
/*
 * What each event does, by the kind of branch and whether tracing starts (ON)
 * or stops (OFF) with it.  "call X" pushes X, "ret" pops the innermost frame,
 * "check" makes the innermost frame the target's function (check_symbol()).
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
#include "callstack_magic_trace.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "callstack_batch.h"

/* Branches of one transaction that are held back; hardware cannot do more than its caches hold. */
#define TRANSACTION_LIMIT 65536

enum special {
	SPECIAL_UNTRACED,
	SPECIAL_SYSCALL,
	SPECIAL_RETURNED,
	SPECIAL_UNKNOWN,
	SPECIALS,
};

/* Functions that the heuristics know. */
enum known_function {
	OCAML_NEXT_FRAME,
	OCAML_STASH_BACKTRACE,
	OCAML_RAISE_EXN,
	OCAML_RAISE_EXCEPTION,
	GO_GOGO,
	GO_MCALL,
	GO_MORESTACK,
	KNOWN_FUNCTIONS,
};

struct magic_trace {
	struct callstack_machine base;
	struct symbol specials[SPECIALS];
	const struct name *known[KNOWN_FUNCTIONS];
	bool saw_user, saw_kernel; /* addresses, for TRACE_MODE_GUESS */
};

/* One stack of the stack of stacks: its frames are frames[first..], up to the next one's. */
struct level {
	size_t first;
	int64_t since; /* mapped time from which a frame found late may have run */
};

struct thread_stack {
	struct callstack base;
	struct callstack_batch batch;
	const struct symbol **frames; /* owned array; innermost last */
	size_t depth, frame_room;
	struct level *levels;         /* owned; the last one is the current stack; never empty */
	size_t level_count, level_room;
	struct resolved_branch *transaction; /* owned; branches that wait for its end */
	size_t transaction_count, transaction_room;
	size_t frames_to_unwind;      /* OCaml: frames that the raising exception has walked over */
	int64_t last_gap_time;        /* mapped; at first: that of the thread's first event */
	int64_t last_event_time;      /* mapped */
	bool started;                 /* an event was seen */
};

static struct magic_trace *machine_of(const struct thread_stack *stack)
{
	return (struct magic_trace *)stack->base.machine;
}

static struct level *current(struct thread_stack *stack)
{
	return &stack->levels[stack->level_count - 1];
}

static bool is_empty(struct thread_stack *stack)
{
	return stack->depth == current(stack)->first;
}

/* Returns the innermost frame, NULL if the current stack is empty. */
static const struct symbol *top(struct thread_stack *stack)
{
	return is_empty(stack) ? NULL : stack->frames[stack->depth - 1];
}

static bool is_kernel(uint64_t ip)
{
	return ip >> 63;
}

static bool is_known(const struct thread_stack *stack, const struct symbol *symbol,
		     enum known_function function)
{
	return symbol && symbol->name == machine_of(stack)->known[function];
}

static const struct symbol *symbol_at(const struct thread_stack *stack,
				      const struct location *location)
{
	return location->symbol ? location->symbol
				: &machine_of(stack)->specials[SPECIAL_UNKNOWN];
}

static void push(struct thread_stack *stack, const struct symbol *symbol)
{
	stack->frames = alloc_grow(stack->frames, &stack->frame_room, stack->depth + 1,
				   sizeof(*stack->frames));
	stack->frames[stack->depth++] = symbol;
}

static void push_level(struct thread_stack *stack, int64_t since)
{
	stack->levels = alloc_grow(stack->levels, &stack->level_room, stack->level_count + 1,
				   sizeof(*stack->levels));
	stack->levels[stack->level_count++] = (struct level){ stack->depth, since };
}

/* Returns since when an unseen frame may have run, of a stack that begins at `ip`. */
static int64_t new_since(const struct thread_stack *stack, uint64_t ip, int64_t time)
{
	return is_kernel(ip) ? time : stack->last_gap_time;
}

static void call_symbol(struct thread_stack *stack, int64_t time, const struct symbol *symbol,
			uint64_t ip)
{
	struct batch_event event = { .symbol = symbol, .ip = ip, .kind = BATCH_CALL };

	callstack_batch_add(&stack->batch, time, &event);
	push(stack, symbol);
}

static void call(struct thread_stack *stack, int64_t time, const struct location *to)
{
	call_symbol(stack, time, symbol_at(stack, to), to->ip);
}

static void call_special(struct thread_stack *stack, int64_t time, enum special special)
{
	call_symbol(stack, time, &machine_of(stack)->specials[special], 0);
}

/* Pop the innermost frame; a return out of an empty stack is one from a function never seen. */
static void ret(struct thread_stack *stack, int64_t time)
{
	struct batch_event event = { .kind = BATCH_RETURN };

	if (is_empty(stack)) {
		event.kind = BATCH_UNSEEN_RETURN;
		event.symbol = &machine_of(stack)->specials[SPECIAL_UNKNOWN];
		event.since = current(stack)->since;
	} else {
		event.symbol = stack->frames[--stack->depth];
	}
	callstack_batch_add(&stack->batch, time, &event);
}

static void clear(struct thread_stack *stack, int64_t time)
{
	while (!is_empty(stack))
		ret(stack, time);
}

static void clear_all(struct thread_stack *stack, int64_t time)
{
	clear(stack, time);
	while (stack->level_count > 1) {
		stack->level_count--;
		clear(stack, time);
	}
}

/*
 * Close every frame and give out what waits.  magic-trace flushes with the
 * batch's time of before, which moves it backwards again; start events that
 * appear while closing stay for the next segment.
 */
static void end_segment(struct thread_stack *stack, int64_t time)
{
	int64_t batch_time = stack->batch.time;

	callstack_batch_drain_start(&stack->batch);
	clear_all(stack, time);
	callstack_batch_flush(&stack->batch, batch_time);
}

static void tell_segment_end(struct thread_stack *stack)
{
	const struct span_sink *sink = stack->base.machine->sink;

	sink->segment_end(sink, stack->base.track);
}

/* The thread's flow was cut at `time`: what comes is a new stack, beginning at `ip`. */
static void restart(struct thread_stack *stack, int64_t time, uint64_t ip)
{
	end_segment(stack, time);
	if (!callstack_batch_waiting(&stack->batch))
		tell_segment_end(stack);
	stack->last_gap_time = time;
	current(stack)->since = new_since(stack, ip, time);
}

static bool is_goroutine_switch(const struct thread_stack *stack, const struct symbol *symbol)
{
	return is_known(stack, symbol, GO_MCALL) || is_known(stack, symbol, GO_MORESTACK);
}

/*
 * Go's gogo jumps to another goroutine, mostly to where mcall or morestack were
 * called from: pop through the innermost of them and its caller, which the jump
 * pushes again.  Without one of them the stack is a new one.
 */
static void leave_goroutine(struct thread_stack *stack, int64_t time)
{
	size_t depth = stack->depth;

	while (depth > current(stack)->first &&
	       !is_goroutine_switch(stack, stack->frames[depth - 1]))
		depth--;
	if (depth == current(stack)->first) {
		restart(stack, time, 0);
		return;
	}
	while (stack->depth >= depth)
		ret(stack, time);
	ret(stack, time);
}

/* Make the innermost frame the function at `to`. */
static void check_symbol(struct thread_stack *stack, int64_t time, const struct location *to)
{
	const struct symbol *symbol = symbol_at(stack, to);
	const struct symbol *innermost = top(stack);

	if (!innermost) {
		struct batch_event event = { symbol, to->ip, 0, BATCH_INFERRED_CALL };

		callstack_batch_pass(&stack->batch, current(stack)->since, &event);
		push(stack, symbol);
		return;
	}
	if (innermost->name == symbol->name)
		return;
	ret(stack, time);
	if (stack->base.machine->newer_upstream && is_known(stack, innermost, GO_GOGO))
		leave_goroutine(stack, time);
	call(stack, time, to);
}

static void ret_many(struct thread_stack *stack, int64_t time, size_t count)
{
	while (count--)
		ret(stack, time);
}

/*
 * A return, seen with what is known of OCaml's runtime: caml_next_frame_descriptor
 * returns once for every frame that an exception walks over, and the function that
 * raises then returns past that many frames.  caml_raise_exn itself is one of them;
 * caml_raise_exception is reached through two frames of C.
 */
static void ret_tracking_exceptions(struct thread_stack *stack, int64_t time)
{
	const struct symbol *innermost = top(stack);
	size_t frames = stack->frames_to_unwind;

	if (is_known(stack, innermost, OCAML_NEXT_FRAME) ||
	    (stack->base.machine->newer_upstream &&
	     is_known(stack, innermost, OCAML_STASH_BACKTRACE))) {
		stack->frames_to_unwind++;
	} else if (is_known(stack, innermost, OCAML_RAISE_EXN)) {
		ret_many(stack, time, frames ? frames - 1 : 0);
		stack->frames_to_unwind = 0;
	} else if (is_known(stack, innermost, OCAML_RAISE_EXCEPTION)) {
		ret_many(stack, time, frames + 2);
		stack->frames_to_unwind = 0;
	}
	ret(stack, time);
}

/* Returns the mode, or what it seems to be from the addresses seen. */
static enum trace_mode mode_of(const struct thread_stack *stack)
{
	const struct magic_trace *machine = machine_of(stack);

	if (machine->base.mode != TRACE_MODE_GUESS)
		return (enum trace_mode)machine->base.mode;
	if (machine->saw_kernel)
		return machine->saw_user ? TRACE_MODE_BOTH : TRACE_MODE_KERNEL;
	return TRACE_MODE_USER;
}

/* Warn of an event that the trace mode should not give; it is handled all the same. */
static void expect_mode(struct thread_stack *stack, const struct resolved_branch *branch,
			enum trace_mode mode, enum trace_mode other)
{
	const struct callstack_machine *machine = stack->base.machine;

	if (machine->mode == TRACE_MODE_GUESS || machine->mode == mode || machine->mode == other)
		return;
	diag_warn(machine->diag, "branch-not-in-mode",
		  "the trace has branches that its mode (user, kernel) excludes; "
		  "first: kind %u from 0x%llx", branch->kind,
		  (unsigned long long)branch->from.ip);
}

static void trace_on(struct thread_stack *stack, int64_t time, const struct location *to)
{
	if (mode_of(stack) == TRACE_MODE_KERNEL) {
		clear(stack, time);
		current(stack)->since = new_since(stack, to->ip, time);
	} else if (is_empty(stack)) {
		call(stack, time, to);
	} else {
		ret_tracking_exceptions(stack, time);
	}
}

/* A system call or interrupt runs on a stack of its own. */
static void enter_kernel(struct thread_stack *stack, int64_t time, const struct location *to)
{
	push_level(stack, new_since(stack, to->ip, time));
	call(stack, time, to);
}

static void leave_kernel(struct thread_stack *stack, int64_t time, const struct location *to)
{
	clear(stack, time);
	if (stack->level_count > 1) {
		stack->level_count--;
		return;
	}
	current(stack)->since = new_since(stack, to->ip, time);
	check_symbol(stack, time, to);
}

static void trace_off(struct thread_stack *stack, int64_t time,
		      const struct resolved_branch *branch, enum branch_kind kind)
{
	switch (kind) {
	case BRANCH_CALL:
		call(stack, time, &branch->to);
		break;
	case BRANCH_RETURN:
		call_special(stack, time, SPECIAL_RETURNED);
		break;
	case BRANCH_SYSCALL:
		expect_mode(stack, branch, TRACE_MODE_USER, TRACE_MODE_USER);
		call_special(stack, time, SPECIAL_SYSCALL);
		break;
	case BRANCH_IRET:
	case BRANCH_SYSRET:
		expect_mode(stack, branch, TRACE_MODE_KERNEL, TRACE_MODE_KERNEL);
		clear(stack, time);
		call_special(stack, time, SPECIAL_UNTRACED);
		break;
	default:
		call_special(stack, time, SPECIAL_UNTRACED);
		break;
	}
}

static void trace_goes_on(struct thread_stack *stack, int64_t time,
			  const struct resolved_branch *branch)
{
	switch ((enum branch_kind)branch->kind) {
	case BRANCH_CALL:
		call(stack, time, &branch->to);
		break;
	case BRANCH_RETURN:
		ret_tracking_exceptions(stack, time);
		check_symbol(stack, time, &branch->to);
		break;
	case BRANCH_JUMP:
	case BRANCH_COND:
	case BRANCH_SOFTINT:
	case BRANCH_TX_ABORT:
		check_symbol(stack, time, &branch->to);
		break;
	case BRANCH_SYSCALL:
		expect_mode(stack, branch, TRACE_MODE_BOTH, TRACE_MODE_BOTH);
		enter_kernel(stack, time, &branch->to);
		break;
	case BRANCH_INTERRUPT:
		expect_mode(stack, branch, TRACE_MODE_BOTH, TRACE_MODE_KERNEL);
		enter_kernel(stack, time, &branch->to);
		break;
	case BRANCH_SYSRET:
		expect_mode(stack, branch, TRACE_MODE_BOTH, TRACE_MODE_BOTH);
		leave_kernel(stack, time, &branch->to);
		break;
	case BRANCH_IRET:
		expect_mode(stack, branch, TRACE_MODE_BOTH, TRACE_MODE_KERNEL);
		leave_kernel(stack, time, &branch->to);
		break;
	case BRANCH_NONE:
	case BRANCH_GAP:
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

static void dispatch(struct thread_stack *stack, int64_t time,
		     const struct resolved_branch *branch)
{
	unsigned state = branch->flags & (BRANCH_TRACE_ON | BRANCH_TRACE_OFF);
	enum branch_kind kind = (enum branch_kind)branch->kind;

	if (state == (BRANCH_TRACE_ON | BRANCH_TRACE_OFF))
		return; /* perf prints it for odd streams of other programs; it changes nothing */
	if (!state) {
		trace_goes_on(stack, time, branch);
		return;
	}
	if (!is_possible(kind, state)) {
		diag_warn(stack->base.machine->diag, "impossible-branch",
			  "tracing started or stopped with a branch that cannot do that "
			  "(kind %u from 0x%llx); its kind was ignored", kind,
			  (unsigned long long)branch->from.ip);
		kind = BRANCH_NONE;
	}
	if (state == BRANCH_TRACE_ON)
		trace_on(stack, time, &branch->to);
	else
		trace_off(stack, time, branch, kind);
}

static void gap(struct thread_stack *stack, int64_t time, const struct resolved_branch *branch)
{
	const struct callstack_machine *machine = stack->base.machine;
	const char *message = branch->message;
	char text[1024];

	if (!message)
		message = callstack_gap_text((enum gap_reason)branch->gap);
	snprintf(text, sizeof(text), "[decode error: %s]", message);
	machine->sink->instant(machine->sink, stack->base.track,
			       callstack_perf_time(machine, time), text);
	restart(stack, time, branch->from.ip);
}

static void mark(struct thread_stack *stack, int64_t time, const struct symbol *symbol)
{
	const struct callstack_machine *machine = stack->base.machine;
	uint64_t at = callstack_perf_time(machine, time);

	machine->sink->complete(machine->sink, stack->base.track, at, at, symbol, 0);
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
static int64_t event_time(struct thread_stack *stack, const struct resolved_branch *branch)
{
	int64_t time = branch->untimed ? 0 : map_time(stack->base.machine, branch->time);

	if (!stack->started) {
		stack->started = true;
		stack->last_gap_time = stack->last_event_time = time;
		current(stack)->since = time;
	}
	if (branch->untimed)
		time = stack->last_event_time;
	stack->last_event_time = time;
	if (time == stack->last_gap_time && time != 0)
		time = (int64_t)((uint64_t)time + 1);
	return time;
}

static void note_address(struct magic_trace *machine, uint64_t ip)
{
	machine->saw_kernel |= is_kernel(ip);
	machine->saw_user |= ip && !is_kernel(ip);
}

static void deliver(struct thread_stack *stack, const struct resolved_branch *branch)
{
	int64_t time = event_time(stack, branch);

	note_address(machine_of(stack), branch->from.ip);
	note_address(machine_of(stack), branch->to.ip);
	if (branch->kind == BRANCH_GAP)
		gap(stack, time, branch);
	else if (branch->mark)
		mark(stack, time, branch->mark);
	else
		dispatch(stack, time, branch);
}

static void deliver_transaction(struct thread_stack *stack)
{
	for (size_t i = 0; i < stack->transaction_count; i++)
		deliver(stack, &stack->transaction[i]);
	stack->transaction_count = 0;
}

static void hold_back(struct thread_stack *stack, const struct resolved_branch *branch)
{
	stack->transaction = alloc_grow(stack->transaction, &stack->transaction_room,
					stack->transaction_count + 1,
					sizeof(*stack->transaction));
	stack->transaction[stack->transaction_count++] = *branch;
}

/* What a transaction does is shown only when it is known not to be rolled back. */
static void magic_trace_branch(struct callstack *base, const struct resolved_branch *branch)
{
	struct thread_stack *stack = (struct thread_stack *)base;

	if (branch->kind == BRANCH_TX_ABORT) {
		stack->transaction_count = 0;
	} else if (branch->kind == BRANCH_GAP) {
		if (stack->transaction_count)
			diag_warn(base->machine->diag, "transaction-lost",
				  "a gap cut a transaction short; its branches are not shown");
		stack->transaction_count = 0;
	} else if (branch->flags & BRANCH_IN_TX) {
		if (stack->transaction_count >= TRANSACTION_LIMIT)
			deliver_transaction(stack);
		hold_back(stack, branch);
		return;
	}
	deliver_transaction(stack);
	deliver(stack, branch);
}

static void magic_trace_finish(struct callstack *base)
{
	struct thread_stack *stack = (struct thread_stack *)base;

	end_segment(stack, stack->last_event_time);
	tell_segment_end(stack);
}

static struct callstack *magic_trace_open(struct callstack_machine *machine, void *track)
{
	struct thread_stack *stack = alloc_zeroed(1, sizeof(*stack));

	stack->base.machine = machine;
	stack->base.track = track;
	stack->batch.owner = &stack->base;
	push_level(stack, 0);
	return &stack->base;
}

static void magic_trace_close(struct callstack *base)
{
	struct thread_stack *stack = (struct thread_stack *)base;

	callstack_batch_release(&stack->batch);
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
	.branch = magic_trace_branch,
	.finish = magic_trace_finish,
	.close = magic_trace_close,
	.machine_close = magic_trace_machine_close,
};

static void make_special(struct symbol *symbol, const struct name *name)
{
	*symbol = (struct symbol){ .name = name, .linkage = name, .kind = SYMBOL_SPECIAL };
}

struct callstack_machine *callstack_magic_trace_open(const struct callstack_options *options)
{
	static const char *const specials[SPECIALS] = {
		[SPECIAL_UNTRACED] = "[untraced]",
		[SPECIAL_SYSCALL] = "[syscall]",
		[SPECIAL_RETURNED] = "[returned]",
		[SPECIAL_UNKNOWN] = "[unknown]",
	};
	static const char *const known[KNOWN_FUNCTIONS] = {
		[OCAML_NEXT_FRAME] = "caml_next_frame_descriptor",
		[OCAML_STASH_BACKTRACE] = "caml_stash_backtrace",
		[OCAML_RAISE_EXN] = "caml_raise_exn",
		[OCAML_RAISE_EXCEPTION] = "caml_raise_exception",
		[GO_GOGO] = "gogo",
		[GO_MCALL] = "runtime.mcall",
		[GO_MORESTACK] = "runtime.morestack.abi0",
	};
	struct magic_trace *machine = alloc_zeroed(1, sizeof(*machine));

	machine->base.ops = &magic_trace_ops;
	machine->base.sink = options->sink;
	machine->base.diag = options->diag;
	machine->base.mode = (uint8_t)options->mode;
	for (size_t i = 0; i < SPECIALS; i++)
		make_special(&machine->specials[i],
			     name_intern_text(options->names, specials[i]));
	for (size_t i = 0; i < KNOWN_FUNCTIONS; i++)
		machine->known[i] = name_intern_text(options->names, known[i]);
	return &machine->base;
}
