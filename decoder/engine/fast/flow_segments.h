/* SPDX-License-Identifier: MIT */
/*
 * A stream of the fast engine that threads decode a segment at a time.
 *
 * Segments are decoded ahead, each from a guess of what came before
 * (flow_checkpoint.h), and given out in order.  Where a guess was wrong, the segment
 * is decoded again, here, with what really came before.  So the events are those
 * of one flow that goes through the whole stream.
 */
#ifndef DECODER_ENGINE_FAST_FLOW_SEGMENTS_H
#define DECODER_ENGINE_FAST_FLOW_SEGMENTS_H

#include "decoder/engine/fast/pt_flow.h"

/*
 * `flow` has not begun; it is owned by the result.  input.workers are used.
 * Returns the stream, owned by the caller.
 */
struct pt_stream *pt_segments_new(struct pt_flow *flow);

#endif
