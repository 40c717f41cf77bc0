/* SPDX-License-Identifier: MIT */
/*
 * Inlined functions as frames of their own (--inline).
 *
 * Sits between the branches of a thread and its call stack. The streams emit each branch, and each
 * passage (branch_is_passage()) into code with other inlined calls, with the instructions executed
 * before it. So the inlined calls at the end of an event run until the next event. They are looked
 * up once per known branch.
 */
#ifndef SRC_CALLSTACK_INLINE_FLOW_H
#define SRC_CALLSTACK_INLINE_FLOW_H

#include "src/callstack/callstack.h"
#include "src/resolve/resolve.h"

struct inline_ends;

/* Shared by all threads. Zeroed memory shows nothing. */
struct inline_flow {
	const struct known_branches *branches; /* borrowed */
	struct inline_ends *ends;              /* owned; by known branch; NULL: show nothing */
};

/*
 * Show the inlined calls of events whose known branches are in `branches`, borrowed until release.
 */
void inline_flow_init(struct inline_flow *flow, const struct known_branches *branches);

/* Idempotent, also on zeroed memory. */
void inline_flow_release(struct inline_flow *flow);

/*
 * Feed one branch, whose locations are in physical functions, or a passage to the stack, and the
 * inlined calls at its end. The stack's machine must have the operations `pass` and `set_inlined`.
 * `notes` may be NULL for a near branch or a passage.
 */
void inline_flow_feed(const struct inline_flow *flow, const struct resolver *resolver,
		      struct callstack *stack, const struct resolved_branch *branch,
		      const struct branch_notes *notes);

#endif
