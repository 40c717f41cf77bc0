/* SPDX-License-Identifier: MIT */
/*
 * Finds the calls that the compiler replaced by the called function's code, by the
 * DW_TAG_inlined_subroutine entries of one file (DWARF 5, 3.3.8).
 *
 * A unit's functions are listed at the first search for an address in it, a
 * function's inlined calls at the first one in that function.  All results are
 * borrowed and live until inline_table_release().
 */
#ifndef SYMBOLS_DWARF_INLINE_TABLE_H
#define SYMBOLS_DWARF_INLINE_TABLE_H

#include "symbols/dwarf/line_table.h"
#include "symbols/dwarf/split_unit.h"
#include "symbols/names/range_map.h"

/* Ranges of addresses, each with the index of a function or an inlined call. */
struct inline_ranges {
	struct inline_range {
		uint64_t begin, end; /* first, for range_map_build() */
		uint32_t owner;
	} * ranges; /* owned */
	size_t count, room;
	struct range_map map; /* the owner that was added last holds */
};

/* The inlined calls of one function. */
struct inline_function {
	Dwarf_Off die;
	struct line_row at; /* its name in the source; parts may be unknown */
	struct inline_call {
		const char *name;   /* linkage name, else name, of the function; NULL: unknown */
		struct line_row at; /* the call's source location; parts may be unknown */
		uint32_t parent;    /* index of the call around it; RANGE_NONE: the function */
		void *data;         /* the caller's own; NULL at first */
	} * calls;                  /* owned; each after its parent, so that the innermost holds */
	size_t count, room;
	struct inline_ranges ranges; /* of calls */
	bool read;
};

/* Zeroed memory is an empty table. */
struct inline_table {
	struct inline_unit *units;       /* hash */
	struct split_files *split_files; /* borrowed; NULL: units have no other parts */
	size_t entries_left;             /* entries of debug information that may still be read */
	bool counts_entries;             /* entries_left is set */
};

/* The function and the inlined call at an address. */
struct inline_hit {
	struct inline_function *function; /* borrowed */
	uint64_t begin, end; /* ELF virtual addresses: the same call holds in all of [begin, end) */
	uint32_t call;       /* the innermost; RANGE_NONE: code of the function itself */
};

void inline_table_release(struct inline_table *table);

/*
 * Find the inlined calls at an address.  `lines` is the file's line table.
 * Returns 1 and fills *hit; 0 if no function is known there; -1 if the unit of the address has a
 * problem, once for each unit: ERROR_FORMAT if its debug information is damaged, ERROR_SYSTEM if it
 * is in a file that is missing.  With `err` NULL problems are not reported.
 */
int inline_table_find(struct inline_table *table, struct line_table *lines, uint64_t vaddr,
		      struct inline_hit *hit, struct error *err);

#endif
