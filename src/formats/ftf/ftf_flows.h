/* SPDX-License-Identifier: MIT */
/*
 * --flows: tail calls as arrows from the slice that is left to the one that is entered.
 *
 * Perfetto binds each end of an arrow to the innermost open slice of the thread: so the end of a
 * slice that was left waits until the next event of its track shows whether the target has a
 * slice.  It has none if the selection leaves it out.
 */
#ifndef SRC_FORMATS_FTF_FTF_FLOWS_H
#define SRC_FORMATS_FTF_FTF_FLOWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/slices/slice_sink.h"

struct track;

/* The end of a slice that was left by a tail call. */
struct held_end {
	struct track *track; /* borrowed; NULL: none waits */
	struct slice_event end;
	struct slice_detail detail; /* if end.detail is not 0 */
};

struct ftf_flows {
	bool shown;            /* by --flows */
	uint64_t arrows;       /* up to now: the id of the last one */
	struct held_end *ends; /* owned; by index of the track */
	size_t count, room;
	struct held_end taken;
};

/* Let an end wait; none waits on its track.  `detail`: the end's; NULL: it has none. */
void ftf_flows_hold(struct ftf_flows *flows, struct track *track, const struct slice_event *end,
		    const struct slice_detail *detail);

/* Returns the end that waited on a track, borrowed up to the next call; NULL: none did. */
const struct held_end *ftf_flows_take(struct ftf_flows *flows, const struct track *track);

/* The same, of any track. */
const struct held_end *ftf_flows_take_any(struct ftf_flows *flows);

/* Idempotent, also on zeroed memory. */
void ftf_flows_release(struct ftf_flows *flows);

#endif
