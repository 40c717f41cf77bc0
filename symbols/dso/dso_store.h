/* SPDX-License-Identifier: MIT */
/*
 * The files of code of one run: found once, opened once, and searched for names and
 * lines by file offset.
 *
 * All results are borrowed and live until dso_store_close().  A file that cannot be found or read
 * is a dso all the same: it has a name, no code and one SYMBOL_FILE symbol.  Symbol tables are read
 * at the first lookup of a symbol of the file, debug information at that of a line.  Broken ELF or
 * DWARF costs that file its names or lines and one warning, nothing else.
 *
 * A stripped file has the symbols and lines of its debug file, if it is found
 * (symbols/files/debug_file.h).
 *
 * Warnings: "build-id-mismatch" and "elf-unreadable" for existing files that are not used,
 * "symbols-damaged", "lines-damaged", and "split-dwarf-missing" for units whose other part (.dwo,
 * .dwp) is not found.  The caller reports missing files (dso_state()).
 *
 * All functions but open and close are safe for use by several threads: a lock
 * serialises the lookups.  Symbols do not change once they are returned.
 */
#ifndef SYMBOLS_DSO_DSO_STORE_H
#define SYMBOLS_DSO_DSO_STORE_H

#include "base/diag.h"
#include "symbols/dso/dso_types.h"
#include "symbols/symbol.h"
#include "symbols/tables/trap_table.h"

struct dso_store;
struct dso;

/*
 * `options` is copied; `names` and `diag` are borrowed and must outlive the store.
 * Returns the store, owned by the caller.  Never NULL.
 */
struct dso_store *dso_store_open(const struct dso_store_options *options, struct name_table *names,
				 struct diag *diag);

/* Release everything.  NULL is allowed. */
void dso_store_close(struct dso_store *store);

/*
 * Returns the dso of a recorded path and build id (size 0, or only zeros: unknown), made and
 * searched for at the first call.  Never NULL.  It is searched for at the path; with symfs only in
 * symfs, at the path there and then at its last component; without symfs, then in perf's build-id
 * cache.  "/proc/PID/root" in front of a container's path is left out if need be.  Paths that lead
 * to one file (device and inode) have one dso, with the first of the paths.  A file called
 * jit-PID.dump is a jitdump, with its own code and names.  "[vdso]" is options.vdso, else of the
 * build-id cache, else (running_kernel) this process's own, of these the first of ELF class 64;
 * "[vdso32]" of class 32.
 */
struct dso *dso_store_borrow(struct dso_store *store, const char *path, const uint8_t *build_id,
			     size_t build_id_size);

/*
 * Returns the names that a JIT compiler gave to code of a process, from its
 * perf-PID.map: a dso whose dso_borrow_symbol() takes addresses of the process
 * instead of file offsets.  Without a map it has no names.  `changed`: those of code that may have
 * been other code, by symbols of their own.  Never NULL.
 */
struct dso *dso_store_borrow_jit(struct dso_store *store, int32_t pid, bool changed);

/*
 * Stores how many functions of changed code (DSO_CHANGED) were looked up, and returns the name of
 * the one with the lowest address; NULL if there is none.
 */
const struct name *dso_store_changed(const struct dso_store *store, uint64_t *count);

/*
 * Returns the names of the kernel and its modules, by kallsyms: options.kallsyms, else
 * of the build-id cache by the kernel's build id (size 0: unknown), else the
 * running kernel's own if that is the recorded one.  Takes addresses, as above.
 */
struct dso *dso_store_borrow_kernel(struct dso_store *store, const uint8_t *build_id,
				    size_t build_id_size);

/*
 * Use a file with the names of the recorded kernel as options.kallsyms unless that is set.  `path`
 * (may be NULL) is copied.  Call it before the first lookup of a name of the kernel.
 */
void dso_store_offer_kallsyms(struct dso_store *store, const char *path);

enum dso_state dso_state(const struct dso *dso);

/* Returns the path as recorded. */
const char *dso_path(const struct dso *dso);

