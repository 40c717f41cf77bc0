/* SPDX-License-Identifier: MIT */
/*
 * Checks, before libdw reads debug information, whether the file is large enough
 * for its contents.
 *
 * libdw does not crash on damage, but it trusts numbers: units may share one table of
 * abbreviations (DWARF 5, 7.5.3), of which each unit then keeps a copy in memory, and
 * one byte of a line program can be a row of a hundred.  Such a file of 700 kB takes
 * all memory of the machine.
 */
#ifndef SYMBOLS_DWARF_DWARF_GUARD_H
#define SYMBOLS_DWARF_DWARF_GUARD_H

#include <elfutils/libdw.h>
#include <stdbool.h>

#include "symbols/files/elf_file.h"

/* The rest of the work that the file's size allows.  Zeroed memory allows none. */
struct dwarf_guard {
	Elf_Data *info; /* borrowed from the ELF handle, as are the next two; NULL: none */
	Elf_Data *abbrev;
	Elf_Data *line;
	size_t units_left;
	size_t ranges_left;
	size_t bytes_left;             /* of abbreviations */
	size_t rows_left;              /* of line tables, and names of directories and files */
	size_t line_bytes_left;        /* of line programs that may be counted */
	struct counted_lines *counted; /* owned: hash of the line programs that were counted */
};

/*
 * Returns true if the sections together, unpacked, would be implausibly large, also where they
 * are one blob under many headers: do not open the file then.
 */
bool dwarf_guard_is_bomb(const struct elf_file *file);

/* Start to count.  Call it after dwarf_begin_elf(), which unpacks compressed sections. */
void dwarf_guard_init(struct dwarf_guard *guard, const struct elf_file *file);

/*
 * Returns true if a unit may be opened: `entry` is the offset of its first
 * entry in .debug_info, `abbrevs` that of its table in .debug_abbrev.
 */
bool dwarf_guard_allows_unit(struct dwarf_guard *guard, Dwarf_Off entry, Dwarf_Off abbrevs);

/*
 * Returns true if all units of the file may be opened, as libdw does to find that of an entry:
 * for a file of what others share, which has no first entries of interest.
 */
bool dwarf_guard_allows_all_units(struct dwarf_guard *guard);

/* Returns true if one more range of addresses may be kept. */
bool dwarf_guard_allows_range(struct dwarf_guard *guard);

/*
 * Returns true if the line program at an offset of .debug_line may be run; its rows,
 * directories and files are counted at the first call.
 */
bool dwarf_guard_allows_lines(struct dwarf_guard *guard, Dwarf_Off program);

/* Release the memory.  Idempotent, also on zeroed memory. */
void dwarf_guard_release(struct dwarf_guard *guard);

#endif
