/* SPDX-License-Identifier: MIT */
/*
 * The functions of one ELF file, by address.
 *
 * Which symbols count and which of several at one address wins is perf's
 * choice (tools/perf/util/symbol-elf.c, symbol.c), so that names agree with
 * perf script.  Procedure linkage stubs get "NAME@plt" by the relocation of
 * the slot they jump through.
 */
#ifndef SYMBOLS_SYMBOL_TABLE_H
#define SYMBOLS_SYMBOL_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "symbols/elf_file.h"
#include "symbols/symbol.h"

struct symbol_entry {
	uint64_t start, end;   /* ELF virtual addresses [start, end) */
	uint64_t reach;        /* the largest end of this and all entries before it */
	const char *name;      /* view of the file or owned by the arena */
	struct symbol *symbol; /* made by the user of the table, on demand; NULL until then */
	uint8_t kind, binding; /* enum symbol_kind, symbol_binding */
};

struct symbol_table {
	struct symbol_entry *entries; /* owned; sorted by start */
	size_t count, room;
};

/* Read all function symbols.  What is damaged is left out.  Names may be made in `arena`. */
void symbol_table_init(struct symbol_table *table, const struct elf_file *file,
		       struct arena *arena);

/* Idempotent, also on zeroed memory. */
void symbol_table_release(struct symbol_table *table);

/* Returns the entry that covers the virtual address, the innermost if several do; NULL if none. */
struct symbol_entry *symbol_table_find(struct symbol_table *table, uint64_t vaddr);

/* Add one entry, before symbol_table_settle(); `name` is borrowed. */
void symbol_table_add(struct symbol_table *table, const struct symbol_entry *entry);

/* Sort, let zero-size symbols reach to the next, and keep the best of equals. */
void symbol_table_settle(struct symbol_table *table);

/* Add the stubs of .plt, .plt.sec and .plt.got (symbols/plt.c). */
void symbol_table_add_plt(struct symbol_table *table, const struct elf_file *file,
			  struct arena *arena);

#endif
