/* SPDX-License-Identifier: MIT */
/*
 * The fast engine's handling of packets: each makes something pending (pt_flow.c), sets the time,
 * or becomes an event.  Private to the engine.  Source: SDM volume 3, "Packet Definitions".
 */
#ifndef DECODER_ENGINE_FAST_FLOW_PACKETS_H
#define DECODER_ENGINE_FAST_FLOW_PACKETS_H

#include "decoder/engine/fast/flow_step.h"

/* Handle a packet that libipt has read. */
void flow_on_packet(struct pt_flow *flow, const struct pt_packet *packet);

/* Handle one kind: TNT bits; TIP, TIP.PGE, TIP.PGD and FUP. */
void flow_on_tnt(struct pt_flow *flow, uint64_t bits);
void flow_on_tip(struct pt_flow *flow, const struct pt_packet_ip *packet);
void flow_on_tip_pge(struct pt_flow *flow, const struct pt_packet_ip *packet);
void flow_on_tip_pgd(struct pt_flow *flow, const struct pt_packet_ip *packet);
void flow_on_fup(struct pt_flow *flow, const struct pt_packet_ip *packet);

/* Returns the ip of a packet by pt_packet_full_ip(). */
static inline uint64_t flow_read_ip(struct pt_flow *flow, unsigned compression, uint64_t low)
{
	flow->state.last_ip = pt_packet_full_ip(flow->state.last_ip, compression, low);
	return flow->state.last_ip;
}

/* Handle TNT bits in the usual case; flow_on_tnt() handles the others. */
static inline void flow_take_tnt(struct pt_flow *flow, uint64_t bits)
{
	if (!flow->state.on || flow->state.lost || flow->bits != TNT_BITS_NONE) {
		flow_on_tnt(flow, bits);
		return;
	}
	flow->state.has_interrupt = false;
	flow->bits = bits;
	flow->pending = PENDING_TNT;
}

/* Returns whether the state is the usual one, where a TIP needs flow_take_tip() only. */
static inline bool flow_takes_tip(const struct pt_flow *flow)
{
	return flow->state.on && !flow->state.lost && !flow->state.has_interrupt &&
	       !flow->state.guest && !flow->next_guest;
}

static inline void flow_take_tip(struct pt_flow *flow, uint64_t ip)
{
	flow->target = ip;
	flow->pending = PENDING_TIP;
}

/* Bring the stream to its present time: emit losses, switch threads, change kernel code. */
void flow_catch_up(struct pt_flow *flow);

/* Emit counts if the next time is of another input.period, or the chosen time begins or ends. */
void flow_end_period(struct pt_flow *flow);

/* Update the time from the packet clock. */
static inline void flow_update_time(struct pt_flow *flow)
{
	struct pt_stream *stream = &flow->stream;

	if (!flow->state.clock.tsc)
		return;
	if (stream->input.period || stream->input.end)
		flow_end_period(flow);
	stream_set_time(stream, flow->state.clock.tsc);
	if (flow->follows_switches || stream->state.next_loss < stream->loss_count ||
	    stream->text.kernel)
		flow_catch_up(flow);
}

/* Count a CYC's cycles for the next branch. */
static inline void flow_count_cycles(struct pt_flow *flow, uint64_t cycles)
{
	if (flow->stream.input.cycles && (flow->state.on || flow->erratum_resume_ip) &&
	    !flow->state.lost)
		stream_count_cycles(&flow->stream, cycles, flow->state.ip);
}

/*
 * A CYC before a TNT has the time of its first branch (SDM volume 3, "Cycle Packet Semantics"):
 * that one is followed by itself, up to flow_settle().
 */
static inline void flow_split_tnt(struct pt_flow *flow)
{
	if (flow->pending != PENDING_TNT || !flow->stream.state.cycles_ahead)
		return;
	flow->later_bits = flow->bits << 1;
	flow->bits = tnt_bits(flow->bits >> 63, 1);
}

/* The packet after a CYC, or its first branch, is followed: the cycles are of the code so far. */
void flow_settle(struct pt_flow *flow);

/* The clock's bound may have changed: that of the AUX record which reports the bytes at `at`. */
void flow_bound_clock(struct pt_flow *flow);

/* Handle a packet that libipt does not know. */
void flow_on_extended_packet(struct pt_flow *flow, const struct extended_packet *packet);

/* Returns whether the longest packet might not fit between `at` and the window's end. */
static inline bool flow_is_near_end(const struct pt_flow *flow, size_t at)
{
	return at + AUX_WINDOW_PACKET_MAX > flow->window.size;
}

/* Read and follow frequent packets, until one needs more steps, or libipt's decoder (true). */
bool flow_read_frequent(struct pt_flow *flow);

/* Look ahead from a TSC packet to the next, which the time by cycles must not pass; without MTCs.
 */
void flow_look_ahead(struct pt_flow *flow);

#endif
