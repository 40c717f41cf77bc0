/* SPDX-License-Identifier: MIT */
/*
 * A sink that sorts slices for sinks that need them in order.
 *
 * Call-stack machines emit slices in the order of discovery. The sorter buffers a segment of each
 * track, sorts it by time when it is flushed, and emits it with each slice nested in its callers.
 *
 * Order at equal times: ends of whole slices (SLICE_ORDER_WHOLE); ends of earlier slices that come
 * before every begin and instant; SLICE_ORDER_DEFERRED; all others. Equal orders sort by arrival;
 * orders above SLICE_ORDER_PLAIN sort after as many begins. So a slice found late encloses the
 * slices that begin at its time, and never takes the end of an earlier one. The begin and end of a
 * whole slice without length stay adjacent. The symbol of an end is undefined; details stay with
 * their begin or end.
 *
 * Changes are counted, and reported by slice_sorter_finish() as one warning of each kind. A segment
 * of more than `limit` events is emitted in parts: slices found late then begin no earlier than the
 * previous part ended.
 *
 * Sorting is a stable merge of natural runs: O(n) if the slices are in order, O(n log n) at worst.
 * Memory is reused for the next segment; a long segment is in a temporary file
 * (base/io/big_array.h).
 */
#ifndef SRC_SLICES_SLICE_SORTER_H
#define SRC_SLICES_SLICE_SORTER_H

#include "base/diag.h"
#include "base/io/big_array.h"
#include "src/slices/slice_sink.h"

/* Perfetto's limit of nested slices. */
#define SLICE_SORTER_DEPTH 512

/* Default limit of buffered events per segment: 512 MiB, most of it in a file. */
#define SLICE_SORTER_LIMIT ((size_t)1 << 24)

struct sorter_track;

struct slice_sorter {
	struct slice_sink sink;             /* for the machine */
	const struct slice_sink *next;      /* borrowed */
	struct diag *diag;                  /* borrowed; NULL: warnings are dropped */
	struct sorter_track *first, **last; /* owned; in the order in which they were opened */
	struct big_array spare;             /* owned: a copy of records that are merged */
	size_t memory;                      /* bytes of the tracks' arrays in memory */
	size_t limit;                       /* may be set after init; at least 2 */
	size_t depth; /* may be set after init: SLICE_SORTER_DEPTH, or more if the output can show
			 it */
	/* Counts of changes: */
	uint64_t unmatched_ends; /* dropped: no slice was open */
	uint64_t backward; /* begins and ends earlier than the one before, which got its time */
	uint64_t late;     /* begins and ends after 2^63 - 1 ns, set to it: Perfetto's times are
			      signed */
	uint64_t too_deep; /* slices left out */
	uint64_t split;    /* segments emitted in parts */
};

/* Initialize a sorter before `next`. It must not move, because it has pointers to itself. */
void slice_sorter_init(struct slice_sorter *sorter, const struct slice_sink *next,
		       struct diag *diag);

void slice_sorter_release(struct slice_sorter *sorter);

/*
 * Returns a new track, owned by the sorter, for the machine's thread. Its slices go to `next_track`
 * of the next sink.
 */
struct sorter_track *slice_sorter_track(struct slice_sorter *sorter, void *next_track);

/*
 * Emit what every track has left, in the order in which they were opened, and close open slices at
 * the track's last time. Call once, after the machines have finished.
 */
void slice_sorter_finish(struct slice_sorter *sorter);

#endif
