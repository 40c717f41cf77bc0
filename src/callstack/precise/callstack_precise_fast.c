/* SPDX-License-Identifier: MIT */
/*
 * The branches that most are, for less: out of the innermost frame by a call,
 * back to where it was called, or by a jump to another function's entry.  What is
 * done is what the table in callstack_precise_branches.c says; those that
 * are not as simple take precise_follow_near(), as all others do.
 */
#include "src/callstack/precise/callstack_precise_stack.h"

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
	frame->slice_flags = 0;
	frame->kind = FRAME_CALLED;
	frame->returned = false;
	frame->hidden = to->symbol->kind == SYMBOL_PLT;
	if (!frame->hidden)
		precise_emit_begin(stack, time, frame);
	precise_watch_room(stack);
}

static inline bool comes_from_top(const struct precise_stack *stack, const struct location *from)
{
	const struct frame *frame;

	if (!stack->now.depth)
		return false;
	frame = &stack->now.frames[stack->now.depth - 1];
	return frame->kind != FRAME_PAUSE &&
	       (frame->symbol == from->symbol || !is_function(from->symbol));
}

/* Returns whether the branch, from the top, is a simple one; then the stack has followed it. */
static inline bool follow(struct precise_stack *stack, int64_t time,
			  const struct plain_branch *branch)
{
	const struct location *from = &branch->places->from, *to = &branch->places->to;
	const struct branch_event *event = branch->event;

	switch ((enum branch_kind)event->kind) {
	case BRANCH_CALL:
		if (branch->places->call != CALL_ENTERS)
			return false;
		push_called(stack, time, from, to);
		return true;
	case BRANCH_RETURN:
		if (!frame_returns_to(top(stack), to->ip))
			return false;
		precise_pop(stack, time);
		return true;
	default:
		if (to->symbol == top(stack)->symbol ||
		    precise_stays(event->kind, event->flags, from, to))
			return true;
		if (precise_leaves_stub(stack, from, to)) {
			precise_reveal(stack, time);
			return true;
		}
		if (!is_entry(to) || same_function(top(stack)->symbol, to->symbol))
			return false;
		precise_replace(stack, time, to);
		return true;
	}
}

/* Apart from what most branches are, which so need fewer registers to be saved. */
static __attribute__((noinline)) void follow_any(struct precise_stack *stack, int64_t time,
						 const struct plain_branch *branch)
{
	const struct location_pair *places = branch->places;

	precise_come_from(stack, time, &places->from);
	precise_follow_near(stack, time,
			    &(struct near_branch){ &places->from, &places->to, branch->event->kind,
						   branch->event->flags });
	precise_watch_room(stack);
}

bool callstack_precise_plain(struct callstack *base, const struct plain_branch *branches,
			     size_t count)
{
	struct precise_stack *stack = (struct precise_stack *)base;
	uint64_t base_time = base->machine->base_time;

	/* What is plain leaves it so. */
	if (!stack->plain)
		return false;
	for (size_t i = 0; i < count; i++) {
		const struct plain_branch *branch = &branches[i];
		const struct branch_event *event = branch->event;
		int64_t time = (int64_t)(event->time - base_time);

		if (time < stack->last_time)
			time = stack->last_time;
		stack->last_time = time;
		stack->counts.insns += event->insns;
		stack->counts.cycles += event->cycles;
		if (!comes_from_top(stack, &branch->places->from) || !follow(stack, time, branch))
			follow_any(stack, time, branch);
		precise_settle(stack);
	}
	return true;
}
