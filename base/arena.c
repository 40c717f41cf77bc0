/* SPDX-License-Identifier: MIT */
/* Allocation from a list of growing blocks. */
#include "base/arena.h"

#include <stdalign.h>

/* Blocks grow, so that a large arena has few blocks, and a thousand tiny arenas take little. */
#define BLOCK_FIRST ((size_t)2 * 1024)
#define BLOCK_MOST  ((size_t)64 * 1024)

struct arena_block {
	struct arena_block *older;
	size_t size;
	alignas(max_align_t) unsigned char bytes[];
};

void arena_release(struct arena *arena)
{
	while (arena->blocks) {
		struct arena_block *block = arena->blocks;

		arena->blocks = block->older;
		free(block);
	}
	arena->used = 0;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	const size_t align = alignof(max_align_t);
	void *memory;

	if (size > (size_t)-1 / 2)
		alloc_fail(size);
	size = (size + align - 1) & ~(align - 1);
	if (!arena->blocks || arena->blocks->size - arena->used < size) {
		size_t room = arena->blocks ? 2 * arena->blocks->size : BLOCK_FIRST;
		struct arena_block *block;

		room = MIN(room, BLOCK_MOST);
		room = MAX(room, size);
		block = alloc_bytes(sizeof(*block) + room);
		block->size = room;
		block->older = arena->blocks;
		arena->blocks = block;
		arena->used = 0;
	}
	memory = arena->blocks->bytes + arena->used;
	arena->used += size;
	return memset(memory, 0, size); /* not the block: unused pages stay untouched */
}

void *arena_copy(struct arena *arena, const void *bytes, size_t size)
{
	void *copy = arena_alloc(arena, size);

	if (size)
		memcpy(copy, bytes, size);
	return copy;
}

char *arena_text(struct arena *arena, const char *text, size_t length)
{
	char *copy = arena_alloc(arena, length + 1);

	memcpy(copy, text, length);
	return copy;
}
