/* SPDX-License-Identifier: MIT */
/* Follow cached blocks, and count their executions. */
#define FLOW_COUNTS true

#include "decoder/engine/fast/flow_runs.h"

void flow_run_counted(struct pt_flow *flow)
{
	if (has_runs(flow))
		follow_runs(flow);
	else
		follow_cached(flow);
}
