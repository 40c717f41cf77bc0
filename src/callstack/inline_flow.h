/* SPDX-License-Identifier: MIT */
/*
 * Inlined functions as frames of their own (--inline).
 *
 * Stands between the branches of a thread and its call stack.  Between two
 * branches code runs in a line, so it is known which inlined calls it passes:
 * the stack is told of each as of a call, and of its end as of a jump back into
 * what it was inlined in.  Branches seem to come from the innermost inlined
 * function; those within a function are kept from the stack.
 */
#ifndef SRC_CALLSTACK_INLINE_FLOW_H
#define SRC_CALLSTACK_INLINE_FLOW_H

#include "decoder/branch_event.h"
#include "src/callstack/callstack.h"
#include "src/resolve/resolve.h"

/* Of one thread.  Zeroed memory is the start. */
struct inline_flow {
	uint64_t run_begin; /* ip where the last branch went; 0: unknown */
	/* The last answer: what inlined call (NULL: none) holds in [begin, end). */
	uint64_t begin, end; /* ip; equal: no answer */
	const struct inlined_call *call;
	const struct address_space *space;
};

/*
 * Feed one branch to the stack, a precise one, and what it passes of inlined
 * calls.  `branch` is the event's, with physical functions.
 */
void inline_flow_branch(struct inline_flow *flow, struct resolver *resolver,
			struct callstack *stack, const struct branch_event *event,
			const struct resolved_branch *branch);

#endif
