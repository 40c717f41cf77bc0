/* SPDX-License-Identifier: MIT */
/*
 * The symbols of one ELF file as ranges of addresses that do not overlap.
 *
 * The choice of entries, the ends of entries without a size and the choice at one address follow
 * perf (tools/perf/util/symbol-elf.c dso__load_sym, symbol.c choose_best_symbol and
 * symbols__fixup_end), so that names and offsets are those of `perf script -F sym,symoff`.
 * Intended differences: where symbols overlap, the last one to start is shown, up to its end
 * (perf's answer depends on the shape of its tree); a symbol without a size ends with its section;
 * a label without type and size inside a function with a size is not shown; linkage stubs have
 * names in every section that holds them.
 *
 * Tables have millions of entries, of which a run needs few, so an entry is compact, and its name
 * is a view into the file.
 */
#pragma once

#include "symbols/files/elf_file.h"
#include "symbols/names/text_map.h"

/* ---- Go ------------------------------------------------------------------ */

/*
 * The functions and lines of a Go program by its runtime's own table, which strip(1) and the
 * linker's -s and -w leave: .gopclntab, since Go 1.2.
 *
 * Sources: the layouts of Go 1.2, 1.16 and 1.18 are those of Go's debug/gosym/pclntab.go; 1.20
 * differs from 1.18 in its magic number only.  Since 1.26 the address of the code is only in the
 * module's data (runtime/symtab.go: moduledata.text; section .go.module).
 *
 * Files may be hostile: nothing is read beyond the table, and functions outside of the file's code
 * are ignored.  Zeroed memory is an empty table.
 */
struct go_table {
	struct byte_view names;     /* texts of functions */
	struct byte_view files;     /* texts of source files */
	struct byte_view units;     /* offsets in `files`, 32 bits each */
	struct byte_view values;    /* runs of code with equal line or file */
	struct byte_view functions; /* data of each */
	struct byte_view starts;    /* pairs: address of a function, its offset in `functions` */
	size_t count;               /* functions */
	uint64_t text;              /* base of all other addresses (runtime.text) */
	uint8_t width;              /* bytes of an address in `starts` and in a function's data */
	bool has_units;             /* file numbers are relative to a unit (1.16 and later) */
	size_t work;                /* bytes of `values` that may still be read */
};

/* Read the header of a file's table; the file must outlive it.  Without a valid one it is empty. */
void go_table_open(struct go_table *table, const struct elf_file *file);

/*
 * Get the virtual addresses [range[0], range[1]) of a function, and the offset of its name in
 * `names`, perhaps beyond its end.  Returns false if the table has no such function.
 */
bool go_table_function(const struct go_table *table, size_t index, uint64_t range[2],
		       uint32_t *name);

/*
 * Returns the line of the code at a virtual address (for inlined code, the line in the inlined
 * function) and sets *path, borrowed from the file; 0 if either is unknown.
 */
uint32_t go_table_line(struct go_table *table, uint64_t vaddr, const char **path);

/* Returns whether lines are unknown because the reading limit is spent (GO_LINES_MOST). */
static inline bool go_table_is_spent(const struct go_table *table)
{
	return table->count && !table->work;
}

/* ---- ELF: the entries, as plain data --------------------------------------- */

/* No entry; also the name of a linkage table's header, and of a stub without a name. */
#define SYMBOL_ENTRY_NONE RANGE_NONE

enum symbol_strings {
	SYMBOL_STRINGS_SYMTAB = 0, /* strings of .symtab, or else the debug file's */
	SYMBOL_STRINGS_DYNSYM,     /* strings of .dynsym */
	SYMBOL_STRINGS_GO,         /* strings of .gopclntab: struct go_table */
	SYMBOL_STRINGS_COUNT,
};

