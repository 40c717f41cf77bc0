/* SPDX-License-Identifier: MIT */
/* The growth of the hash index. */
#include "base/tables/id_index.h"

#define FIRST_ROOM 16

void id_index_release(struct id_index *index)
{
	free(index->cells);
	*index = (struct id_index){ 0 };
}

static void put_cell(struct id_index *index, uint64_t cell)
{
	size_t at = (cell >> 32) & (index->room - 1);

	while (index->cells[at])
		at = (at + 1) & (index->room - 1);
	index->cells[at] = cell;
}

/* The index is at most two thirds full, so that empty cells end every search. */
size_t id_index_wants(const struct id_index *index)
{
	if (index->count * 3 < index->room * 2)
		return 0;
	return index->room ? index->room * 2 : FIRST_ROOM;
}

uint64_t *id_index_move(struct id_index *index, uint64_t *cells, size_t room)
{
	struct id_index old = *index;

	index->cells = cells;
	index->room = room;
	for (size_t i = 0; i < old.room; i++) {
		if (old.cells[i])
			put_cell(index, old.cells[i]);
	}
	return old.cells;
}

void id_index_put(struct id_index *index, uint32_t hash, uint32_t id)
{
	index->count++;
	put_cell(index, (uint64_t)hash << 32 | id);
}

uint32_t hash_bytes(const void *bytes, size_t size)
{
	const uint8_t *at = bytes;
	uint64_t hash = size;

	for (; size; at += 8) {
		size_t part = MIN(size, 8);
		uint64_t word = 0;

		memcpy(&word, at, part);
		hash = (hash ^ word) * FIBONACCI_FACTOR;
		hash ^= hash >> 29;
		size -= part;
	}
	return (uint32_t)fibonacci_hash(hash, 32);
}
