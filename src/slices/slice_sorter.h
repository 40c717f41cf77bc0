/* SPDX-License-Identifier: MIT */
/*
 * A sink that sorts slices for sinks that need them in order.
 *
 * Call-stack machines emit slices in the order of discovery. The sorter buffers a segment of each
 * track, sorts the segment by time at a flush, and emits it with each slice nested in its callers.
 *
 * Order at equal times: ends of whole slices (SLICE_ORDER_WHOLE); ends of earlier slices that
 * arrive before all begins and instants; SLICE_ORDER_DEFERRED; all others. Equal orders sort by
 * arrival; SLICE_ORDER_PLAIN + N sorts after N begins. So a slice found late encloses the slices
 * that begin at its time, and never takes the end of an earlier slice. The begin and end of a whole
 * slice without length stay adjacent. The symbol of an end is undefined; details stay with their
 * begin or end.
 *
 * slice_sorter_finish() reports changes, with one warning per kind. A segment of more than `limit`
 * events is emitted in parts: slices found late then begin no earlier than the previous part ended.
 *
 * If the next sink takes slices late, a segment of more than `part` events does not wait for its
 * end, except for the events at its first time: slices found late begin no later, so only these
 * must follow them. Then an eighth of `depth` is left to slices found late, and if these are more,
 * the outermost ones are omitted.
 *
 * Two passes: with `twice`, the machine can emit all slices again, so segments need not be stored.
 * When a segment has more than `part` events, the first pass stops to emit, and only keeps the
 * events that come too late for a part. The second pass has these from the beginning of each
 * segment, emits long segments in parts, in order, and leaves out what the first pass emitted.
 *
 * One pass: with `hopes`, the machine announces the slices found late in a segment's first part.
 * The sorter emits the part with these, and then all events at once. If other slices are found
 * late, the first pass looks from then on, and the second one needs a new output, and a new sorter.
 *
 * Sorting is a stable merge of natural runs: O(n) for slices in order, O(n log n) in the worst
 * case. Segments reuse memory; a long segment is in a temporary file (base/io/big_array.h).
 */
#pragma once

#include "base/diag.h"
#include "base/io/big_array.h"
#include "src/slices/slice_sink.h"

/* Perfetto's limit of nested slices. */
#define SLICE_SORTER_DEPTH 512

/* Default `part`: more than a thread without late slices emits at a time. */
#define SLICE_SORTER_PART SLICE_EARLY_EVENTS

/* Default limit of buffered events per segment: 512 MiB, most of it in a file. */
#define SLICE_SORTER_LIMIT ((size_t)1 << 24)

struct sorter_track;

struct slice_sorter {
	struct slice_sink sink;             /* for the machine */
	const struct slice_sink *next;      /* borrowed */
	struct diag *diag;                  /* borrowed; NULL: warnings are dropped */
	struct sorter_track *first, **last; /* owned; in the order of opening */
	struct sorter_track *noted;         /* owned: an earlier sorter's, not opened here yet */
	struct big_array spare;             /* owned: a copy of records during a merge */
	size_t memory;                      /* bytes of the tracks' arrays in memory */
	size_t limit;                       /* may be set after init; at least 2 */
	size_t part;                        /* may be set after init; at least 2 */
	size_t depth; /* may be set after init: SLICE_SORTER_DEPTH, or more for some outputs */
	bool twice;   /* may be set after init: slice_sorter_again() will follow if `looks` */
	bool hopes;   /* may be set after init if `twice`, with sink.early */
	bool looks;   /* the first pass has stopped to emit */
	bool again;   /* the second pass */
	bool cut;     /* may be set before the finish: the second pass did not get all events */
	struct arena texts;  /* owned: texts of instants that come too late */
	uint64_t unrepeated; /* events of the first pass that the second one lacked */
	/* Counts of changes: */
	uint64_t unmatched_ends; /* without a begin: dropped, or already emitted for a late slice */
	uint64_t backward; /* begins and ends earlier than the previous one, moved to its time */
	uint64_t late;     /* begins and ends after 2^63 - 1 ns, moved to it: Perfetto's times
			    * are signed */
	uint64_t too_deep; /* omitted slices */
	uint64_t split;    /* segments emitted in parts */
};

/* Initialize a sorter before `next`. It must not move: it contains pointers to itself. */
void slice_sorter_init(struct slice_sorter *sorter, const struct slice_sink *next,
		       struct diag *diag);

void slice_sorter_release(struct slice_sorter *sorter);

/*
 * Returns a new track, owned by the sorter, for the machine's thread. Its slices go to `next_track`
 * of the next sink.
 */
struct sorter_track *slice_sorter_track(struct slice_sorter *sorter, void *next_track);

/* Returns the track of the next sink; borrowed. */
void *slice_sorter_next_track(const struct sorter_track *track);

/*
 * Begin the second pass, in which each track gets the same events as in the first one. If the first
 * one had another sorter, its tracks are `noted`, and the same tracks are opened here.
 */
void slice_sorter_again(struct slice_sorter *sorter);

/*
 * Emit the remaining slices of all tracks, in the order of opening, and close open slices at their
 * track's last time. Call once, after the machines have finished.
 */
void slice_sorter_finish(struct slice_sorter *sorter);
