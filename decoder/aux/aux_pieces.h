/* SPDX-License-Identifier: MIT */
/*
 * Joins the pieces of one AUX buffer to a stream.
 *
 * In a full trace each piece continues the one before, unless data is missing or the buffer
 * was full in between.  Snapshots and samples are copies of the newest part of the buffer, so
 * they may overlap, and more often there is a hole between them.
 */
#ifndef DECODER_AUX_AUX_PIECES_H
#define DECODER_AUX_AUX_PIECES_H

#include "decoder/aux/aux_stream.h"

struct aux_piece_list {
	struct aux_piece *pieces; /* owned */
	size_t count, room;
	uint64_t repeated, missing; /* bytes; see struct aux_stream */
};

/*
 * Join `count` pieces of a full trace, in file order: cut off padding, and divide pieces where
 * the buffer was full (`cuts`, sorted).
 */
void aux_pieces_join(struct aux_piece_list *list, const struct aux_piece *pieces, size_t count,
		     const struct aux_cut *cuts, size_t cut_count);

/* Join snapshots or samples: keep overlapping bytes once. */
void aux_pieces_join_copies(struct aux_piece_list *list, const struct aux_piece *pieces,
			    size_t count);

/* Idempotent, also on zeroed memory. */
void aux_pieces_release(struct aux_piece_list *list);

#endif
