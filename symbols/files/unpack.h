/* SPDX-License-Identifier: MIT */
/*
 * Unpacks compressed ELF files: kernel modules (CONFIG_MODULE_COMPRESS_*), the tables of
 * symbols in .gnu_debugdata, and sections of debug information.
 *
 * The first bytes show whether it is xz, zstd or gzip (RFC 8878, RFC 1952, "The .xz File
 * Format").  Sizes in the packed bytes are not trusted.
 */
#pragma once

#include "base/cursor.h"

/* Returns whether the bytes begin like one of the three formats. */
bool unpack_is_packed(const uint8_t *bytes, size_t size);

/*
 * Returns the unpacked bytes, `*size` of them, owned by the caller (free()); NULL if the format is
 * unknown, the bytes are damaged or cut, or the result exceeds `limit`.
 */
uint8_t *unpack_bytes(struct byte_view packed, size_t limit, size_t *size);

/*
 * Fill `bytes` with the contents of a section of an ELF file, compressed by `type`
 * (ELFCOMPRESS_...).  Returns whether they have exactly this size, and are not damaged.
 */
bool unpack_whole(uint32_t type, struct byte_view packed, uint8_t *bytes, size_t size);

/* ---- ZIP archives -------------------------------------------------------- */

/*
 * A file inside of a ZIP archive that programs map without unpacking it: a library in Android's
 * .apk file. Source: PKWARE's APPNOTE.TXT; ZIP64 is not read. Nothing in the archive is trusted.
 */
struct zip_entry {
	uint64_t begin, end; /* bytes from the start of the archive: its content */
	const uint8_t *name; /* borrowed, not terminated */
	size_t name_size;
};

/* Find the stored entry at an offset of the archive. Returns false if there is none. */
bool zip_file_find(const uint8_t *bytes, size_t size, uint64_t offset, struct zip_entry *entry);
