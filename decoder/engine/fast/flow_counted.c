/* SPDX-License-Identifier: MIT */
/* Follow cached blocks, and count their executions. */
#define FLOW_COUNTS true

#include "decoder/engine/fast/flow_follow.h"

void flow_run_counted(struct pt_flow *flow)
{
	follow_cached(flow);
}
