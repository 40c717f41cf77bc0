/* SPDX-License-Identifier: MIT */
/*
 * The fast engine's handling of packets: each packet becomes pending (pt_flow.c), sets the time, or
 * becomes an event. Private to the engine. Source: SDM volume 3, "Packet Definitions".
 */
#pragma once

#include <endian.h>

#include "decoder/engine/fast/flow_step.h"

/* Handle a packet that libipt has read. */
void flow_on_packet(struct pt_flow *flow, const struct pt_packet *packet);

/* Handle one kind of packet: TNT bits; TIP, TIP.PGE, TIP.PGD and FUP. */
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

/* Returns whether a TIP needs only flow_take_tip(), the usual case. */
static inline bool flow_takes_tip(const struct pt_flow *flow)
{
	return flow->state.on && !flow->state.lost && !flow->state.has_interrupt &&
	       !flow->state.guest && !flow->next_guest && !flow->probed;
}

static inline void flow_take_tip(struct pt_flow *flow, uint64_t ip)
{
	flow->target = ip;
	flow->pending = PENDING_TIP;
}

/* Advance the stream to its current time: emit losses, switch threads, change kernel code. */
void flow_catch_up(struct pt_flow *flow);

/* Emit counts if the next time is in another input.period, or the chosen time begins or ends. */
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

/*
 * Nearly all packets are of these kinds (SDM volume 3, "Packet Definitions"). Any two are shorter
 * than the AUX_WINDOW_PACKET_MAX bytes that remain in the window, so no bounds checks are needed.
 */
enum opcode {
	OPCODE_PAD = 0,
	OPCODE_EXTENDED = 2,
	OPCODE_MTC = 0x59,
	/* The upper 3 bits are the address's compression: */
	OPCODE_TIP_PGD = 1,
	OPCODE_TIP = 0x0d,
	OPCODE_TIP_PGE = 0x11,
	OPCODE_FUP = 0x1d,
};

static bool is_tnt(uint8_t byte)
{
	return !(byte & 1) && byte > OPCODE_EXTENDED;
}

static inline bool is_full_tnt(uint8_t byte)
{
	return (byte & 0x81) == 0x80;
}

/*
 * Read the bits of a one-byte TNT, or of a full one and the next, as one packet. Returns the number
 * of bytes; *last: bits of the last.
 */
static inline size_t flow_read_tnt(const uint8_t *bytes, uint64_t *bits, unsigned *last)
{
	uint64_t first = tnt_bits_of_byte(bytes[0], last);

	*bits = first;
	if (!is_full_tnt(bytes[0]) || !is_tnt(bytes[1]))
		return 1;
	*bits = tnt_bits_of_byte(bytes[1], last) >> 6 | first >> 58 << 58;
	return 2;
}

/* Bytes of an ip by its compression; 0: suppressed or reserved. */
static const uint8_t ip_sizes[] = { 0, 2, 4, 6, 6, 0, 8, 0 };

/* Returns 8 bytes, of which the lowest are the ip's. All 8 are in the window. */
static inline uint64_t read_low_ip(const uint8_t *bytes)
{
	uint64_t low;

	memcpy(&low, bytes, sizeof(low));
	return le64toh(low);
}

/* Read a CYC of one or two bytes, with 5 and 7 bits. Returns its size; 0 if it is longer. */
static inline size_t flow_read_cycles(const struct pt_flow *flow, const uint8_t *bytes,
				      uint32_t *cycles)
{
	*cycles = bytes[0] >> 3;
	if (!(bytes[0] & 4) || pt_packet_cut_by_ovf(&flow->config.errata, bytes))
		return 1;
	*cycles |= (uint32_t)(bytes[1] >> 1) << 5;
	return bytes[1] & 1 ? 0 : 2;
}

/* Count a CYC's cycles for the next branch. */
static inline void flow_count_cycles(struct pt_flow *flow, uint64_t cycles)
{
	if (flow->stream.input.cycles && flow->state.on && !flow->state.lost)
		stream_count_cycles(&flow->stream, cycles, flow->state.ip);
}

/*
 * A CYC before a TNT has the time of its first branch (SDM volume 3, "Cycle Packet Semantics"):
 * follow this branch alone, up to flow_settle().
 */
static inline void flow_split_tnt(struct pt_flow *flow)
{
	if (flow->pending != PENDING_TNT || !flow->stream.state.cycles_ahead)
		return;
	flow->later_bits = flow->bits << 1;
	flow->bits = tnt_bits(flow->bits >> 63, 1);
}

/* Set the clock's bound to the time of the AUX record that reports the bytes at `at`. */
void flow_bound_clock(struct pt_flow *flow);

/* Handle a packet that libipt does not know. */
void flow_on_extended_packet(struct pt_flow *flow, const struct extended_packet *packet);

/* Returns whether the longest packet might not fit between `at` and the window's end. */
static inline bool flow_is_near_end(const struct pt_flow *flow, size_t at)
{
	return at + AUX_WINDOW_PACKET_MAX > flow->window.size;
}

/* Read and follow frequent packets. Returns true at a packet for libipt, false if steps remain. */
bool flow_read_frequent(struct pt_flow *flow);

/* Without MTCs: look ahead to the next TSC packet, which the time by cycles must not pass. */
void flow_look_ahead(struct pt_flow *flow);
