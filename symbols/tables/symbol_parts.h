/* SPDX-License-Identifier: MIT */
/*
 * Which symbols are parts of which functions.  By their names: "foo.cold" is a
 * part of the "foo" of its source file, else of the only global "foo".  By their
 * addresses: labels inside functions of assembly.
 */
#ifndef SYMBOLS_TABLES_SYMBOL_PARTS_H
#define SYMBOLS_TABLES_SYMBOL_PARTS_H

#include "symbols/tables/symbol_entry.h"

/*
 * Fill table->parts.  The table has all entries of the file, in any order; `sources` has the
 * `source_count` orders, ascending, at which the symbols of another source file begin.
 */
void symbol_parts_find(struct symbol_table *table, const uint32_t *sources, size_t source_count);

/*
 * Add the labels that are inside functions to table->parts.  The entries are sorted, no two begin
 * together, and those without a size reach to the next one.
 *
 * A label is a symbol without type and size (gABI, "Symbol Table": STT_NOTYPE).  It is inside the
 * function before it
 * - within the size of that: glibc's __syscall_cancel_arch_end, where system calls return to;
 * - if it is hidden, and that is typed but without size: musl's __cp_end;
 * - if its name is that function's, a dot and more (NASM manual, "Local Labels"): foo.loop.
 * All others may be functions whose authors left out the directives for type and size.
 */
void symbol_parts_add_labels(struct symbol_table *table);

/*
 * Find the function of the part that begins at an address; of a part of a part that of
 * the outer one.
 * Returns true and fills *function, where the function begins; false if no part begins there.
 */
bool symbol_parts_function(const struct symbol_table *table, uint64_t part, uint64_t *function);

#endif
