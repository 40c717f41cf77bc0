/* SPDX-License-Identifier: MIT */
/* Creates streams of the fast engine, and flows that decode segments. Private to the engine. */
#pragma once

#include "decoder/engine/fast/flow_state.h"

/* Returns a stream of the fast engine, owned by the caller; NULL if libipt refuses the trace. */
struct pt_stream *pt_flow_new(const struct pt_stream_input *input, const struct pt_config *config);

/* Returns a flow without a stream, owned by the caller, for about `size` bytes of trace. */
struct pt_flow *pt_flow_spare(uint64_t size);

/* Attach a spare flow to another flow's stream, without a position yet. */
void pt_flow_adopt(struct pt_flow *flow, const struct pt_stream *like,
		   const struct pt_config *config);

/* NULL is allowed. */
void pt_flow_free(struct pt_flow *flow);

/*
 * Returns a stream, owned by the caller, whose segments input.workers decode. The stream owns
 * `flow`, which has not begun.
 *
 * Segments are decoded ahead, each from a guess of the state at its start (flow_checkpoint.h), and
 * consumed in order. After a wrong guess, `flow` decodes the segment again from the real state. So
 * the events equal those of one flow through the whole stream.
 */
struct pt_stream *pt_segments_new(struct pt_flow *flow);
