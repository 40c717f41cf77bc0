/* SPDX-License-Identifier: MIT */
/* Read TNT, TIP, TIP.PGE, TIP.PGD, FUP, CYC, MTC and PAD packets without libipt. */

#include <endian.h>

#include "decoder/engine/fast/flow_packets.h"

static size_t read_mtc(struct pt_flow *flow, const uint8_t *bytes)
{
	packet_clock_mtc(&flow->state.clock, bytes[1]);
	flow_update_time(flow);
	return 2;
}

/* Read a TIP, TIP.PGE, TIP.PGD or FUP. Returns its size; 0 for other packets. */
static __attribute__((noinline)) size_t read_ip_packet(struct pt_flow *flow, const uint8_t *bytes)
{
	struct pt_packet_ip packet = { .ipc = (enum pt_ip_compression)(bytes[0] >> 5) };

	if (packet.ipc == 5 || packet.ipc == 7)
		return 0; /* reserved */
	packet.ip = read_low_ip(bytes + 1);
	switch (bytes[0] & 0x1f) {
	case OPCODE_TIP:
		flow_on_tip(flow, &packet);
		break;
	case OPCODE_TIP_PGE:
		flow_on_tip_pge(flow, &packet);
		break;
	case OPCODE_TIP_PGD:
		flow_on_tip_pgd(flow, &packet);
		break;
	case OPCODE_FUP:
		if (flow->state.overflowed)
			return 0; /* APL12: the window can move */
		flow_on_fup(flow, &packet);
		break;
	default:
		return 0;
	}
	if (!flow->reread)
		return 1u + ip_sizes[packet.ipc];
	flow->reread = false;
	return 0;
}

/* Read a TIP; nearly all have an ip of 16 to 48 bits.  Returns its size. */
static inline size_t read_tip(struct pt_flow *flow, const uint8_t *bytes)
{
	unsigned compression = bytes[0] >> 5;

	if (compression - 1 >= pt_ipc_update_48 || !flow_takes_tip(flow))
		return read_ip_packet(flow, bytes);
	flow_take_tip(flow, flow_read_ip(flow, compression, read_low_ip(bytes + 1)));
	return 1u + ip_sizes[compression];
}

/* Returns the number of padding bytes, at least `count`. An unused buffer has many. */
static __attribute__((noinline)) size_t count_long_padding(const uint8_t *bytes, size_t count,
							   size_t size)
{
	uint64_t words[4];

	while (count + sizeof(words) <= size) {
		memcpy(words, bytes + count, sizeof(words));
		if (words[0] | words[1] | words[2] | words[3])
			break;
		count += sizeof(words);
	}
	while (count < size && bytes[count] == OPCODE_PAD)
		count++;
	return count;
}

/* Returns the number of padding bytes; usually a few, for alignment. */
static inline size_t count_padding(const uint8_t *bytes, size_t size)
{
	uint64_t next;

	memcpy(&next, bytes, sizeof(next));
	return next ? (size_t)__builtin_ctzll(le64toh(next)) / 8
		    : count_long_padding(bytes, sizeof(next), size);
}

/* Read a frequent packet. Returns its size; 0 for other packets, CYC and PAD. */
static inline size_t read_frequent(struct pt_flow *flow, const uint8_t *bytes)
{
	uint64_t bits;
	size_t size;

	if (is_tnt(bytes[0])) {
		size = flow_read_tnt(bytes, &bits, &flow->last_bits);
		flow_take_tnt(flow, bits);
		return size;
	}
	if ((bytes[0] & 0x1f) == OPCODE_TIP)
		return read_tip(flow, bytes);
	if (bytes[0] == OPCODE_MTC)
		return read_mtc(flow, bytes);
	return read_ip_packet(flow, bytes);
}

/* Read a CYC.  Returns its size; 0 for other packets. */
static inline size_t read_cyc(struct pt_flow *flow, const uint8_t *bytes)
{
	uint32_t cycles;
	size_t size;

	if ((bytes[0] & 3) != 3)
		return 0;
	size = flow_read_cycles(flow, bytes, &cycles);
	if (!size)
		return 0;
	if (packet_clock_cyc(&flow->state.clock, cycles) &&
	    packet_clock_is_bound(&flow->state.clock))
		flow_bound_clock(flow);
	flow_count_cycles(flow, cycles);
	flow_update_time(flow);
	return size;
}

/*
 * Returns whether the next packet was a frequent one. A CYC does not change the flow, so it is read
 * together with the next packet, whose bytes are also in the window, unless *size is 0: padding
 * does not end its cycles.
 */
static inline bool read_next_frequent(struct pt_flow *flow, size_t *size)
{
	size_t at;

	if (flow->window.bytes[flow->at] == OPCODE_PAD) {
		flow->at +=
			count_padding(flow->window.bytes + flow->at, flow->window.size - flow->at);
		if (flow_is_near_end(flow, flow->at)) {
			*size = 0;
			return true;
		}
	}
	at = flow->at + read_cyc(flow, flow->window.bytes + flow->at);
	flow->offset = flow->window.base + at;
	flow->branches_followed = 0;
	*size = read_frequent(flow, flow->window.bytes + at);
	at += *size;
	if (at == flow->at)
		return false;
	flow->at = at;
	return true;
}

