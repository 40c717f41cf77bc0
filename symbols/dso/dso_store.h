/* SPDX-License-Identifier: MIT */
/*
 * The files of code of one run: found once, opened once, and searched for names and
 * lines by file offset.
 *
 * All results are borrowed and live until dso_store_close().  A file that cannot be found or read
 * is a dso all the same: it has a name, no code and one SYMBOL_FILE symbol.  Symbol tables are read
 * at the first lookup of a symbol of the file, debug information at the first lookup of a line.
 * Broken ELF or DWARF costs that file its names or lines and one warning, nothing else.
 *
 * A stripped file has the symbols and lines of its debug file, if it is found
 * (symbols/files/debug_file.h).
 *
 * Warnings: "build-id-mismatch" and "elf-unreadable" for existing files that are not used,
 * "symbols-damaged", "lines-damaged", and "split-dwarf-missing" for units whose other part (.dwo,
 * .dwp) is not found.  The caller reports missing files.
 *
 * All functions but open and close are safe for use by several threads: a lock
 * serialises the lookups.  Symbols do not change once they are returned.
 */
#pragma once

#include "base/diag.h"
#include "base/tables/direct_cache.h"
#include "symbols/dso/dso_types.h"
#include "symbols/dso/line_cache.h"
#include "symbols/files/core_file.h"
#include "symbols/symbol.h"
#include "symbols/tables/code_starts.h"
#include "symbols/tables/symbol_table.h"
#include "symbols/tables/trap_table.h"

struct dso_store;

/* A symbol and its line, which is found later. */
struct cached_symbol {
	struct symbol symbol; /* first: a symbol's address is its cached_symbol's */
	bool has_line;        /* `line` is valid */
	struct source_line line;
};

/* Strings are in the store's arena. */
struct dso {
	/* Does not change once it is borrowed: */
	const char *path; /* as recorded */
	/* The last component of the path, "libc.so.6"; else a text in brackets: "[vdso]". */
	const struct name *short_name;
	const char *file; /* path of the file with the code; may be NULL */
	enum dso_state state;
	struct elf_file elf; /* closed unless DSO_FOUND, but for its bytes: a jitdump, a core */
	/* As names, set with the first unnamed function: the path, and the build id or NULL. */
	const struct name *shown_path, *shown_build_id;
	/* Private to the store: */
	struct dso_store *store;            /* borrowed */
	uint8_t build_id[ELF_BUILD_ID_MAX]; /* as recorded */
	size_t build_id_size;
	bool changed;        /* its recorded path began with DSO_CHANGED; `path` does not */
	const char *refused; /* why the file at the path is not used; NULL: no file */
	bool forced;         /* a file with another build id is used, too */
	bool debug_loaded, symbols_loaded, lines_found, lines_loaded; /* also if not found */
	bool lines_asked;                                             /* a line was looked up */
	unsigned languages;     /* languages by its names: bits of enum demangle_language */
	bool used;              /* a name was asked for */
	bool dump_read;         /* for jit_dumps_read() */
	struct elf_file debug;  /* with the tables that `elf` lacks, or closed */
	struct elf_file mini;   /* with a .symtab that both lack, or closed */
	struct elf_file shared; /* with the common part of the debug information, or closed */
	const char *debug_path; /* path in the arena */
	const struct elf_file *with_lines; /* borrowed: `elf` or `debug`; NULL: neither has them */
	struct symbol_table table;
	struct trap_table traps;
	struct name_ranges map;              /* names of a JIT compiler or the kernel */
	bool named;                          /* the names are those of `map` */
	struct cached_symbol **symbol_cache; /* owned: by entry of the table, or of `map` */
	/* Lines of a jitdump's code, by file offset, with the offset at which the code begins. */
	struct dump_line {
		uint64_t offset, begin;
		const char *file; /* borrowed from the file */
		uint32_t line;
	} * dump_lines; /* owned */
	size_t dump_line_count, dump_line_room;
	/* Files in an archive, and pages that are in none. */
	struct dso_member {
		uint64_t begin, end; /* bytes from the start of the archive */
		struct dso *dso;     /* borrowed; NULL: not an ELF file */
	} * members;                 /* owned */
	size_t member_count, member_room;
	uint64_t member_bytes;        /* bytes of all members */
	struct line_cache cache;      /* lines and inlined calls */
	struct line_cache statements; /* units and their statements */
	struct line_table lines;
	struct inline_table inlined;
	/* An inlined call, whether the debug information or the cache has it, in the arena. */
	struct made_call {
		uint64_t id; /* id of the struct inline_call */
		const struct inlined_call *call;
		UT_hash_handle hh;
	} * calls;
	struct split_files split_files;
	struct cached_symbol file_symbol; /* the SYMBOL_FILE symbol */
	bool starts_loaded;
	struct landing_call {
		uint64_t call, pad;
		UT_hash_handle hh;
	} * landing;               /* owned: hash of landing pads */
	size_t landing_work;       /* call sites read so far, and bytes of `landing` */
	struct code_starts starts; /* functions without a symbol */
	/* The symbol of an entry that ran, in the arena. */
	struct unnamed_symbol {
		struct cached_symbol cached;
		UT_hash_handle hh; /* by symbol.start */
	} * unnamed;
	/* The range of file offsets of the last answer: lookups cluster. */
	struct last_hit {
		uint64_t begin, end;         /* bytes from the start of the file */
		uint64_t vaddr;              /* address of `begin` */
		uint32_t entry;              /* index in the table or `map`; or SYMBOL_ENTRY_NONE */
		struct code_start start;     /* without an entry; may be CODE_NO_START */
		const struct symbol *symbol; /* borrowed; NULL: not made yet */
	} hit;
	struct dso
		*known; /* borrowed: the first dso of the same file, used instead; NULL: this one */
	UT_hash_handle hh;      /* by path and build id */
	UT_hash_handle by_file; /* by elf.identity */
};

