/* SPDX-License-Identifier: MIT */
/*
 * The files that were mapped as code: one per path and build id.
 *
 * Lives while a timeline is built; the files themselves live in the arena.
 */
#ifndef DECODER_MAPPINGS_FILE_TABLE_H
#define DECODER_MAPPINGS_FILE_TABLE_H

#include "base/arena.h"
#include "decoder/mappings/address_space.h"

struct perf_file;

struct file_table {
	struct arena *arena;              /* borrowed */
	const struct mapped_file **files; /* owned array, by index */
	size_t count, room;
	struct file_entry *by_key;        /* hash of all files */
	struct known_build_id *build_ids; /* hash of the BUILD_ID feature by path */
	struct file_entry *scratch;       /* owned: room for the key of a search */
	size_t scratch_room;
};

/* Start empty, with the build ids that the recording's BUILD_ID feature names. */
void file_table_init(struct file_table *table, struct arena *arena, const struct perf_file *file);

/* Release the table, not the arena's files.  Idempotent, also on zeroed memory. */
void file_table_release(struct file_table *table);

/*
 * Returns the file of this path and build id (at most BUILD_ID_MAX bytes; size
 * 0: that of the BUILD_ID feature, if it has the path), made at first use.
 */
const struct mapped_file *file_table_borrow(struct file_table *table, const char *path,
					    const uint8_t *id, size_t id_size);

#endif
