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

#include "base/common.h"

/* The bytes of a PSB (SDM volume 3, "Packet Stream Boundary (PSB) Packet"). */
#define AUX_PSB      "\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82"
#define AUX_PSB_SIZE (sizeof(AUX_PSB) - 1)

/*
 * Returns the first PSB that begins in `size` bytes and ends before `end`, or NULL.  If its
 * pattern is longer, the PSB is the end of it: the packet before may end in the same bytes, and
 * no packet that may follow a PSB begins with them.
 */
const uint8_t *aux_find_psb(const uint8_t *bytes, size_t size, const uint8_t *end);

/* One PERF_RECORD_AUXTRACE with its data, or the trace data of one sample. */
struct aux_piece {
	const uint8_t
		*bytes; /* view of a mapped file: its pages may be dropped, and are read again */
	size_t size;    /* bytes present (fewer than the record claims if the file is cut off) */
	size_t before, after; /* bytes of the mapping around them, at least */
	uint64_t aux_offset;  /* position in the AUX buffer's own count */
	uint64_t reference;   /* a TSC near the data; its top byte completes 7-byte TSC packets */
	uint64_t file_offset; /* of the data */
	bool apart;           /* it does not continue the piece before: data is missing */
	bool resumes;         /* apart, because the buffer was full: it begins with a packet */
	uint64_t resume_time; /* ns: the kernel said so, before tracing resumed; 0: unknown */
};

/*
 * The trace data of one AUX buffer: its pieces in the order in which the CPU wrote them.  PSBs and
 * packets may straddle pieces, except where a piece is apart.
 */
struct aux_stream {
	int32_t cpu;                    /* -1: a buffer per thread */
	int32_t tid;                    /* -1: a buffer per CPU */
	uint32_t queue;                 /* perf's `idx` */
	const struct aux_piece *pieces; /* in aux_offset order per run of the file */
	size_t piece_count;
	/* The end of an AUX record's bytes: the bytes before it were written before its time. */
	const struct aux_cut {
		int32_t owner; /* CPU or thread of the buffer */
		uint64_t at;   /* as AUX records count */
		uint64_t time; /* ns: of the AUX record */
		bool whole;    /* the buffer was not full there: nothing was lost */
	} * cuts;              /* by position; whole ones only with CYC packets */
	size_t cut_count;
	uint64_t size;        /* bytes of all pieces */
	uint64_t repeated;    /* not of the size: bytes that other snapshots have, or padding */
	uint64_t missing;     /* bytes that the CPU wrote and the file does not have */
	uint64_t end_missing; /* of these, after the last piece: the file is cut */
	bool again;  /* a stream before it has the same CPU or thread, which no machine writes */
	bool copies; /* of snapshots or samples, not of a full trace */
};

/* Returns whether trace was lost at a position, as AUX records count: a piece begins apart. */
bool aux_stream_has_cut(const struct aux_stream *stream, uint64_t at);

/*
 * Drop the pages of bytes [begin, end) of a piece, which were read: it may be larger than memory.
 * Pages stay while the stream's next bytes are in the same MiB of the file.
 */
void aux_stream_give_back(const struct aux_stream *stream, size_t piece, uint64_t begin,
			  uint64_t end);

/*
 * Joins the pieces of one AUX buffer to a stream.
 *
 * In a full trace each piece continues the one before, unless data is missing or the buffer was
 * full in between.  Snapshots and samples are copies of the newest part of the buffer, so they may
 * overlap, and more often there is a hole between them.
 */

struct aux_piece_list {
	struct aux_piece *pieces; /* owned */
	size_t count, room;
	uint64_t repeated, missing; /* bytes; see struct aux_stream */
};

/* Join pieces of a full trace, in file order: without padding, and divided at `cuts` (sorted). */
void aux_pieces_join(struct aux_piece_list *list, const struct aux_piece *pieces, size_t count,
		     const struct aux_cut *cuts, size_t cut_count);

/* Join snapshots or samples: keep overlapping bytes once. */
void aux_pieces_join_copies(struct aux_piece_list *list, const struct aux_piece *pieces,
			    size_t count);

void aux_pieces_release(struct aux_piece_list *list);

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
};

/* `aux` is borrowed.  The first bytes are read at once. */
void aux_window_init(struct aux_window *window, const struct aux_stream *aux);

/* Move to a position of any stream; also on zeroed memory.  Then it reads less far ahead. */
void aux_window_seek(struct aux_window *window, const struct aux_stream *aux,
		     const struct aux_position *position);

void aux_window_release(struct aux_window *window);

/* Returns where the window ends in the AUX buffer, as AUX records count. */
uint64_t aux_window_aux_end(const struct aux_window *window);

/* Returns whether the window ends at the stream's end, or at a piece that is apart. */
bool aux_window_at_end(const struct aux_window *window);

/* At the end: continue with the next consecutive pieces.  Returns false at the stream's end. */
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
