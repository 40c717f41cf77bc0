/* SPDX-License-Identifier: MIT */
/*
 * What each event does (top: the innermost frame; "matches": the address is
 * just behind the frame's call instruction):
 *
 *   event              action
 *   -----------------  -----------------------------------------------------------
 *   any, from known    the top is brought to from's function first: an empty stack
 *                      gets it as an inferred root; else pop to it or replace the top
 *   call               push (not for `call $+5`); a PLT stub is shown as its target,
 *                      or as itself if that has no name
 *   return             top matches: pop; a deeper frame matches: pop to it;
 *                      out of a handler: its restorer takes the frame;
 *                      to a function's entry (retpoline): as a jump;
 *                      out of the root: pop, the target is an inferred root;
 *                      into a function deeper down: pop to it;
 *                      else another stack: leave this one, find or begin that one
 *   jump of a stub     to code without a name: the stub stands for it
 *   jump to an entry   tail call: replace the top, which keeps where it returns
 *   jump into a body   of the top's function, or to an address in the instruction
 *                      within one symbol: nothing; to a remembered setjmp, or just
 *                      behind a call: pop to it; from Go's gogo: another stack; of a
 *                      function deeper down: pop to it; else replace the top
 *   either, to a       the innermost frame that installed one is meant, if it is of
 *   handler of OCaml   that function: pop to it
 *   off                push a pause that knows where execution goes on
 *   on                 pop the pause; where it goes on elsewhere: a handler that ends
 *                      there (sigreturn): pop it; a function's entry: push a handler
 *   syscall, interrupt push an entry frame that knows where it goes on
 *   sysret, iret       pop the innermost entry frame
 *   gap                close all; from here to the next event is a slice of its own
 *   transaction        the stack is kept as it is before the first branch in it, and
 *                      brought back by an abort: what was called in between did not
 *                      happen for the program, but it ran, so it is shown
 */
#include "src/callstack/precise/callstack_precise_stack.h"

void precise_come_from(struct precise_stack *stack, int64_t time, const struct location *from)
{
	size_t at;

	if (!from->ip)
		return;
	if (stack->now.depth && top(stack)->kind == FRAME_PAUSE)
		precise_pop(stack, time);
	if (!stack->now.depth) {
		precise_infer_root(stack, from);
		return;
	}
	if (same_function(top(stack)->symbol, symbol_of(stack, from)) || !is_function(from->symbol))
		return;
	at = frame_list_find_function(&stack->now, from->symbol);
	if (at)
		precise_pop_to(stack, time, at);
	else
		precise_replace(stack, time, from);
}

static size_t find_landing(struct precise_stack *stack, const struct symbol *symbol)
{
	return is_function(symbol) ? frame_list_find_landing(&stack->now, symbol) : 0;
}

static void on_call(struct precise_stack *stack, int64_t time, const struct location *from,
		    const struct location *to)
{
	struct frame frame = { .symbol = symbol_of(stack, to),
			       .call_ip = from->ip,
			       .caller = from->symbol,
			       .caller_offset = from->offset,
			       .entry_ip = to->ip,
			       .kind = FRAME_CALLED };

	/* `call $+5; pop` reads the instruction pointer. */
	if (to->ip == from->ip + 5 && !is_entry(to))
		return;
	precise_remember_setjmp(stack, from->ip, to->symbol);
	frame.hidden = frame.symbol->kind == SYMBOL_PLT;
	precise_push(stack, time, &frame);
}

static void on_jump(struct precise_stack *stack, int64_t time, const struct location *to)
{
	size_t at;

	if (!stack->now.depth) {
		precise_infer_root(stack, to);
		return;
	}
	if (is_entry(to) && !same_function(top(stack)->symbol, to->symbol)) {
		precise_replace(stack, time, to);
		return;
	}
	if (same_function(top(stack)->symbol, symbol_of(stack, to)))
		return;
	if (!is_function(to->symbol))
		precise_reveal(stack, time);
	if (precise_back_to_setjmp(stack, time, to->ip))
		return;
	/* To just behind a call: a return in all but name (a goroutine that goes on). */
	at = frame_list_find_return(&stack->now, to->ip);
	if (at) {
		precise_pop_to(stack, time, at - 1);
		return;
	}
	if (top(stack)->symbol->name == machine_of(stack)->gogo) {
		precise_switch_stack(stack, time, to);
		return;
	}
	at = find_landing(stack, to->symbol);
	if (at)
		precise_pop_to(stack, time, at);
	else if (is_function(to->symbol))
		precise_replace(stack, time, to);
}

