/* SPDX-License-Identifier: MIT */
/* Dense numbers of pairs, by an index of their hashes. */
#include "base/tables/pair_table.h"

uint32_t pair_table_find(struct pair_table *table, uint32_t first, uint32_t second)
{
	uint64_t key = (uint64_t)first << 32 | second;
	struct id_probe probe = id_index_probe(hash_u64(key));
	uint32_t id;

	while ((id = id_index_next(&table->index, &probe)) && table->keys[id - 1] != key)
		;
	if (id)
		return id - 1;
	*ARRAY_ADD(table->keys, table->count, table->room) = key;
	id_index_add(&table->index, hash_u64(key), (uint32_t)table->count);
	return (uint32_t)table->count - 1;
}

static int compare_numbers(const void *left, const void *right, void *keys)
{
	const uint64_t *key = keys;

	return COMPARE(key[*(const uint32_t *)left], key[*(const uint32_t *)right]);
}

uint32_t *pair_table_sort(const struct pair_table *table)
{
	uint32_t *numbers = alloc_zeroed(table->count + 1, sizeof(*numbers));

	for (size_t i = 0; i < table->count; i++)
		numbers[i] = (uint32_t)i;
	qsort_r(numbers, table->count, sizeof(*numbers), compare_numbers, table->keys);
	return numbers;
}

void pair_table_release(struct pair_table *table)
{
	free(table->keys);
	id_index_release(&table->index);
	*table = (struct pair_table){ 0 };
}
