/* SPDX-License-Identifier: MIT */
/*
 * Stores slices in a temporary file and replays them: all tracks by time, or one track.
 *
 * The sorter emits a segment of one thread, then a segment of another. Formats that cut a trace by
 * time, or print one thread after another, need all slices first. An event takes 32 bytes of disk
 * ($TMPDIR, or /var/tmp), its detail another 32. Memory grows with the number of segments only.
 */
#ifndef SRC_SLICES_SLICE_STORE_H
#define SRC_SLICES_SLICE_STORE_H

#include "base/io/temp_file.h"
#include "base/tables/name.h"
#include "src/slices/slice_sink.h"

struct track;
struct store_record;

/* The counts of a track are known without reading the file. */
struct store_track {
	struct track *track; /* borrowed; NULL: no events */
	uint64_t slices;
	uint64_t begin, end; /* ns: of the first and the last record */
	/* Its records, in consecutive ones of the file. */
	struct store_stretch {
		uint64_t begin, count;
	} * stretches; /* owned */
	size_t count, room;
};

struct slice_store {
	struct name_table *names; /* borrowed: owns the texts of instants */
	struct temp_file file;
	struct store_record *buffer; /* owned: not written yet */
	size_t buffered;
	uint64_t count;             /* records so far */
	struct store_track *tracks; /* owned; by index of the track */
	size_t track_count, track_room;
	const struct store_record *records; /* owned mapping, after slice_store_end() */
	uint64_t slices;
	struct error err; /* the first failure; later slices are dropped */
};

/* Create an empty file. `names` is borrowed until release. Returns 0, or -1 with err filled. */
int slice_store_init(struct slice_store *store, struct name_table *names, struct error *err);

/*
 * Returns the sink. Its tracks are struct track; the slices of each must be in program order.
 * `details` and `folded`: see struct slice_sink.
 */
struct slice_sink slice_store_sink(struct slice_store *store, bool details, bool folded);

/* Map the file after all events have come. Returns 0, or -1 with err filled: the first failure. */
int slice_store_end(struct slice_store *store, struct error *err);

/* Emit a track's events to `sink`.  After slice_store_end(). */
void slice_store_replay_track(const struct slice_store *store, size_t index,
			      const struct slice_sink *sink);

/* Emit all events by time, at equal times by index of the track.  After slice_store_end(). */
void slice_store_replay(const struct slice_store *store, const struct slice_sink *sink);

/* Idempotent, also on zeroed memory. */
void slice_store_release(struct slice_store *store);

#endif
