/* SPDX-License-Identifier: MIT */
/* The data of the sorter (slice_sorter.h), which its tracks (sorter_track.h) share. */
#ifndef SRC_SLICES_SORTER_TYPES_H
#define SRC_SLICES_SORTER_TYPES_H

#include "base/diag.h"
#include "base/io/big_array.h"
#include "src/slices/slice_sink.h"

/* Perfetto's limit of nested slices. */
#define SLICE_SORTER_DEPTH 512

/* Slice events of one track's segment that are buffered by default: 512 MiB, most of it in a file.
 */
#define SLICE_SORTER_LIMIT ((size_t)1 << 24)

struct slice_sorter_counts {
	uint64_t unmatched_ends; /* dropped: no slice was open */
	uint64_t backward;       /* slices whose time was moved forward */
	uint64_t late;     /* begins and ends moved back to 2^63 - 1 ns: Perfetto's are signed */
	uint64_t too_deep; /* slices left out */
	uint64_t split;    /* segments passed on in parts */
};

struct sorter_track;
struct sorter_run;

struct slice_sorter {
	struct slice_sink sink;             /* give this to the machine */
	const struct slice_sink *next;      /* borrowed */
	struct diag *diag;                  /* borrowed; NULL: warnings are dropped */
	struct sorter_track *first, **last; /* owned; in the order of opening */
	struct sorter_run *heap;            /* owned: the runs of a segment that is passed on */
	size_t heap_room;
	struct big_array group; /* owned: records of one time */
	size_t memory;          /* bytes that the tracks' arrays take in memory */
	size_t limit;           /* may be set after init; at least 2 */
	size_t depth; /* may be set after init: SLICE_SORTER_DEPTH, or more where all can be shown
		       */
	struct slice_sorter_counts counts;
};

#endif
