/* SPDX-License-Identifier: MIT */
/*
 * The fast engine: packets drive a walk over cached runs of code.
 *
 * A packet sets what is to be done, and each step walks one run further until
 * it is done; only then is the next packet read.  So nothing is reported that
 * no packet has proved yet:
 *
 *   packet      walk
 *   ----------  -----------------------------------------------------------
 *   TNT         to a conditional jump or a compressed return, a bit each
 *   TIP         to an indirect branch, an uncompressed return, a far transfer
 *   TIP.PGD     the same; tracing goes off there
 *   FUP         to its ip: an interrupt (if TIP or TIP.PGD follows)
 *   PSB+        to its ip, to check that trace and code agree
 *
 * Return compression (SDM volume 3, "Intel Processor Trace", "RET
 * Compression"): the processor pops its stack of 64 at every near return, also
 * at one that it does not compress; and a call to the next instruction pushes
 * nothing.
 *
 * After damage decoding goes on at the next packet that tells an ip where there
 * is code.
 */
#include <intel-pt.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "decoder/pt_boundary.h"
#include "decoder/pt_flow.h"

/* Bytes from one cut to the next: some ms of work, and some MB of events. */
#define SEGMENT ((uint64_t)128 << 10)

/* ---- Packets ------------------------------------------------------------- */

/* SDM volume 3, "IP Compression".  Returns whether the packet tells an ip. */
static bool read_ip(struct pt_flow *flow, const struct pt_packet_ip *packet, uint64_t *ip)
{
	uint64_t last = flow->last_ip;

	switch (packet->ipc) {
	case pt_ipc_suppressed:
		*ip = 0;
		return false;
	case pt_ipc_update_16:
		last = (last & ~UINT64_C(0xffff)) | packet->ip;
		break;
	case pt_ipc_update_32:
		last = (last & ~UINT64_C(0xffffffff)) | packet->ip;
		break;
	case pt_ipc_update_48:
		last = (last & ~UINT64_C(0xffffffffffff)) | packet->ip;
		break;
	case pt_ipc_sext_48:
		last = (uint64_t)((int64_t)(packet->ip << 16) >> 16);
		break;
	default:
		last = packet->ip;
		break;
	}
	*ip = flow->last_ip = last;
	return true;
}

static void on_tnt(struct pt_flow *flow, const struct pt_packet_tnt *packet)
{
	if (flow->lost)
		return;
	if (!flow->on) {
		flow_fail(flow, GAP_MISMATCH, 0);
		return;
	}
	flow->has_interrupt = false;
	flow->bits = packet->payload;
	flow->bit_count = packet->bit_size;
	flow->task = flow->bit_count ? TASK_DECIDE : TASK_READ;
}

static void on_interrupt(struct pt_flow *flow, uint64_t ip)
{
	struct pt_stream *stream = &flow->stream;
	enum branch_kind kind = flow->aborted ? BRANCH_TX_ABORT : BRANCH_INTERRUPT;

	stream_push(stream, kind, flow->interrupted, ip)->flags |= BRANCH_ASYNC;
	flow->has_interrupt = flow->aborted = false;
	flow->ip = ip;
	flow->here = NULL;
	flow->known = stream->now;
	flow->mode = flow->next_mode;
}

static void on_tip(struct pt_flow *flow, const struct pt_packet_ip *packet)
{
	uint64_t ip;
	bool told = read_ip(flow, packet, &ip);

	if (flow->lost) {
		if (told)
			flow_try_at(flow, ip);
		return;
	}
	if (!flow->on || !told) {
		flow_fail(flow, GAP_MISMATCH, flow->on ? flow->ip : 0);
		return;
	}
	if (flow->has_interrupt) {
		on_interrupt(flow, ip);
		return;
	}
	flow->target = ip;
	flow->task = TASK_TARGET;
}

static void on_enable(struct pt_flow *flow, const struct pt_packet_ip *packet)
{
	uint64_t ip;

	bool told = read_ip(flow, packet, &ip);

	flow->has_interrupt = flow->overflowed = false;
	if (!told || (flow->on && !flow->lost))
		flow_fail(flow, GAP_MISMATCH, flow->on ? flow->ip : 0);
	if (told)
		flow_begin(flow, ip, true);
}

