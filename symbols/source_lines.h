/* SPDX-License-Identifier: MIT */
/*
 * From an address to its place in the source, by the DWARF line table.
 *
 * Opened when the first line of a file is asked for.  Compilation units are
 * found by a table of their own address ranges, because .debug_aranges is
 * often absent or incomplete.
 */
#ifndef SYMBOLS_SOURCE_LINES_H
#define SYMBOLS_SOURCE_LINES_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/name.h"
#include "symbols/dso_store.h"
#include "symbols/elf_file.h"

struct unit_range {
	uint64_t begin, end; /* ELF virtual addresses */
	Dwarf_Off unit;      /* offset of the unit's DIE */
};

struct source_lines {
	Dwarf *dwarf;              /* owned; NULL: no debug information */
	struct unit_range *ranges; /* owned; sorted by begin */
	size_t count, room;
	bool opened, broken;       /* broken: libdw refused some of it */
};

/*
 * Returns where the code at `vaddr` comes from; unknown parts are NULL and 0.
 * Opens `file`'s debug information at the first call; names are made in `names`.
 */
struct source_line source_lines_find(struct source_lines *lines, const struct elf_file *file,
				     struct name_table *names, uint64_t vaddr);

/* Idempotent, also on zeroed memory. */
void source_lines_release(struct source_lines *lines);

#endif
