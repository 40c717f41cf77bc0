/* SPDX-License-Identifier: MIT */
/* Inlined calls, as frames above their physical function's. */
#include "src/callstack/precise/callstack_precise_stack.h"
#include "symbols/dso/dso_store.h"

void precise_emit_inlined(struct precise_stack *stack, int64_t time, const struct frame *frame,
			  enum slice_event_kind kind)
{
	bool begins = kind == SLICE_BEGIN;
	struct slice_event event = { .symbol = frame->symbol,
				     .ip = begins ? frame->entry_ip : 0,
				     .detail = precise_insns(stack),
				     .flags = begins ? 0 : stack->end_flags,
				     .kind = (uint8_t)kind };
	struct slice_detail detail = { .insns = stack->insns };

	if (begins) {
		detail.caller = frame->caller;
		detail.caller_offset = frame->caller_offset;
	}
	timestamp_group_add_inlined(&stack->group, time, &event, &detail);
}

static unsigned depth_of(const struct inlined_call *call)
{
	unsigned depth = 0;

	for (; call; call = call->parent)
		depth++;
	return depth;
}

/* Returns the innermost inlined call that contains both, or is one of them; NULL: the function. */
static const struct inlined_call *common(const struct inlined_call *a, const struct inlined_call *b)
{
	unsigned depth_a, depth_b;

	/* Usually the depth changes by one call. */
	if (b && b->parent == a)
		return a;
	if (a && (a->parent == b || (b && a->parent == b->parent)))
		return a->parent;
	depth_a = depth_of(a);
	depth_b = depth_of(b);
	for (; depth_a > depth_b; depth_a--)
		a = a->parent;
	for (; depth_b > depth_a; depth_b--)
		b = b->parent;
	while (a != b) {
		a = a->parent;
		b = b->parent;
	}
	return a;
}

static void enter(struct precise_stack *stack, const struct location *location,
		  const struct inlined_call *call)
{
	struct frame frame = { .symbol = call->symbol,
			       .caller = call->parent ? call->parent->symbol : location->symbol,
			       .caller_offset = 1,
			       .entry_ip = location->ip,
			       .kind = FRAME_INLINED };

	if (top(stack)->symbol->inlined != call->parent)
		enter(stack, location, call->parent);
	precise_push(stack, stack->last_time, &frame);
}

/* Returns whether the innermost physical function is that at `location`. */
static bool is_innermost(const struct precise_stack *stack, const struct location *location)
{
	const struct frame *frame = physical_top(stack);

	return frame && location->symbol && same_function(frame->symbol, location->symbol);
}

bool callstack_set_inlined(struct callstack *base, const struct location *location,
			   const struct inlined_call *call)
{
	struct precise_stack *stack = (struct precise_stack *)base;
	const struct inlined_call *outer;

	if (!stack->now.depth || !is_innermost(stack, location))
		return false;
	if (top(stack)->symbol->inlined == call)
		return true;
	outer = common(top(stack)->symbol->inlined, call);
	while (top(stack)->symbol->inlined != outer)
		precise_pop(stack, stack->last_time);
	if (call != outer)
		enter(stack, location, call);
	precise_watch_room(stack);
	return true;
}

void callstack_pass(struct callstack *base, const struct branch_event *event)
{
	struct precise_stack *stack = (struct precise_stack *)base;

	precise_take_time(stack, event);
	precise_count_cycles(stack, event);
}