/*
 * `options` is copied, with its strings `kallsyms` and `core`; the other strings, `names` and
 * `diag` are borrowed and must outlive the store.  Returns the store, owned by the caller.  Never
 * NULL.
 */
struct dso_store *dso_store_open(const struct dso_store_options *options, struct name_table *names,
				 struct diag *diag);

/*
 * Let workers unpack the debug information of each dso whose name is asked for, before lines are.
 * Borrowed; they may be closed before the store if no line is asked for in between.
 */
void dso_store_use_workers(struct dso_store *store, struct workers *workers);

/*
 * Write the lines that were looked up to the cache, for files without damage.  Returns the number
 * of new ones; err is filled if some cannot be written.
 */
size_t dso_store_save_lines(struct dso_store *store, struct error *err);

/*
 * Set the recorded kernel's build id (borrowed; size 0: unknown) and what fits of the running one,
 * before the first name is looked up. Unless it is set, nothing is known or fits.
 */
void dso_store_set_kernel(struct dso_store *store, const uint8_t *build_id, size_t build_id_size,
			  enum running_kernel running);

/* Release everything.  NULL is allowed. */
void dso_store_close(struct dso_store *store);

/*
 * Returns the dso of a recorded path and build id (size 0, or only zeros: unknown), made and
 * searched for at the first call.  Never NULL.  The file is searched for at the path; with symfs
 * only in symfs, at the path there and then at its last component; without symfs, then in perf's
 * build-id cache.  "/proc/PID/root" in front of a container's path is removed if necessary.  Paths
 * that lead to one file (device and inode) have one dso, with the first of the paths.  A file
 * called jit-PID.dump is a jitdump, with its own code and names.  "[vdso]" is the first file of ELF
 * class 64 among options.vdso, the build-id cache's and this process's own, if that has the build
 * id or the running kernel fits; "[vdso32]" the first of class 32.
 */
struct dso *dso_store_borrow(struct dso_store *store, const char *path, const uint8_t *build_id,
			     size_t build_id_size);

/*
 * Take over what is in options.core, and use its copies of processes' files: a perf map unless the
 * options name a directory, and a jitdump instead of the file at its path. Call it before any is
 * looked up.
 */
void dso_store_use_core(struct dso_store *store, const struct core_file *core);

/*
 * Returns the jitdump that a process maps at a path: its copy, whose path is "/proc/PID/root/PATH";
 * that of another process, whose child it is; or the file. Never NULL.
 */
struct dso *dso_store_borrow_dump(struct dso_store *store, int32_t pid, const char *path);

/* Returns a copy of the text that lives as long as the store; NULL for NULL. */
const char *dso_keep_text(struct dso_store *store, const char *text);

/* Compare two dsos, for an order that depends on neither memory nor the order of look-ups. */
int dso_compare(const struct dso *a, const struct dso *b);

