/* SPDX-License-Identifier: MIT */
/*
 * A window that moves over the pieces of an AUX stream.
 *
 * Packets straddle pieces, but libipt needs contiguous bytes. So the pieces are copied through a
 * window of constant size, which drops their pages after use. Memory does not grow with the
 * recording. The window never contains two pieces that are apart.
 */
#pragma once

#include "base/common.h"

/* The bytes of a PSB (SDM volume 3, "Packet Stream Boundary (PSB) Packet"). */
#define AUX_PSB      "\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82"
#define AUX_PSB_SIZE (sizeof(AUX_PSB) - 1)

/*
 * Returns the first PSB that begins in `size` bytes and ends before `end`, or NULL. If the pattern
 * repeats for longer, the PSB is its end: the packet before can end in the same bytes, but no
 * packet that follows a PSB begins with them.
 */
const uint8_t *aux_find_psb(const uint8_t *bytes, size_t size, const uint8_t *end);

/* One PERF_RECORD_AUXTRACE with its data, or the trace data of one sample. */
struct aux_piece {
	const uint8_t *bytes; /* view of a mapped file, whose pages can be dropped and read again */
	size_t size;          /* bytes present (fewer than the record claims in a truncated file) */
	uint64_t begin;       /* offset in the stream */
	size_t before, after; /* minimum bytes of the mapping around them */
	uint64_t aux_offset;  /* position in the AUX buffer's byte count */
	uint64_t reference;   /* a TSC near the data; its top byte completes 7-byte TSC packets */
	uint64_t file_offset; /* offset of the data in the file */
	bool apart;           /* does not continue the previous piece: data is missing */
	bool resumes;         /* apart because the buffer was full; begins with a packet */
	uint64_t resume_time; /* ns: lower bound of the time at which tracing resumed; 0: unknown */
};

/*
 * The trace data of one AUX buffer: its pieces in the order in which the CPU wrote them. PSBs and
 * packets can straddle pieces, unless a piece is apart.
 */
struct aux_stream {
	int32_t cpu;                    /* -1: a buffer per thread */
	int32_t tid;                    /* -1: a buffer per CPU */
	const struct aux_piece *pieces; /* ordered by aux_offset in each run of the file */
	size_t piece_count;
	/*
	 * The end of an AUX record's bytes. Bytes before it were written before the record's time.
	 */
	const struct aux_cut {
		int64_t owner; /* the buffer's owner: owner_of_cpu(), owner_of_thread() */
		uint64_t at;   /* in the byte count of AUX records */
		uint64_t time; /* ns: of the AUX record */
		bool whole;    /* the buffer was not full: no loss */
	} * cuts;              /* by position; `whole` ones only if CYC is recorded */
	size_t cut_count;
	uint64_t size;        /* bytes of all pieces */
	uint64_t repeated;    /* not in `size`: bytes that other snapshots contain, and padding */
	uint64_t missing;     /* bytes that the CPU wrote and the file lacks */
	uint64_t end_missing; /* missing bytes after the last piece: the file is truncated */
	bool again;           /* an earlier stream has the same CPU or thread: not a file of perf */
	bool copies;          /* has snapshots or samples, not a full trace */
	bool in_memory;       /* the pieces are no views of files: keep their pages */
};

/* Returns whether a piece that is apart begins at a position in AUX records' byte count. */
bool aux_stream_has_cut(const struct aux_stream *stream, uint64_t at);

/*
 * Drop the pages of bytes [begin, end) of a piece after use, because a trace can be larger than
 * memory. Pages stay while the stream's next bytes are in the same MiB of the file.
 */
void aux_stream_give_back(const struct aux_stream *stream, size_t piece, uint64_t begin,
			  uint64_t end);

/*
 * Joins the pieces of one AUX buffer into a stream.
 *
 * In a full trace, each piece continues the previous one, unless data is missing or the buffer was
 * full in between. Snapshots and samples are copies of the newest part of the buffer: they can
 * overlap, but usually have a hole between them.
 */

