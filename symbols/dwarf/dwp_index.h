/* SPDX-License-Identifier: MIT */
/*
 * Where in a package of debug information (.dwp) the parts of a unit are: the
 * section .debug_cu_index (DWARF 5, 7.3.5.3), and its older form, version 2, of
 * DWARF 4 (gcc.gnu.org/wiki/DebugFissionDWP).  The two differ in the numbers of
 * the columns only.  The bytes are borrowed, and not trusted.
 */
#ifndef SYMBOLS_DWARF_DWP_INDEX_H
#define SYMBOLS_DWARF_DWP_INDEX_H

#include "base/common.h"

/* The parts that are of use here. */
enum dwp_part {
	DWP_INFO,
	DWP_ABBREV,
	DWP_STR_OFFSETS,
	DWP_RNGLISTS, /* version 5 only */
	DWP_PARTS,
};

/* Of a section, in bytes; a part that the unit does not have is of size 0. */
struct dwp_range {
	uint32_t offset, size;
};

/*
 * Find the parts of the unit with an id (DW_AT_dwo_id).
 * Returns 1 and fills `parts`, whose ranges may be beyond the ends of their
 * sections; 0 if the index does not have the unit; -1 if it is damaged or of an
 * unknown version.
 */
int dwp_index_find(const uint8_t *index, size_t size, uint64_t id,
		   struct dwp_range parts[DWP_PARTS]);

#endif
