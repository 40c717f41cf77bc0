/* SPDX-License-Identifier: MIT */
/* Follows blocks that flow_step.c has followed before: the bulk of a trace.  Private to the engine.
 */
#ifndef DECODER_ENGINE_FAST_FLOW_CACHED_H
#define DECODER_ENGINE_FAST_FLOW_CACHED_H

#include "decoder/engine/fast/flow_state.h"

/*
 * Walk what was looked at closely before, as far as that goes: where bits of TNT
 * or the target of a TIP are to be used, a branch was given out since tracing
 * began, and no PTWRITE is being told.  `here` is set.
 */
void flow_run_cached(struct pt_flow *flow);

#endif
