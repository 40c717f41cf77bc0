/* SPDX-License-Identifier: MIT */
/*
 * Numbers distinct pairs of numbers: 0, 1, 2, ...
 *
 * Memory grows with the distinct pairs only.
 */
#pragma once

#include "base/tables/id_index.h"

struct pair_table {
	uint64_t *keys; /* owned; by number */
	size_t count, room;
	struct id_index index; /* the numbers + 1, by hash of the pair */
};

/* Returns the number of a pair: if it is new, table->count before the call. */
uint32_t pair_table_find(struct pair_table *table, uint32_t first, uint32_t second);

/* Give a number to another pair, which has none; the former pair then has none. */
void pair_table_change(struct pair_table *table, uint32_t number, uint32_t first, uint32_t second);

/* As pair_table_find(), for a pointer instead of both numbers. */
static inline uint32_t pair_table_find_pointer(struct pair_table *table, const void *pointer)
{
	uint64_t bits = (uint64_t)(uintptr_t)pointer;

	return pair_table_find(table, (uint32_t)(bits >> 32), (uint32_t)bits);
}

struct pair {
	uint32_t first, second;
};

/* Returns the pair of a number. */
static inline struct pair pair_table_pair(const struct pair_table *table, size_t number)
{
	return (struct pair){ (uint32_t)(table->keys[number] >> 32),
			      (uint32_t)table->keys[number] };
}

/* Returns the pointer of a number. */
static inline const void *pair_table_pointer(const struct pair_table *table, size_t number)
{
	return (const void *)(uintptr_t)table->keys[number];
}

void pair_table_release(struct pair_table *table);