static void on_disable(struct pt_flow *flow, const struct pt_packet_ip *packet)
{
	uint64_t ip;

	read_ip(flow, packet, &ip);
	if (!flow->on || flow->lost) {
		flow->on = false;
		return;
	}
	if (!flow->has_interrupt) {
		flow->target = ip;
		flow->task = TASK_OFF;
		return;
	}
	stream_push(&flow->stream, BRANCH_NONE, flow->interrupted, ip)->flags |=
		BRANCH_TRACE_OFF | BRANCH_ASYNC;
	stream_stop_user(&flow->stream, flow->interrupted);
	flow->has_interrupt = false;
	flow->on = false;
}

static void on_fup(struct pt_flow *flow, const struct pt_packet_ip *packet)
{
	uint64_t ip;

	if (!read_ip(flow, packet, &ip))
		return;
	if (flow->in_header) {
		flow->header_has_ip = true;
		flow->target = ip;
		return;
	}
	if (flow->overflowed) {
		flow->overflowed = false;
		flow_begin(flow, ip, true);
		return;
	}
	if (flow->lost)
		flow_try_at(flow, ip);
	if (flow->lost || !flow->on)
		return;
	flow->place = flow->fups ? PLACE_EVENT : PLACE_INTERRUPT;
	if (flow->fups)
		flow->fups--;
	flow->tx_pending = false;
	flow->target = ip;
	flow->task = TASK_PLACE;
}

static void on_overflow(struct pt_flow *flow)
{
	flow->in_header = false;
	flow_found(flow);
	stream_push_gap(&flow->stream, GAP_OVERFLOW, 0);
	flow->task = TASK_READ;
	flow->on = flow->has_interrupt = flow->aborted = false;
	flow->stream.in_tx = false;
	flow->return_count = 0;
	flow->fups = 0;
	flow->after_gap = true;
	flow->overflowed = true;
}

static void on_psb(struct pt_flow *flow)
{
	flow->in_header = true;
	flow->header_has_ip = false;
	flow->last_ip = 0;
	flow->fups = 0;
	flow->overflowed = false;
	pt_boundary_approach(flow);
}

/* Tracing is on at a PSB if, and only if, its header tells an ip. */
static void on_psbend(struct pt_flow *flow)
{
	if (!flow->in_header)
		return;
	flow->in_header = false;
	if (!flow->header_has_ip) {
		flow->on = false;
	} else if (flow->lost) {
		flow->mode = flow->next_mode;
		flow_try_at(flow, flow->target);
	} else if (!flow->on) {
		flow_begin(flow, flow->target, false);
	} else {
		flow->place = PLACE_PSB;
		flow->task = TASK_PLACE;
	}
}

static void on_mode(struct pt_flow *flow, const struct pt_packet_mode *packet)
{
	if (packet->leaf == pt_mol_exec) {
		flow->next_mode = packet->bits.exec.csl	  ? INSN_MODE_64
				  : packet->bits.exec.csd ? INSN_MODE_32
							  : INSN_MODE_16;
		return;
	}
	if (packet->leaf != pt_mol_tsx)
		return;
	flow->tx_begins = packet->bits.tsx.intx;
	flow->tx_aborts = packet->bits.tsx.abrt;
	if (flow->in_header || !flow->on) {
		flow->stream.in_tx = flow->tx_begins;
		return;
	}
	flow->tx_pending = true;
	flow->fups++;
}

static void on_time(struct pt_flow *flow)
{
	struct pt_stream *stream = &flow->stream;

	if (!flow->clock.tsc)
		return;
	stream_set_time(stream, flow->clock.tsc);
	stream_push_losses(stream, stream->now.time);
	stream_follow_schedule(stream);
	if (flow->space != stream->schedule.space)
		flow->here = NULL;
}

