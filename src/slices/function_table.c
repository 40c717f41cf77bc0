/* SPDX-License-Identifier: MIT */
/* Find functions by the ids of their names. */
#include "src/slices/function_table.h"

uint32_t function_table_find(struct function_table *table, const struct symbol *symbol)
{
	uint32_t id = symbol->name->id, at = function_table_known(table, symbol);

	if (at)
		return at - 1;
	if (id >= table->name_room)
		table->by_name = alloc_grow_zeroed(table->by_name, &table->name_room,
						   (size_t)id + 1, sizeof(*table->by_name));
	for (at = table->by_name[id]; at; at = table->functions[at - 1].next_named) {
		const struct symbol *other = table->functions[at - 1].symbol;

		if (other->dso == symbol->dso && other->inlined && symbol->inlined)
			return at - 1;
	}
	*ARRAY_ADD(table->functions, table->count, table->room) =
		(struct table_function){ symbol, table->by_name[id] };
	table->by_name[id] = (uint32_t)table->count;
	return (uint32_t)table->count - 1;
}

void function_table_release(struct function_table *table)
{
	free(table->functions);
	free(table->by_name);
	*table = (struct function_table){ 0 };
}
