/* SPDX-License-Identifier: MIT */
/*
 * The trace data of one AUX buffer: its pieces, of AUXTRACE records or of samples, in the
 * order in which the CPU wrote them.  PSBs and packets may straddle pieces, except
 * where a piece is apart.  The pieces are views of the mapped file.
 */
#ifndef DECODER_AUX_AUX_STREAM_H
#define DECODER_AUX_AUX_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One PERF_RECORD_AUXTRACE with the data behind it, or the trace data of one sample. */
struct aux_piece {
	const uint8_t *bytes; /* view of a mapped file: pages are given back, to be read again */
	size_t size;          /* bytes present (less than the record claims if the file is cut) */
	uint64_t aux_offset;  /* position in the AUX buffer's own count */
	uint64_t reference;   /* a TSC near the data; its top byte completes 7-byte TSC packets */
	uint64_t file_offset; /* of the data */
	bool apart;           /* it does not go on where the piece before ends: data is missing */
};

struct aux_stream {
	int32_t cpu;                    /* -1: a buffer per thread */
	int32_t tid;                    /* -1: a buffer per CPU */
	uint32_t queue;                 /* perf's `idx` */
	const struct aux_piece *pieces; /* in aux_offset order per run of the file */
	size_t piece_count;
	uint64_t size;     /* bytes of all pieces */
	uint64_t repeated; /* bytes of the file besides: other snapshots have them, or padding */
	uint64_t missing;  /* bytes that the CPU wrote and the file does not have */
	bool again;  /* a stream before it is of the same CPU or thread; no machine does that */
	bool copies; /* of snapshots or samples, not of a full trace */
};

/*
 * Returns whether trace was lost in the AUX buffer at a place (as AUX records
 * count) that lies within a stream: a piece begins apart there.
 */
bool aux_stream_has_cut(const struct aux_stream *stream, uint64_t at);

#endif
