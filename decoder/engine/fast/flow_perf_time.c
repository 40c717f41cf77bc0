/* SPDX-License-Identifier: MIT */
/* Drive perf's clock (perf_clock.h) by the packets of a flow. */
#include "decoder/engine/fast/flow_perf_time.h"

#include "decoder/aux/pt_packet_read.h"
#include "decoder/engine/fast/flow_window.h"

/* Bytes in the window for reading ahead; an MTC period with CYC packets has a few KiB. */
#define AHEAD ((size_t)1 << 17)

#define NO_CYC UINT64_MAX

/* ---- The packet before --------------------------------------------------- */

/*
 * Returns whether only padding is between the last CYC and the packet at flow->offset.  It is
 * called once per CYC, so padding is scanned once.
 */
static bool is_after_cyc(struct pt_flow *flow)
{
	uint64_t at = flow->perf_cyc_end;

	flow->perf_cyc_end = NO_CYC;
	if (at > flow->offset || (at < flow->window.base && at != flow->offset))
		return false;
	while (at < flow->offset && !flow->window.bytes[at - flow->window.base])
		at++;
	return at == flow->offset;
}

/* ---- Reading ahead ------------------------------------------------------- */

/*
 * Returns the offset in the window up to which packets may be read ahead: perf does so up to
 * the end of a piece.
 */
static size_t end_of_ahead(struct pt_flow *flow)
{
	const struct aux_stream *aux = flow->stream.input.aux;
	uint64_t end;

	while (flow->perf_piece_end <= flow->offset && flow->perf_piece < aux->piece_count)
		flow->perf_piece_end += aux->pieces[flow->perf_piece++].size;
	end = flow->perf_piece_end - flow->window.base;
	return end < flow->window.size ? end : flow->window.size;
}

/* Measure the core clock from here to the next MTC. */
static void look_ahead(struct pt_flow *flow, size_t size)
{
	struct perf_ahead ahead;
	struct pt_packet packet;
	unsigned bip_size = 0;
	size_t at, end;

	if (flow->window.size - (flow->offset - flow->window.base) < AHEAD)
		flow_window_refill(flow);
	at = flow->offset - flow->window.base + size;
	end = end_of_ahead(flow);
	perf_ahead_init(&ahead, &flow->perf);
	while (at < end && pt_packet_read(flow->packets, &flow->config, &at, &bip_size, &packet) &&
	       at <= end && perf_ahead_packet(&ahead, &flow->perf, &packet))
		;
}

/* ---- The clock ----------------------------------------------------------- */

uint64_t pt_perf_time(struct pt_flow *flow, const struct pt_packet *packet)
{
	struct perf_clock *clock = &flow->perf;

	switch (packet->type) {
	case ppt_tsc:
		perf_clock_tsc(clock, packet->payload.tsc.tsc, is_after_cyc(flow));
		break;
	case ppt_tma:
		perf_clock_tma(clock, packet->payload.tma.ctc, packet->payload.tma.fc);
		break;
	case ppt_mtc:
		if (perf_clock_mtc(clock, packet->payload.mtc.ctc, is_after_cyc(flow)))
			look_ahead(flow, packet->size);
		break;
	case ppt_cyc:
		perf_clock_cyc(clock, packet->payload.cyc.value);
		flow->perf_cyc_end = flow->offset + packet->size;
		break;
	default:
		perf_clock_cbr(clock, packet->payload.cbr.ratio);
		break;
	}
	return clock->tsc;
}

void pt_perf_time_restart(struct pt_flow *flow)
{
	flow->perf.tsc = 0;
	flow->perf.crystal.known = false;
	flow->perf_cyc_end = NO_CYC;
}
