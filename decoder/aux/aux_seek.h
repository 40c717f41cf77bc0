/* SPDX-License-Identifier: MIT */
/*
 * Finds the part of an AUX stream that covers a time range, without decoding the rest.
 *
 * Decoding can begin at any PSB, and the TSCs after PSBs (SDM volume 3, "PSB+") increase
 * along a stream, so bisection looks at a few dozen PSBs, whatever the size.  A stream whose
 * PSBs have no TSC cannot be cut, and stays whole.
 */
#ifndef DECODER_AUX_AUX_SEEK_H
#define DECODER_AUX_AUX_SEEK_H

#include "decoder/aux/auxtrace.h"

/*
 * Cut a stream to the ticks [begin, end], both TSC values with all 8 bytes.  `view` is the
 * stream with fewer pieces (in the arena; the bytes are those of `aux`): it begins one PSB
 * before the last PSB before `begin`, so that clocks and threads have settled at `begin`, and
 * ends before the second PSB after `end`.  It is empty if the stream begins later.
 */
void aux_seek(const struct aux_stream *aux, uint64_t begin, uint64_t end, struct arena *arena,
	      struct aux_stream *view);

/*
 * Find the TSC of the first PSB and the time of the last packet, by all kinds of
 * timing packets, in ticks.  Looks at the packets after the last PSB only.
 * Returns false if no PSB has a TSC.
 */
bool aux_seek_extent(const struct aux_stream *aux, const struct pt_info *info, uint64_t *first,
		     uint64_t *last);

#endif
