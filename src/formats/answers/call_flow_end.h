/* SPDX-License-Identifier: MIT */
/* The end of the calls that are followed (call_flow.h). */
#ifndef SRC_FORMATS_ANSWERS_CALL_FLOW_END_H
#define SRC_FORMATS_ANSWERS_CALL_FLOW_END_H

#include <stdint.h>

#include "decoder/branch_event.h"
#include "src/formats/answers/flow_state.h"
#include "symbols/symbol.h"

/* Returns the number of a function. */
uint32_t call_flow_root(struct call_flow *flow, const struct symbol *symbol);

/* The thread's open call ends with a branch: count its steps, and keep them if it is slow. */
void call_flow_end(struct call_flow *flow, struct flow_thread *thread,
		   const struct branch_event *event);

#endif
