/* SPDX-License-Identifier: MIT */
/*
 * A window that moves over the pieces of an AUX stream.
 *
 * Packets straddle pieces, and libipt wants them in a row: so the pieces are
 * copied through a window of constant size, and their pages are given back
 * behind it.  Memory does not grow with the recording.  Pieces that are apart
 * are never in the window together.
 */
#ifndef DECODER_AUX_AUX_WINDOW_H
#define DECODER_AUX_AUX_WINDOW_H

#include <stdbool.h>

#include "decoder/aux/aux_stream.h"

/* No packet is longer (SDM volume 3, "Packet definitions"; PSB has 16 bytes). */
#define AUX_WINDOW_PACKET_MAX 64u

/* Offset `at` of a stream, in a piece or behind one. */
struct aux_position {
	size_t piece;         /* at or before `at` */
	uint64_t piece_begin; /* its offset in the stream */
	uint64_t at;
	bool run_begins; /* between two pieces: it is the second one's begin, not the first one's
			    end */
};

struct aux_window {
	const struct aux_stream *aux; /* borrowed */
	uint8_t *bytes;               /* owned */
	size_t size;                  /* bytes that are valid */
	size_t room;                  /* for so many; a short stream needs little */
	uint64_t base;                /* of the stream, at bytes[0] */
	size_t piece;                 /* the next to be read, from `piece_used` on */
	uint64_t piece_used;
	bool run_begins; /* nothing of the run was read yet */
	bool seeks;      /* others read what is around */
};

/* `aux` is borrowed.  The first bytes are there at once. */
void aux_window_init(struct aux_window *window, const struct aux_stream *aux);

/*
 * Look at another place, also of another stream; zeroed memory is a window, too.
 * It does not read far ahead from then on.
 */
void aux_window_seek(struct aux_window *window, const struct aux_stream *aux,
		     const struct aux_position *position);

/* Idempotent, also on zeroed memory. */
void aux_window_release(struct aux_window *window);

/*
 * Returns whether the window ends where the stream does, or a run of it: the
 * next piece is apart, and no packet straddles its start.
 */
bool aux_window_at_end(const struct aux_window *window);

/* At the end: go on with the next run.  Returns false, and changes nothing, at the last one. */
bool aux_window_next_run(struct aux_window *window);

/* Drop the first `used` bytes and fill up with what follows. */
void aux_window_move(struct aux_window *window, size_t used);

#endif
