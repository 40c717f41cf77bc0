/* SPDX-License-Identifier: MIT */
/*
 * An address space while the timeline is being built: a set of mappings that do not overlap.
 *
 * perf does not record unmapping, so a mapping lives until another one is put
 * over it.  Mappings are immutable and live in the caller's arena; cutting or
 * joining makes new ones, so that a copy of the set shares them.
 */
#ifndef DECODER_MAPPINGS_SPACE_BUILDER_H
#define DECODER_MAPPINGS_SPACE_BUILDER_H

#include "decoder/mappings/address_space.h"

/* Empty with only the arena set. */
struct space_builder {
	struct address_space space; /* filled by space_builder_finish() */
	struct arena *arena;        /* borrowed */
	void *tree;                 /* owned: of tsearch(3), ordered by address */
	size_t count;               /* mappings in it */
};

/* Add all mappings of another to an empty one. */
void space_builder_copy(struct space_builder *builder, const struct space_builder *from);

/* Release the set, not the arena's mappings.  Idempotent, also on zeroed memory. */
void space_builder_release(struct space_builder *builder);

/* Returns whether `mapping` would replace other content. */
bool space_builder_conflicts(const struct space_builder *builder, const struct mapping *mapping);

/* Returns whether `mapping` is a copy of one file's code, on huge pages. */
bool space_builder_is_copy(const struct space_builder *builder, const struct mapping *mapping);

/* Add a mapping (copied).  Where it overlaps others, it wins; their other parts stay. */
void space_builder_add(struct space_builder *builder, const struct mapping *mapping);

/*
 * Fill builder->space with the mappings as a sorted array in the arena, copies on huge pages as
 * their files, and release the set.  `kernel` (borrowed, may be NULL) becomes the space's own.
 */
void space_builder_finish(struct space_builder *builder, const struct address_space *kernel);

/*
 * Returns whether a recorded path is that of memory without a file: the kernel's names for it
 * (mm/shmem.c, fs/hugetlbfs/inode.c, perf_event_mmap_event()).
 */
bool space_builder_is_memory(const char *path);

struct perf_file;

/* The files that were mapped as code, while a timeline is built; they live in the arena. */
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
