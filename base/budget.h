/* SPDX-License-Identifier: MIT */
/*
 * Limits of memory, CPU time and work for hostile input, by the source of the data.
 *
 * doc/BUDGETS.md has each limit's reason, its share that compilers' output takes, and its test.  A
 * whole run takes at most 64 MiB + 4 times the size of all files read; compressed sections count by
 * their unpacked size (tests/sweep/, tests/scale/).
 */
#pragma once

/* ---- Linkage names (symbols/names/demangle.c) ---------------------------- */

/* ns of CPU time for one name; for all names, the time in excess of usual names. */
#define DEMANGLE_NAME_NS 50000000
#define DEMANGLE_RUN_NS  1000000000

/* Maximum CPU time of a usual name, in ns: a constant, and per byte of the name. */
#define DEMANGLE_USUAL_NS      20000
#define DEMANGLE_USUAL_BYTE_NS 250

/* Bytes that a demangler may allocate for one name. */
#define DEMANGLE_NAME_MEMORY (4ul << 20)

/* Longest D name, in bytes: the parser takes up to 160 bytes of stack per byte. */
#define DEMANGLE_D_NAME 4096

/* Longest demangled text, in bytes; a name with a longer one stays mangled. */
#define DEMANGLE_MAX 65536

/* Bytes of demangled text in a run: a constant, and per byte of linkage names. */
#define DEMANGLE_TEXT_START  (8ul << 20)
#define DEMANGLE_TEXT_FACTOR 4

/* ---- ELF symbols (symbols/tables/symbol_table.c) ------------------------- */

/*
 * Total length of all symbols' names, per byte of a symbol table and its strings.  Linkers rarely
 * use a string, or its end, twice: 47 large files have at most 0.81.
 */
#define SYMBOL_NAMES_FACTOR 2

/* Missing or small files, and processes without a perf map, with their own name (dso_store.c). */
#define DSO_SMALL_MOST 4096

/* ---- Go's table of lines (symbols/tables/go_table.c) --------------------- */

/* Bytes of a file's table that are read for lines: some hundred per line. */
#define GO_LINES_MOST ((size_t)1 << 28)

/* ---- DWARF (symbols/dwarf/dwarf_guard.c) --------------------------------- */

/* Maximum ratio of a file's unpacked sections to its size.  Compilers' output: a tenth at best. */
#define DWARF_UNPACK_FACTOR 16

/*
 * Memory for the debug information of a run: a constant, and per byte of its unpacked files, less
 * the files and the unpacked sections themselves.
 */
#define DWARF_MEMORY_START  (24ul << 20)
#define DWARF_MEMORY_FACTOR 4

/* ---- Code before system calls (src/callstack/precise/special_symbols.c) */

/* Bytes of a function analysed for one system call; for all system calls of a run. */
#define SYSCALL_CODE_MOST  (64ul << 10)
#define SYSCALL_CODE_TOTAL (8ul << 20)

/* ---- Source files (src/formats/text/source_file.c) ----------------------- */

/* Bytes of a source file that debug information names, and of all of a run. */
#define SOURCE_MOST       ((size_t)16 << 20)
#define SOURCE_TOTAL_MOST ((size_t)64 << 20)

/* ---- Compressed recordings (decoder/perf_data/perf_unpack.c) -------------- */

/* Bytes of disk for an unpacked input: a constant, and per byte of the input. */
#define INPUT_UNPACK_START  (64ul << 20)
#define INPUT_UNPACK_FACTOR 256