/*
 * Returns the last component of the path, "libc.so.6"; otherwise a text in brackets:
 * "[vdso]", "[anon]".
 */
const struct name *dso_short_name(const struct dso *dso);

/* Returns the path of the file with the code, or NULL. */
const char *dso_file(const struct dso *dso);

/*
 * Get the path as recorded and the build id in hexadecimal (NULL: unknown), as names, of a file
 * of which an unnamed function was found (SYMBOL_UNNAMED).
 */
void dso_names_shown(const struct dso *dso, const struct name **path, const struct name **build_id);

enum dso_names {
	DSO_NAMES_NONE = 0,
	DSO_NAMES_EXPORTED, /* of .dynsym and linkage stubs only: the file is stripped */
	DSO_NAMES_ALL,      /* of .symtab, the debug file's if need be; or of a JIT compiler */
};

/* The findings for a dso up to now, for reports. */
struct dso_info {
	bool used;              /* its name was asked for: chosen code of it ran */
	enum dso_names names;   /* unless `used`, NONE; only `refused` of the below is set then */
	size_t symbols;         /* number of names */
	bool lines;             /* debug information with lines was looked up and found */
	const char *debug_file; /* borrowed; NULL if missing or not needed */
	const char *refused;    /* borrowed; why the file at the path is not used; NULL: no file */
};

/* Returns the findings up to now; looks nothing up. */
struct dso_info dso_info(const struct dso *dso);

/*
 * Returns the build id as recorded or, failing that, as found in the file;
 * *size is its length in bytes, 0 if unknown.
 */
const uint8_t *dso_build_id(const struct dso *dso, size_t *size);

/*
 * Returns the file's bytes, mapped read-only and valid until dso_store_close();
 * NULL and *size 0 if there is no file.
 */
const uint8_t *dso_borrow_bytes(struct dso *dso, size_t *size);

/*
 * Returns the bytes of the file's 64-bit x86 code at a virtual address and after it, `*size` of
 * them, valid until dso_store_close(); NULL without code there.
 */
const uint8_t *dso_borrow_code(const struct dso *dso, uint64_t vaddr, size_t *size);

/* The same of 32-bit code. */
const uint8_t *dso_borrow_code_32(const struct dso *dso, uint64_t vaddr, size_t *size);

/* Returns whether a program or its loader begins at a byte of the file (ELF's e_entry). */
bool dso_is_entry(const struct dso *dso, uint64_t file_offset);

/*
 * Find the symbol that covers a byte of the file.  `*offset` gets the distance in bytes from the
 * symbol's start.  Where several symbols cover it, the choice is perf's (tools/perf/util/symbol.c,
 * choose_best_symbol).  If no symbol covers it, the unnamed function's (tables/code_starts.h) is
 * returned.  Returns the symbol, or the dso's SYMBOL_FILE symbol if there is no function, either
 * (then *offset is 0).  Never NULL.
 */
const struct symbol *dso_borrow_symbol(struct dso *dso, uint64_t file_offset, uint64_t *offset);

/*
 * Returns whether a name is a stub's, not a function's: of the linkage table (perf's "foo@plt" and
 * ".plt"), or of a thunk that replaces a return or an indirect jump against speculation
 * (arch/x86/lib/retpoline.S in Linux; LLVM's thunks).
 */
bool dso_names_stub(const char *name, size_t length);

/*
 * Returns the symbol of the page of 4 KiB around an address of a process, named by it
 * ("[anon]+0x7f0012345000"): for code that is in no file and has no name.  *offset gets the
 * distance in bytes from its beginning.  NULL for a file's dso, if unnamed code is
 * shown as one for each file, and for more pages than any program runs.
 */
const struct symbol *dso_borrow_page(struct dso *dso, uint64_t address, uint64_t *offset);

/*
 * Find the symbol as dso_borrow_symbol() does, and the file offsets [*begin, *end) around
 * the byte that it covers without interruption; empty where the file has no code.
 */
