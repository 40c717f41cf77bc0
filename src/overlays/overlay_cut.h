/* SPDX-License-Identifier: MIT */
/* --format=memtrace: a memtrace file of a time range of another one. */
#ifndef SRC_OVERLAYS_OVERLAY_CUT_H
#define SRC_OVERLAYS_OVERLAY_CUT_H

#include "base/io/output.h"
#include "src/options/selection.h"
#include "src/overlays/overlay_input.h"

/* Events of a cut file, and of the one that it was cut from. */
struct overlay_cut_counts {
	uint64_t events, written;
	uint64_t alive; /* allocations among those written that were before the range */
};

/*
 * Write the events of memtrace whose times, from the file's start to its last event, are in the
 * range of `selection`.  Blocks that are alive at its begin are allocated there, and promoted if
 * they were.  Blocks get numbers without gaps, in the order of those that they had; the start stays
 * the same, and so do times.  Ends early if the output is full, which then is cut.
 * Returns 0 with *counts; -1 with err filled.  Write errors stay with the output.
 */
int overlay_cut(struct overlay_input *input, const struct selection *selection,
		struct output *output, struct overlay_cut_counts *counts, struct error *err);

#endif