static void on_timing(struct pt_flow *flow, const struct pt_packet *packet)
{
	switch (packet->type) {
	case ppt_tsc:
		packet_clock_tsc(&flow->clock, packet->payload.tsc.tsc);
		break;
	case ppt_tma:
		packet_clock_tma(&flow->clock, packet->payload.tma.ctc, packet->payload.tma.fc);
		return;
	case ppt_mtc:
		packet_clock_mtc(&flow->clock, packet->payload.mtc.ctc);
		break;
	case ppt_cyc:
		packet_clock_cyc(&flow->clock, packet->payload.cyc.value);
		if (flow->on && !flow->lost)
			stream_count_cycles(&flow->stream, packet->payload.cyc.value);
		break;
	default:
		packet_clock_cbr(&flow->clock, packet->payload.cbr.ratio);
		return;
	}
	on_time(flow);
}

static void on_packet(struct pt_flow *flow, const struct pt_packet *packet)
{
	switch (packet->type) {
	case ppt_tnt_8:
	case ppt_tnt_64:
		on_tnt(flow, &packet->payload.tnt);
		break;
	case ppt_tip:
		on_tip(flow, &packet->payload.ip);
		break;
	case ppt_tip_pge:
		on_enable(flow, &packet->payload.ip);
		break;
	case ppt_tip_pgd:
		on_disable(flow, &packet->payload.ip);
		break;
	case ppt_fup:
		on_fup(flow, &packet->payload.ip);
		break;
	case ppt_tsc:
	case ppt_tma:
	case ppt_mtc:
	case ppt_cyc:
	case ppt_cbr:
		on_timing(flow, packet);
		break;
	case ppt_psb:
		on_psb(flow);
		break;
	case ppt_psbend:
		on_psbend(flow);
		break;
	case ppt_ovf:
		on_overflow(flow);
		break;
	case ppt_mode:
		on_mode(flow, &packet->payload.mode);
		break;
	case ppt_ptw:
		flow->fups += packet->payload.ptw.ip;
		break;
	case ppt_exstop:
		flow->fups += packet->payload.exstop.ip;
		break;
	case ppt_mwait:
		flow->fups++;
		break;
	default: /* padding, paging, power: no change of flow */
		break;
	}
}

/* ---- The frequent packets ------------------------------------------------ */

/*
 * Nearly all packets are of these kinds (SDM volume 3, "Packet Definitions");
 * they are read here, and all others by libipt.  The bytes are all there: the
 * window ends AUX_WINDOW_PACKET_MAX or more behind.
 */
enum opcode {
	OPCODE_PAD = 0,
	OPCODE_EXTENDED = 2,
	OPCODE_MTC = 0x59,
	/* With 3 bits of how the address is compressed: */
	OPCODE_DISABLE = 1,
	OPCODE_TIP = 0x0d,
	OPCODE_ENABLE = 0x11,
	OPCODE_FUP = 0x1d,
};

/* The bits from the second on, the oldest highest, below a stop bit. */
static size_t read_tnt(struct pt_flow *flow, uint8_t byte)
{
	unsigned value = byte >> 1;
	struct pt_packet_tnt packet = { .bit_size = (uint8_t)(31 - __builtin_clz(value)) };

	packet.payload = value ^ (1u << packet.bit_size);
	on_tnt(flow, &packet);
	return 1;
}

/* One or two bytes of 5 and 7 bits; returns 0 if there are more. */
static size_t read_cycles(struct pt_flow *flow, const uint8_t *bytes)
{
	struct pt_packet packet = { .type = ppt_cyc, .payload.cyc.value = bytes[0] >> 3 };
	bool more = bytes[0] & 4;

	if (more && bytes[1] & 1)
		return 0;
	if (more)
		packet.payload.cyc.value |= (uint64_t)(bytes[1] >> 1) << 5;
	on_timing(flow, &packet);
	return 1 + more;
}

static size_t read_place(struct pt_flow *flow, const uint8_t *bytes)
{
	static const uint8_t sizes[] = { 0, 2, 4, 6, 6, 0, 8, 0 };
	unsigned compression = bytes[0] >> 5;
	struct pt_packet_ip packet = { .ipc = (enum pt_ip_compression)compression };

	if (compression == 5 || compression == 7)
		return 0; /* reserved */
	memcpy(&packet.ip, bytes + 1, sizes[compression]);
	switch (bytes[0] & 0x1f) {
	case OPCODE_TIP:
		on_tip(flow, &packet);
		break;
	case OPCODE_ENABLE:
		on_enable(flow, &packet);
		break;
	case OPCODE_DISABLE:
		on_disable(flow, &packet);
		break;
	case OPCODE_FUP:
		on_fup(flow, &packet);
		break;
	default:
		return 0;
	}
	return 1u + sizes[compression];
}

