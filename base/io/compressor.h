/* SPDX-License-Identifier: MIT */
/* Compresses a stream of bytes in the caller's thread. */
#pragma once

#include "base/common.h"

enum compression {
	COMPRESSION_NONE, /* needs no compressor */
	COMPRESSION_GZIP, /* RFC 1952, by zlib */
	COMPRESSION_ZSTD, /* RFC 8878, by libzstd */
};

/* Returns the compression for the suffix of a file's name, .gz or .zst. */
enum compression compression_of_path(const char *path);

/* Write at most 64 KiB of compressed bytes.  Returns 0, or an errno: then it is not called again.
 */
typedef int compressor_write_fn(void *context, const uint8_t *bytes, size_t size);

struct compressor;

/*
 * Start a compressor (COMPRESSION_GZIP or _ZSTD).  `context` is borrowed until the compressor is
 * closed.  Returns the compressor; NULL if there is no memory.
 */
struct compressor *compressor_open(enum compression compression, compressor_write_fn *write,
				   void *context);

/* Add bytes to the stream.  Returns 0, or the errno of a failed write. */
int compressor_put(struct compressor *compressor, const uint8_t *bytes, size_t size);

/* Compress the rest, end the stream, release.  Returns 0, or the errno of a failed write. */
int compressor_close(struct compressor *compressor);

/* Stop and release; bytes that are not yet written are lost.  NULL is allowed. */
void compressor_abandon(struct compressor *compressor);
