/* SPDX-License-Identifier: MIT */
#include "writer/ftf_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define FIRST_ROOM 1024
#define FACTOR     UINT64_C(0x9e3779b97f4a7c15) /* 2^64 / the golden ratio: spreads all bits */

void ftf_index_release(struct ftf_index *index)
{
	free(index->cells);
	*index = (struct ftf_index){ 0 };
}

uint32_t ftf_index_next(const struct ftf_index *index, uint32_t hash, size_t *probe)
{
	while (index->room) {
		uint64_t cell = index->cells[(hash + *probe) & (index->room - 1)];

		++*probe;
		if (cell == 0)
			break;
		if (cell >> 32 == hash)
			return (uint32_t)cell;
	}
	return 0;
}

static void put(struct ftf_index *index, uint64_t cell)
{
	size_t at = (cell >> 32) & (index->room - 1);

	while (index->cells[at])
		at = (at + 1) & (index->room - 1);
	index->cells[at] = cell;
}

/* At most two thirds full, so that empty cells end every search soon. */
static void grow(struct ftf_index *index)
{
	struct ftf_index old = *index;

	index->room = old.room ? old.room * 2 : FIRST_ROOM;
	index->cells = alloc_zeroed(index->room, sizeof(*index->cells));
	for (size_t i = 0; i < old.room; i++) {
		if (old.cells[i])
			put(index, old.cells[i]);
	}
	free(old.cells);
}

void ftf_index_add(struct ftf_index *index, uint32_t hash, uint32_t id)
{
	if (index->count * 3 >= index->room * 2)
		grow(index);
	index->count++;
	put(index, (uint64_t)hash << 32 | id);
}

uint32_t ftf_hash(const void *bytes, size_t size)
{
	const uint8_t *at = bytes;
	uint64_t hash = size;

	for (; size; at += 8) {
		size_t part = size < 8 ? size : 8;
		uint64_t word = 0;

		memcpy(&word, at, part);
		hash = (hash ^ word) * FACTOR;
		hash ^= hash >> 29;
		size -= part;
	}
	return (uint32_t)((hash * FACTOR) >> 32);
}
