/* SPDX-License-Identifier: MIT */
/*
 * The branches that most are, for less: out of the innermost frame by a call,
 * back to where it was called, or by a jump to another function's entry.  What is
 * done is what the table in callstack_precise_branches.c says; whatever is not as
 * plain as that is left to precise_follow_branch().
 */
#include "callstack_precise_stack.h"

/* The last letter of "setjmp", also before "@plt": few names have to be looked at closer. */
static bool may_be_setjmp(const struct symbol *symbol)
{
	const struct name *name = symbol->name;
	size_t length = name->length;

	if (length && name->text[length - 1] == 't')
		length -= length < 4 ? length : 4;
	return length && name->text[length - 1] == 'p';
}

static void push_called(struct precise_stack *stack, int64_t time, const struct location *from,
			const struct location *to)
{
	struct frame *frame = frame_list_add(&stack->now);

	frame->symbol = to->symbol;
	frame->caller = from->symbol;
	frame->caller_offset = from->offset;
	frame->call_ip = from->ip;
	frame->entry_ip = to->ip;
	frame->called = stack->counts;
	frame->traps = 0;
	frame->span_flags = 0;
	frame->kind = FRAME_CALLED;
	frame->returned = false;
	frame->hidden = to->symbol->kind == SYMBOL_PLT;
	if (!frame->hidden)
		precise_emit_begin(stack, time, frame);
}

/* Returns whether the branch is a plain one; then the stack has followed it. */
static bool follow(struct precise_stack *stack, int64_t time, const struct branch_event *event,
		   const struct location *from, const struct location *to)
{
	switch ((enum branch_kind)event->kind) {
	case BRANCH_CALL:
		if (!to->symbol || to->offset || may_be_setjmp(to->symbol))
			return false;
		push_called(stack, time, from, to);
		return true;
	case BRANCH_RETURN:
		if (!frame_returns_to(top(stack), to->ip))
			return false;
		precise_pop(stack, time);
		return true;
	case BRANCH_JUMP:
	case BRANCH_COND:
		if (to->symbol == top(stack)->symbol || precise_stays(event->kind, event->flags, from, to))
			return true;
		if (!is_entry(to) || same_function(top(stack)->symbol, to->symbol))
			return false;
		precise_replace(stack, time, to);
		return true;
	default:
		return false;
	}
}

bool callstack_precise_plain(struct callstack *base, const struct branch_event *event,
			     const struct location *from, const struct location *to)
{
	struct precise_stack *stack = (struct precise_stack *)base;
	int64_t time = (int64_t)(event->time - base->machine->base_time);

	if (!stack->plain || time < stack->last_time || !stack->now.depth ||
	    top(stack)->kind == FRAME_PAUSE ||
	    (top(stack)->symbol != from->symbol && is_function(from->symbol)))
		return false;
	stack->counts.insns += event->insns;
	stack->counts.cycles += event->cycles;
	if (!follow(stack, time, event, from, to)) {
		stack->counts.insns -= event->insns;
		stack->counts.cycles -= event->cycles;
		return false;
	}
	stack->last_time = time;
	if (stack->rooted)
		precise_settle(stack);
	return true;
}