struct aux_piece_list {
	struct aux_piece *pieces; /* owned */
	size_t count, room;
	uint64_t repeated, missing; /* bytes; see struct aux_stream */
};

/* Join pieces of a full trace, in file order. Removes padding, and divides at `cuts` (sorted). */
void aux_pieces_join(struct aux_piece_list *list, const struct aux_piece *pieces, size_t count,
		     const struct aux_cut *cuts, size_t cut_count);

/* Join snapshots or samples: keep overlapping bytes once. */
void aux_pieces_join_copies(struct aux_piece_list *list, const struct aux_piece *pieces,
			    size_t count);

void aux_pieces_release(struct aux_piece_list *list);

/* Maximum size of a packet (SDM volume 3, "Packet definitions"; PSB has 16 bytes). */
#define AUX_WINDOW_PACKET_MAX 64u

/* libipt 2.0.5 reads up to a PSB's length past the end when it synchronises. */
#define AUX_WINDOW_PADDING 64u

/*
 * Minimum bytes after the position in a window, unless the stream ends: the longest PSB period of
 * processors, 64 KiB (CPUID.14H.1), plus the distance from the period's end to the PSB.
 */
#define AUX_WINDOW_AHEAD ((size_t)80 << 10)

/* A position of a stream, in a piece or at its end. */
struct aux_position {
	size_t piece; /* at or before `at` */
	uint64_t at;
	bool run_begins; /* between two pieces: at the second's begin, not the first's end */
};

struct aux_window {
	const struct aux_stream *aux; /* borrowed */
	uint8_t *bytes;               /* owned */
	size_t size;                  /* bytes that are valid */
	size_t room;                  /* allocated bytes; fewer for a short stream */
	uint64_t base;                /* offset of bytes[0] in the stream */
	size_t piece;                 /* next piece to read, starting at `piece_used` */
	uint64_t piece_used;
	bool run_begins; /* no byte of the consecutive pieces was read yet */
};

/* Fills the window. `aux` is borrowed. */
void aux_window_init(struct aux_window *window, const struct aux_stream *aux);

/* Move to a position of any stream, also on zeroed memory. Afterwards reads less far ahead. */
void aux_window_seek(struct aux_window *window, const struct aux_stream *aux,
		     const struct aux_position *position);

void aux_window_release(struct aux_window *window);

/* Returns the position of the window's end in AUX records' byte count. */
uint64_t aux_window_aux_end(const struct aux_window *window);

/* Returns whether the window ends at the stream's end, or at a piece that is apart. */
bool aux_window_at_end(const struct aux_window *window);

/* At the window's end: continue with the next consecutive pieces. False at the stream's end. */
bool aux_window_next_run(struct aux_window *window);

/* Drop the first `used` bytes and fill up the window. */
void aux_window_move(struct aux_window *window, size_t used);

/*
 * The PSBs at which a stream can be cut into segments, at a minimum distance.
 *
 * Cuts depend on the bytes only, so all threads find the same cuts. A PSB that straddles two pieces
 * is not a cut. Bytes inside a damaged packet can look like a PSB; a decoder that reaches them
 * detects this.
 */

#define AUX_CUTS_NONE UINT64_MAX

/* A copyable iterator. */
struct aux_cuts {
	const struct aux_stream *aux; /* borrowed */
	uint64_t distance;            /* minimum bytes between two cuts */
	struct aux_position position; /* position of the cut; `at` is AUX_CUTS_NONE at the end */
	uint64_t given; /* bytes of its piece that were scanned and dropped from memory */
};

/* Begin at the first cut. */
void aux_cuts_init(struct aux_cuts *cuts, const struct aux_stream *aux, uint64_t distance);

/* Move to the next cut.  Offsets increase. */
void aux_cuts_next(struct aux_cuts *cuts);
