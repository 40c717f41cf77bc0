/* SPDX-License-Identifier: MIT */
/* The fast engine as its own parts see it; others see it as a pt_stream.  Private to the engine. */
#ifndef DECODER_ENGINE_FAST_PT_FLOW_H
#define DECODER_ENGINE_FAST_PT_FLOW_H

#include "decoder/engine/fast/flow_step.h"

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

/* Look for packets at another place of the stream. */
void pt_flow_seek(struct pt_flow *flow, const struct aux_place *place);

/*
 * Fill the window up from the packet under way on, which began at flow->offset: its
 * bytes, and those behind it, are elsewhere then.
 */
void pt_flow_refill(struct pt_flow *flow);

/* NULL is allowed. */
void pt_flow_free(struct pt_flow *flow);

#endif
