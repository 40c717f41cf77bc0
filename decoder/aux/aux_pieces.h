/* SPDX-License-Identifier: MIT */
/*
 * How the pieces of one AUX buffer follow each other.
 *
 * In a full trace each piece goes on where the one before ended, unless data is
 * missing or the buffer was full in between.  Snapshots and samples are copies
 * of the newest part of the buffer, so one may repeat what another has, and
 * more often there is a hole between them.
 */
#ifndef DECODER_AUX_AUX_PIECES_H
#define DECODER_AUX_AUX_PIECES_H

#include <stdint.h>

#include "decoder/aux/aux_stream.h"

/* A place in the AUX buffer's own count where the buffer was full. */
struct aux_cut {
	int32_t owner; /* the CPU or the thread of the buffer */
	uint64_t at;
};

struct aux_piece_list {
	struct aux_piece *pieces; /* owned */
	size_t count, room;
	uint64_t repeated, missing; /* bytes; see struct aux_stream */
};

/*
 * Join `count` pieces, in the order of the file, of a full trace: padding is
 * cut off, and pieces are cut in two where the buffer was full (`cuts`, sorted).
 */
void aux_pieces_join(struct aux_piece_list *list, const struct aux_piece *pieces, size_t count,
		     const struct aux_cut *cuts, size_t cut_count);

/* The same of snapshots or samples: what two of them have is kept once. */
void aux_pieces_join_copies(struct aux_piece_list *list, const struct aux_piece *pieces,
			    size_t count);

/* Idempotent, also on zeroed memory. */
void aux_pieces_release(struct aux_piece_list *list);

#endif
