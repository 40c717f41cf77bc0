/* SPDX-License-Identifier: MIT */
/*
 * Numbers distinct pairs of numbers: 0, 1, 2, ...
 *
 * Memory grows with the distinct pairs only.
 */
#ifndef SRC_SLICES_PAIR_TABLE_H
#define SRC_SLICES_PAIR_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/tables/id_index.h"

struct pair_table {
	uint64_t *keys; /* owned; by number */
	size_t count, room;
	struct id_index index; /* of the numbers + 1 */
};

/* Returns the number of a pair: if it is new, table->count before the call. */
uint32_t pair_table_find(struct pair_table *table, uint32_t first, uint32_t second);

/* Idempotent, also on zeroed memory. */
void pair_table_release(struct pair_table *table);

#endif
