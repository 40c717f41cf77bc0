/* SPDX-License-Identifier: MIT */
/*
 * Where a stream may be cut in segments: at PSBs, a distance apart.
 *
 * Cuts follow from the bytes alone, so that whoever looks for them finds the
 * same ones.  A PSB that straddles two pieces is no cut; and bytes inside of a
 * damaged packet may look like one, so a decoder that comes by knows better.
 */
#ifndef DECODER_AUX_AUX_CUTS_H
#define DECODER_AUX_AUX_CUTS_H

#include "decoder/aux/aux_window.h"

#define AUX_CUTS_NONE UINT64_MAX

/* A cursor: copies go on by themselves. */
struct aux_cuts {
	const struct aux_stream *aux; /* borrowed */
	uint64_t distance;            /* bytes between two cuts, at least */
	struct aux_position
		position; /* of the cut; `at` is AUX_CUTS_NONE: there is none any more */
};

/* Begin at the first cut. */
void aux_cuts_init(struct aux_cuts *cuts, const struct aux_stream *aux, uint64_t distance);

/* Go on to the next cut.  Offsets rise. */
void aux_cuts_next(struct aux_cuts *cuts);

#endif
