/* SPDX-License-Identifier: MIT */
/*
 * The fast engine: packets drive a flow over cached basic blocks.
 *
 * Each packet becomes pending, and steps follow one block after another until nothing is pending;
 * only then is the next packet read. So no event is emitted before a packet proves it:
 *
 *   packet      the flow continues
 *   ----------  -----------------------------------------------------------
 *   TNT          to a conditional jump or a compressed return, for each bit; bits after
 *               an indirect branch are deferred until its TIP
 *   TIP         to an indirect branch, an uncompressed return, a far transfer
 *   TIP.PGD     to the same; tracing ends there
 *   FUP         to its ip: an interrupt (if TIP or TIP.PGD follows), or a packet's ip
 *   PSB+        to its ip, to check that trace and code agree
 *
 * Return compression (SDM volume 3, "Intel Processor Trace", "RET Compression"): the processor pops
 * its stack of 64 addresses at every near return, compressed or not; and a call to the next
 * instruction pushes nothing.
 *
 * After damage, decoding continues at the next packet with an ip that has code, or after a call of
 * code without bytes, at its return (flow_opaque.c).
 */

#include "decoder/engine/fast/pt_flow.h"
#include "decoder/engine/fast/flow_checkpoint.h"
#include "decoder/engine/fast/flow_code.h"
#include "decoder/engine/fast/flow_packets.h"

/* Bytes between two cuts: a few ms of work, and a few MB of events. */
#define SEGMENT ((uint64_t)128 << 10)

/* ---- The stream ---------------------------------------------------------- */

/* The consecutive pieces end: the stream ends, or other pieces follow. */
static void finish_pieces(struct pt_flow *flow)
{
	size_t next = flow->window.piece;
	const struct aux_piece *piece;
	unsigned return_count;

	flow->offset = flow->window.base + flow->window.size;
	flow_count_bytes(flow, flow->offset);
	flow_set_found(flow);
	flow_flush_pending(flow);
	emulated_ptwrite_drop(flow);
	emulated_ptwrite_drop_interrupted(flow);
	flow->pebs.bip_size = 0;
	flow->state.guest = flow->next_guest = flow->state.guest_on = false;
	if (!aux_window_next_run(&flow->window)) {
		stream_push_end(&flow->stream, flow_is_after_gap(flow));
		return;
	}
	/*
	 * The next pieces are apart, so the state is invalid. If the CPU itself resumed, it keeps
	 * the state that only a PSB resets (clock, last ip, mode, stack of returns), and the next
	 * packet with an ip restarts the flow, as after damage.
	 */
	piece = &flow->stream.input.aux->pieces[next];
	return_count = piece->resumes ? flow->return_count : 0;
	flow->stream.ended = false;
	stream_push_apart(&flow->stream, flow_is_after_gap(flow), piece);
	flow_set_lost(flow);
	flow->return_count = return_count;
	/* A PSB's header shows whether tracing is on. */
	flow->state.lost = piece->resumes && (piece->size < AUX_PSB_SIZE ||
					      memcmp(piece->bytes, AUX_PSB, AUX_PSB_SIZE) != 0);
	flow->state.on = flow->in_header = flow->state.overflowed = false;
	flow_set_after_gap(flow);
	flow_window_open(flow, piece->resumes);
	flow->run_begin = flow->window.base;
	flow->synced = piece->resumes && flow->packets;
}

/* Returns whether a packet is a TIP.PGE that needs no address before it, and its code is known. */
static bool begins_code(struct pt_flow *flow, const struct pt_packet *packet)
{
	uint64_t ip = packet->payload.ip.ip;
	size_t size;

	if (packet->type != ppt_tip_pge || packet->payload.ip.ipc < pt_ipc_sext_48)
		return false;
	ip = pt_packet_full_ip(0, packet->payload.ip.ipc, ip);
	stream_enter(&flow->stream, ip);
	return flow_code_at(flow, ip, &size);
}

/* Begin at the first time at which the buffer's thread, or any on its CPU, ran. */
static void set_first_time(struct pt_stream *stream)
{
	const struct pt_stream_input *input = &stream->input;
	const struct cpu_switch *at = input->history->switches;
	const struct cpu_switch *end = at + input->history->switch_count;

	while (at < end && (input->aux->cpu < 0 ? at->thread->tid != input->aux->tid
						: at->cpu != input->aux->cpu))
		at++;
	if (at < end && input->info->config & input->info->tsc_bit)
		stream_set_time(stream, tsc_clock_tsc(&stream->clock, at->time));
}

