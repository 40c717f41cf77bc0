/* SPDX-License-Identifier: MIT */
/*
 * The PSBs where a stream may be cut in segments, at a distance.
 *
 * Cuts depend on the bytes only, so all threads find the same ones.  A PSB that straddles two
 * pieces is no cut.  Bytes inside a damaged packet may look like a PSB; a decoder that passes
 * by finds out.
 */
#ifndef DECODER_AUX_AUX_CUTS_H
#define DECODER_AUX_AUX_CUTS_H

#include "decoder/aux/aux_window.h"

#define AUX_CUTS_NONE UINT64_MAX

/* An iterator, which may be copied. */
struct aux_cuts {
	const struct aux_stream *aux; /* borrowed */
	uint64_t distance;            /* bytes between two cuts, at least */
	struct aux_position position; /* of the cut; `at` is AUX_CUTS_NONE at the end */
	uint64_t given; /* bytes of its piece that were scanned and whose pages are dropped */
};

/* Begin at the first cut. */
void aux_cuts_init(struct aux_cuts *cuts, const struct aux_stream *aux, uint64_t distance);

/* Move to the next cut.  Offsets increase. */
void aux_cuts_next(struct aux_cuts *cuts);

#endif
