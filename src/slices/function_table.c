/* SPDX-License-Identifier: MIT */
/* Find functions by the ids of their names. */
#include "src/slices/function_table.h"

#include <stdlib.h>

#include "base/alloc.h"

static bool is_same(const struct symbol *a, const struct symbol *b)
{
	return a == b || (a->dso == b->dso && a->inlined && b->inlined);
}

uint32_t function_table_find(struct function_table *table, const struct symbol *symbol)
{
	uint32_t id = symbol->name->id, at;

	if (id >= table->name_room)
		table->by_name = alloc_grow_zeroed(table->by_name, &table->name_room,
						   (size_t)id + 1, sizeof(*table->by_name));
	for (at = table->by_name[id]; at; at = table->functions[at - 1].next_named) {
		if (is_same(table->functions[at - 1].symbol, symbol))
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