/* ---- Looking ahead ------------------------------------------------------- */

/*
 * Pass TNT, TIP, CYC and PAD packets before `stop`, and sum their cycles. Returns the offset of
 * another packet, or an offset at or after `stop`.
 */
static size_t pass_frequent(const struct pt_flow *flow, size_t at, size_t stop, uint64_t *cycles)
{
	const uint8_t *bytes = flow->window.bytes;
	uint32_t count;
	size_t size;

	for (; at < stop; at += size) {
		uint8_t byte = bytes[at];

		if (is_tnt(byte) || byte == OPCODE_PAD)
			size = 1;
		else if ((byte & 3) == 3 && (size = flow_read_cycles(flow, bytes + at, &count)))
			*cycles += count;
		else if ((byte & 0x1f) == OPCODE_TIP && ip_sizes[byte >> 5])
			size = 1u + ip_sizes[byte >> 5];
		else
			break;
	}
	return at;
}

/* A separate clock over the packets from `at` to `end` in the window. */
struct look_ahead {
	struct packet_clock clock;
	size_t at, end;
	uint64_t aux_begin; /* the window's begin in AUX records' byte count */
	size_t cut;         /* index of the next AUX record's end */
};

static void begin_look_ahead(struct look_ahead *ahead, struct pt_flow *flow)
{
	const struct aux_stream *aux = flow->stream.input.aux;
	uint64_t at;

	ahead->end = flow_window_look_ahead(flow);
	ahead->clock = flow->state.clock;
	packet_clock_bound(&ahead->clock, 0);
	ahead->at = flow->at;
	ahead->aux_begin = aux_window_aux_end(&flow->window) - flow->window.size;
	at = ahead->aux_begin + ahead->at;
	ahead->cut = LOWER_BOUND(i, aux->cut_count, aux->cuts[i].at <= at);
}

/* Returns the end of the next AUX record, or `ahead->end` if that is earlier. */
static size_t next_stop(const struct look_ahead *ahead, const struct aux_stream *aux)
{
	uint64_t at = ahead->end;

	if (ahead->cut < aux->cut_count)
		at = aux->cuts[ahead->cut].at - ahead->aux_begin;
	return MIN(at, ahead->end);
}

/* Returns the next time of a TSC packet or an AUX record; 0 if there is none. */
static uint64_t next_known_time(struct look_ahead *ahead, struct pt_flow *flow)
{
	const struct aux_stream *aux = flow->stream.input.aux;
	size_t stop = next_stop(ahead, aux);
	struct pt_packet packet;
	unsigned bip_size = 0;
	uint64_t cycles;

	for (;;) {
		cycles = 0;
		ahead->at = pass_frequent(flow, ahead->at, stop, &cycles);
		packet_clock_many_cycles(&ahead->clock, cycles);
		if (ahead->at >= stop)
			break;
		if (!pt_packet_read(flow->packets, &flow->config, &ahead->at, &bip_size, &packet))
			return 0;
		if (packet.type == ppt_tsc) {
			ahead->end = 0;
			return stream_complete_tsc(&flow->stream, packet.payload.tsc.tsc);
		}
		packet_clock_packet(&ahead->clock, &packet);
	}
	if (ahead->cut == aux->cut_count ||
	    aux->cuts[ahead->cut].at - ahead->aux_begin > ahead->end)
		return 0;
	return tsc_clock_tsc(&flow->stream.clock, aux->cuts[ahead->cut++].time);
}

void flow_look_ahead(struct pt_flow *flow)
{
	struct look_ahead ahead;
	uint64_t known;

	begin_look_ahead(&ahead, flow);
	while ((known = next_known_time(&ahead, flow)) && known >= ahead.clock.tsc)
		;
	if (known)
		packet_clock_fit(&flow->state.clock, known, ahead.clock.tsc);
}

/* Follow the packet after a CYC. */
static __attribute__((noinline)) void follow_cycles(struct pt_flow *flow)
{
	flow_split_tnt(flow);
	if (flow->pending != PENDING_NONE)
		flow_step(flow);
	else
		flow_settle(flow);
}

bool flow_read_frequent(struct pt_flow *flow)
{
	size_t size;

	while (!flow_is_near_end(flow, flow->at)) {
		if (!read_next_frequent(flow, &size))
			return true;
		if (__builtin_expect(flow->stream.state.cycles_ahead && size, 0))
			follow_cycles(flow);
		else if (flow->pending != PENDING_NONE)
			flow_step(flow);
		if (flow->pending != PENDING_NONE || !stream_has_room(&flow->stream))
			return false;
	}
	return aux_window_at_end(&flow->window);
}
