/* SPDX-License-Identifier: MIT */
/* The fast engine's time as perf script reckons it (pt_stream.h: perf_times).  Private to the
 * engine. */
#ifndef DECODER_ENGINE_FAST_FLOW_PERF_TIME_H
#define DECODER_ENGINE_FAST_FLOW_PERF_TIME_H

#include "decoder/engine/fast/flow_state.h"

/*
 * Tell the clock a timing packet: TSC, TMA, MTC, CYC or CBR, that begins at
 * flow->offset.  The window may move.  Returns the time, 7 bytes of the TSC; 0: not
 * known yet.
 */
uint64_t pt_perf_time(struct pt_flow *flow, const struct pt_packet *packet);

/* What follows is apart from what was read: its TSC may be anything. */
void pt_perf_time_restart(struct pt_flow *flow);

#endif
