/* SPDX-License-Identifier: MIT */
/*
 * The private part of the store of files (symbols/dso/dso_store.h): for dso_store.c,
 * dso_search.c, dso_symbols.c, dso_starts.c and dso_lines.c only.
 */
#ifndef SYMBOLS_DSO_DSO_H
#define SYMBOLS_DSO_DSO_H

#include "base/tables/direct_cache.h"
#include "symbols/dso/dso_types.h"
#include "symbols/dwarf/inline_table.h"
#include "symbols/symbol.h"
#include "symbols/tables/code_starts.h"
#include "symbols/tables/symbol_table.h"
#include "symbols/tables/trap_table.h"

/* A symbol and its line, which is found later. */
struct cached_symbol {
	struct symbol symbol; /* first: a symbol's address is its cached_symbol's */
	bool has_line;        /* `line` is valid */
	struct source_line line;
};

struct dso {
	struct dso_store *store;            /* borrowed */
	const char *path;                   /* of the arena: as recorded */
	const struct name *short_name;      /* dso_short_name() */
	const char *file;                   /* of the arena; may be NULL */
	uint8_t build_id[ELF_BUILD_ID_MAX]; /* as recorded */
	size_t build_id_size;
	enum dso_state state;
	bool changed;        /* its recorded path began with DSO_CHANGED; `path` does not */
	const char *refused; /* of the arena: why the file at the path is not used; NULL: no file */
	struct elf_file elf; /* closed unless DSO_FOUND */
	bool forced;         /* a file with another build id is used, too */
	bool debug_loaded, symbols_loaded, lines_loaded; /* or looked for in vain */
	unsigned languages;     /* that its names show: bits of enum demangle_language */
	bool used;              /* a name was asked for */
	struct elf_file debug;  /* with the tables that `elf` lacks, or closed */
	struct elf_file mini;   /* with a .symtab that both lack, or closed */
	struct elf_file shared; /* with the common part of the debug information, or closed */
	const char *debug_path; /* of the arena */
	struct symbol_table table;
	struct trap_table traps;
	struct name_ranges map;              /* of a JIT compiler or the kernel */
	bool named;                          /* the names are those of `map` */
	struct cached_symbol **symbol_cache; /* owned: by entry of the table, or of `map` */
	struct line_table lines;
	struct inline_table inlined;
	struct split_files split_files;
	struct cached_symbol file_symbol; /* the SYMBOL_FILE symbol */
	/* As names, set with the first unnamed function: */
	const struct name *shown_path, *shown_build_id;
	bool starts_loaded;
	struct direct_cache landing;    /* of landing pads by call; empty until the first lookup */
	size_t landing_work;            /* call sites that may be read yet */
	struct code_starts starts;      /* of functions without a symbol */
	struct cached_symbol **unnamed; /* owned: the symbols of entries that ran */
	size_t unnamed_count, unnamed_room;
	struct id_index unnamed_ids; /* by symbol.start */
	/* The range of file offsets of the last answer: lookups come in bunches. */
	struct last_hit {
		uint64_t begin, end;         /* bytes from the start of the file */
		uint64_t vaddr;              /* of `begin` */
		const struct symbol *symbol; /* borrowed */
	} hit;
	struct dso
		*known; /* borrowed: the first dso of the same file, used instead; NULL: this one */
	UT_hash_handle hh;      /* by path and build id */
	UT_hash_handle by_file; /* by elf.identity */
};

struct dso_store {
	struct dso_store_options options; /* its texts are of the arena */
	struct name_table *names;         /* borrowed */
	struct diag *diag;                /* borrowed */
	struct arena arena;
	struct dso *dsos;  /* hash; its members are of the arena */
	struct dso *files; /* hash of the found ones, one for each file */
	struct demangler demangler;
	size_t pool; /* bytes of memory that debug information may still take: dwarf_guard.h */
	uint64_t changed_count;             /* symbols with `changed`, but for whole files */
	const struct symbol *first_changed; /* of the lowest address; NULL: there is none */
	uint64_t text_used, text_allowed;   /* bytes of demangled names (base/budget.h) */
	/*
	 * Of all of this and of all dsos, held during each lookup.  The threads that decode
	 * ask for the functions of code while the thread that follows events asks for names.
	 */
	pthread_mutex_t lock;
};

/* Mark a new symbol, and count it, if its dso may have been other code before. */
void dso_mark_changed(struct dso *dso, struct symbol *symbol);

/* Returns a copy of the text that lives as long as the store; NULL for NULL. */
const char *dso_keep_text(struct dso_store *store, const char *text);

/*
 * Returns the text to show for a linkage name of the dso, as demangler_demangle() does; NULL,
 * and a warning, also where it would exceed a limit.
 */
const char *dso_demangle(struct dso *dso, const char *linkage);

/* Find the file of a new dso by its path and build id; sets its state and file. */
void dso_search(struct dso *dso);

/*
 * Returns where the functions without a symbol begin, read at the first call; NULL if
 * the options say that they are shown as one for each file.
 */
struct code_starts *dso_load_starts(struct dso *dso);

/* Returns the symbol of a function without a name, made at the first call. */
const struct symbol *dso_symbol_of_start(struct dso *dso, const struct code_start *start);

/* Returns the symbol at a virtual address of code; its symbols are loaded. */
const struct symbol *dso_symbol_at(struct dso *dso, uint64_t vaddr);

/* Use the names of dso->map instead of a symbol table. */
void dso_set_named(struct dso *dso);

/* Returns a request for files that have the tables which the dso's own file lacks. */
struct debug_request dso_debug_request(const struct dso *dso);

/* Open the debug file if there is one; done once, at the first lookup of a missing table. */
void dso_load_debug_file(struct dso *dso);

#endif
