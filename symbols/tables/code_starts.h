/* SPDX-License-Identifier: MIT */
/*
 * Finds where the functions without a symbol begin in a file.
 *
 * Unwind entries (below) give a function's bounds.  Functions without an entry begin at hints,
 * found in one pass over the code: the target of a direct call, ENDBR64 after padding, the
 * beginning of a section, the entry point, the functions of .init_array and .fini_array.  A hint
 * counts only outside of all entries.
 *
 * Compilers move code that seldom runs out of its function (GCC: FUNCTION.cold).  Such a part has
 * its own entry, which follows the function's in the section: assemblers write entries in the order
 * of the source.  Jumps show a part: nothing calls it, and code of that function jumps to it
 * conditionally (compilers make no conditional tail calls), or in any way if the entry says that
 * the stack already has a frame.
 */
#pragma once

#include <elfutils/libdw.h>

#include "base/cursor.h"
#include "symbols/files/elf_file.h"

/*
 * Finds functions by a file's unwind entries, which strip(1) leaves: the FDEs of .eh_frame (LSB
 * Core, "Exception Frames") and of .debug_frame (DWARF 5, 6.4).
 *
 * A sorted array holds 8 bytes for each entry: the linker's search table (.eh_frame_hdr) if
 * present, else the entries by address.  An entry is read at the first lookup of one of its
 * addresses.
 *
 * Files may be hostile: entries outside of the code are ignored, and an entry that overlaps the
 * next ends where that begins.
 */

enum unwind_kind { UNWIND_EH_FRAME, UNWIND_DEBUG_FRAME, UNWIND_KINDS };

/* Zeroed memory is an empty table. */
struct unwind_table {
	const struct elf_file *file; /* borrowed */
	struct elf_part sections[UNWIND_KINDS];
	uint64_t base; /* the file's lowest address of code */
	struct unwind_start {
		uint32_t begin;      /* bytes from table->base */
		uint32_t entry : 31; /* offset of the FDE in its section */
		uint32_t kind : 1;   /* enum unwind_kind: the section */
	} * starts;                  /* owned; sorted, no two begin together */
	size_t count, room;
	/* The rules shared by the last entries (a CIE). */
	struct unwind_rules {
		enum unwind_kind kind;
		Dwarf_Off offset; /* in the section */
		uint8_t encoding; /* encoding of addresses: DW_EH_PE_* */
		uint8_t lsda;     /* the same, of the LSDA; DW_EH_PE_omit: missing */
		bool augmented;   /* augmentation data precede the instructions */
		bool of_signals;  /* their code is where signal handlers return to */
		bool known;
	} rules;
};

/* A range of code by its entry: [begin, end), virtual addresses. */
struct unwind_range {
	uint64_t begin, end;
	uint64_t lsda; /* the function's landing pads, or 0 */
	size_t index;  /* in table->starts */
	/*
	 * The stack already has a frame where the range begins: the code is a part of a function
	 * that the compiler put elsewhere.
	 */
	bool has_frame;
};

/* Read the table of an open file, which must outlive it.  A damaged file has fewer entries. */
void unwind_table_open(struct unwind_table *table, const struct elf_file *file);

void unwind_table_close(struct unwind_table *table);

/*
 * Find the entry that covers a virtual address.  Without such an entry, returns false, and
 * [range->begin, range->end) is the code between two entries, from 0 before the first entry, to
 * UINT64_MAX after the last.
 */
bool unwind_table_find(struct unwind_table *table, uint64_t vaddr, struct unwind_range *range);

/*
 * Finds the landing pad for an exception that passes through a call, by the call sites for the
 * personality routine of C++, which Rust, Ada, D and others use, too: a function's LSDA in
 * .gcc_except_table (LSB Core, "Exception Frames"; Itanium C++ ABI, "Exception Handling").
 *
 * If a function is active several times, only each activation's current call shows which of them an
 * exception enters.
 */

/*
 * Returns the landing pad of the call at a virtual address; 0 if it has no landing pad, or the LSDA
 * is damaged.  `lsda` begins with the LSDA of the function whose unwind entry begins at `function`;
 * `wide`: the file's addresses have 64 bits.  Reads at most *work call sites, and subtracts their
 * number.
 */
uint64_t landing_pad_find(const struct elf_part *lsda, bool wide, uint64_t function, uint64_t call,
			  size_t *work);

/* Zeroed memory has no starts. */
struct code_starts {
	struct unwind_table unwind;
	bool scanned;
	/* Whether an entry's code is a part of the function before it in the section. */
	struct entry_jump {
		uint32_t before; /* 1 + that function's index in unwind.starts, or 0 */
		uint32_t jump;   /* from there to the part: bytes from unwind.base, or JUMP_* */
	} * entries;             /* owned; by index in unwind.starts */
	uint32_t *hints;         /* owned; sorted, bytes from unwind.base */
	size_t hint_count, hint_room;
};

enum code_start_kind {
	CODE_NO_START = 0, /* no function is known there */
	CODE_BY_ENTRY,     /* a function with an unwind entry */
	CODE_BY_HINT,      /* a function; it ends where the next entry or hint begins */
	CODE_PART,         /* part of the function that has the code at `source` */
};

struct code_start {
	uint64_t begin, end; /* virtual addresses */
	uint64_t source;
	enum code_start_kind kind;
};

/* Read the unwind entries of an open file, which must outlive the starts. */
void code_starts_open(struct code_starts *starts, const struct elf_file *file);

void code_starts_close(struct code_starts *starts);

/* Returns the function, or the code without one, around a virtual address of code. */
struct code_start code_starts_find(struct code_starts *starts, uint64_t vaddr);

/* Returns the first address of an unwind entry after an address, or UINT64_MAX. */
uint64_t code_starts_next(const struct code_starts *starts, uint64_t vaddr);
