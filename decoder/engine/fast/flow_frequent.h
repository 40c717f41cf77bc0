/* SPDX-License-Identifier: MIT */
/* Reads the frequent packets itself; libipt reads the others.  Private to the engine. */
#ifndef DECODER_ENGINE_FAST_FLOW_FREQUENT_H
#define DECODER_ENGINE_FAST_FLOW_FREQUENT_H

#include "decoder/engine/fast/flow_state.h"

/* Packets are read up to where the longest one may not be in the window. */
static inline bool flow_is_near_end(const struct pt_flow *flow, size_t at)
{
	return at + AUX_WINDOW_PACKET_MAX > flow->window.size;
}

/*
 * Read TNT, TIP, CYC, MTC and PAD packets, and follow the code with them, until one needs more
 * steps or libipt's decoder.  Returns true for the latter.
 */
bool flow_read_frequent(struct pt_flow *flow);

#endif
