/* SPDX-License-Identifier: MIT */
/*
 * An address space while the timeline is being built: a set of mappings that do not overlap.
 *
 * perf does not record munmap(), so a mapping lasts until another one replaces it. Mappings are
 * immutable and live in the caller's arena; cutting or joining makes new mappings, so that a copy
 * of the set can share the old ones.
 */
#pragma once

#include "base/arena.h"
#include "decoder/address_space.h"

/* Empty if only `arena` is set. */
struct space_builder {
	struct address_space space; /* filled by space_builder_finish() */
	struct arena *arena;        /* borrowed */
	void *tree;                 /* owned: of tsearch(3), ordered by address */
	size_t count;               /* mappings in it */
};

/* Add all mappings of another to an empty one. */
void space_builder_copy(struct space_builder *builder, const struct space_builder *from);

/* Release the set, not the arena's mappings. */
void space_builder_release(struct space_builder *builder);

/* Returns whether a mapping of a file on a disk, or a part of it, is already there. */
bool space_builder_has(const struct space_builder *builder, const struct mapping *mapping);

/* Returns whether `mapping` would replace other content. */
bool space_builder_conflicts(const struct space_builder *builder, const struct mapping *mapping);

/* Returns whether another file is mapped where `mapping` is. */
bool space_builder_has_others(const struct space_builder *builder, const struct mapping *mapping);

/* Returns whether `mapping` is a copy of one file's code, on huge pages. */
bool space_builder_is_copy(const struct space_builder *builder, const struct mapping *mapping);

/* Add a mapping (copied). It replaces overlapping parts of others; the rest of these stays. */
void space_builder_add(struct space_builder *builder, const struct mapping *mapping);

/*
 * Fill builder->space with a sorted array of the mappings in the arena, and release the set. Copies
 * on huge pages become mappings of their files. `kernel` (borrowed, may be NULL) becomes the
 * space's kernel.
 */
void space_builder_finish(struct space_builder *builder, const struct address_space *kernel);

/*
 * Returns whether a recorded path is the kernel's name for memory without a file
 * (fs/proc/task_mmu.c, fs/hugetlbfs/inode.c, perf_event_mmap_event()).
 */
bool space_builder_is_anonymous(const char *path);

/* The same, or a file in memory (mm/shmem.c). */
bool space_builder_is_memory(const char *path);

struct perf_file;

/* The files mapped as code, while a timeline is built. They live in the arena. */
struct file_table {
	struct arena *arena;              /* borrowed */
	const struct mapped_file **files; /* owned array, by index */
	size_t count, room;
	struct file_entry *by_key;        /* hash of all files */
	struct known_build_id *build_ids; /* hash of the BUILD_ID feature by path */
	struct file_entry *scratch;       /* owned: room for the key of a search */
	size_t scratch_room;
};

/* Start without files, but with the build ids of the recording's BUILD_ID feature. */
void file_table_init(struct file_table *table, struct arena *arena, const struct perf_file *file);

/* Release the table, not the arena's files. */
void file_table_release(struct file_table *table);

/*
 * Returns the file of a path and build id (at most BUILD_ID_MAX bytes; size 0: look the path up in
 * the BUILD_ID feature), created at first use.
 */
const struct mapped_file *file_table_borrow(struct file_table *table, const char *path,
					    const uint8_t *id, size_t id_size);