/*
 * A return whose address was put on the stack by hand: by a retpoline, whose
 * call inside the thunk itself only made room for it, or by who begins to run
 * on another stack (setcontext).
 */
static void jump_by_return(struct precise_stack *stack, int64_t time, const struct location *to)
{
	const struct frame_list *now = &stack->now;

	if (now->depth > 1 && top(stack)->kind == FRAME_CALLED &&
	    same_function(now->frames[now->depth - 2].symbol, top(stack)->symbol)) {
		precise_pop(stack, time);
		on_jump(stack, time, to);
	} else {
		precise_switch_stack(stack, time, to);
	}
}

static void on_return(struct precise_stack *stack, int64_t time, const struct location *to)
{
	size_t at = frame_list_find_return(&stack->now, to->ip);

	if (at) {
		precise_pop_to(stack, time, at - 1);
	} else if (top(stack)->kind == FRAME_HANDLER) {
		precise_replace(stack, time, to);
	} else if (is_entry(to)) {
		jump_by_return(stack, time, to);
	} else if (stack->now.depth == 1 && top(stack)->kind == FRAME_INFERRED) {
		precise_pop(stack, time);
		precise_infer_root(stack, to);
	} else if (precise_back_to_setjmp(stack, time, to->ip)) {
		return;
	} else if ((at = find_landing(stack, to->symbol))) {
		precise_pop_to(stack, time, at);
	} else {
		precise_switch_stack(stack, time, to);
	}
}

/* ---- OCaml's exceptions -------------------------------------------------- */

/* The top installed and removed handlers on its way to its next branch. */
static void pass_traps(struct precise_stack *stack, const struct resolved_branch *branch)
{
	struct frame *frame = top(stack);

	if (!frame || !branch->trap_count)
		return;
	frame_list_cut(&stack->now, stack->now.depth - 1);
	for (uint32_t i = 0; i < branch->trap_count; i++) {
		if (branch->traps[i].kind == TRAP_INSTALLED)
			frame->traps++;
		else if (branch->traps[i].kind == TRAP_REMOVED && frame->traps)
			frame->traps--;
	}
}

/* Returns whether an exception came to the handler at `to`; pops to the frame that has it. */
static bool handle_exception(struct precise_stack *stack, int64_t time,
			     const struct resolved_branch *branch)
{
	size_t at;

	if (!branch->enters_trap || (branch->kind != BRANCH_RETURN && branch->kind != BRANCH_JUMP))
		return false;
	at = frame_list_find_trap(&stack->now);
	if (!at || stack->now.frames[at - 1].symbol != branch->to.symbol)
		return false;
	precise_pop_to(stack, time, at);
	frame_list_cut(&stack->now, at - 1);
	top(stack)->traps--;
	return true;
}

/* ---- Pauses -------------------------------------------------------------- */

static uint16_t vector_flags(const struct resolved_branch *branch)
{
	unsigned flags = branch->vector ? SLICE_HAS_VECTOR | (branch->vector - 1u) << 8 : 0;

	return (uint16_t)(flags | (branch->event ? SLICE_HAS_CAUSE : 0));
}

static void on_off(struct precise_stack *stack, int64_t time, const struct resolved_branch *branch)
{
	const struct precise *machine = machine_of(stack);
	struct frame pause = { .kind = FRAME_PAUSE,
			       .slice_flags = vector_flags(branch),
			       .event = branch->event };

	if (branch->kind == BRANCH_RETURN && stack->now.depth)
		precise_pop(stack, time);
	precise_reveal(stack, time);
	pause.symbol = &machine->specials[branch->kind == BRANCH_SYSCALL ? SPECIAL_SYSCALL
									 : SPECIAL_UNTRACED];
	/* The host goes on where it told the processor to, not behind the entry. */
	if (branch->flags & BRANCH_GUEST)
		pause.symbol = &machine->specials[SPECIAL_GUEST];
	else if (branch->flags & BRANCH_ASYNC || branch->kind == BRANCH_NONE)
		pause.resume_ip = branch->from.ip;
	else if (branch->kind == BRANCH_RETURN)
		pause.returned = true;
	else if (branch->from_length)
		pause.resume_ip = branch->from.ip + branch->from_length;
	precise_push(stack, time, &pause);
}

