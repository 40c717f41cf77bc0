/* SPDX-License-Identifier: MIT */
/* Time as perf script computes it (pt_stream.h: perf_times), for the fast engine.  Private to it.
 */
#ifndef DECODER_ENGINE_FAST_FLOW_PERF_TIME_H
#define DECODER_ENGINE_FAST_FLOW_PERF_TIME_H

#include "decoder/engine/fast/flow_state.h"

/*
 * Feed a timing packet to the clock: TSC, TMA, MTC, CYC or CBR, at flow->offset.  The window
 * may move.  Returns the time, 7 bytes of the TSC; 0: unknown yet.
 */
uint64_t pt_perf_time(struct pt_flow *flow, const struct pt_packet *packet);

/* The following data is apart from the data before: its TSC may be anything. */
void pt_perf_time_restart(struct pt_flow *flow);

#endif
