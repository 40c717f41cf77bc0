/* SPDX-License-Identifier: MIT */
/* The hits of a recording (decoder/timeline/hits.h), and the hits that perf script printed. */
#ifndef SRC_EVENTS_HIT_EVENTS_H
#define SRC_EVENTS_HIT_EVENTS_H

#include "src/events/hit_output.h"
#include "src/perf_script/perf_script_line.h"
#include "src/resolve/resolve.h"
#include "src/select/event_filter.h"

/* All is borrowed. */
struct hit_source {
	const struct timeline *timeline;
	const struct event_filter *filter;
	const struct pt_info *info; /* the clock */
	struct resolver *resolver;
};

/*
 * Show the chosen hits, in the order of time.  Those of magic_trace_stop_indicator() have the
 * program's arguments, if the registers di and si were recorded (magic-trace's
 * breakpoint_stubs.c).
 */
void hit_events_show(const struct hit_source *source, struct hit_output *output);

/*
 * Show a line of kind PERF_LINE_HIT; `place` is its code location.  The values are the fields',
 * "(4010) argc=1 name=\"x\"".  A text of another form becomes one value.
 */
void hit_events_show_line(const struct perf_line *line, const struct location *place,
			  struct hit_output *output);

#endif
