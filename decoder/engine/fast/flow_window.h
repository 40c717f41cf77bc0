/* SPDX-License-Identifier: MIT */
/* The bytes that a flow reads packets from, and libipt's packet decoder over them.  Private to the
 * engine. */
#ifndef DECODER_ENGINE_FAST_FLOW_WINDOW_H
#define DECODER_ENGINE_FAST_FLOW_WINDOW_H

#include "decoder/engine/fast/flow_state.h"

/*
 * Open libipt's decoder over the window.  `in_flow`: a packet begins at the window's begin;
 * otherwise libipt has to synchronise, which it does after the offset that it has.
 */
void flow_window_open(struct pt_flow *flow, bool in_flow);

/* Returns libipt's offset in the window. */
size_t flow_window_position(const struct pt_flow *flow);

/* Drop the first `used` bytes of the window and fill it up. */
void flow_window_move(struct pt_flow *flow, size_t used, bool in_flow);

/* Read packets at another position of the stream. */
void flow_window_seek(struct pt_flow *flow, const struct aux_position *position);

/*
 * Fill the window, starting at flow->offset, where the current packet begins.  The bytes
 * of this and later packets move.
 */
void flow_window_refill(struct pt_flow *flow);

#endif
