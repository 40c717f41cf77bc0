/* SPDX-License-Identifier: MIT */
/*
 * The files of code of one run: found once, opened once, asked for names and
 * lines by file offset.
 *
 * Everything handed out is borrowed and lives until dso_store_close().  A file
 * that cannot be found or read is a dso all the same: it has a name, no code
 * and one SYMBOL_FILE symbol.  Symbol tables are read when the first symbol of
 * a file is asked for, debug information when the first line is.  Broken ELF
 * or DWARF costs that file its names or lines and one warning, nothing else.
 *
 * The symbols and lines of a stripped file are those of its debug file, if one
 * is found (symbols/files/debug_file.h).
 *
 * Warnings: "build-id-mismatch" and "elf-unreadable" for files that are there
 * but not used, "symbols-damaged", "lines-damaged", and
 * "split-dwarf-missing" for units whose other part (.dwo, .dwp) is not found.
 * Missing files are for the caller to name (dso_state()).
 *
 * Threads may ask at the same time, one after the other: every question may read
 * tables and make names.  Symbols do not change once they are handed out.
 */
#ifndef SYMBOLS_DSO_DSO_STORE_H
#define SYMBOLS_DSO_DSO_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/name.h"
#include "symbols/files/dso_find.h"
#include "symbols/names/demangle.h"
#include "symbols/symbol.h"
#include "symbols/tables/trap_table.h"

struct dso_store;
struct dso;

struct dso_store_options {
	struct dso_find_options find; /* where files are looked for */
	const char *vdso; /* file with the code of "[vdso]"; NULL: look in the build-id cache */
	const char *strip_prefix; /* directory to leave out of source paths; NULL: none */
	const char *perf_map_dir; /* of perf-PID.map; NULL: /tmp, below symfs if that is given */
	const char *kallsyms; /* file with the names of the recorded kernel; NULL: look for it */
	bool force;           /* use a file at the recorded path although its build id is another */
	bool running_kernel;  /* the recording is of the kernel that runs now: its own vdso fits */
	enum demangle_style demangle; /* of symbols' names */
};

enum dso_state {
	DSO_FOUND = 0,
	DSO_MISSING,    /* no such file */
	DSO_MISMATCHED, /* a file is there, but its build id is another */
	DSO_UNREADABLE, /* a file is there, but it cannot be read as ELF */
	DSO_NOT_A_FILE, /* anonymous memory, kernel, JIT code: nothing to look for */
};

struct source_line {
	const struct name *file; /* NULL: unknown */
	uint32_t line, column;   /* 0: unknown */
};

/*
 * `options` is copied; `names` and `diag` are borrowed and must outlive the store.
 * Returns the store, owned by the caller.  Never NULL.
 */
struct dso_store *dso_store_open(const struct dso_store_options *options, struct name_table *names,
				 struct diag *diag);

/* Release everything.  NULL is allowed. */
void dso_store_close(struct dso_store *store);

/*
 * Returns the dso of a recorded path and build id (size 0, or zeros only:
 * unknown), made and searched for at the first call.  Never NULL.  Looked at
 * are the path, or with symfs its place under symfs and then its last component
 * there, and nothing outside of it; then, without symfs, perf's build-id cache.
 * "/proc/PID/root" in front of a container's path is left out if need be.
 * A file called jit-PID.dump is a jitdump: code and names are those in it.
 * "[vdso]" is options.vdso, else of the build-id cache, else (running_kernel)
 * this process's own.
 */
struct dso *dso_store_borrow(struct dso_store *store, const char *path, const uint8_t *build_id,
			     size_t build_id_size);

/*
 * Returns the names that a JIT compiler gave to code of a process, from its
 * perf-PID.map: a dso of which dso_borrow_symbol() is asked with addresses of
 * the process instead of file offsets.  Without a map it has none.  Never NULL.
 */
struct dso *dso_store_borrow_jit(struct dso_store *store, int32_t pid);

/*
 * The same for the kernel and its modules, by kallsyms: options.kallsyms, else
 * of the build-id cache by the kernel's build id (size 0: unknown), else the
 * running kernel's own if that is the recorded one.
 */
struct dso *dso_store_borrow_kernel(struct dso_store *store, const uint8_t *build_id,
				    size_t build_id_size);

