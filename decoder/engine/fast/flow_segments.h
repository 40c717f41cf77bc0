/* SPDX-License-Identifier: MIT */
/*
 * A stream of the fast engine whose segments are decoded by threads.
 *
 * Segments are decoded ahead, each from a guess of the state before it (flow_checkpoint.h),
 * and consumed in order.  After a wrong guess the segment is decoded again, here, from the real
 * state.  So the events are those of one flow through the whole stream.
 */
#ifndef DECODER_ENGINE_FAST_FLOW_SEGMENTS_H
#define DECODER_ENGINE_FAST_FLOW_SEGMENTS_H

#include "decoder/engine/fast/pt_flow.h"

/*
 * `flow` has not begun; the result owns it. input.workers run the jobs.  Returns the stream,
 * owned by the caller.
 */
struct pt_stream *pt_segments_new(struct pt_flow *flow);

#endif
