/* SPDX-License-Identifier: MIT */
/*
 * A sink before the slice filter for --within: the filter shows only what runs inside of the slow
 * calls of some functions.
 *
 * Whether a call is slow is known at its end, and for a percentile once all have ended.  So slices
 * wait in a temporary file (src/slices/slice_store.h), and durations of calls in memory.
 */
#ifndef SRC_SELECT_SLICE_WITHIN_H
#define SRC_SELECT_SLICE_WITHIN_H

#include "src/select/slice_filter.h"
#include "src/slices/durations.h"
#include "src/slices/slice_store.h"

struct within_track;

struct slice_within {
	struct slice_sink sink;      /* give this to the sorter; its tracks are struct track */
	struct slice_filter *filter; /* borrowed: gets the slices */
	struct slice_sink stored;    /* into `store` */
	struct slice_store store;
	struct durations durations;  /* of all calls of the functions */
	struct within_track *tracks; /* owned; by index of the track */
	size_t track_room;
};

/* Begin before a filter whose selection has `within`; it must not move. */
void slice_within_init(struct slice_within *within, struct slice_filter *filter,
		       struct name_table *names);

/* Add a track with the filter's track for it. */
void slice_within_add_track(struct slice_within *within, const struct track *track,
			    struct filter_track *filtered);

/* All slices have come: pass them on to the filter, and warn if no call is slow. */
void slice_within_finish(struct slice_within *within);

/* Idempotent, also on zeroed memory. */
void slice_within_release(struct slice_within *within);

#endif