/*
 * Returns the names that a JIT compiler gave to code of a process, from its perf-PID.map: a dso
 * whose dso_borrow_symbol() takes addresses of the process instead of file offsets.  Without a map
 * it has no names.  With `changed`, a dso with symbols of its own, for code that may have been
 * other code.  Never NULL.
 */
struct dso *dso_store_borrow_jit(struct dso_store *store, int32_t pid, bool changed);

/*
 * Stores in *count the number of functions of changed code (DSO_CHANGED) that were looked up.
 * Returns the name of the function with the lowest address; NULL if *count is 0.
 */
const struct name *dso_store_changed(const struct dso_store *store, uint64_t *count);

/*
 * Returns the names of the kernel and its modules, by kallsyms: options.kallsyms, else the build-id
 * cache's file for the kernel's build id, else the running kernel's if its
 * addresses fit.  Takes addresses, as above.
 */
struct dso *dso_store_borrow_kernel(struct dso_store *store);

/*
 * Use a text with the names of the recorded kernel unless options.kallsyms is set, or the text is
 * empty.  `text` is borrowed, and changed.  Call it before the first lookup of a name of the
 * kernel.
 */
void dso_store_offer_kallsyms(struct dso_store *store, char *text);

enum dso_names {
	DSO_NAMES_NONE = 0,
	DSO_NAMES_EXPORTED, /* names of .dynsym and linkage stubs only: the file is stripped */
	DSO_NAMES_ALL, /* names of .symtab, the debug file's if need be; or of a JIT compiler */
};

/* The findings for a dso up to now, for reports. */
struct dso_info {
	bool used;            /* its name was requested: chosen code of it ran */
	enum dso_names names; /* NONE if not `used`: of the members below, only `refused` is set */
	size_t symbols;       /* number of names */
	bool lines;           /* debug information with lines was looked up and found */
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

/* Returns the same in hexadecimal, as a name; NULL: unknown. */
const struct name *dso_build_id_name(const struct dso *dso, struct name_table *names);

/*
 * Returns the file's 64-bit x86 code from a virtual address, `*size` bytes, valid until
 * dso_store_close(); NULL if the file has no code there.
 */
const uint8_t *dso_borrow_code(const struct dso *dso, uint64_t vaddr, size_t *size);

/* As dso_borrow_code(), for 32-bit code. */
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
 * The two halves of dso_borrow_symbol(). Any thread may find a symbol. dso_use() notes that chosen
 * code of the dso ran, which dso_info() reports; one thread at a time may call it.
 */
const struct symbol *dso_find_symbol(struct dso *dso, uint64_t file_offset, uint64_t *offset);
void dso_use(struct dso *dso);

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
 * Find the file offsets [*begin, *end) around a byte that one symbol covers without interruption;
 * empty where the file has no code.  Makes no symbol.  Returns its kind, SYMBOL_UNNAMED also for a
 * SYMBOL_PART.
 */
enum symbol_kind dso_find_range(struct dso *dso, uint64_t file_offset, uint64_t *begin,
				uint64_t *end);

/*
 * Returns the addresses of a dso's handlers of OCaml exceptions; NULL if the file does not list
 * them.  Call it after the first lookup of a symbol.
 */
const struct trap_table *dso_borrow_traps(const struct dso *dso);

/*
 * Returns the landing pad of a call, to which an exception unwinds; both are virtual addresses of
 * the file.  Returns 0 if the call has no landing pad, or it is unknown.
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

/* Returns the source location of a function's name, by its debug information; parts may be
 * unknown. */
struct source_line dso_name_line(const struct symbol *symbol);

/* The beginning of a source statement in the code; virtual addresses. */
struct statement {
	uint64_t vaddr;
	struct source_line at; /* line 0: code without a line begins */
};

/*
 * Returns the number of the unit of debug information that covers a virtual address of code,
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

/* As dso_borrow_symbol(), for a virtual address of the file's code. */
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
		struct source_line declared; /* the function's declaration */
	} * innermost;                       /* may be NULL */
};

/*
 * Find the inlined calls at a byte of the file, by its debug information.  Calls compare by pointer
 * and live until dso_store_close().  Returns false if no function is known there.
 */
bool dso_find_inlined(struct dso *dso, uint64_t file_offset, struct inlined_code *code);

