/* SPDX-License-Identifier: MIT */
/*
 * Unpacks files that are ELF behind a compression: kernel modules (CONFIG_MODULE_COMPRESS_*),
 * and the tables of symbols in .gnu_debugdata.
 *
 * xz, zstd and gzip are told apart by their first bytes (RFC 8878, RFC 1952, "The .xz File
 * Format").  A size that stands in the packed bytes is not believed: memory grows with what
 * comes out, up to the caller's limit.
 */
#ifndef SYMBOLS_FILES_UNPACK_H
#define SYMBOLS_FILES_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns whether the bytes begin as one of the three does. */
bool unpack_is_packed(const uint8_t *bytes, size_t size);

/*
 * Returns the unpacked bytes, `*size` of them, owned by the caller (free()); NULL if
 * they are packed in no known way, damaged, cut, or more than `limit`.
 */
uint8_t *unpack_bytes(const uint8_t *packed, size_t packed_size, size_t limit, size_t *size);

#endif
