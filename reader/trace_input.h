/* SPDX-License-Identifier: MIT */
/*
 * The bytes of a trace file from front to back: plain, gzip (also several
 * members) or zstd, recognised by their first bytes, as in Perfetto, not by
 * the file's name.  Holds about 2 MiB, whatever the size of the file.
 */
#ifndef READER_TRACE_INPUT_H
#define READER_TRACE_INPUT_H

#include "base/common.h"

struct trace_input {
	int fd;
	uint8_t *packed; /* owned: bytes of the file */
	size_t packed_used, packed_at;
	struct trace_unpacker *unpacker; /* owned; NULL: plain */
	uint8_t *bytes;                  /* owned: bytes of the trace */
	size_t used, at;
	bool ended; /* nothing comes after `used` */
};

/* Open a file, "-" for standard input.  Returns 0; -1 with err filled. */
int trace_input_open(struct trace_input *input, const char *path, struct error *err);

/*
 * Make the next `size` bytes (at most 64 KiB) available.
 * Returns a view of them, valid until the next call, and moves nothing; NULL if
 * only *left are left or, with err filled, they cannot be read.
 */
const uint8_t *trace_input_peek(struct trace_input *input, size_t size, size_t *left,
				struct error *err);

/* Move past bytes that trace_input_peek() showed. */
static inline void trace_input_skip(struct trace_input *input, size_t size)
{
	input->at += size;
}

void trace_input_close(struct trace_input *input);

#endif
