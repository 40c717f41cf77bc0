/* SPDX-License-Identifier: MIT */
#include "src/callstack/callstack_frame_index.h"

#include <stdlib.h>

#include "base/alloc.h"

#define ROOM_LEAST 1024

struct frame_cell {
	uint64_t value;
	uint32_t kind; /* enum frame_key_kind; 0: empty */
	uint32_t last; /* 1 + the last frame that has the key; 0: none has any more */
};

void frame_index_release(struct frame_index *index)
{
	free(index->below);
	free(index->cells);
	*index = (struct frame_index){ 0 };
}

/* The finalizer of MurmurHash3 (Appleby), which spreads every bit over all. */
static uint64_t mix(uint64_t value)
{
	value ^= value >> 33;
	value *= UINT64_C(0xff51afd7ed558ccd);
	value ^= value >> 33;
	value *= UINT64_C(0xc4ceb9fe1a85ec53);
	return value ^ value >> 33;
}

/* Returns the key's cell, or the empty one where it belongs; the table has room. */
static struct frame_cell *cell_of(const struct frame_index *index, struct frame_key key)
{
	size_t at = mix(key.value + key.kind) & (index->room - 1);

	while (index->cells[at].kind &&
	       (index->cells[at].kind != key.kind || index->cells[at].value != key.value))
		at = (at + 1) & (index->room - 1);
	return &index->cells[at];
}

/* A new table of those keys that frames have. */
static void rebuild(struct frame_index *index)
{
	struct frame_index old = *index;
	size_t live = 0;

	for (size_t i = 0; i < old.room; i++)
		live += old.cells[i].last != 0;
	index->used = 0;
	index->room = ROOM_LEAST;
	while (index->room < 4 * live)
		index->room *= 2;
	index->cells = alloc_zeroed(index->room, sizeof(*index->cells));
	for (size_t i = 0; i < old.room; i++) {
		struct frame_key key = { old.cells[i].value, old.cells[i].kind };

		if (!old.cells[i].last)
			continue;
		*cell_of(index, key) = old.cells[i];
		index->used++;
	}
	free(old.cells);
}

void frame_index_add(struct frame_index *index, const struct frame_key *keys, size_t count)
{
	index->below = alloc_grow(index->below, &index->below_room, index->count + 1,
				  sizeof(*index->below));
	for (size_t i = 0; i < count; i++) {
		struct frame_cell *cell;

		if (2 * (index->used + 1) > index->room)
			rebuild(index);
		cell = cell_of(index, keys[i]);
		index->used += !cell->kind;
		cell->value = keys[i].value;
		cell->kind = keys[i].kind;
		index->below[index->count][i] = cell->last;
		cell->last = (uint32_t)index->count + 1;
	}
	index->count++;
}

void frame_index_remove(struct frame_index *index, const struct frame_key *keys, size_t count)
{
	index->count--;
	for (size_t i = count; i-- > 0;)
		cell_of(index, keys[i])->last = index->below[index->count][i];
}

size_t frame_index_find(const struct frame_index *index, struct frame_key key)
{
	return index->count ? cell_of(index, key)->last : 0;
}
