/* SPDX-License-Identifier: MIT */
/*
 * Inlined functions as frames of their own (--inline).
 *
 * Comes between the branches of a thread and its call stack.  The streams emit each branch and
 * each passage (branch_is_passage()) to code in which other calls are inlined, with the
 * instructions up to there: so the inlined calls at the end of an event are those that run up to
 * the next one.  They are looked up once for each known branch.
 */
#ifndef SRC_CALLSTACK_INLINE_FLOW_H
#define SRC_CALLSTACK_INLINE_FLOW_H

#include "src/callstack/callstack.h"
#include "src/resolve/resolve.h"

struct inline_ends;

/* Of all threads.  Zeroed memory is one that shows nothing. */
struct inline_flow {
	const struct known_branches *branches; /* borrowed */
	struct inline_ends *ends;              /* owned; of each known branch; NULL: show nothing */
};

/* Show inlined calls, of events whose known branches are in `branches`, borrowed until release. */
void inline_flow_init(struct inline_flow *flow, const struct known_branches *branches);

/* Idempotent, also on zeroed memory. */
void inline_flow_release(struct inline_flow *flow);

/*
 * Feed one branch, whose places are in physical functions, or a passage, and the inlined calls at
 * its end to the stack, whose machine has the operations `pass` and `set_inlined`.  `notes` may be
 * NULL, for a near branch or a passage.
 */
void inline_flow_feed(const struct inline_flow *flow, const struct resolver *resolver,
		      struct callstack *stack, const struct resolved_branch *branch,
		      const struct branch_notes *notes);

#endif