/* Execution goes on at `to`, and was to go on at `expected` (0: unknown). */
static void resume(struct precise_stack *stack, int64_t time, const struct location *to,
		   uint64_t expected)
{
	struct frame handler = { .symbol = symbol_of(stack, to),
				 .resume_ip = expected,
				 .entry_ip = to->ip,
				 .kind = FRAME_HANDLER };
	size_t at;

	/* A system call that is started again goes back over its instruction. */
	if (!expected || to->ip == expected || to->ip + 2 == expected || !stack->now.depth)
		return;
	at = frame_list_find_resumed(&stack->now, to->ip);
	if (!at)
		at = frame_list_find_resumed(&stack->now, to->ip + 2);
	if (at)
		precise_pop_to(stack, time, at - 1);
	else if (is_entry(to) || !is_function(to->symbol))
		precise_push(
			stack, time,
			&handler); /* in code without symbols, a guess: nothing else is as common */
	else if (!same_function(top(stack)->symbol, to->symbol))
		on_jump(stack, time, to);
}

static void on_on(struct precise_stack *stack, int64_t time, const struct location *to)
{
	struct frame called = { .symbol = symbol_of(stack, to),
				.entry_ip = to->ip,
				.kind = FRAME_HANDLER };
	uint64_t expected;
	bool returned;

	if (!stack->now.depth || top(stack)->kind != FRAME_PAUSE)
		return;
	expected = top(stack)->resume_ip;
	returned = top(stack)->returned;
	precise_pop(stack, time);
	/* Of filtered functions one was left, and one is called by code that is not traced. */
	if (returned && is_entry(to))
		precise_push(stack, time, &called);
	else
		resume(stack, time, to, expected);
}

static void on_kernel_entry(struct precise_stack *stack, int64_t time,
			    const struct resolved_branch *branch)
{
	struct frame entry = { .symbol = symbol_of(stack, &branch->to),
			       .entry_ip = branch->to.ip,
			       .kind = FRAME_ENTRY,
			       .resume_ip = branch->from.ip,
			       .slice_flags = vector_flags(branch),
			       .event = branch->event };

	if (branch->kind != BRANCH_INTERRUPT)
		entry.resume_ip += branch->from_length;
	precise_push(stack, time, &entry);
}

static void on_kernel_exit(struct precise_stack *stack, int64_t time, const struct location *to)
{
	size_t at = frame_list_find_entry(&stack->now);
	uint64_t expected;

	if (!at) {
		precise_pop_to(stack, time, 0);
		precise_infer_root(stack, to);
		return;
	}
	expected = stack->now.frames[at - 1].resume_ip;
	precise_pop_to(stack, time, at - 1);
	resume(stack, time, to, expected);
}

void precise_follow_near(struct precise_stack *stack, int64_t time,
			 const struct near_branch *branch)
{
	switch ((enum branch_kind)branch->kind) {
	case BRANCH_CALL:
		on_call(stack, time, branch->from, branch->to);
		break;
	case BRANCH_RETURN:
		if (stack->now.depth)
			on_return(stack, time, branch->to);
		break;
	case BRANCH_JUMP:
	case BRANCH_COND:
	case BRANCH_TX_ABORT:
		if (precise_leaves_stub(stack, branch->from, branch->to))
			precise_reveal(stack, time);
		else if (!precise_stays(branch->kind, branch->flags, branch->from, branch->to))
			on_jump(stack, time, branch->to);
		break;
	default:
		break;
	}
}

static void follow_transaction(struct precise_stack *stack, int64_t time,
			       const struct resolved_branch *branch)
{
	if (branch->kind == BRANCH_TX_ABORT)
		precise_roll_back(stack, time);
	else if (!(branch->flags & BRANCH_IN_TX))
		precise_end_transaction(stack);
	else if (!stack->in_tx)
		precise_begin_transaction(stack);
}

void precise_follow_branch(struct precise_stack *stack, int64_t time,
			   const struct resolved_branch *branch)
{
	follow_transaction(stack, time, branch);
	if (branch->flags & BRANCH_TRACE_ON) {
		stack->rolled_back = false;
		on_on(stack, time, &branch->to);
		return;
	}
	if (!stack->rolled_back) {
		precise_come_from(stack, time, &branch->from);
		pass_traps(stack, branch);
	}
	stack->rolled_back = false;
	if (handle_exception(stack, time, branch))
		return;
	if (branch->flags & BRANCH_TRACE_OFF) {
		on_off(stack, time, branch);
		return;
	}
	switch ((enum branch_kind)branch->kind) {
	case BRANCH_SYSCALL:
	case BRANCH_SOFTINT:
	case BRANCH_INTERRUPT:
		on_kernel_entry(stack, time, branch);
		break;
	case BRANCH_SYSRET:
	case BRANCH_IRET:
		on_kernel_exit(stack, time, &branch->to);
		break;
	default:
		precise_follow_near(stack, time,
				    &(struct near_branch){ &branch->from, &branch->to, branch->kind,
							   branch->flags });
		break;
	}
}
