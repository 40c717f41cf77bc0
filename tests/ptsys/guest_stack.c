/* SPDX-License-Identifier: MIT */
#include "tests/ptsys/guest_stack.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "symbols/symbol.h"

static bool is_thunk(const struct symbol *symbol)
{
	return strncmp(symbol->name->text, "__x86_", 6) == 0;
}

void guest_stack_push(struct guest_stack *stack, const struct guest_frame *frame)
{
	stack->frames =
		alloc_grow(stack->frames, &stack->room, stack->count + 1, sizeof(*stack->frames));
	stack->frames[stack->count] = *frame;
	stack->frames[stack->count].hidden = frame->hidden || is_thunk(frame->symbol);
	stack->frames[stack->count++].insns = stack->insns;
}

/* Returns the number of slices around the frame's slice. */
static uint32_t depth_of(const struct guest_stack *stack, const struct guest_frame *frame)
{
	uint32_t depth = 0;

	for (const struct guest_frame *below = stack->frames; below < frame; below++)
		depth += !is_thunk(below->symbol);
	return depth;
}

static void give(struct guest_stack *stack, uint64_t time, const struct guest_frame *frame)
{
	struct true_slices *list = stack->slices;

	list->slices =
		alloc_grow(list->slices, &list->room, list->count + 1, sizeof(*list->slices));
	list->slices[list->count] = (struct true_slice){
		.begin = frame->begin,
		.end = time,
		.insns = stack->insns - frame->insns,
		.name = frame->symbol->name->text,
		.pid = stack->tid,
		.tid = stack->tid,
		.depth = depth_of(stack, frame),
		.order = (uint32_t)list->count,
	};
	list->count++;
}

static void pop(struct guest_stack *stack, uint64_t time)
{
	const struct guest_frame *frame = &stack->frames[stack->count - 1];

	if (!frame->hidden)
		give(stack, time, frame);
	stack->count--;
}

static struct guest_frame *top(struct guest_stack *stack)
{
	return stack->count ? &stack->frames[stack->count - 1] : NULL;
}

void guest_stack_return(struct guest_stack *stack, uint64_t time, uint64_t sp)
{
	while (stack->count && !top(stack)->entry && top(stack)->sp < sp)
		pop(stack, time);
}

void guest_stack_leave(struct guest_stack *stack, uint64_t time)
{
	bool entry = false;

	while (stack->count && !entry) {
		entry = top(stack)->entry;
		pop(stack, time);
	}
}

void guest_stack_jump(struct guest_stack *stack, uint64_t time, uint64_t sp,
		      const struct symbol *symbol)
{
	struct guest_frame *frame = top(stack);

	if (!frame || frame->symbol == symbol || (!frame->entry && frame->sp != sp))
		return;
	/* A thunk's instructions count for its target. */
	if (!frame->hidden) {
		give(stack, time, frame);
		frame->insns = stack->insns;
	}
	frame->symbol = symbol;
	frame->hidden = is_thunk(symbol);
	frame->begin = time;
}

void guest_stack_end(struct guest_stack *stack, uint64_t time)
{
	while (stack->count)
		pop(stack, time);
}

void guest_stack_release(struct guest_stack *stack)
{
	free(stack->frames);
	*stack = (struct guest_stack){ 0 };
}
