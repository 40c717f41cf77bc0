/* SPDX-License-Identifier: MIT */
/*
 * Paths over runs: where a few decisions lead, to be gone again at once.
 *
 * Where they lead depends on the run where they begin and their bits of TNT.  So what a walk
 * did is kept, in a table of fixed size where new paths overwrite old ones.
 */
#ifndef DECODER_CODE_TNT_CACHE_H
#define DECODER_CODE_TNT_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decisions of a path at most. */
#define CODE_PATH_BITS 7

/* Four of them are a line of the processor's cache. */
struct code_path {
	uint32_t id; /* code_path_id(); 0: no path */
	uint32_t to; /* hop */
	uint64_t steps; /* what going there takes: packed_counts.h */
};

/* Of more jumps than that no path is kept, so that a few may be added without a look. */
#define CODE_PATH_JUMPS 255

struct code_paths {
	void *memory;		 /* owned: */
	struct code_path *paths; /* by hash */
	unsigned shift;		 /* from a hash of 32 bits to a path's place in `paths` */
};

/* For a trace of `size` bytes. */
void code_paths_init(struct code_paths *paths, uint64_t size);

/* Release the memory.  Idempotent, also on zeroed memory. */
void code_paths_release(struct code_paths *paths);

/* There is no path any more. */
void code_paths_forget(struct code_paths *paths);

/* Returns what no other path has: the hop where it begins, and its bits, the highest of `bits`. */
static inline uint32_t code_path_id(uint32_t from, uint64_t bits)
{
	return from << CODE_PATH_BITS | (uint32_t)(bits >> (64 - CODE_PATH_BITS));
}

/* Returns where a path is kept first; the second place is in the same line of the cache. */
static inline struct code_path *code_paths_at(const struct code_paths *paths, uint32_t id)
{
	/* Fibonacci hashing: neighbours in memory spread over the table. */
	return &paths->paths[id * UINT32_C(0x9e3779b9) >> paths->shift];
}

static inline struct code_path *code_paths_beside(const struct code_paths *paths,
						  const struct code_path *path)
{
	return &paths->paths[(size_t)(path - paths->paths) ^ 1];
}

/* Returns the path that is asked for; NULL: it is not kept. */
static inline const struct code_path *code_paths_find(const struct code_paths *paths, uint32_t id)
{
	const struct code_path *path = code_paths_at(paths, id);

	if (path->id == id)
		return path;
	path = code_paths_beside(paths, path);
	return path->id == id ? path : NULL;
}

/* Keep a path: the one that was in its place moves beside it. */
static inline void code_paths_keep(const struct code_paths *paths, const struct code_path *path)
{
	struct code_path *kept = code_paths_at(paths, path->id);

	*code_paths_beside(paths, kept) = *kept;
	*kept = *path;
}

#endif
