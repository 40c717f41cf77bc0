/* SPDX-License-Identifier: MIT */
/*
 * Which calls the compiler replaced by the called function's code, by the
 * DW_TAG_inlined_subroutine entries of one file (DWARF 5, 3.3.8).
 *
 * A unit's functions are listed when the first address in it is asked for, a
 * function's inlined calls when the first address in that is.  Everything
 * handed out is borrowed and lives until inline_table_release().
 */
#ifndef SYMBOLS_DWARF_INLINE_TABLE_H
#define SYMBOLS_DWARF_INLINE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "symbols/dwarf/line_table.h"
#include "symbols/dwarf/split_unit.h"
#include "symbols/names/name_ranges.h"

/* One inlined call. */
struct inline_call {
	const char *name;   /* linkage name, else name, of the function; NULL: unknown */
	struct line_row at; /* where the call stands in the source; parts may be unknown */
	uint32_t parent;    /* index of the call whose code it is in; NAME_RANGE_NONE: none's */
	void *data;         /* the caller's own; NULL at first */
};

/* The inlined calls of one function. */
struct inline_function {
	Dwarf_Off die;
	struct inline_call *calls; /* owned; each behind its parent */
	size_t count, room;
	struct name_ranges ranges; /* of addresses; the innermost call holds */
	uint32_t *calls_of_ranges; /* owned; which call a range is of */
	size_t range_room;
	bool read;
};

/* Zeroed memory is an empty table. */
struct inline_table {
	struct inline_unit *units; /* hash */
	struct split_files
		*split_files; /* borrowed; where other parts of units are; NULL: nowhere */
	size_t entries_left;  /* entries of debug information that may still be looked at */
	bool begun;
};

/* What is at an address. */
struct inline_hit {
	struct inline_function *function; /* borrowed */
	uint64_t begin, end; /* ELF virtual addresses: the same call holds in all of it */
	uint32_t call;       /* the innermost; NAME_RANGE_NONE: code of the function itself */
};

/* Release everything.  Idempotent. */
void inline_table_release(struct inline_table *table);

/*
 * Find the inlined calls at an address.  `lines` is the file's line table.
 * Returns 1 and fills *hit; 0 if no function is known there; -1 if something is
 * wrong with the unit that has the address, once for each: ERROR_FORMAT if its
 * debug information is damaged, ERROR_SYSTEM if it is in a file that is missing.
 * It is not told where `err` is NULL.
 */
int inline_table_find(struct inline_table *table, struct line_table *lines, uint64_t vaddr,
		      struct inline_hit *hit, struct error *err);

#endif