/*
 * A full trace begins with a packet, but not with a PSB if the kernel resumed a region. Skip
 * packets, except for time and mode, up to a TIP.PGE with a whole address. If a PSB, bytes that are
 * no packet or the end come first, changes nothing and returns false: the window begins there.
 */
static bool begin_without_psb(struct pt_flow *flow)
{
	const struct stream_state stream = flow->stream.state;
	const struct flow_state state = flow->state;
	const unsigned tail = flow->stream.tail;
	struct pt_packet packet;
	unsigned bip_size = 0;
	size_t at = 0;

	flow_window_open(flow, true);
	set_first_time(&flow->stream);
	while (pt_packet_read(flow->packets, &flow->config, &flow->at, &bip_size, &packet) &&
	       packet.type != ppt_psb) {
		if (begins_code(flow, &packet)) {
			flow->at = at;
			flow->stream.stats.unsynced++;
			return true;
		}
		if (packet.type == ppt_tsc || packet.type == ppt_mode)
			flow_on_packet(flow, &packet);
		flow->stream.tail = tail;
		if (flow_is_near_end(flow, flow->at) && !aux_window_at_end(&flow->window))
			flow_window_move(flow, flow->at, true);
		at = flow->at;
	}
	flow->stream.state = stream;
	flow->state = state;
	flow_window_move(flow, at, false);
	return false;
}

/* At the start, or at bytes that are not a packet: continue at the next PSB. */
static void synchronise(struct pt_flow *flow, bool first)
{
	uint64_t from = flow->offset, to;

	flow->synced = true;
	if (first && !flow->window.base && flow->packets && !flow->stream.input.aux->copies &&
	    begin_without_psb(flow)) {
		flow->offset = flow->counted = flow->window.base + flow->at;
		flow->stream.stats.bytes_skipped += flow->offset;
		return;
	}
	while (flow->packets && pt_pkt_sync_forward(flow->packets) < 0) {
		if (aux_window_at_end(&flow->window)) {
			flow->stream.ended = true;
			break;
		}
		/* A PSB can straddle the end of the window. */
		flow_window_move(flow, flow->window.size - AUX_WINDOW_PACKET_MAX, false);
	}
	flow->stream.ended |= !flow->packets;
	flow->at = flow->stream.ended ? flow->window.size : flow_window_position(flow);
	to = flow->window.base + flow->at;
	flow->offset = to;
	if (first) {
		flow_count_bytes(flow, from);
		flow->stream.stats.bytes_skipped += to - from;
		flow->counted = to;
	}
	if (flow->stream.ended)
		finish_pieces(flow);
}

/* Read a packet that libipt does not know. Returns whether there was one. */
static bool read_extended_packet(struct pt_flow *flow)
{
	struct extended_packet packet;
	size_t size = extended_packet_read(&packet, flow->window.bytes + flow->at,
					   flow->window.size - flow->at, flow->pebs.bip_size);

	flow->at += size;
	if (size)
		flow_on_extended_packet(flow, &packet);
	return size;
}

static void read_packet(struct pt_flow *flow)
{
	if (flow_is_near_end(flow, flow->at) && !aux_window_at_end(&flow->window))
		flow_window_move(flow, flow->at, true);
	if (flow->opaque.left && flow_opaque_feed(flow))
		return;
	if (!flow->pebs.bip_size && (!flow_read_frequent(flow) || flow->pending != PENDING_NONE))
		return;
	flow->offset = flow->window.base + flow->at;
	flow->branches_followed = 0;
	if (!read_extended_packet(flow)) {
		struct pt_packet packet;
		size_t at = flow->at;
		int status = pt_packet_by_libipt(flow->packets, &flow->config, &flow->at, &packet);

		if (status >= 0) {
			flow_on_packet(flow, &packet);
			if (flow->reread)
				flow->at = at;
			flow->reread = false;
			if (packet.type == ppt_tsc && flow->looks_ahead)
				flow_look_ahead(flow);
		} else if (pt_errcode(status) == pte_eos) {
			finish_pieces(flow);
		} else {
			flow_fail(flow, GAP_BAD_PACKET, 0);
			flow->pebs.bip_size = 0;
			flow->in_header = flow->state.overflowed = flow->state.on = false;
			flow->state.guest_on = false;
			synchronise(flow, false);
		}
	}
}

