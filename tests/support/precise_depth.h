/* SPDX-License-Identifier: MIT */
/* The depth of a precise machine's stack. */
#pragma once

#include "src/callstack/precise/callstack_precise_stack.h"

/* Returns the number of frames with a seen call: no signal handlers, pauses or inferred frames. */
static inline size_t precise_depth(const struct callstack *base)
{
	const struct precise_stack *stack = (const struct precise_stack *)base;
	size_t called = 0;

	for (size_t i = 0; i < stack->now.depth; i++)
		called += stack->now.frames[i].kind == FRAME_CALLED;
	return called;
}

/* The same without the functions that jumped to others, whose frames these have. */
static inline size_t precise_physical_depth(const struct callstack *base)
{
	const struct precise_stack *stack = (const struct precise_stack *)base;
	size_t called = 0;

	for (size_t i = 0; i < stack->now.depth; i++)
		called +=
			stack->now.frames[i].kind == FRAME_CALLED && !frame_is_left(&stack->now, i);
	return called;
}
