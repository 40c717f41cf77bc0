/* SPDX-License-Identifier: MIT */
/*
 * A hash index from items to their dense ids (1, 2, 3, ...).
 *
 * The index holds only hashes and ids, 8 bytes each, in an open-addressing table with linear
 * probing that is at most two thirds full.  The owner keeps the items in an array by id and
 * compares them:
 *
 *     struct id_probe probe = id_index_probe(hash_u64(key));
 *     uint32_t id;
 *
 *     while ((id = id_index_next(&index, &probe)) && keys[id] != key)
 *             ;
 *     if (!id) {
 *             ... append the key to `keys`, as number `id` ...
 *             id_index_add(&index, hash_u64(key), id);
 *     }
 *
 * Where structs are chained to each other or removed, uthash fits better (base/tables/hash.h).
 */
#pragma once

#include "base/common.h"

/* Zeroed memory is empty. */
struct id_index {
	uint64_t *cells;    /* owned; hash in the high 32 bits, id in the low; 0: empty */
	size_t count, room; /* room: a power of two, or 0 */
};

/* A search for the ids of one hash. */
struct id_probe {
	uint32_t hash;
	size_t at; /* the next cell */
};

void id_index_release(struct id_index *index);

/* Returns the number of cells that the index must grow to before the next id_index_put(), or 0. */
size_t id_index_wants(const struct id_index *index);

/*
 * Move to `cells`, id_index_wants() zeroed cells, which the index then owns.  Returns the old
 * cells, owned by the caller.
 */
uint64_t *id_index_move(struct id_index *index, uint64_t *cells, size_t room);

/* Put an id, not 0, that is not in the index, which has room.  Ends all searches. */
void id_index_put(struct id_index *index, uint32_t hash, uint32_t id);

/* As id_index_put(), growing if necessary. */
static inline void id_index_add(struct id_index *index, uint32_t hash, uint32_t id)
{
	size_t room = id_index_wants(index);

	if (room)
		free(id_index_move(index, (uint64_t *)alloc_zeroed(room, sizeof(uint64_t)), room));
	id_index_put(index, hash, id);
}

/* Begin a search. */
static inline struct id_probe id_index_probe(uint32_t hash)
{
	return (struct id_probe){ hash, hash };
}

/* Returns the next id that was added with the probe's hash, or 0 at the end. */
static inline uint32_t id_index_next(const struct id_index *index, struct id_probe *probe)
{
	while (index->room) {
		uint64_t cell = index->cells[probe->at++ & (index->room - 1)];

		if (cell == 0)
			break;
		if (cell >> 32 == probe->hash)
			return (uint32_t)cell;
	}
	return 0;
}

/* Returns the hash of a number. */
static inline uint32_t hash_u64(uint64_t key)
{
	return (uint32_t)fibonacci_hash(key ^ key >> 29, 32);
}

/* Returns the hash of bytes. */
uint32_t hash_bytes(const void *bytes, size_t size);
