/* SPDX-License-Identifier: MIT */
/*
 * --max-stack: formats that repeat a call stack for each of its callees show N outermost functions
 * of a deeper one, "[truncated]", and the innermost function.  So no line is longer, a function's
 * own costs are exact, and the outermost functions have those of all their callees.
 */
#ifndef SRC_FORMATS_DEEP_STACK_H
#define SRC_FORMATS_DEEP_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"

#define TRUNCATED_NAME "[truncated]"

/* The open slices of a track.  Zeroed memory has none. */
struct deep_stack {
	uint64_t depth;    /* open slices that are shown */
	uint32_t *callers; /* owned: the stack that each deeper one began in */
	size_t count, room;
	uint32_t cut; /* the stack that ends in TRUNCATED_NAME, if `count` */
};

static inline void deep_stack_release(struct deep_stack *deep)
{
	free(deep->callers);
	*deep = (struct deep_stack){ 0 };
}

/* A slice begins in a stack.  Returns whether it is deeper than `most`: it is shown in `cut`. */
static inline bool deep_stack_begin(struct deep_stack *deep, uint64_t most, uint32_t stack)
{
	if (deep->depth < most) {
		deep->depth++;
		return false;
	}
	*ARRAY_ADD(deep->callers, deep->count, deep->room) = stack;
	return true;
}

/* The innermost slice ends, whose stack is called by `caller`.  Returns the stack that it was in.
 */
static inline uint32_t deep_stack_end(struct deep_stack *deep, uint32_t caller)
{
	if (deep->count)
		return deep->callers[--deep->count];
	deep->depth--;
	return caller;
}

#endif