const struct symbol *dso_borrow_range(struct dso *dso, uint64_t file_offset, uint64_t *begin,
				      uint64_t *end);

/*
 * Returns the addresses where the code of a dso handles OCaml exceptions, once a
 * symbol of it was looked up; NULL if the file does not list them.
 */
const struct trap_table *dso_borrow_traps(const struct dso *dso);

/*
 * Returns where an exception lands that passes through a call, as a virtual address of the
 * file like `call`; 0 if the call has no landing pad, or it is unknown.
 */
uint64_t dso_find_landing_pad(struct dso *dso, uint64_t call);

/*
 * Returns the source location of the beginning of the symbol's code, as the last
 * frame of addr2line -i: by the DWARF line table, of several rows the last; if the
 * code begins with an inlined call, the location of that call.  Looked up at the
 * first call per symbol.  Unknown parts are NULL and 0.
 */
struct source_line dso_symbol_line(const struct symbol *symbol);

/*
 * Returns the source location of the code at an offset (bytes) from the start of a
 * function; looked up at every call.  Unknown parts are NULL and 0.
 */
struct source_line dso_line(const struct symbol *symbol, uint64_t offset);

/* Returns where the source has the name of a function, by its debug information; parts may be
 * unknown. */
struct source_line dso_name_line(const struct symbol *symbol);

/* The begin of a source statement in the code; virtual addresses. */
struct statement {
	uint64_t vaddr;
	struct source_line at; /* line 0: code without a line begins */
};

/*
 * Returns the number of the unit of debug information that covers a virtual address of code, or
 * or 0.  Units of different dsos may have equal numbers.
 */
uint64_t dso_find_unit(struct dso *dso, uint64_t vaddr);

/*
 * Call `add` for each statement of the unit that covers a virtual address, in the order of
 * addresses.  `add` must not use the store.
 */
void dso_list_statements(struct dso *dso, uint64_t vaddr,
			 void (*add)(void *context, const struct statement *statement),
			 void *context);

/* Returns true and fills *range with the first code of a file, if it has any. */
bool dso_code_range(const struct dso *dso, struct code_range *range);

/* Returns true and fills *range with the code around a byte of a file, if it has code there. */
bool dso_find_code(const struct dso *dso, uint64_t file_offset, struct code_range *range);

/* Returns the symbol at a virtual address of code of a file, as dso_borrow_symbol(). */
const struct symbol *dso_borrow_symbol_at(struct dso *dso, uint64_t vaddr);

/* The range of code around an address with the same inlined calls. */
struct inlined_code {
	uint64_t begin, end; /* bytes from the start of the file, without interruption */
	/* A call that the compiler replaced by the called function's code. */
	const struct inlined_call {
		const struct symbol
			*symbol; /* the function; its line is that of the call in the source */
		const struct inlined_call
			*parent; /* the code that has the call; NULL: the function's own */
	} * innermost;           /* may be NULL */
};

/*
 * Find the inlined calls at a byte of the file, by its debug information.  Calls compare by pointer
 * and live until dso_store_close().  Returns false if no function is known there.
 */
bool dso_find_inlined(struct dso *dso, uint64_t file_offset, struct inlined_code *code);

/* A function that has the code at an address, or in which a call of the next one was inlined. */
struct source_frame {
	const struct name *function; /* as in the symbol table or the debug information */
	uint32_t line;               /* less that of the function's name, modulo 2^32 */
	uint32_t discriminator;      /* of DWARF's line table, or the inlined call */
};

#define SOURCE_FRAMES 64

/*
 * Find the functions of the code at a virtual address, from the innermost inlined one to that of
 * the symbol.  Returns how many; 0 if they are unknown, or more.
 */
size_t dso_source_frames(struct dso *dso, uint64_t vaddr,
			 struct source_frame frames[SOURCE_FRAMES]);

/* Returns the innermost inlined call at a virtual address of code; NULL: unknown, or none. */
const struct inlined_call *dso_inlined_at(struct dso *dso, uint64_t vaddr);

#endif
