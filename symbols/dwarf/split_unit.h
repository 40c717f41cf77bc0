/* SPDX-License-Identifier: MIT */
/*
 * The part of a unit's debug information that the compiler put into a separate FILE.dwo, or dwp(1)
 * packed into PROGRAM.dwp (DWARF 5, 3.1.2, 7.3.2, 7.3.5; for DWARF 4, GNU's equivalent,
 * gcc.gnu.org/wiki/DebugFission).
 *
 * libdw 0.188 reads no packages, opens .dwo files at any path and of any kind, and ignores symfs.
 * So the files are found and opened here, and libdw gets a unit's sections as an image
 * (dwarf_image.h), together with the addresses of the program that belong to the unit.  Only lists
 * of ranges are started here: they are relative to the base address in the program's part of the
 * unit.
 */
#pragma once

#include "base/cursor.h"
#include "base/tables/hash.h"
#include "symbols/dwarf/dwarf_guard.h"
#include "symbols/dwarf/dwarf_image.h"
#include "symbols/files/debug_file.h"

/*
 * Cut the sections of a package of debug information (.dwp) to the parts of the unit with an id
 * (DW_AT_dwo_id), by .debug_cu_index (DWARF 5, 7.3.5.3) or its older form, version 2, of DWARF 4
 * (gcc.gnu.org/wiki/DebugFissionDWP), which differs in the numbers of the columns only.
 * Returns 1; 0 if the index does not have the unit; -1 if it is damaged or of an unknown version.
 */
int dwp_index_cut(struct byte_view sections[DEBUG_SECTIONS], uint64_t id);

/* The files of the split units of one program, and its package. */
struct split_files {
	struct debug_request request;
	size_t *pool;           /* borrowed; the run's */
	const char *debug_path; /* path of the file with the units' own parts; NULL: the program */
	bool package_looked_up;
	/*
	 * A file of split units.  It is opened once, and all its units share one budget.
	 */
	struct split_file {
		struct elf_file file;
		struct debug_sections sections;
		struct dwarf_guard guard;
		size_t bytes_left; /* bytes of its units that may be opened: they do not overlap */
		UT_hash_handle hh; /* by file.identity */
	} package,                 /* may be closed */
		*dwos;             /* owned: hash */
};

/* Zeroed memory is a closed unit. */
struct split_unit {
	struct dwarf_image image;                  /* its dwarf NULL: closed */
	Dwarf_Die die;                             /* the unit's first entry */
	struct byte_view sections[DEBUG_SECTIONS]; /* borrowed */
	Dwarf_Addr base;                           /* base address of the unit's ranges */
	size_t size;                               /* bytes of the unit's entries */
	struct dwarf_guard *guard; /* limits reading of its file, or of the package */
};

/* Release the package and the files.  Idempotent, also on zeroed memory. */
void split_files_close(struct split_files *files);

/*
 * Open the other part of a unit whose first entry is `skeleton`; from the package if that has it,
 * else from the file that the entry names.  `files` must outlive `unit`.  Returns 1 if it is open;
 * 0 if the unit has no other part; -1 with ERROR_SYSTEM if the part cannot be found, ERROR_FORMAT
 * if it is damaged.
 */
int split_unit_open(struct split_unit *unit, struct split_files *files, Dwarf_Die *skeleton,
		    struct error *err);

void split_unit_close(struct split_unit *unit);

/*
 * Get the next range of an entry's addresses, as dwarf_ranges() does (elfutils/libdw.h): `next` is
 * 0 or the previous call's result; *base is kept between calls.  Returns > 0 for a range, 0 after
 * the last one, -1 on damage.
 */
ptrdiff_t split_unit_ranges(const struct split_unit *unit, Dwarf_Die *die, ptrdiff_t next,
			    Dwarf_Addr *base, Dwarf_Addr range[2]);
