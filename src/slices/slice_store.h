/* SPDX-License-Identifier: MIT */
/*
 * Stores slices, in an unnamed file if there are many (base/io/big_array.h), and replays all tracks
 * by time, or one track.
 *
 * The sorter emits a segment of one thread, then a segment of another. Formats that cut a trace by
 * time, or print threads one by one, need all slices first. An event needs 32 bytes of disk
 * ($TMPDIR, or /var/tmp), its detail another 64. Memory grows only with the number of segments.
 */
#pragma once

#include "base/io/big_array.h"
#include "src/slices/slice_sink.h"

struct track;

/* Zeroed except for `names`, it is empty. */
struct slice_store {
	struct name_table *names; /* borrowed: owns the texts of instants */
	struct big_array records; /* owned */
	uint64_t count;           /* records */
	/* A track's counts, known without a read of the file. */
	struct store_track {
		struct track *track; /* borrowed; NULL: no events */
		uint64_t slices;
		uint64_t begin, end; /* ns: of the first and the last record */
		/* Its stretches of consecutive records. */
		struct store_stretch {
			uint64_t begin, count;
		} * stretches; /* owned */
		size_t count, room;
	} * tracks; /* owned; by index of the track */
	size_t track_count, track_room;
	uint64_t slices;
};

/*
 * Returns the sink. Its tracks are struct track; slices of a track must be in program order.
 * `details` and `folded`: see struct slice_sink.
 */
struct slice_sink slice_store_sink(struct slice_store *store, bool details, bool folded);

/* Emit a track's events to `sink`. */
void slice_store_replay_track(const struct slice_store *store, size_t index,
			      const struct slice_sink *sink);

/*
 * The same, if the track's parts that begin with a SLICE_ARROW_END are not in order: by the time of
 * the first record of each stretch.
 */
void slice_store_replay_sorted(struct slice_store *store, size_t index,
			       const struct slice_sink *sink);

/* Emit all events by time, then by index of the track. */
void slice_store_replay(const struct slice_store *store, const struct slice_sink *sink);

void slice_store_release(struct slice_store *store);
