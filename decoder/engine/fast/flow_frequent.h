/* SPDX-License-Identifier: MIT */
/* Reads the frequent packets; libipt reads all others.  Private to the engine. */
#ifndef DECODER_ENGINE_FAST_FLOW_FREQUENT_H
#define DECODER_ENGINE_FAST_FLOW_FREQUENT_H

#include "decoder/engine/fast/flow_state.h"

/* Returns whether the longest packet might not fit between `at` and the window's end. */
static inline bool flow_is_near_end(const struct pt_flow *flow, size_t at)
{
	return at + AUX_WINDOW_PACKET_MAX > flow->window.size;
}

/*
 * Read TNT/TIP/CYC/MTC/PAD packets, and follow the code, until one needs more steps or
 * libipt's decoder.  Returns true for the latter.
 */
bool flow_read_frequent(struct pt_flow *flow);

/*
 * A TSC packet was read, and there are no MTCs: look ahead to the next TSC packet, so that the
 * time by cycles does not pass it.
 */
void flow_look_ahead(struct pt_flow *flow);

#endif
