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
 * Fill table->parts.  The entries are all of the file's, in any order;
 * `sources` are the `source_count` orders at which the symbols of another
 * source file begin, ascending.
 */
void symbol_parts_find(struct symbol_table *table, const uint32_t *sources, size_t source_count);

/*
 * Find the function of the part that begins at an address.  A part of a part
 * is one of the whole.
 * Returns true and fills *whole, where the function begins; false if no part
 * begins there.
 */
bool symbol_parts_whole(const struct symbol_table *table, uint64_t part, uint64_t *whole);

#endif
