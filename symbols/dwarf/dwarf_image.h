/* SPDX-License-Identifier: MIT */
/*
 * The sections of debug information that are read here, presented to libdw as a separate ELF file.
 *
 * From the file itself, libdw would unpack all compressed sections by zlib, which takes twice as
 * long as libdeflate.  A sixth to a quarter are unused lists of variables' locations.
 */
#pragma once

#include <elfutils/libdw.h>

#include "base/cursor.h"
#include "base/workers.h"
#include "symbols/files/elf_file.h"

enum debug_section {
	DEBUG_INFO,
	DEBUG_ABBREV,
	DEBUG_STR,
	DEBUG_STR_OFFSETS,
	DEBUG_RNGLISTS,
	DEBUG_CU_INDEX, /* index of a package; the image lacks it */
	DEBUG_OF_SPLIT, /* the following are only in programs */
	DEBUG_ADDR = DEBUG_OF_SPLIT,
	DEBUG_RANGES, /* until DWARF 4 */
	DEBUG_LINE,
	DEBUG_LINE_STR,
	DEBUG_TYPES, /* DWARF 4 */
	DEBUG_ALTLINK,
	DEBUG_SECTIONS,
};

/*
 * Returns the size to which a section of debug information is unpacked; 0: it is not packed;
 * UINT64_MAX: it is damaged.
 */
uint64_t debug_section_unpacked_size(const struct elf_file *file,
				     const struct elf_section *section);

/* Zeroed memory is a file without sections; the struct must not move while jobs unpack. */
struct debug_sections {
	struct byte_view views[DEBUG_SECTIONS]; /* borrowed from the file or a job */
	struct section_job {
		struct worker_job job;   /* first */
		struct byte_view packed; /* the file's bytes, borrowed */
		uint32_t type;           /* ELFCOMPRESS_... */
		uint8_t *bytes;          /* owned; NULL: the file has the section unpacked */
		size_t size;             /* size of `bytes`; 0: damaged */
		bool mapped;             /* `packed` is of a mapped file */
	} jobs[DEBUG_SECTIONS];
	struct workers *workers; /* borrowed; NULL: debug_sections_read() unpacks */
	bool begun;
};

/*
 * Find the sections of a file, and submit a job for each that is compressed; debug_sections_read()
 * or closing the workers ends them.  The file must not be a bomb (dwarf_guard_is_bomb()).  `split`:
 * the file has split units.  `workers`: may be NULL.
 */
void debug_sections_begin(struct debug_sections *sections, const struct elf_file *file, bool split,
			  struct workers *workers);

/* The same, if it was not done, and unpack what no job has unpacked.  Damaged ones are absent. */
void debug_sections_read(struct debug_sections *sections, const struct elf_file *file, bool split);

/* Release them; no job unpacks. */
void debug_sections_release(struct debug_sections *sections);

/* Zeroed memory is a closed image. */
struct dwarf_image {
	Elf *elf; /* owned, as is the next */
	Dwarf *dwarf;
};

/*
 * Open an image of the sections, which must outlive it; nothing is copied.  Returns false if there
 * is nothing to read, or libdw refuses it.
 */
bool dwarf_image_open(struct dwarf_image *image, const struct byte_view sections[DEBUG_SECTIONS]);

/* Returns a section of an image, borrowed; NULL: absent. */
Elf_Data *dwarf_image_data(Elf *elf, enum debug_section section);

void dwarf_image_close(struct dwarf_image *image);
