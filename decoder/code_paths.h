/* SPDX-License-Identifier: MIT */
/*
 * Paths over runs: where a few decisions lead, to be gone again at once.
 *
 * Where they lead depends on the run where they begin, their bits of TNT and what is mapped.
 * So what a walk did is kept, in a table of fixed size where new paths overwrite old ones.
 */
#ifndef DECODER_CODE_PATHS_H
#define DECODER_CODE_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code_run;

/* Decisions of a path at most: below a stop bit they fill the lower 8 bits of `id`. */
#define CODE_PATH_BITS 7

/* Two of them are a line of the processor's cache. */
struct code_path {
	uint64_t id;	     /* code_path_id(); 0: no path */
	const void *where;   /* the walk was: code_view_key() */
	struct code_run *to; /* borrowed */
	uint32_t insns;
	uint8_t used;  /* decisions */
	uint8_t jumps; /* that were taken */
};

struct code_paths {
	void *memory;		 /* owned: */
	struct code_path *paths; /* by hash */
	unsigned bits;		 /* of a path's place in `paths` */
};

/* For a trace of `size` bytes. */
void code_paths_init(struct code_paths *paths, uint64_t size);

/* Release the memory.  Idempotent, also on zeroed memory. */
void code_paths_release(struct code_paths *paths);

/* There is no path any more. */
void code_paths_forget(struct code_paths *paths);

/*
 * Returns what no other path has: the run where it begins, and its bits below a stop bit.
 * No address in memory has more than 56 bits.
 */
static inline uint64_t code_path_id(const struct code_run *from, unsigned bits)
{
	return (uint64_t)(uintptr_t)from << 8 | bits | 1u << CODE_PATH_BITS;
}

/* Whether a path is the one that is asked for. */
static inline bool code_path_is(const struct code_path *path, uint64_t id, const void *where)
{
	return path->id == id && path->where == where;
}

/* Returns where a path is kept first; the second place is in the same line of the cache. */
static inline struct code_path *code_paths_at(const struct code_paths *paths, uint64_t id)
{
	/* Fibonacci hashing: neighbours in memory spread over the table. */
	return &paths->paths[id * UINT64_C(0x9e3779b97f4a7c15) >> (64 - paths->bits)];
}

static inline struct code_path *code_paths_beside(const struct code_paths *paths,
						  const struct code_path *path)
{
	return &paths->paths[(size_t)(path - paths->paths) ^ 1];
}

/* Returns the path that is asked for; NULL: it is not kept. */
static inline const struct code_path *code_paths_find(const struct code_paths *paths, uint64_t id,
						      const void *where)
{
	const struct code_path *path = code_paths_at(paths, id);

	if (code_path_is(path, id, where))
		return path;
	path = code_paths_beside(paths, path);
	return code_path_is(path, id, where) ? path : NULL;
}

/* Keep a path: the one that was in its place moves beside it. */
static inline void code_paths_keep(const struct code_paths *paths, const struct code_path *path)
{
	struct code_path *kept = code_paths_at(paths, path->id);

	*code_paths_beside(paths, kept) = *kept;
	*kept = *path;
}

#endif
