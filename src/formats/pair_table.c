/* SPDX-License-Identifier: MIT */
#include "src/formats/pair_table.h"

#include <stdlib.h>

#include "base/alloc.h"

#define PLACES_MIN 64u

/* Fibonacci hashing: the upper bits of a product with 2^64 / golden ratio. */
static size_t hash(const struct pair_table *table, uint64_t key)
{
	key ^= key >> 29;
	return (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 16) & (table->place_count - 1);
}

/* Returns where a key stands, or would. */
static uint32_t *find(const struct pair_table *table, uint64_t key)
{
	size_t at = hash(table, key);

	while (table->places[at] && table->keys[table->places[at] - 1] != key)
		at = (at + 1) & (table->place_count - 1);
	return &table->places[at];
}

static void grow(struct pair_table *table)
{
	table->place_count = table->place_count ? 2 * table->place_count : PLACES_MIN;
	free(table->places);
	table->places = alloc_zeroed(table->place_count, sizeof(*table->places));
	for (size_t i = 0; i < table->count; i++)
		*find(table, table->keys[i]) = (uint32_t)i + 1;
}

uint32_t pair_table_find(struct pair_table *table, uint32_t first, uint32_t second)
{
	uint64_t key = (uint64_t)first << 32 | second;
	uint32_t *place;

	if (2 * (table->count + 1) > table->place_count)
		grow(table);
	place = find(table, key);
	if (*place)
		return *place - 1;
	table->keys = alloc_grow(table->keys, &table->room, table->count + 1, sizeof(*table->keys));
	table->keys[table->count++] = key;
	*place = (uint32_t)table->count;
	return *place - 1;
}

void pair_table_release(struct pair_table *table)
{
	free(table->keys);
	free(table->places);
	*table = (struct pair_table){ 0 };
}
