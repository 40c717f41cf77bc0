/* SPDX-License-Identifier: MIT */
/* Move the window of packets together with libipt's decoder. */
#include "decoder/engine/fast/flow_state.h"

void flow_window_open(struct pt_flow *flow, bool in_flow)
{
	pt_pkt_free_decoder(flow->packets);
	flow->packets = NULL;
	flow->config.begin = flow->window.bytes;
	flow->config.end = flow->window.bytes + flow->window.size;
	flow->packets = ALLOC_CHECKED(pt_pkt_alloc_decoder(&flow->config));
	flow->at = 0;
	if (flow->packets && in_flow)
		pt_pkt_sync_set(flow->packets, 0);
}

size_t flow_window_position(const struct pt_flow *flow)
{
	uint64_t offset = 0;

	pt_pkt_get_offset(flow->packets, &offset);
	return offset;
}

void flow_window_move(struct pt_flow *flow, size_t used, bool in_flow)
{
	aux_window_move(&flow->window, used);
	flow_window_open(flow, in_flow);
}

size_t flow_window_look_ahead(struct pt_flow *flow)
{
	size_t used = flow->offset - flow->window.base, beyond = flow->at - used;

	if (flow->window.size - flow->at < AUX_WINDOW_AHEAD && !aux_window_at_end(&flow->window)) {
		flow_window_move(flow, used, true);
		flow->at = beyond;
	}
	return MIN(flow->at + AUX_WINDOW_AHEAD, flow->window.size);
}

void flow_window_seek(struct pt_flow *flow, const struct aux_position *position)
{
	aux_window_seek(&flow->window, flow->stream.input.aux, position);
	flow_window_open(flow, flow->synced);
}
