/* SPDX-License-Identifier: MIT */
/*
 * What the parts of the store of files (symbols/dso/dso_store.h) share: for
 * dso_store.c, dso_search.c, dso_symbols.c and dso_lines.c only.
 */
#ifndef SYMBOLS_DSO_DSO_H
#define SYMBOLS_DSO_DSO_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/hash.h"
#include "symbols/dso/dso_store.h"
#include "symbols/dwarf/inline_table.h"
#include "symbols/dwarf/line_table.h"
#include "symbols/dwarf/split_unit.h"
#include "symbols/files/debug_file.h"
#include "symbols/files/elf_file.h"
#include "symbols/names/demangle.h"
#include "symbols/names/text_map.h"
#include "symbols/tables/symbol_table.h"
#include "symbols/tables/trap_table.h"

/* What is known about a symbol beyond what is shown to others. */
struct known_symbol {
	struct symbol symbol; /* first: a symbol's address is its known_symbol's */
	bool line_known;
	struct source_line line;
};

/* The range of file offsets of the last answer: calls come in bunches. */
struct last_hit {
	uint64_t begin, end;         /* bytes from the start of the file */
	uint64_t vaddr;              /* of `begin` */
	const struct symbol *symbol; /* borrowed */
};

struct dso {
	struct dso_store *store;            /* borrowed */
	const char *path;                   /* of the arena: as recorded */
	const char *file;                   /* of the arena; NULL: none */
	uint8_t build_id[ELF_BUILD_ID_MAX]; /* as recorded */
	size_t build_id_size;
	enum dso_state state;
	const char *
		refused; /* of the arena: why a file at the path is not used; NULL: none is there */
	struct elf_file elf; /* closed unless DSO_FOUND */
	bool forced;         /* a file with another build id will do */
	bool debug_sought, symbols_read, lines_read;
	bool asked;             /* for a symbol */
	struct elf_file debug;  /* with the tables that `elf` lacks; closed: none */
	struct elf_file mini;   /* with a .symtab that neither has; closed: none */
	struct elf_file shared; /* that the debug information shares; closed: none */
	const char *debug_path; /* of the arena */
	struct symbol_table table;
	struct text_map map;             /* of a JIT compiler or the kernel */
	struct name_ranges dumped;       /* of a jitdump */
	const struct name_ranges *named; /* one of the two, if names come from it; else NULL */
	struct trap_table traps;
	struct known_symbol *
		*known; /* owned: by entry of the table, or of `named`; made when asked for */
	struct line_table lines;
	struct inline_table inlined;
	struct split_files split_files;
	struct known_symbol whole; /* the SYMBOL_FILE symbol */
	struct last_hit hit;
	UT_hash_handle hh; /* by path and build id */
};

struct dso_store {
	struct dso_store_options options; /* its texts are of the arena */
	struct name_table *names;         /* borrowed */
	struct diag *diag;                /* borrowed */
	struct arena arena;
	struct dso *dsos; /* hash; its members are of the arena */
	struct demangler demangler;
	pthread_mutex_t
		lock; /* of all of this and of all dsos, held while a question is answered */
};

/* Returns a copy of the text that lives as long as the store; NULL for NULL. */
const char *dso_keep_text(struct dso_store *store, const char *text);

/* Write bytes as hexadecimal digits and a NUL; `text` has room for 2 * size + 1. */
void dso_print_hex(char *text, const uint8_t *bytes, size_t size);

/* Find the file of a new dso by its path and build id; sets its state and file. */
void dso_search(struct dso *dso);

/* Take names from ranges, which live as long as the dso, instead of a symbol table. */
void dso_set_named(struct dso *dso, const struct name_ranges *named);

/* Returns a request for files that have what the dso's own lacks. */
struct debug_request dso_debug_request(const struct dso *dso);

/* Open the debug file if there is one; done once, when a table is wanted that the file lacks. */
void dso_seek_debug_file(struct dso *dso);

#endif
