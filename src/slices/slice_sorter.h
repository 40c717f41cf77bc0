/* SPDX-License-Identifier: MIT */
/*
 * A slice sink that sorts slices, in front of sinks that need them in order.
 *
 * Call-stack machines emit slices in the order in which they discover them.
 * The sorter buffers a segment of each track, sorts it by time when it is flushed,
 * and emits it such that for every track
 *  - times never decrease, also across segments;
 *  - every end closes an open slice, every slice is closed in the end;
 *  - no slice is deeper than SLICE_SORTER_DEPTH (Perfetto drops deeper ones and
 *    then mixes up their ends).
 *
 * Order at equal times: the end of a whole slice (SLICE_ORDER_WHOLE); ends before
 * every begin and instant that close slices begun earlier; SLICE_ORDER_DEFERRED;
 * all others; each in the order of arrival, but those above SLICE_ORDER_PLAIN behind as many
 * begins.  So a slice found late encloses slices
 * that begin at its time, and never takes the end of an earlier one.  A whole slice
 * without length stays one begin and end beside each other.  The symbol of an end
 * is undefined; details stay with their begin or end.
 *
 * Changes are counted, and reported as one warning of each kind by
 * slice_sorter_finish().  A segment of more than `limit` slices is passed on in
 * parts: slices found late then begin no earlier than the part before ended.
 *
 * Sorting is a stable merge of natural runs on their way out: O(n) when the
 * slices are in order, O(n log n) at worst.  Memory is reused from segment to
 * segment; a long segment is kept in a file without a name (base/io/big_array.h).
 */
#ifndef SRC_SLICES_SLICE_SORTER_H
#define SRC_SLICES_SLICE_SORTER_H

#include "src/slices/sorter_types.h"

/* Make a sorter in front of `next`.  It borrows itself: it must not move. */
void slice_sorter_init(struct slice_sorter *sorter, const struct slice_sink *next,
		       struct diag *diag);

/* Release all memory, passing nothing on.  Idempotent, also on zeroed memory. */
void slice_sorter_release(struct slice_sorter *sorter);

/*
 * Returns a new track, owned by the sorter: give it to the machine as the
 * thread's track.  Its slices go to `next_track` of the next sink.
 */
struct sorter_track *slice_sorter_track(struct slice_sorter *sorter, void *next_track);

/*
 * Pass on what every track has left, in the order of their opening, and close
 * what is open at the track's last time.  Once, after the machines have finished.
 */
void slice_sorter_finish(struct slice_sorter *sorter);

#endif