/* A function with the code at an address, or into which the previous function was inlined. */
struct source_frame {
	const struct name *function; /* as in the symbol table or the debug information */
	uint32_t line;               /* less that of the function's name, modulo 2^32 */
	uint32_t discriminator;      /* discriminator of DWARF's line table, or the inlined call */
};

#define SOURCE_FRAMES 64

/*
 * Find the functions of the code at a virtual address, from the innermost inlined function to the
 * symbol's.  Returns their number; 0 if they are unknown, or more than SOURCE_FRAMES.
 */
size_t dso_source_frames(struct dso *dso, uint64_t vaddr,
			 struct source_frame frames[SOURCE_FRAMES]);

/* Returns the innermost inlined call at a virtual address of code; NULL: unknown, or no call. */
const struct inlined_call *dso_inlined_at(struct dso *dso, uint64_t vaddr);

/* ---- For dso_*.c only ---------------------------------------------------- */

struct dso_store {
	struct dso_store_options options; /* its strings are in the arena */
	struct name_table *names;         /* borrowed */
	struct diag *diag;                /* borrowed */
	struct workers *workers;          /* borrowed; NULL: see dso_store_use_workers() */
	enum running_kernel running;
	struct byte_view kernel_id; /* build id of the recorded kernel, borrowed */
	char *kallsyms;             /* borrowed: of dso_store_offer_kallsyms(), or NULL */
	struct arena arena;
	struct dso *dsos;  /* hash; its members are in the arena */
	struct dso *files; /* hash of found files, one dso for each file */
	struct dso *spare; /* zeroed, for the next dso; may be NULL */
	size_t small;      /* number of dsos that take more than their files */
	struct demangler demangler;
	size_t pool; /* bytes of memory that debug information may still take: dwarf_guard.h */
	uint64_t changed_count;             /* symbols with `changed`, but for whole files */
	const struct symbol *first_changed; /* lowest address; may be NULL */
	struct core_file core;              /* the core of dso_store_use_core() */
	uint64_t text_used, text_allowed;   /* bytes of demangled names (base/budget.h) */
	/*
	 * Protects the store and all dsos; held during each lookup.  Decoder threads look up
	 * functions while the event thread looks up names.
	 */
	pthread_mutex_t lock;
};

/* Mark and count a new symbol of a dso with `changed`. */
void dso_mark_changed(struct dso *dso, struct symbol *symbol);

/*
 * Returns the text to show for a linkage name of the dso, as demangler_demangle() does.  If the
 * text would exceed a limit, warns and returns NULL.
 */
const char *dso_demangle(struct dso *dso, const char *linkage);

/*
 * Returns the ELF file in an archive (.apk) with the byte at *file_offset, which becomes an offset
 * of that file; NULL: the dso is not an archive, or has no such file there.
 */
struct dso *dso_find_member(struct dso *dso, uint64_t *file_offset);

/* Find the file of a new dso by its path and build id; sets its state and file. */
void dso_search(struct dso *dso);

/* Returns a file of a packed recording and a NUL after it, owned by the caller; NULL: none. */
uint8_t *dso_unpack(const struct dso_store *store, const char *path, size_t *size);

/* Open the file of a packed recording whose path is the dso's with a suffix. */
bool dso_unpack_beside(const struct dso *dso, const char *suffix, struct elf_file *file);

/*
 * Returns the starts of functions without a symbol, read at the first call; NULL if the options
 * merge unnamed code into one symbol for each file.
 */
struct code_starts *dso_load_starts(struct dso *dso);

/* Returns the symbol of a function without a name, made at the first call. */
const struct symbol *dso_symbol_of_start(struct dso *dso, const struct code_start *start);

/* Returns the symbol at a virtual address of code; its symbols are loaded. */
const struct symbol *dso_symbol_at(struct dso *dso, uint64_t vaddr);

/* Use the names of dso->map instead of a symbol table. */
void dso_set_named(struct dso *dso);

/* Returns a request for files with the tables that the dso's own file lacks. */
struct debug_request dso_debug_request(const struct dso *dso);

/* Find the files with source lines of the dso: its own, or the debug file; and that of dwz(1). */
void dso_find_lines(struct dso *dso);

/* Let workers unpack the dso's debug information. */
void dso_begin_lines(struct dso *dso);

/* Open the debug file if there is one; done once, at the first lookup of a missing table. */
void dso_load_debug_file(struct dso *dso);
