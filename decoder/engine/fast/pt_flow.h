/* SPDX-License-Identifier: MIT */
/* The fast engine as its own parts see it; others see it as a pt_stream.  Private to the engine. */
#ifndef DECODER_ENGINE_FAST_PT_FLOW_H
#define DECODER_ENGINE_FAST_PT_FLOW_H

#include "decoder/engine/fast/flow_state.h"

/*
 * Returns a stream of the fast engine, owned by the caller; NULL, and nothing is left
 * behind, if libipt refuses the trace.
 */
struct pt_stream *pt_flow_new(const struct pt_stream_input *input, const struct pt_config *config);

/*
 * Returns a flow without a stream, owned by the caller; flow_checkpoint_load() gives
 * it one.  It is to decode about `size` bytes.
 */
struct pt_flow *pt_flow_spare(uint64_t size);

/* Make a spare flow one of the stream of another, at no place yet. */
void pt_flow_adopt(struct pt_flow *flow, const struct pt_stream *like,
		   const struct pt_config *config);

/* NULL is allowed. */
void pt_flow_free(struct pt_flow *flow);

#endif
