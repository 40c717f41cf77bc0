/* SPDX-License-Identifier: MIT */
/*
 * Checks, before libdw reads debug information, whether the file is large enough for its contents.
 *
 * libdw does not crash on damage, but it trusts numbers: units may share one table of abbreviations
 * (DWARF 5, 7.5.3), of which each unit then keeps a copy in memory, and one byte of a line program
 * can be a row of a hundred.  Such a file of 700 kB takes all memory of the machine.
 */
#pragma once

#include "base/tables/hash.h"
#include "symbols/dwarf/dwarf_image.h"

/* The rest of the memory and work that a file's size allows.  Zeroed, it allows nothing. */
struct dwarf_guard {
	Elf_Data *info; /* borrowed from the ELF handle, as are the next; may be NULL */
	Elf_Data *abbrev, *line, *line_str, *str;
	size_t own_left;        /* bytes of memory, in addition to the pool's */
	size_t *pool;           /* borrowed; may be NULL */
	bool refused;           /* something was not allowed */
	size_t line_bytes_left; /* bytes of line programs that may still be counted */
	/* A line program that was counted. */
	struct counted_lines {
		Dwarf_Off program;
		bool allowed;
		UT_hash_handle hh;
	} * lines; /* owned hash */
	/*
	 * A table of abbreviations that was counted: the bytes from its beginning to the end of its
	 * section.  Units of a package (.dwp) have a section each, and the sections may overlap.
	 */
	struct counted_abbrevs {
		struct abbrev_table {
			const uint8_t *begin, *end; /* borrowed */
		} table;
		size_t memory;
		UT_hash_handle hh;
	} * abbrevs; /* owned hash */
};

/*
 * Returns true if the unpacked sections would be implausibly large in total, also if many headers
 * share one blob: do not open the file then.
 */
bool dwarf_guard_is_bomb(const struct elf_file *file);

/*
 * Start to count.  `pool` is borrowed and must outlive the guard: the bytes that all debug
 * information of a run may still take in addition to the files' allowances; or NULL.
 */
void dwarf_guard_init(struct dwarf_guard *guard, const struct elf_file *file, size_t *pool);

/* Find the sections in the image of the file's debug information. */
void dwarf_guard_find_sections(struct dwarf_guard *guard, Elf *image);

/* Returns true if this many bytes of memory may be taken, and subtracts them. */
bool dwarf_guard_allows_memory(struct dwarf_guard *guard, size_t size);

/*
 * Returns true if a unit may be opened, and any of its entries: `abbrevs` is the offset of its
 * table in .debug_abbrev.
 */
bool dwarf_guard_allows_unit(struct dwarf_guard *guard, Dwarf_Off abbrevs);

/*
 * Returns true if all units of the file may be opened, as libdw does to find an entry's unit: for a
 * file of shared units.
 */
bool dwarf_guard_allows_all_units(struct dwarf_guard *guard);

/* Bytes of our own memory for a range of addresses, and for a function or an inlined call. */
#define DWARF_RANGE_MEMORY 96
#define DWARF_ENTRY_MEMORY 128

/*
 * Returns true if the line program at an offset of .debug_line may be run; its rows,
 * directories and files are counted at the first call.  `unit` is a unit with these lines,
 * whose directory libdw puts before names; may be NULL.
 */
bool dwarf_guard_allows_lines(struct dwarf_guard *guard, Dwarf_Off program, Dwarf_Die *unit);

void dwarf_guard_release(struct dwarf_guard *guard);