/*
 * Offer a file with the names of the recorded kernel, as options.kallsyms is one,
 * unless that was given.  `path` (NULL: none) is copied.  Before names of the
 * kernel are first asked for.
 */
void dso_store_offer_kallsyms(struct dso_store *store, const char *path);

enum dso_state dso_state(const struct dso *dso);

/* Returns the path as recorded. */
const char *dso_path(const struct dso *dso);

/* Returns the path of the file that holds the code, NULL if there is none. */
const char *dso_file(const struct dso *dso);

enum dso_names {
	DSO_NAMES_NONE = 0,
	DSO_NAMES_EXPORTED, /* of .dynsym and linkage stubs only: the file is stripped */
	DSO_NAMES_ALL,      /* of .symtab, the debug file's if need be; or of a JIT compiler */
};

/* What was found for a dso up to now, to tell the user. */
struct dso_findings {
	bool asked;             /* a symbol of it was asked for: code of it ran */
	enum dso_names names;   /* NONE also if not asked */
	size_t symbols;         /* how many names */
	bool lines;             /* debug information with lines was asked for and is there */
	const char *debug_file; /* borrowed; NULL: none, or none was needed */
	const char *refused;    /* borrowed; why a file at the path is not used; NULL: not so */
};

/* Returns what was found up to now; looks for nothing. */
struct dso_findings dso_findings(const struct dso *dso);

/*
 * Returns the build id as recorded or, failing that, as found in the file;
 * *size is its length in bytes, 0 if unknown.
 */
const uint8_t *dso_build_id(const struct dso *dso, size_t *size);

/*
 * Give the file's bytes, mapped read-only; valid until dso_store_close().
 * Returns NULL and *size 0 if there is no file.
 */
const uint8_t *dso_borrow_bytes(struct dso *dso, size_t *size);

/* Returns whether a program or its loader begins at a byte of the file (e_entry of its ELF header).
 */
bool dso_is_entry(const struct dso *dso, uint64_t file_offset);

/*
 * Find the symbol that covers a byte of the file.  `*offset` gets the distance
 * in bytes from the symbol's start.  Where several symbols cover it, the choice
 * is perf's (tools/perf/util/symbol.c, choose_best_symbol).
 * Returns the symbol, or the dso's SYMBOL_FILE symbol if none covers it (then
 * *offset is 0).  Never NULL.
 */
const struct symbol *dso_borrow_symbol(struct dso *dso, uint64_t file_offset, uint64_t *offset);

/*
 * The same symbol, and around the byte, as file offsets [*begin, *end), what has that symbol
 * without anything between; empty where the file has no code.
 */
const struct symbol *dso_borrow_range(struct dso *dso, uint64_t file_offset, uint64_t *begin,
				      uint64_t *end);

/*
 * Returns where the code of a dso, one of whose symbols was asked for, handles
 * OCaml exceptions; NULL: it does not say.
 */
const struct trap_table *dso_borrow_traps(const struct dso *dso);

/*
 * Returns the place in the source where the symbol's code starts, as the last
 * frame of addr2line -i: by the DWARF line table, of several rows the last; where
 * the code starts with an inlined call, the place of that call.  Looked up at the
 * first call per symbol and kept.  Unknown parts are NULL and 0.
 */
struct source_line dso_symbol_line(const struct symbol *symbol);

/*
 * Returns the place in the source of the code so many bytes behind a
 * function's start; looked up at every call.  Unknown parts are NULL and 0.
 */
struct source_line dso_line(const struct symbol *symbol, uint64_t offset);

/* A call that the compiler replaced by the called function's code. */
struct inlined_call {
	const struct symbol *symbol; /* the function; its line is that of the call in the source */
	const struct inlined_call *parent; /* whose code the call is in; NULL: the function's own */
};

/* The stretch of code around an address that the same inlined calls hold. */
struct inlined_code {
	uint64_t begin, end; /* bytes from the start of the file, as far as they are of one piece */
	const struct inlined_call *innermost; /* NULL: none */
};

/*
 * Find the inlined calls at a byte of the file, by its debug information.
 * Calls compare by pointer and live until dso_store_close().
 * Returns false if nothing is known of the function there.
 */
bool dso_find_inlined(struct dso *dso, uint64_t file_offset, struct inlined_code *code);

#endif
