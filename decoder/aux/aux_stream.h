/* SPDX-License-Identifier: MIT */
/*
 * The trace data of one AUX buffer: its pieces, of AUXTRACE records or of samples, in the
 * order in which the CPU wrote them.  PSBs and packets may straddle pieces, except
 * where a piece is apart.  The pieces are views of the mapped file.
 */
#ifndef DECODER_AUX_AUX_STREAM_H
#define DECODER_AUX_AUX_STREAM_H

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

/* The end of an AUX record's bytes: the bytes before it were written before its time. */
struct aux_cut {
	int32_t owner; /* CPU or thread of the buffer */
	uint64_t at;   /* as AUX records count */
	uint64_t time; /* ns: of the AUX record */
	bool whole;    /* the buffer was not full there: nothing was lost */
};

struct aux_stream {
	int32_t cpu;                    /* -1: a buffer per thread */
	int32_t tid;                    /* -1: a buffer per CPU */
	uint32_t queue;                 /* perf's `idx` */
	const struct aux_piece *pieces; /* in aux_offset order per run of the file */
	size_t piece_count;
	const struct aux_cut *cuts; /* by position; whole ones only with CYC packets */
	size_t cut_count;
	uint64_t size;     /* bytes of all pieces */
	uint64_t repeated; /* not of the size: bytes that other snapshots have, or padding */
	uint64_t missing;  /* bytes that the CPU wrote and the file does not have */
	bool again;  /* a stream before it has the same CPU or thread, which no machine writes */
	bool copies; /* of snapshots or samples, not of a full trace */
};

/*
 * Returns whether trace was lost in the AUX buffer at a position, as AUX records count, within
 * a stream: a piece begins apart there.
 */
bool aux_stream_has_cut(const struct aux_stream *stream, uint64_t at);

/*
 * Joins the pieces of one AUX buffer to a stream.
 *
 * In a full trace each piece continues the one before, unless data is missing or the buffer
 * was full in between.  Snapshots and samples are copies of the newest part of the buffer, so
 * they may overlap, and more often there is a hole between them.
 */

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

void aux_pieces_release(struct aux_piece_list *list);

#endif
