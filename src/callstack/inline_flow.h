/* SPDX-License-Identifier: MIT */
/*
 * Inlined functions as frames of their own (--inline).
 *
 * Comes between the branches of a thread and its call stack.  Code runs straight
 * from one branch to the next, so the debug information says which inlined calls
 * it enters and leaves: the stack is fed a call for each, and a jump back into the
 * surrounding function for its end.  Branches are fed as from the innermost inlined
 * function; those that stay within one function are not fed.
 */
#ifndef SRC_CALLSTACK_INLINE_FLOW_H
#define SRC_CALLSTACK_INLINE_FLOW_H

#include "src/callstack/callstack.h"
#include "src/resolve/resolve.h"

/* Of one thread.  Zeroed memory is the start. */
struct inline_flow {
	uint64_t run_begin; /* ip: target of the previous branch; 0: unknown */
	/* The last look-up: all code of [begin, end) is of this inlined call (NULL: none). */
	uint64_t begin, end; /* ip; equal: none yet */
	const struct inlined_call *call;
	const struct address_space *space;
};

/*
 * Feed one branch, whose places are in physical functions, and the inlined calls on the way
 * to it and at its target to the stack, whose machine has the operation `top`.
 */
void inline_flow_feed(struct inline_flow *flow, struct resolver *resolver, struct callstack *stack,
		      const struct resolved_branch *branch, const struct branch_notes *notes);

#endif
