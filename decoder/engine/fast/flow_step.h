/* SPDX-License-Identifier: MIT */
/*
 * Follows the code from one packet to the next (pt_flow.c has the table of what each packet
 * needs).  A packet sets the task; flow_step() is called until the task is PENDING_NONE again, and
 * emits events on the way.  Private to the engine.
 */
#ifndef DECODER_ENGINE_FAST_FLOW_STEP_H
#define DECODER_ENGINE_FAST_FLOW_STEP_H

#include "decoder/engine/fast/flow_cached.h"

/* Walk a run further. */
void flow_step_slow(struct pt_flow *flow);

/* Walk a run further, or many that were walked before, while the stream has room. */
static inline void flow_step(struct pt_flow *flow)
{
	if (flow->cached_block)
		flow_run_cached(flow);
	if (flow->pending != PENDING_NONE && stream_has_room(&flow->stream))
		flow_step_slow(flow);
}

/* Tracing begins at ip.  `told`: a packet said so, and an event does. */
void flow_begin_tracing(struct pt_flow *flow, uint64_t ip, bool by_packet);

/* After damage, a packet tells that ip is executed: go on there if there is code. */
void flow_resync_at(struct pt_flow *flow, uint64_t ip);

/* Returns whether the way from the flow's ip to `ip` needs no packet. */
bool flow_reaches(struct pt_flow *flow, uint64_t ip);

/* Returns whether the instruction at the flow's ip is a VMLAUNCH or VMRESUME. */
bool flow_at_vm_entry(struct pt_flow *flow);

/* The trace cannot be followed at ip (0: unknown): a gap, until a packet tells an ip. */
void flow_fail(struct pt_flow *flow, enum gap_reason reason, uint64_t ip);

/* Where the program is, is not known any more; nothing is told of it. */
void flow_set_lost(struct pt_flow *flow);

/* A FUP tells where that happened which waits for it (0: unknown). */
void flow_emit_pending(struct pt_flow *flow, uint64_t ip);

/* An interrupt's FUP tells where it struck (0: unknown): its event takes place there. */
void flow_emit_cfe(struct pt_flow *flow, uint64_t ip);

/* No FUP will come for the packets that wait. */
void flow_flush_pending(struct pt_flow *flow);

/* The way is known again: what was passed over is counted as lost. */
void flow_set_found(struct pt_flow *flow);

#endif
