/* SPDX-License-Identifier: MIT */
/*
 * One track of the sorter (slice_sorter.h): the records of its segment in order of arrival, divided
 * into sorted runs, and the depth of emitted slices. Private to the sorter, which adds the records.
 */
#ifndef SRC_SLICES_SORTER_TRACK_H
#define SRC_SLICES_SORTER_TRACK_H

#include "base/arena.h"
#include "src/slices/sorter_types.h"

/* Consecutive records sorted by time and order. */
struct sorter_run {
	size_t begin; /* index of its first record; during a merge, of those that are left */
	bool mixed;   /* some have an order other than SLICE_ORDER_PLAIN */
	/* During a merge, when the runs are a heap: */
	size_t end;
	size_t rank; /* index among the runs, to sort equal times */
};

struct sorter_track {
	struct slice_sorter *sorter;
	void *next_track;
	struct sorter_track *next;
	struct big_array records; /* owned: of the segment */
	size_t count;
	size_t full;             /* at this count, the next record takes the slow path */
	uint64_t latest;         /* time of the last record added */
	struct sorter_run *runs; /* owned */
	size_t run_count, run_room;
	struct arena texts;       /* of the segment's instants */
	struct big_array details; /* owned: of the segment's begins and ends */
	size_t detail_count;
	uint64_t depth;     /* open slices, including those left out */
	uint64_t last_time; /* ns; of the last event emitted */
};

static inline struct slice_event *sorter_track_records(const struct sorter_track *track)
{
	return track->records.items;
}

/* Records are accessed in steps of this size, whose pages are then released. */
#define SORTER_TRACK_STEP ((size_t)1 << 15)

/* Release the pages of the step before `at`, and of the first `details`. */
static inline void sorter_track_leave(const struct sorter_track *track, size_t at, size_t details)
{
	big_array_rest(&track->records, at - SORTER_TRACK_STEP, at, sizeof(struct slice_event));
	big_array_rest(&track->details, 0, details, sizeof(struct slice_detail));
}

/* Emit all records in order and forget them. */
void sorter_track_flush(struct sorter_track *track);

/* Close all open slices at the time of the last event emitted. */
void sorter_track_close_all(struct sorter_track *track);

#endif