static void step(struct pt_stream *stream)
{
	struct pt_flow *flow = (struct pt_flow *)stream;

	do {
		if (flow->pending != PENDING_NONE)
			flow_step(flow);
		else if (flow->passing && !flow->in_header)
			flow_checkpoint_pass(flow);
		else if (!flow->synced)
			synchronise(flow, true);
		else
			read_packet(flow);
	} while (stream_has_room(stream) && !stream->ended && !flow->paused);
	flow_count_bytes(flow, flow->offset);
}

void pt_flow_free(struct pt_flow *flow)
{
	if (!flow)
		return;
	pt_pkt_free_decoder(flow->packets);
	aux_window_release(&flow->window);
	basic_blocks_release(&flow->blocks);
	kernel_text_release(&flow->stream.text);
	free(flow);
}

static void close_flow(struct pt_stream *stream)
{
	pt_flow_free((struct pt_flow *)stream);
}

static void flush_flow(struct pt_stream *stream)
{
	struct pt_flow *flow = (struct pt_flow *)stream;

	if (!flow->blocks.counts)
		return;
	block_counts_collect(&flow->blocks);
	code_count_list_flush(&flow->blocks.counts->list, stream->input.counter);
}

/* Count executions if the reader uses them. A spare flow can have another stream's counters. */
static void set_counts(struct pt_flow *flow, const struct pt_stream_input *input)
{
	const struct code_counter *counter = input->counter;

	flow->blocks.runs.ends = input->cycles;
	if (counter && !flow->blocks.counts)
		block_counts_open(&flow->blocks);
	else if (!counter)
		block_counts_close(&flow->blocks);
}

struct pt_flow *pt_flow_spare(uint64_t size)
{
	struct pt_flow *flow = alloc_zeroed(1, sizeof(*flow));

	flow->bits = TNT_BITS_NONE;
	flow->stream.step = step;
	flow->stream.close = close_flow;
	flow->stream.flush = flush_flow;
	basic_blocks_init(&flow->blocks, size);
	return flow;
}

static void set_config(struct pt_flow *flow, const struct pt_info *info,
		       const struct pt_config *config)
{
	flow->compression = !(info->config & info->noretcomp_bit) || !info->noretcomp_bit;
	flow->follows_switches = stream_follows_switches(info);
	address_filter_init(&flow->filter, info->filter);
	flow->state.clock.rates = pt_info_rates(info);
	flow->looks_ahead = info->config & info->cyc_bit && !pt_info_mtc_period(info);
	flow->config = *config;
	flow->fup_has_next_ip = pt_errata_fup_has_next_ip(&config->cpu);
}

void pt_flow_adopt(struct pt_flow *flow, const struct pt_stream *like,
		   const struct pt_config *config)
{
	flow->stream.input = like->input;
	flow->stream.clock = like->clock;
	flow->stream.reference = like->reference;
	flow->stream.losses = like->losses;
	flow->stream.loss_count = like->loss_count;
	flow->space = NULL;
	flow_forget_views(flow);
	if (!flow->stream.text.kernel)
		kernel_text_init(&flow->stream.text, like->input.code->kernel);
	set_config(flow, like->input.info, config);
	set_counts(flow, &like->input);
}

struct pt_stream *pt_flow_new(const struct pt_stream_input *input, const struct pt_config *config)
{
	struct pt_flow *flow = pt_flow_spare(input->aux->size);

	basic_blocks_share(&flow->blocks, input->others, input->aux->size);
	set_config(flow, input->info, config);
	set_counts(flow, input);
	/* Without timing packets, decoding cannot begin in the middle. */
	if (input->info->config & input->info->tsc_bit)
		aux_cuts_init(&flow->cuts, input->aux, input->segment ? input->segment : SEGMENT);
	else
		flow->cuts.position.at = AUX_CUTS_NONE;
	aux_window_init(&flow->window, input->aux);
	if (input->aux->size)
		flow_window_open(flow, false);
	if (flow->packets || !input->aux->size)
		return &flow->stream;
	pt_flow_free(flow);
	return NULL;
}
