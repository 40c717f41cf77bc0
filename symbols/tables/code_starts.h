/* SPDX-License-Identifier: MIT */
/*
 * Where the functions of a file begin that no symbol names.
 *
 * The unwind entries (unwind_table.h) say it, and where one ends.  Code without them
 * begins at hints, in one pass over the code: the target of a direct call, ENDBR64 after
 * padding, the beginning of a section, the entry point, the functions of .init_array and
 * .fini_array.  A hint counts only outside of all entries.
 *
 * Compilers move code that seldom runs out of its function (GCC: FUNCTION.cold).  Such a part
 * has an entry of its own, which follows the function's in the section: assemblers write
 * entries in the order of the source.  It is known by its jumps: nothing calls it, and code of
 * that function jumps to it conditionally (compilers make no tail calls of these), or in any
 * way where the entry says that the stack has a frame already.
 */
#ifndef SYMBOLS_TABLES_CODE_STARTS_H
#define SYMBOLS_TABLES_CODE_STARTS_H

#include "symbols/tables/unwind_table.h"

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
	CODE_BY_HINT,      /* a function; its end is where the next thing begins */
	CODE_PART,         /* of the function that has the code at `source` */
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

#endif