/* Zeroed memory is an empty table. */
struct symbol_table {
	struct symbol_entry {
		uint64_t begin, end; /* ELF virtual addresses; end of an entry without size:
					symbol_table.h */
		uint32_t name;       /* offset in its string section */
		uint32_t order;      /* index in the file's tables: ties go to the first */
		uint32_t section;    /* number of the section that holds it; 0 for linkage stubs */
		uint8_t kind;        /* enum symbol_kind */
		uint8_t binding;     /* enum symbol_binding */
		uint8_t strings;     /* enum symbol_strings */
		bool sized : 1;      /* the file says where it ends */
		bool untyped : 1;    /* no symbol here has a type: an assembly label, perhaps a
					function */
		bool hidden : 1;     /* other files cannot refer to it: local, or hidden by its
					visibility */
		bool looked_at : 1;  /* `thunk` is valid; both are the dso's (dso_symbols.c) */
		bool thunk : 1;      /* shown as a SYMBOL_PLT, whatever its kind */
	} * entries;                 /* owned; sorted by begin; see symbol_table_shows() */
	size_t count, shown;         /* entries; addresses where they begin */
	uint32_t *sources; /* owned; the orders at which other source files' symbols begin */
	size_t source_count;
	struct range_map
		ranges; /* ranges of the entries; empty until symbol_table_find() needs it */
	/* Code at `part` is a part of the function at `function`; entries begin at both. */
	struct symbol_part {
		uint64_t part, function;
	} * parts; /* owned; sorted by part; found when one is looked up */
	size_t part_count;
	bool parts_found;
	struct string_section {
		uint32_t section; /* the symbol table's; 0: absent; UINT32_MAX: the debug file's */
		const char *text; /* borrowed from the file; may be NULL */
		size_t size;      /* bytes */
	} strings[SYMBOL_STRINGS_COUNT];
	struct go_table go; /* table of a program in Go; else empty */
};

/*
 * Returns an entry's name, without "@plt"; NULL for a linkage table's header or nameless stub.
 * NUL-terminated, borrowed from the file.
 */
static inline const char *symbol_table_name(const struct symbol_table *table,
					    const struct symbol_entry *entry)
{
	return entry->name == SYMBOL_ENTRY_NONE ? NULL
						: table->strings[entry->strings].text + entry->name;
}

/* Returns whether an entry is the last one of its address: the others are only other names. */
static inline bool symbol_table_shows(const struct symbol_table *table, size_t index)
{
	return index + 1 == table->count ||
	       table->entries[index].begin != table->entries[index + 1].begin;
}

/* Returns whether an entry is a label: all symbols at its address have neither type nor size. */
static inline bool symbol_entry_is_label(const struct symbol_entry *entry)
{
	return entry->untyped && !entry->sized;
}

/*
 * Finds the functions that symbols are parts of.  By name: "foo.cold" is a part of the "foo" of its
 * source file, else of the only global "foo".  By address: labels inside assembly functions without
 * a size.
 */

/*
 * Find the function whose part an entry is; of a nested part the outermost function.  Returns true
 * and fills *function, where the function begins; false if the entry is no part.
 */
bool symbol_parts_function(struct symbol_table *table, const struct symbol_entry *entry,
			   uint64_t *function);

/* Returns whether a file has a .symtab. */
bool symbol_table_is_complete(const struct elf_file *file);

/*
 * Read the tables of an open file, and, if it has no .symtab, the .symtab of its debug file (may be
 * NULL).  Both must outlive the symbol table.  Returns 0, or -1 (ERROR_FORMAT) if a table is
 * damaged: then the table has the symbols that could be read.
 */
int symbol_table_load(struct symbol_table *table, const struct elf_file *file,
		      const struct elf_file *debug, struct error *err);

void symbol_table_release(struct symbol_table *table);

/*
 * Returns the index of the entry of the function that an entry's code is a part
 * of (demangle_part_of()), or SYMBOL_ENTRY_NONE.
 */
uint32_t symbol_table_function(struct symbol_table *table, uint32_t entry);

/*
 * Find the entry shown at an address: of all that cover it the last one to begin.  [*begin, *end)
 * gets the range around the address with this answer.  Returns the entry's index, or
 * SYMBOL_ENTRY_NONE.
 */
uint32_t symbol_table_find(struct symbol_table *table, uint64_t vaddr, uint64_t *begin,
			   uint64_t *end);

/* A relocation: the function whose address the dynamic linker writes into a pointer. */
struct plt_slot {
	uint64_t vaddr;        /* address of the pointer */
	uint64_t addend;       /* virtual address of the resolver, if symbol is 0 */
	uint32_t symbol_table; /* section index */
	uint32_t symbol;       /* 0: an indirect function's resolver chooses */
};

/* Takes a linkage stub; slot NULL: not a stub but the code that all lazy stubs jump to. */
typedef void plt_stub_taker(void *context, const struct plt_slot *slot, uint64_t vaddr,
			    uint64_t size);

/*
 * Find each stub of the file whose target is known.  x86 and x86-64 only; a damaged file has fewer
 * stubs.
 */
void plt_stubs_find(const struct elf_file *file, plt_stub_taker *take, void *context);
