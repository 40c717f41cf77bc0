/* SPDX-License-Identifier: MIT */
/*
 * Files inside of ZIP archives that programs map without unpacking them: libraries in Android's
 * .apk files. Source: PKWARE's APPNOTE.TXT; ZIP64 is not read. Nothing in the archive is trusted.
 */
#pragma once

#include "base/cursor.h"

struct zip_entry {
	uint64_t begin, end; /* bytes from the start of the archive: its content */
	const uint8_t *name; /* borrowed, not terminated */
	size_t name_size;
};

/* Find the stored entry at an offset of the archive. Returns false if there is none. */
bool zip_file_find(const uint8_t *bytes, size_t size, uint64_t offset, struct zip_entry *entry);
