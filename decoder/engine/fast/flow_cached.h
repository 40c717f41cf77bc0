/* SPDX-License-Identifier: MIT */
/*
 * Follows blocks that flow_step.c has followed before: the bulk of a trace. Private to the
 * engine.
 */
#ifndef DECODER_ENGINE_FAST_FLOW_CACHED_H
#define DECODER_ENGINE_FAST_FLOW_CACHED_H

#include "decoder/engine/fast/flow_state.h"

/*
 * Follow cached blocks as far as possible. flow->cached_block is set, which implies that a
 * branch was emitted since tracing began and that no emulated PTWRITE is being read.
 */
void flow_run_cached(struct pt_flow *flow);

#endif
