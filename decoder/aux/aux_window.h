/* SPDX-License-Identifier: MIT */
/*
 * A window that moves over the pieces of an AUX stream.
 *
 * Packets straddle pieces, and libipt needs them in a row: so the pieces are copied through a
 * window of constant size, and their pages are dropped once it has passed.  Memory does not
 * grow with the recording.  Pieces that are apart are never in the window together.
 */
#ifndef DECODER_AUX_AUX_WINDOW_H
#define DECODER_AUX_AUX_WINDOW_H

#include "decoder/aux/aux_stream.h"

/* No packet is longer (SDM volume 3, "Packet definitions"; PSB has 16 bytes). */
#define AUX_WINDOW_PACKET_MAX 64u

/* libipt 2.0.5 reads up to a PSB's length past the end when it synchronises. */
#define AUX_WINDOW_PADDING 64u

/*
 * Bytes after the position that a window has, if the stream does: a PSB packet for 64 KiB of trace,
 * the longest period that processors have (CPUID.14H.1), plus the distance from the period's end to
 * the PSB.
 */
#define AUX_WINDOW_AHEAD ((size_t)80 << 10)

/* A position of a stream, in a piece or at its end. */
struct aux_position {
	size_t piece;         /* at or before `at` */
	uint64_t piece_begin; /* its offset in the stream */
	uint64_t at;
	bool run_begins; /* between two pieces: the begin of the second, not the end of the first */
};

struct aux_window {
	const struct aux_stream *aux; /* borrowed */
	uint8_t *bytes;               /* owned */
	size_t size;                  /* bytes that are valid */
	size_t room;                  /* allocated bytes; a short stream needs few */
	uint64_t base;                /* of the stream, at bytes[0] */
	size_t piece;                 /* next piece to read, starting at `piece_used` */
	uint64_t piece_used;
	bool run_begins; /* nothing of the consecutive pieces was read yet */
	bool seeks;      /* reads one segment; other threads read around it */
};

/* `aux` is borrowed.  The first bytes are read at once. */
void aux_window_init(struct aux_window *window, const struct aux_stream *aux);

/*
 * Move to another position, also of another stream; also on zeroed memory.  Afterwards the
 * window does not read far ahead.
 */
void aux_window_seek(struct aux_window *window, const struct aux_stream *aux,
		     const struct aux_position *position);

void aux_window_release(struct aux_window *window);

/* Returns where the window ends in the AUX buffer, as AUX records count. */
uint64_t aux_window_aux_end(const struct aux_window *window);

/* Returns whether the window ends at the stream's end, or at a piece that is apart. */
bool aux_window_at_end(const struct aux_window *window);

/*
 * At the end: continue with the next consecutive pieces.  Returns false, and changes nothing,
 * at the stream's end.
 */
bool aux_window_next_run(struct aux_window *window);

/* Drop the first `used` bytes and fill up the window. */
void aux_window_move(struct aux_window *window, size_t used);

/*
 * The PSBs where a stream may be cut in segments, at a distance.
 *
 * Cuts depend on the bytes only, so all threads find the same ones.  A PSB that straddles two
 * pieces is no cut.  Bytes inside a damaged packet may look like a PSB; a decoder that passes
 * by finds out.
 */

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
