/* SPDX-License-Identifier: MIT */
/*
 * Numbers functions: 0, 1, 2, ... in the order of their first calls.
 *
 * Each call site where the compiler put a function in line has a symbol of its own; those of one
 * name in one file are one function.
 */
#ifndef SRC_SLICES_FUNCTION_TABLE_H
#define SRC_SLICES_FUNCTION_TABLE_H

#include "symbols/symbol.h"

struct table_function {
	const struct symbol *symbol; /* borrowed: the first one */
	uint32_t next_named;         /* 1 + number of another function of this name; 0: none */
};

/* Zeroed memory has no functions. */
struct function_table {
	struct table_function *functions; /* owned; by number */
	size_t count, room;
	uint32_t *by_name; /* owned; by id of the name: 1 + number of its last function; 0: none */
	size_t name_room;
};

/* Returns 1 + the number of a function, if this is its first symbol; else 0. */
static inline uint32_t function_table_known(const struct function_table *table,
					    const struct symbol *symbol)
{
	uint32_t id = symbol->name->id, at = id < table->name_room ? table->by_name[id] : 0;

	while (at && table->functions[at - 1].symbol != symbol)
		at = table->functions[at - 1].next_named;
	return at;
}

/* Returns the number of a symbol's function: if it is new, table->count before the call. */
uint32_t function_table_find(struct function_table *table, const struct symbol *symbol);

/* Idempotent. */
void function_table_release(struct function_table *table);

#endif
