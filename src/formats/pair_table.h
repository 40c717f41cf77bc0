/* SPDX-License-Identifier: MIT */
/*
 * Gives each distinct pair of numbers a dense number of its own.
 *
 * Grows with the distinct pairs only: asking for a known one allocates nothing.
 */
#ifndef SRC_FORMATS_PAIR_TABLE_H
#define SRC_FORMATS_PAIR_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct pair_table {
	uint64_t *keys;   /* owned; by dense number */
	uint32_t *places; /* owned; open addressing: dense number + 1; 0: free */
	size_t count, room, place_count;
};

/* Returns the number of a pair: the next one, table->count before the call, if it is new. */
uint32_t pair_table_find(struct pair_table *table, uint32_t first, uint32_t second);

/* Idempotent, also on zeroed memory. */
void pair_table_release(struct pair_table *table);

#endif
