/* SPDX-License-Identifier: MIT */
/*
 * The symbols of one ELF file as ranges of addresses that do not overlap.
 *
 * Which entries count, how far one without a size reaches and which of several at one address is
 * shown follow perf (tools/perf/util/symbol-elf.c dso__load_sym, symbol.c choose_best_symbol and
 * symbols__fixup_end), so that names and offsets are those of `perf script -F sym,symoff`.  On
 * purpose different: where symbols overlap, the last one to start is shown, as far as it reaches
 * (perf's answer depends on the shape of its tree); a symbol without a size ends with its section;
 * linkage stubs have names in every section that holds them.
 *
 * Tables have millions of entries, of which a run needs few: so an entry is compact,
 * and its text is a view into the file.
 */
#ifndef SYMBOLS_TABLES_SYMBOL_TABLE_H
#define SYMBOLS_TABLES_SYMBOL_TABLE_H

#include "symbols/tables/symbol_entry.h"

/* Returns whether a file has a .symtab. */
bool symbol_table_is_complete(const struct elf_file *file);

/*
 * Read the tables of an open file, and, if it has no .symtab, that of its debug
 * file (may be NULL).  Both must outlive the symbol table.
 * Returns 0, or -1 (ERROR_FORMAT) if a table is damaged: then the table has the
 * symbols that could be read.
 */
int symbol_table_load(struct symbol_table *table, const struct elf_file *file,
		      const struct elf_file *debug, struct error *err);

void symbol_table_release(struct symbol_table *table);

/*
 * Returns the index of the entry of the function that an entry's code is a part
 * of (demangle_part_of()), or SYMBOL_ENTRY_NONE.
 */
uint32_t symbol_table_function(const struct symbol_table *table, uint32_t entry);

#endif
