/* SPDX-License-Identifier: MIT */
/*
 * One track of the sorter (slice_sorter.h): the records of its segment as they came, in
 * runs that are in order, and what is open of those that were passed on.  Private to
 * the sorter, which adds the records.
 */
#ifndef SRC_SLICES_SORTER_TRACK_H
#define SRC_SLICES_SORTER_TRACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "src/slices/slice_sorter.h"

/* Records one after the other that are in order. */
struct record_run {
	size_t begin; /* of the track's records; it ends where the next one begins */
	bool mixed;   /* some have an order other than SLICE_ORDER_PLAIN */
};

struct sorter_track {
	struct slice_sorter *sorter;
	void *next_track;
	struct sorter_track *next;
	struct big_array records; /* owned: of the segment */
	size_t count;
	size_t full;             /* at so many records there is more to be done than to add one */
	uint64_t latest;         /* of the last record that was added */
	struct record_run *runs; /* owned: of records in order */
	size_t run_count, run_room;
	struct arena texts;       /* of the segment's instants */
	struct big_array details; /* owned: of the segment's begins and ends */
	size_t detail_count;
	uint64_t depth;     /* open slices, with those that were left out */
	uint64_t last_time; /* ns; of the last record passed on */
};

static inline struct slice_event *sorter_track_records(const struct sorter_track *track)
{
	return track->records.items;
}

/* Records are looked at in steps of so many, which then may leave memory. */
#define SORTER_TRACK_STEP ((size_t)1 << 15)

/* The step of records before `at`, and the first `details`, need not stay in memory. */
static inline void sorter_track_leave(const struct sorter_track *track, size_t at, size_t details)
{
	big_array_rest(&track->records, at - SORTER_TRACK_STEP, at, sizeof(struct slice_event));
	big_array_rest(&track->details, 0, details, sizeof(struct slice_detail));
}

/* Pass what is buffered on, in order: nothing is, then. */
void sorter_track_flush(struct sorter_track *track);

/* Close all open slices, at the time of the last event that was passed on. */
void sorter_track_close_all(struct sorter_track *track);

#endif
