/* SPDX-License-Identifier: MIT */
/*
 * The fast engine's state at a PSB where a stream is cut, so that threads can decode its
 * segments in any order.
 *
 * Like a flow that begins there, a flow that passes a PSB forgets state that the PSB repeats or
 * ends: the stack of compressed returns (SDM volume 3, "RET Compression": only calls since the last
 * PSB count), the measured rate of CYC, times estimated beyond the PSB's, and whether a branch was
 * emitted since tracing began (the next one is emitted). All PSBs have this effect, so that the
 * result does not depend on the cuts (aux_window.h). The checkpoint has the remaining state. A flow
 * that begins at the cut guesses this state from the PSB's header (SDM volume 3, "PSB+") and the
 * timeline. The checkpoint of the flow that decoded up to the cut shows whether the guess was
 * right.
 */
#pragma once

#include "decoder/engine/fast/flow_state.h"

struct flow_checkpoint {
	uint64_t cut;                 /* offset of the PSB; 0: the stream's beginning */
	struct aux_position position; /* the next packet's position */
	struct aux_cuts cuts;         /* the next cut */
	bool synced;
	struct stream_state stream;
	struct flow_state flow;
};

/* The flow is at a PSB: begin to pass it. */
void flow_checkpoint_approach(struct pt_flow *flow);

/* The PSB's header was read: pass it, and pause if it is a cut and the flow stops at cuts. */
void flow_checkpoint_pass(struct pt_flow *flow);

/* Save the state of a flow that has just passed a cut, or has not begun. */
void flow_checkpoint_save(struct flow_checkpoint *checkpoint, const struct pt_flow *flow);

/* Continue any flow of the same stream from a checkpoint, with statistics from 0. */
void flow_checkpoint_load(const struct flow_checkpoint *checkpoint, struct pt_flow *flow);

/*
 * Begin at a cut with a guess; `first` is the stream's start. Returns false, before the cut, if the
 * header has too little information.
 */
bool flow_checkpoint_guess(struct pt_flow *flow, const struct flow_checkpoint *first,
			   const struct aux_cuts *at);

/*
 * A segment was decoded from the guess `before` to `after`. If the real state `now` has the same
 * result, except for stops (schedule.h) and sums, correct `after` and return true.
 */
bool flow_checkpoint_join(const struct flow_checkpoint *now, const struct flow_checkpoint *before,
			  struct flow_checkpoint *after);
