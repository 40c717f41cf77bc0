/* SPDX-License-Identifier: MIT */
/*
 * Which symbols are parts of which functions, by their names: "foo.cold" is a
 * part of the "foo" of its source file, else of the only global "foo".
 */
#ifndef SYMBOLS_TABLES_SYMBOL_PARTS_H
#define SYMBOLS_TABLES_SYMBOL_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/tables/symbol_entry.h"

/*
 * Fill table->parts.  The table has all entries of the file, in any order;
 * `sources` has the `source_count` orders, ascending, at which the symbols of
 * another source file begin.
 */
void symbol_parts_find(struct symbol_table *table, const uint32_t *sources, size_t source_count);

/*
 * Find the function of the part that begins at an address; of a part of a part that of
 * the outer one.
 * Returns true and fills *function, where the function begins; false if no part
 * begins there.
 */
bool symbol_parts_function(const struct symbol_table *table, uint64_t part, uint64_t *function);

/* Returns whether the function that begins at an address has parts elsewhere. */
bool symbol_parts_has(const struct symbol_table *table, uint64_t function);

#endif
