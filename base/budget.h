/* SPDX-License-Identifier: MIT */
/*
 * What the parts of a hostile input may take: memory, CPU time, work, by the source of the data.
 *
 * doc/BUDGETS.md has the reasons, what compilers' output takes of each, and the test that shows
 * each one.  Whole runs are held to 64 MiB + 4 times all files that are read
 * (tests/sweep/, tests/scale/).
 */
#ifndef BASE_BUDGET_H
#define BASE_BUDGET_H

/* ---- Linkage names (symbols/names/demangle_limits.h) ---- */

/* ns of CPU time for one name, and for all names that take more than 1 ms. */
#define DEMANGLE_NAME_NS 50000000
#define DEMANGLE_RUN_NS  1000000000

/* Bytes that a demangler may allocate for one name. */
#define DEMANGLE_NAME_MEMORY (4ul << 20)

/* Longest demangled text, in bytes; a name with a longer one stays mangled. */
#define DEMANGLE_MAX 65536

/* Bytes of demangled text in a run: a start, and these for each byte of linkage names. */
#define DEMANGLE_TEXT_START  (8ul << 20)
#define DEMANGLE_TEXT_FACTOR 4

/* ---- ELF symbols (symbols/tables/symbol_table.c) ---- */

/* The names of all symbols together, for each byte of a symbol table and its strings. */
#define SYMBOL_NAMES_FACTOR 8

/* ---- DWARF (symbols/dwarf/dwarf_guard.c) ---- */

/* All compressed sections of a file, unpacked, by the file's size.  Compilers': a tenth at best. */
#define DWARF_UNPACK_FACTOR 16

/* Rows of all line tables of a file: a start, and one for these bytes of it, unpacked. */
#define DWARF_ROWS_START    (256ul << 10)
#define DWARF_BYTES_PER_ROW 16

#endif
