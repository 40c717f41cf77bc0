/* SPDX-License-Identifier: MIT */
/*
 * Shows hits (decoder/timeline/hits.h): in FTF on a track for each event, as marks "hit FUNCTION"
 * in the group "hits"; as text, a line for each.
 *
 * A hit of magic-trace's function for snapshots, magic_trace_stop_indicator(), has the time and
 * the number that the program passed to it (magic-trace's breakpoint_stubs.c and
 * trace_writer.ml, write_hits()), if the registers rdi and rsi were recorded, and lasts since that
 * time.
 */
#ifndef SRC_EVENTS_HIT_EVENTS_H
#define SRC_EVENTS_HIT_EVENTS_H

#include <stdio.h>

#include "decoder/aux/auxtrace.h"
#include "src/events/event_tracks.h"
#include "src/resolve/resolve.h"

/* All is borrowed. */
struct hit_source {
	const struct timeline *timeline;
	const struct event_filter *filter;
	const struct pt_info *info; /* the clock */
	struct resolver *resolver;
};

/* Write the chosen hits.  `begin`: ns, of the trace; 0: unknown. */
void hit_events_write(const struct hit_source *source, struct event_tracks *tracks, uint64_t begin);

/*
 * Print the chosen hits in the order of time: `PID/TID TIME_NS EVENT 0xIP FUNCTION+0xOFFSET
 * NAME=VALUE...`, texts as in JSON.
 */
void hit_events_print(const struct hit_source *source, FILE *out);

#endif