/* Returns the size of the packet that was read, 0 if it is not one of these. */
static size_t read_frequent(struct pt_flow *flow, const uint8_t *bytes)
{
	struct pt_packet packet = { .type = ppt_mtc, .payload.mtc.ctc = bytes[1] };

	if (bytes[0] == OPCODE_PAD)
		return 1;
	if (!(bytes[0] & 1))
		return bytes[0] == OPCODE_EXTENDED ? 0 : read_tnt(flow, bytes[0]);
	if ((bytes[0] & 3) == 3)
		return read_cycles(flow, bytes);
	if (bytes[0] != OPCODE_MTC)
		return read_place(flow, bytes);
	on_timing(flow, &packet);
	return 2;
}

/* ---- The stream ---------------------------------------------------------- */

/*
 * Look at the window anew.  `in_flow`: a packet begins where it does; else
 * libipt has to search, and it searches from behind where it was set.
 */
static void open_packets(struct pt_flow *flow, bool in_flow)
{
	pt_pkt_free_decoder(flow->packets);
	flow->config.begin = flow->window.bytes;
	flow->config.end = flow->window.bytes + flow->window.size;
	flow->packets = pt_pkt_alloc_decoder(&flow->config);
	flow->at = 0;
	if (flow->packets && in_flow)
		pt_pkt_sync_set(flow->packets, 0);
}

/* Returns where libipt is, in the window. */
static size_t position(const struct pt_flow *flow)
{
	uint64_t offset = 0;

	pt_pkt_get_offset(flow->packets, &offset);
	return offset;
}

static void move_window(struct pt_flow *flow, size_t used, bool in_flow)
{
	aux_window_move(&flow->window, used);
	open_packets(flow, in_flow);
}

/* At the start, or where bytes are no packet: go on at the next PSB. */
static void synchronise(struct pt_flow *flow, bool first)
{
	uint64_t from = flow->offset, to;

	flow->synced = true;
	while (flow->packets && pt_pkt_sync_forward(flow->packets) < 0) {
		if (aux_window_at_end(&flow->window)) {
			flow->stream.ended = true;
			break;
		}
		/* One may straddle the end of the window. */
		move_window(flow, flow->window.size - AUX_WINDOW_PACKET_MAX, false);
	}
	flow->stream.ended |= !flow->packets;
	flow->at = flow->stream.ended ? flow->window.size : position(flow);
	to = flow->window.base + flow->at;
	if (first)
		flow->stream.stats.bytes_skipped += to - from;
	flow->offset = to;
}

/* What was read up to the next packet is understood, unless it is lost. */
static void count_decoded(struct pt_flow *flow, uint64_t next)
{
	if (!flow->lost)
		flow->stream.stats.bytes_decoded += next - flow->offset;
	flow->offset = next;
}

/*
 * Where the pieces that follow each other end, the stream does; or others begin
 * apart, and nothing of what came before holds.
 */
static void finish(struct pt_flow *flow)
{
	count_decoded(flow, flow->window.base + flow->window.size);
	flow_found(flow);
	if (!aux_window_next_run(&flow->window)) {
		stream_finish(&flow->stream);
		return;
	}
	flow->stream.ended = false;
	stream_push_apart(&flow->stream, flow->after_gap);
	flow_lose(flow);
	flow->lost = flow->on = flow->in_header = flow->overflowed = false;
	flow->fups = 0;
	flow->after_gap = true;
	flow->synced = false;
	open_packets(flow, false);
}

static void read_by_libipt(struct pt_flow *flow)
{
	struct pt_packet packet;
	int status = pt_pkt_sync_set(flow->packets, flow->at);

	if (status >= 0)
		status = pt_pkt_next(flow->packets, &packet, sizeof(packet));
	if (status >= 0) {
		flow->at += packet.size;
		on_packet(flow, &packet);
	} else if (pt_errcode(status) == pte_eos) {
		finish(flow);
	} else {
		flow_fail(flow, GAP_BAD_PACKET, 0);
		flow->in_header = flow->overflowed = flow->on = false;
		synchronise(flow, false);
		if (flow->stream.ended)
			finish(flow);
	}
}

