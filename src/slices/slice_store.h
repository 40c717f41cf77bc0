/* SPDX-License-Identifier: MIT */
/*
 * Keeps spans in a file without a name, and gives them out again in another
 * order: those of all tracks by time, or those of one track.
 *
 * The sorter gives out a stretch of one thread, then a stretch of another; what
 * cuts a trace by time, or shows one thread after another, needs more.  32 bytes
 * of disk a begin or end ($TMPDIR, or /var/tmp); memory grows with the stretches
 * only.
 */
#ifndef SRC_SLICES_SLICE_STORE_H
#define SRC_SLICES_SLICE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/name.h"
#include "base/io/temp_file.h"
#include "src/slices/slice_sink.h"

struct track;
struct spool_record;
struct spool_track;

struct span_spool {
	struct name_table *names;     /* borrowed: keeps the texts of instants */
	struct spool file;
	struct spool_record *buffer;  /* owned: not yet written */
	size_t buffered;
	uint64_t count;               /* records up to now */
	struct spool_track *tracks;   /* owned; by index of the track */
	size_t track_count, track_room;
	const struct spool_record *records; /* owned mapping, from span_spool_end() on */
	uint64_t slices;
	struct error err;             /* the first failure; nothing is kept after it */
};

/* What is known of a track without reading it. */
struct spool_summary {
	struct track *track;    /* borrowed; NULL: there is no such track, or nothing on it */
	uint64_t slices;
	uint64_t begin, end;    /* ns: of the first and the last record */
};

/* Make an empty file.  Returns 0; -1 with err filled.  `names` is borrowed until release. */
int span_spool_init(struct span_spool *spool, struct name_table *names, struct error *err);

/*
 * Returns the sink; its tracks are struct track, its spans must come in program
 * order for each.  `details`: they have details that are to be kept.
 */
struct span_sink span_spool_sink(struct span_spool *spool, bool details);

/* No more will come.  Returns 0; -1 with err filled: the first failure. */
int span_spool_end(struct span_spool *spool, struct error *err);

/* Returns the number of tracks: their indices are below it. */
size_t span_spool_tracks(const struct span_spool *spool);

struct spool_summary span_spool_summary(const struct span_spool *spool, size_t index);

/* Give out a track's spans.  After span_spool_end(). */
void span_spool_replay_track(const struct span_spool *spool, size_t index,
			     const struct span_sink *sink);

/* Give out all spans by time; where times are equal, by index of the track. */
void span_spool_replay(const struct span_spool *spool, const struct span_sink *sink);

/* Idempotent, also on zeroed memory. */
void span_spool_release(struct span_spool *spool);

#endif
