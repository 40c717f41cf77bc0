/* SPDX-License-Identifier: MIT */
/* The state of following cached blocks.  Private to the engine. */
#ifndef DECODER_ENGINE_FAST_FLOW_CURSOR_H
#define DECODER_ENGINE_FAST_FLOW_CURSOR_H

#include "decoder/engine/fast/flow_state.h"

/* The part of the flow that changes at each branch; separate, so that it stays in registers. */
struct flow_cursor {
	uint64_t bits;  /* TNT bits, which may be deferred until a TIP */
	uint64_t steps; /* packed_counts.h: jumps not emitted, instructions not counted yet */
	uint32_t node;  /* CFG node of the current block */
};

static inline void count_insns(struct pt_flow *flow, struct flow_cursor *cursor, uint32_t more)
{
	stream_count_insns(&flow->stream, packed_counts_insns(cursor->steps) + more);
	cursor->steps = packed_counts_drop_insns(cursor->steps);
}

static inline struct flow_cursor load_cursor(const struct pt_flow *flow)
{
	return (struct flow_cursor){ .bits = flow->bits, .node = flow->cached_block };
}

static inline void store_cursor(struct pt_flow *flow, struct flow_cursor *cursor)
{
	unsigned jumps = packed_counts_jumps(cursor->steps);

	count_insns(flow, cursor, 0);
	stream_count_local_jumps(&flow->stream, &flow->known, flow->state.ip, jumps);
	flow->branches_followed += jumps;
	flow->cached_block = cursor->node;
	flow->state.ip = flow->view.begin + *basic_block_offset(&flow->blocks, cursor->node);
	flow->bits = cursor->bits;
	if (flow->pending == PENDING_TNT && cursor->bits == TNT_BITS_NONE)
		flow->pending = PENDING_NONE;
}

#endif
