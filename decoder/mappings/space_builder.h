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

#include "base/arena.h"
#include "decoder/mappings/address_space.h"

struct space_builder {
	struct address_space space; /* filled by space_builder_finish() */
	struct arena *arena;        /* borrowed */
	void *tree;                 /* owned: of tsearch(3), ordered by address */
	size_t count;               /* mappings in it */
};

/* Start empty. */
void space_builder_init(struct space_builder *builder, struct arena *arena);

/* Add all mappings of another to an empty one. */
void space_builder_copy(struct space_builder *builder, const struct space_builder *from);

/* Release the set, not the arena's mappings.  Idempotent, also on zeroed memory. */
void space_builder_release(struct space_builder *builder);

/* Returns whether `mapping` would replace other content. */
bool space_builder_conflicts(const struct space_builder *builder, const struct mapping *mapping);

/*
 * Returns whether `mapping` is memory on huge pages that replaces one file's
 * code: a copy of the code.
 */
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

#endif
