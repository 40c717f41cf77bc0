/* SPDX-License-Identifier: MIT */
/*
 * The page's events other than calls: CPU events, hits, perf's records, overlays.
 *
 * Their writer makes a trace, as for --split (ftf_side.h). Its slices and instants become tracks of
 * the page, its counters curves. Arrows, async slices, context switches and wakeups are left out.
 */
#pragma once

#include "src/formats/ftf/ftf_side.h"
#include "src/slices/track.h"

struct page_events {
	struct ftf_side side;
	bool args;                     /* show arguments of slices */
	struct page_track *tracks;     /* owned; by index of the side's tracks */
	struct page_symbol *symbols;   /* owned: hash */
	struct page_counter *counters; /* owned: hash, in the order of their first values */
	uint64_t begin, end;           /* ns: of all that is shown */
};

/*
 * Emit the slices and instants to `sink`, and keep the counters. `first_index` is the index of the
 * first new track. `events` owns the tracks and their symbols. Returns 0; -1 with err filled.
 */
int page_events_read(struct page_events *events, const struct slice_sink *sink,
		     uint32_t first_index, struct error *err);

/*
 * "counters": for each its name, unit, process, pid, ns from `origin` to its first value, and
 * "points": ns since the value before, value, and so on.
 */
void page_events_print_counters(struct page_events *events, uint64_t origin, struct output *output,
				FILE *out);

void page_events_release(struct page_events *events);