static bool near_end(const struct pt_flow *flow)
{
	return flow->at + AUX_WINDOW_PACKET_MAX > flow->window.size;
}

static void read_packet(struct pt_flow *flow)
{
	size_t size = 0;

	if (near_end(flow) && !aux_window_at_end(&flow->window))
		move_window(flow, flow->at, true);
	count_decoded(flow, flow->window.base + flow->at);
	flow->walked = 0;
	if (!near_end(flow))
		size = read_frequent(flow, flow->window.bytes + flow->at);
	flow->at += size;
	if (!size)
		read_by_libipt(flow);
}

static void first_sync(struct pt_flow *flow)
{
	synchronise(flow, true);
	if (flow->stream.ended)
		finish(flow);
}

static void step(struct pt_stream *stream)
{
	struct pt_flow *flow = (struct pt_flow *)stream;

	do {
		if (flow->task != TASK_READ)
			flow_walk(flow);
		else if (flow->cutting && !flow->in_header)
			pt_boundary_pass(flow);
		else if (!flow->synced)
			first_sync(flow);
		else
			read_packet(flow);
	} while ((stream->head == stream->tail ||
		  stream->tail + QUEUE_ROOM <= stream->batch_room) &&
		 !stream->ended && !flow->paused);
}

void pt_flow_free(struct pt_flow *flow)
{
	if (!flow)
		return;
	pt_pkt_free_decoder(flow->packets);
	aux_window_release(&flow->window);
	code_runs_release(&flow->runs);
	free(flow);
}

static void close_flow(struct pt_stream *stream)
{
	pt_flow_free((struct pt_flow *)stream);
}

struct pt_flow *pt_flow_spare(void)
{
	struct pt_flow *flow = alloc_zeroed(1, sizeof(*flow));

	flow->stream.step = step;
	flow->stream.close = close_flow;
	code_runs_init(&flow->runs);
	return flow;
}

static void set_config(struct pt_flow *flow, const struct pt_config *config)
{
	flow->clock.ratio_n = config->cpuid_0x15_ebx;
	flow->clock.ratio_d = config->cpuid_0x15_eax;
	flow->clock.mtc_shift = config->mtc_freq;
	flow->clock.max_ratio = config->nom_freq;
	flow->config = *config;
}

void pt_flow_adopt(struct pt_flow *flow, const struct pt_stream *like,
		   const struct pt_config *config)
{
	const struct pt_info *info = like->input.info;

	flow->stream.input = like->input;
	flow->stream.clock = like->clock;
	flow->stream.reference = like->reference;
	flow->stream.losses = like->losses;
	flow->stream.loss_count = like->loss_count;
	flow->compression = !(info->config & info->noretcomp_bit) || !info->noretcomp_bit;
	flow->space = NULL;
	flow->view = (struct code_view){ 0 };
	set_config(flow, config);
}

void pt_flow_seek(struct pt_flow *flow, const struct aux_place *place)
{
	aux_window_seek(&flow->window, flow->stream.input.aux, place);
	open_packets(flow, flow->synced);
}

/* Without times there is nothing to begin in the middle by. */
static void set_cuts(struct pt_flow *flow, const struct pt_stream_input *input)
{
	if (input->info->config & input->info->tsc_bit)
		aux_cuts_init(&flow->cuts, input->aux, input->segment ? input->segment : SEGMENT);
	else
		flow->cuts.place.at = AUX_CUTS_NONE;
}

struct pt_stream *pt_flow_new(const struct pt_stream_input *input, const struct pt_config *config)
{
	struct pt_flow *flow = pt_flow_spare();
	const struct pt_info *info = input->info;

	set_config(flow, config);
	flow->compression = !(info->config & info->noretcomp_bit) || !info->noretcomp_bit;
	set_cuts(flow, input);
	aux_window_init(&flow->window, input->aux);
	if (input->aux->size)
		open_packets(flow, false);
	if (flow->packets || !input->aux->size)
		return &flow->stream;
	pt_flow_free(flow);
	return NULL;
}
