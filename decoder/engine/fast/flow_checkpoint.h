/* SPDX-License-Identifier: MIT */
/*
 * The fast engine's state at a PSB where a stream is cut, so that threads can decode its
 * segments in any order.
 *
 * A flow that passes a PSB forgets state that the PSB restates or ends, like a flow that begins
 * there: the stack of compressed returns (SDM volume 3, "RET Compression": only calls since the
 * last PSB count), how fast CYC ticks, times estimated ahead of the PSB's own, and whether a branch
 * was emitted since tracing began: the next one is.  It does so at every PSB, so that the result
 * does not depend on where the stream is cut (aux_window.h).  The checkpoint has the rest. A flow
 * that begins at the cut guesses it from the PSB's header (SDM volume 3, "PSB+") and the timeline;
 * the checkpoint of the flow that decoded up to the cut shows whether the guess was right.
 */
#ifndef DECODER_ENGINE_FAST_FLOW_CHECKPOINT_H
#define DECODER_ENGINE_FAST_FLOW_CHECKPOINT_H

#include "decoder/engine/fast/flow_state.h"

struct flow_checkpoint {
	uint64_t cut;                 /* offset of the PSB; 0: the stream's beginning */
	struct aux_position position; /* of the next packet */
	struct aux_cuts cuts;         /* the next cut */
	bool synced;
	struct stream_state stream;
	struct flow_state flow;
};

/* The flow is at a PSB: begin to pass it. */
void flow_checkpoint_approach(struct pt_flow *flow);

/* The PSB's header was read: pass it, and pause there if it is a cut and the flow stops at cuts. */
void flow_checkpoint_pass(struct pt_flow *flow);

/* Save the state of a flow that has just passed a cut, or has not begun. */
void flow_checkpoint_save(struct flow_checkpoint *checkpoint, const struct pt_flow *flow);

/* Continue from a checkpoint with any flow of the same stream.  Its statistics begin at 0. */
void flow_checkpoint_load(const struct flow_checkpoint *checkpoint, struct pt_flow *flow);

/*
 * Begin at a cut with a guess; `first` is the beginning of the stream.  Returns false, before the
 * cut, if the header has too little to guess by.
 */
bool flow_checkpoint_guess(struct pt_flow *flow, const struct flow_checkpoint *first,
			   const struct aux_cuts *at);

/*
 * A segment was decoded from the guess `before` to `after`.  If the real state `now` gives the same
 * result, except stops (schedule.h) and sums, corrects `after` and returns true.
 */
bool flow_checkpoint_join(const struct flow_checkpoint *now, const struct flow_checkpoint *before,
			  struct flow_checkpoint *after);

#endif
