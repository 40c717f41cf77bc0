/* SPDX-License-Identifier: MIT */
/*
 * Memory with one lifetime: names, symbols, mappings, threads of a run.
 *
 * An arena only grows; all of its memory is released together.  Allocation never fails for the
 * caller: lack of memory ends the run in alloc_fail().  Not thread-safe.
 */
#pragma once

#include "base/common.h"

/* Zeroed memory is an empty arena. */
struct arena {
	struct arena_block *blocks; /* owned; newest first */
	size_t used;                /* bytes used of the newest block */
};

/* Release all memory. */
void arena_release(struct arena *arena);

/*
 * Returns `size` zeroed bytes, aligned for any object, owned by the arena.
 * Never NULL; size 0 returns a valid pointer.
 */
void *arena_alloc(struct arena *arena, size_t size);

/* Returns a copy of `size` bytes, owned by the arena. */
void *arena_copy(struct arena *arena, const void *bytes, size_t size);

/* Returns a NUL-terminated copy of the first `length` bytes of `text`. */
char *arena_text(struct arena *arena, const char *text, size_t length);
