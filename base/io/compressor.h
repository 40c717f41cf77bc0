/* SPDX-License-Identifier: MIT */
/*
 * Compresses and writes a stream of bytes in a thread of its own, so that whoever
 * makes the bytes does not wait for it, unless it is several MiB ahead, or the
 * system has no thread left.
 */
#ifndef BASE_IO_COMPRESSOR_H
#define BASE_IO_COMPRESSOR_H

#include <stddef.h>
#include <stdint.h>

enum packing {
	PACKING_NONE, /* for no packer: bytes stay as they are */
	PACKING_GZIP, /* RFC 1952, by zlib */
	PACKING_ZSTD, /* RFC 8878, by libzstd */
};

/* Returns what the end of a file's name asks for: .gz or .zst. */
enum packing packing_of(const char *path);

/*
 * Takes the bytes to write, in the packer's thread: pieces of at most 64 KiB.
 * Returns 0, or an errno: then it is not called again.
 */
typedef int compressor_write_fn(void *context, const uint8_t *bytes, size_t size);

struct packer;

/*
 * Start the thread of one of the compressions; where the system gives none, compressor_put() does
 * its work. `context` is borrowed until the packer is closed. Returns the packer, never NULL.
 */
struct packer *compressor_open(enum packing packing, compressor_write_fn *write, void *context);

/*
 * Take a copy of bytes.
 * Returns 0; an errno of the writing function that failed before.
 */
int compressor_put(struct packer *packer, const uint8_t *bytes, size_t size);

/*
 * Compress the rest, end the stream, release.
 * Returns 0, or the errno of the writing function.
 */
int compressor_close(struct packer *packer);

/* Stop and release, whatever is not yet written.  NULL is allowed. */
void compressor_abandon(struct packer *packer);

#endif
