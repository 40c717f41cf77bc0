/* SPDX-License-Identifier: MIT */
/*
 * The part of an AUX stream that holds a stretch of time, found without
 * decoding the rest.
 *
 * Decoding can begin at any PSB, and the TSC packet behind it (SDM volume 3,
 * "PSB+") grows along a stream, so places are found by bisection: a few dozen
 * PSBs are looked at, whatever the size.  A stream whose PSBs have no TSC
 * cannot be cut, and stays whole.
 */
#ifndef DECODER_AUX_AUX_SEEK_H
#define DECODER_AUX_AUX_SEEK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "decoder/aux/auxtrace.h"

/*
 * Cut a stream to what tells of the ticks [begin, end], both TSC values with all
 * 8 bytes.  `view` is the stream with fewer pieces (in the arena; the bytes are
 * those of `aux`): it begins at the PSB before the last one of before `begin`,
 * so that clocks and threads have settled when `begin` comes, and ends
 * before the second PSB after `end`.  It is empty if the stream begins later.
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
