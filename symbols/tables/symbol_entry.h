/* SPDX-License-Identifier: MIT */
/* The entries of a symbol table (symbols/tables/symbol_table.h): plain data. */
#ifndef SYMBOLS_TABLES_SYMBOL_ENTRY_H
#define SYMBOLS_TABLES_SYMBOL_ENTRY_H

#include "symbols/names/range_map.h"
#include "symbols/tables/go_table.h"

/* No entry; also the name of a linkage table's header, and of a stub without a name. */
#define SYMBOL_ENTRY_NONE RANGE_NONE

struct symbol_entry {
	uint64_t begin,
		end;      /* ELF virtual addresses; end of an entry without size: symbol_table.h */
	uint32_t name;    /* offset in its string section */
	uint32_t order;   /* index in the file's tables: ties go to the first */
	uint32_t section; /* number of the section that holds it; 0 for linkage stubs */
	uint8_t kind;     /* enum symbol_kind */
	uint8_t binding;  /* enum symbol_binding */
	uint8_t strings;  /* enum symbol_strings */
	bool sized : 1;   /* the file says where it ends */
	bool untyped : 1; /* no symbol here has a type: a label of assembly, perhaps a function */
	bool hidden : 1;  /* other files cannot refer to it: local, or hidden by its visibility */
};

enum symbol_strings {
	SYMBOL_STRINGS_SYMTAB = 0, /* of .symtab, or else the debug file's */
	SYMBOL_STRINGS_DYNSYM,     /* of .dynsym */
	SYMBOL_STRINGS_GO,         /* of .gopclntab (go_table.h) */
	SYMBOL_STRINGS_COUNT,
};

/* Zeroed memory is an empty table. */
struct symbol_table {
	struct symbol_entry *entries; /* owned; sorted by begin, no two begin together */
	size_t count;
	struct range_map ranges; /* of the entries: the entry that begins last is shown */
	/* Code at `part` is a part of the function at `function`; entries begin at both. */
	struct symbol_part {
		uint64_t part, function;
	} * parts; /* owned; sorted by part */
	size_t part_count;
	struct string_section {
		uint32_t section; /* of the symbol table; 0: none; UINT32_MAX: the debug file's */
		const char *text; /* borrowed from the file; may be NULL */
		size_t size;      /* bytes */
	} strings[SYMBOL_STRINGS_COUNT];
	struct go_table go; /* of a program in Go; else empty */
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

#endif
