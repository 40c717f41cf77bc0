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

void pair_table_change(struct pair_table *table, uint32_t number, uint32_t first, uint32_t second)
{
	uint64_t key = (uint64_t)first << 32 | second;

	table->keys[number] = key;
	id_index_add(&table->index, hash_u64(key), number + 1);
}

void pair_table_release(struct pair_table *table)
{
	free(table->keys);
	id_index_release(&table->index);
	*table = (struct pair_table){ 0 };
}
