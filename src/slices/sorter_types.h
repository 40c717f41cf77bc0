/* SPDX-License-Identifier: MIT */
/* The data that the sorter (slice_sorter.h) shares with its tracks (sorter_track.h). */
#ifndef SRC_SLICES_SORTER_TYPES_H
#define SRC_SLICES_SORTER_TYPES_H

#include "base/diag.h"
#include "base/io/big_array.h"
#include "src/slices/slice_sink.h"

/* Perfetto's limit of nested slices. */
#define SLICE_SORTER_DEPTH 512

/* Default limit of buffered events per segment: 512 MiB, most of it in a file. */
#define SLICE_SORTER_LIMIT ((size_t)1 << 24)

struct slice_sorter_counts {
	uint64_t unmatched_ends; /* dropped: no slice was open */
	uint64_t backward; /* begins and ends that were earlier than the one before, and got its
			      time */
	uint64_t late; /* begins and ends after 2^63 - 1 ns, set to it: Perfetto's times are signed
			*/
	uint64_t too_deep; /* slices left out */
	uint64_t split;    /* segments emitted in parts */
};

struct sorter_track;

struct slice_sorter {
	struct slice_sink sink;             /* for the machine */
	const struct slice_sink *next;      /* borrowed */
	struct diag *diag;                  /* borrowed; NULL: warnings are dropped */
	struct sorter_track *first, **last; /* owned; in the order in which they were opened */
	struct big_array group;             /* owned: records of equal time */
	size_t memory;                      /* bytes of the tracks' arrays in memory */
	size_t limit;                       /* may be set after init; at least 2 */
	size_t depth; /* may be set after init: SLICE_SORTER_DEPTH, or more if the output can show
			 it */
	struct slice_sorter_counts counts;
};

#endif
