/* SPDX-License-Identifier: MIT */
/*
 * What the fast engine takes with it over a PSB where a stream is cut: so a
 * segment can be decoded by whoever, before or beside what comes before it.
 *
 * At a cut (aux_cuts.h) both one who comes by and one who begins there forget
 * what the PSB restates or ends: the compressed returns' stack (SDM volume 3,
 * "RET Compression": only calls since the last PSB count), how fast CYC ticks,
 * times that were estimated ahead of the PSB's own, and whether a branch was given
 * out since tracing began: the next one is, then.  The rest is here.  One
 * who begins guesses it from the PSB's header (SDM volume 3, "PSB+") and the
 * timeline; who came by tells whether the guess was right.
 */
#ifndef DECODER_ENGINE_FAST_FLOW_CHECKPOINT_H
#define DECODER_ENGINE_FAST_FLOW_CHECKPOINT_H

#include "decoder/aux/aux_cuts.h"
#include "decoder/engine/fast/flow_state.h"

struct flow_checkpoint {
	uint64_t cut;              /* offset of the PSB; 0: the stream's beginning */
	struct aux_position place; /* where the next packet is */
	struct aux_cuts cuts;      /* at the next one */
	bool synced;
	struct stream_state stream;
	struct flow_state flow;
};

/* The flow is at a PSB.  If that is a cut, begin to pass it. */
void flow_checkpoint_approach(struct pt_flow *flow);

/* The header of the PSB at a cut is read: pass it, and stop there if the flow is asked to. */
void flow_checkpoint_pass(struct pt_flow *flow);

/* Note the state of a flow that has just passed a cut, or has not begun. */
void flow_checkpoint_save(struct flow_checkpoint *boundary, const struct pt_flow *flow);

/* Go on from there with any flow of the same stream; its statistics begin anew. */
void flow_checkpoint_load(const struct flow_checkpoint *boundary, struct pt_flow *flow);

/*
 * Begin at a cut, with a guess; `first` is the beginning of the stream.
 * Returns whether there is enough to guess by; then the flow has passed the cut.
 */
bool flow_checkpoint_guess(struct pt_flow *flow, const struct flow_checkpoint *first,
			   const struct aux_cuts *at);

/*
 * A flow went from a guess, `before`, to `after`.  Returns whether it would have done the
 * same from `now`, but for stops (schedule.h) and sums; then what `after` still has of the
 * guess is made what it is.
 */
bool flow_checkpoint_join(const struct flow_checkpoint *now, const struct flow_checkpoint *before,
			  struct flow_checkpoint *after);

#endif
