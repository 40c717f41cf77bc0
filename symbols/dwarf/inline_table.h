/* SPDX-License-Identifier: MIT */
/*
 * Finds the calls that the compiler replaced by the called function's code, by the
 * DW_TAG_inlined_subroutine entries of one file (DWARF 5, 3.3.8).
 *
 * A unit's functions are listed at the first search for an address in it, a
 * function's inlined calls at the first one in that function.  All results are
 * borrowed and live until inline_table_release().
 */
#pragma once

#include "symbols/dwarf/split_unit.h"
#include "symbols/names/text_map.h"

/*
 * Finds the source location of an address by the DWARF line tables of one file
 * (DWARF 2 to 5, through libdw).
 *
 * The compilation units' own ranges say which unit an address belongs to:
 * .debug_aranges is optional, and clang does not write it.  A unit's line
 * table is read when the first address in it is asked for.
 */

/* Zeroed memory is an empty table. */
struct line_table {
	/* The file's own part, and the part that it shares with others (dwz(1)): either may be
	 * absent. */
	struct line_part {
		struct debug_sections sections;
		struct dwarf_image image; /* its dwarf NULL: no debug information */
	} own, shared;
	/* A range of addresses and the unit that it was compiled from. */
	struct unit_range {
		uint64_t begin, end; /* ELF virtual addresses */
		Dwarf_Off unit;      /* offset of the unit's entry in .debug_info */
	} * ranges;                  /* owned; sorted by begin */
	size_t count, room;
	struct dwarf_guard guard;
};

struct line_row {
	const char *directory; /* `file` is relative to it; NULL: `file` is complete; borrowed */
	const char *file;      /* NULL: unknown; borrowed from the table */
	uint32_t line;         /* 0: unknown */
	uint32_t column;       /* 0: unknown */
	uint32_t discriminator;
};

/* Returns whether a file has debug information. */
bool line_table_is_in(const struct elf_file *file);

/*
 * Read the units of an open file, which must outlive the table, which was zeroed before.  A file
 * without debug information gives an empty table.  `pool` is the run's, borrowed; may be NULL
 * (dwarf_guard_init()). Returns 0, or -1 (ERROR_FORMAT) if the debug information is damaged: then
 * the table has the units before the damage.
 */
int line_table_open(struct line_table *table, const struct elf_file *file, size_t *pool,
		    struct error *err);

/*
 * Attach the file with the shared parts of the table's debug information (dwz); it must outlive the
 * table.  Returns 0, or -1 if that file is implausible: then its parts are absent.
 */
int line_table_share(struct line_table *table, const struct elf_file *shared);

void line_table_close(struct line_table *table);

/*
 * Find the last row of the line table for the code at an address.  Returns 1 and fills *row, 0 if
 * no row covers the address, -1 (ERROR_FORMAT) if the unit's line table is damaged.
 */
int line_table_find(struct line_table *table, uint64_t vaddr, struct line_row *row,
		    struct error *err);

/*
 * Returns 1 and the rows of a unit's line table, by address, and in the table's order at equal
 * addresses; 0 if it has no table, which is not an error; -1 (ERROR_FORMAT) if it is damaged.
 */
int line_table_rows(struct line_table *table, Dwarf_Die *unit, Dwarf_Lines **lines, size_t *count,
		    struct error *err);

/*
 * Returns whether a statement begins at a row of a unit (is_stmt), or a sequence ends: then the
 * line is 0, as if it is unknown.
 */
bool line_table_statement(Dwarf_Die *unit, Dwarf_Lines *lines, size_t index, uint64_t *vaddr,
			  struct line_row *row);

/* Returns true and fills *unit if a unit of the table covers an address. */
bool line_table_unit(struct line_table *table, uint64_t vaddr, Dwarf_Die *unit);

/*
 * Returns the number of the unit that covers an address, for dwarf_offdie(); 0 if there is none.
 * Fills the range [*begin, *end) around the address that has the same one.
 */
Dwarf_Off line_table_unit_at(const struct line_table *table, uint64_t vaddr, uint64_t *begin,
			     uint64_t *end);

/* Fill row->file and row->directory by the number of a file in a unit's line table; NULL: unknown.
 */
void line_table_file(struct line_table *table, Dwarf_Die *unit, uint32_t file,
		     struct line_row *row);

/* The inlined calls of one function. */
struct inline_function {
	Dwarf_Off die;
	struct line_row at; /* place of its name; parts may be unknown */
	struct inline_call {
		const char *name;   /* linkage name, else name, of the function; NULL: unknown */
		struct line_row at; /* the call's source location; parts may be unknown */
		struct line_row declared; /* place of the function's name; parts may be unknown */
		uint32_t parent; /* index of the enclosing call; RANGE_NONE: the function */
		/* Not 0, unique in the table. Without split units, it does not depend on the order
		 * of the searches. */
		uint64_t id;
	} * calls; /* owned; each after its parent, so that the innermost wins */
	size_t count, room;
	/* Ranges of addresses, each with the index of a function or an inlined call. */
	struct inline_ranges {
		struct inline_range {
			uint64_t begin, end; /* first, for range_map_build() */
			uint32_t owner;
		} * ranges; /* owned */
		size_t count, room;
		struct range_map map; /* the owner that was added last wins */
	} ranges;                     /* ranges of calls */
	bool read;
};

/* Zeroed memory is an empty table. */
struct inline_table {
	struct inline_unit *units;       /* hash */
	struct split_files *split_files; /* borrowed; NULL: no split units */
	size_t entries_left;             /* entries of debug information that may still be read */
	bool counts_entries;             /* entries_left is set */
	uint64_t split_calls;            /* number of inlined calls of split units */
	bool unsure; /* a unit was damaged, or had or lacked a split part: see split_unit.h */
};

/* The function and the inlined call at an address. */
struct inline_hit {
	struct inline_function *function; /* borrowed */
	uint64_t begin, end; /* ELF virtual addresses: [begin, end) has one innermost call */
	uint32_t call;       /* the innermost; RANGE_NONE: code of the function itself */
};

void inline_table_release(struct inline_table *table);

/*
 * Find the inlined calls at an address.  `lines` is the file's line table.  Returns 1 and fills
 * *hit; 0 if no function is known there; -1, once for each unit, with ERROR_FORMAT if the unit's
 * debug information is damaged, ERROR_SYSTEM if its file is missing.  With `err` NULL, problems are
 * not reported.
 */
int inline_table_find(struct inline_table *table, struct line_table *lines, uint64_t vaddr,
		      struct inline_hit *hit, struct error *err);
