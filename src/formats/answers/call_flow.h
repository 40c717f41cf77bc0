/* SPDX-License-Identifier: MIT */
/*
 * The control flow of the calls of some functions: which steps each made, how often, and when.
 *
 * A step is the code from where the last branch led up to the next branch, and where that leads;
 * so also a branch that is not taken makes another step.  The same code at another address (of
 * another process) makes the same steps.  A call of a chosen function, the outermost one of a
 * thread, is counted when it ends: into its class, of calls that took about as long.  So which
 * calls are slow can be decided at the end, and memory grows with distinct steps and classes.  Of
 * the slowest calls alone it is also kept when each step came.
 */
#ifndef SRC_FORMATS_ANSWERS_CALL_FLOW_H
#define SRC_FORMATS_ANSWERS_CALL_FLOW_H

#include <stddef.h>

#include "decoder/branch_event.h"
#include "src/callstack/callstack.h"
#include "src/formats/answers/flow_state.h"
#include "src/options/selection.h"
#include "src/resolve/resolve.h"

/* `selection` is borrowed. */
void call_flow_init(struct call_flow *flow, const struct selection *selection);

/*
 * Returns how many of some events of one thread, branches and runs, or one gap, may be fed to its
 * stack before call_flow_follow(), at least one; but none behind where `*watched` ends.
 */
size_t call_flow_limit(struct call_flow *flow, struct resolver *resolver,
		       const struct branch_event *events, size_t count,
		       struct watched_frame *watched);

/*
 * Follow events, at least one, which were fed to the thread's stack within their limit, and runs
 * behind them: `top` is that stack's behind them.
 */
void call_flow_follow(struct call_flow *flow, struct resolver *resolver,
		      const struct branch_event *events, size_t count, struct callstack_top top);

/* The trace has ended. */
void call_flow_finish(struct call_flow *flow);

/* Idempotent, also on zeroed memory. */
void call_flow_release(struct call_flow *flow);

#endif
