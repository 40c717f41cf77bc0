/* SPDX-License-Identifier: MIT */
/*
 * Where OCaml code installs, removes and enters exception handlers ("traps"), as the compiler's
 * .note.ocaml_eh says (Jane Street's compilers write it; see asmcomp's emit for amd64).
 *
 * A note of owner "OCaml" and type 1 holds 64-bit words: the link-time address of _.stapsdt.base,
 * then three lists of addresses, each ended by 0: entered, installed, removed.  Prelinking moves
 * the section .stapsdt.base, and the addresses with it.  In code without notes, instructions show
 * the same, if the runtime's caml_raise_exn has a symbol.
 */
#pragma once

#include "symbols/files/elf_file.h"

/* In the order of a note's lists. */
enum trap_kind {
	TRAP_ENTERED,   /* a handler begins here: an exception was raised */
	TRAP_INSTALLED, /* from here the function has one more handler */
	TRAP_REMOVED,   /* one handler less: the guarded code ended */
};

/* Zeroed memory is an empty table. */
struct trap_table {
	struct trap {
		uint64_t vaddr; /* ELF virtual address */
		uint8_t kind;   /* enum trap_kind */
	} * traps;              /* owned; sorted by vaddr */
	size_t count, room;
};

/* Read the notes of an open file; a damaged note ends reading. */
void trap_table_open(struct trap_table *table, const struct elf_file *file);

/*
 * Read the code of a file of OCaml without notes: 4.10 and later always install a handler with the
 * same four instructions, and remove it with the same two (asmcomp/amd64/emit.mlp, Lpushtrap and
 * Lpoptrap).
 */
void trap_table_scan(struct trap_table *table, const struct elf_file *file);

void trap_table_release(struct trap_table *table);

/* Returns the index of the first trap at or after an address; or `count`. */
size_t trap_table_find(const struct trap_table *table, uint64_t vaddr);
