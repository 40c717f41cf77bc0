/* SPDX-License-Identifier: MIT */
#include "symbols/dso_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/alloc.h"
#include "symbols/demangle.h"
#include "symbols/dso_find.h"
#include "symbols/elf_file.h"
#include "symbols/source_lines.h"
#include "symbols/symbol_table.h"

#define DISPLAY_MAX 300

struct dso_symbol {
	struct symbol symbol; /* first: handed out as such */
	struct source_line line;
	bool line_known;
};

struct dso {
	struct dso_store *store; /* borrowed */
	const char *path;        /* as recorded */
	uint8_t build_id[20];
	size_t build_id_size;
	struct dso_found found;
	struct symbol_table table;
	struct source_lines lines;
	struct dso_symbol whole; /* stands for all code without a symbol */
	bool table_read;
	UT_hash_handle hh;
	char key[]; /* build id, then path */
};

struct dso_store {
	struct dso_store_options options;
	struct name_table *names; /* borrowed */
	struct diag *diag;        /* borrowed */
	struct arena arena;
	struct dso *dsos;
};

struct dso_store *dso_store_open(const struct dso_store_options *options,
				 struct name_table *names, struct diag *diag)
{
	struct dso_store *store = alloc_zeroed(1, sizeof(*store));

	store->options = *options;
	store->names = names;
	store->diag = diag;
	return store;
}

void dso_store_close(struct dso_store *store)
{
	struct dso *dso, *next;

	if (!store)
		return;
	HASH_ITER(hh, store->dsos, dso, next) {
		source_lines_release(&dso->lines);
		symbol_table_release(&dso->table);
		elf_file_close(&dso->found.elf);
	}
	HASH_CLEAR(hh, store->dsos);
	arena_release(&store->arena);
	free(store);
}

/* "[libfoo.so]" for code of /usr/lib/libfoo.so that no symbol covers. */
static const struct name *display_name(struct name_table *names, const char *path)
{
	const char *base = strrchr(path, '/');
	char text[DISPLAY_MAX];

	base = base && base[1] ? base + 1 : path;
	if (base[0] == '[' && strchr(base, ']')) /* "[kernel.kallsyms]_text" */
		snprintf(text, sizeof(text), "%.*s]", (int)strcspn(base, "]"), base);
	else
		snprintf(text, sizeof(text), "[%s]", base);
	return name_intern_text(names, text);
}

static void find_file(struct dso *dso)
{
	struct dso_store *store = dso->store;
	struct dso_wanted wanted = { dso->path, dso->build_id, dso->build_id_size };

	dso_find(&dso->found, &wanted, &store->options, &store->arena);
	if (dso->found.state == DSO_MISMATCHED)
		diag_warn(store->diag, "build-id-mismatch", "not used: %s", dso->found.text);
	else if (dso->found.state == DSO_UNREADABLE)
		diag_warn(store->diag, "file-unreadable", "not used: %s", dso->found.text);
}

struct dso *dso_store_borrow(struct dso_store *store, const char *path,
			     const uint8_t *build_id, size_t build_id_size)
{
	size_t length = strlen(path);
	struct dso *dso, *found;

	if (build_id_size > sizeof(dso->build_id))
		build_id_size = sizeof(dso->build_id);
	dso = arena_alloc(&store->arena, sizeof(*dso) + build_id_size + length + 1);
	if (build_id_size)
		memcpy(dso->key, build_id, build_id_size);
	memcpy(dso->key + build_id_size, path, length);
	HASH_FIND(hh, store->dsos, dso->key, build_id_size + length, found);
	if (found)
		return found;
	dso->store = store;
	dso->path = dso->key + build_id_size;
	memcpy(dso->build_id, dso->key, build_id_size);
	dso->build_id_size = build_id_size;
	dso->whole.symbol.name = dso->whole.symbol.linkage = display_name(store->names, path);
	dso->whole.symbol.kind = SYMBOL_FILE;
	dso->whole.symbol.dso = dso;
	HASH_ADD_KEYPTR(hh, store->dsos, dso->key, build_id_size + length, dso);
	find_file(dso);
	return dso;
}

enum dso_state dso_state(const struct dso *dso)
{
	return dso->found.state;
}

const char *dso_path(const struct dso *dso)
{
	return dso->path;
}

const char *dso_file(const struct dso *dso)
{
	return dso->found.path;
}

const uint8_t *dso_build_id(const struct dso *dso, size_t *size)
{
	if (dso->build_id_size || !dso->found.elf.build_id) {
		*size = dso->build_id_size;
		return dso->build_id;
	}
	*size = dso->found.elf.build_id_size;
	return dso->found.elf.build_id;
}

const uint8_t *dso_borrow_bytes(struct dso *dso, size_t *size)
{
	*size = dso->found.elf.size;
	return dso->found.elf.bytes;
}

/* The symbol of a table entry, made when it is first asked for. */
static const struct symbol *symbol_of(struct dso *dso, struct symbol_entry *entry)
{
	struct dso_symbol *made;

	if (entry->symbol)
		return entry->symbol;
	made = arena_alloc(&dso->store->arena, sizeof(*made));
	made->symbol.start = entry->start;
	made->symbol.size = entry->end - entry->start;
	made->symbol.linkage = name_intern_text(dso->store->names, entry->name);
	made->symbol.name = demangle(dso->store->names, made->symbol.linkage);
	made->symbol.dso = dso;
	made->symbol.kind = entry->kind;
	made->symbol.binding = entry->binding;
	entry->symbol = &made->symbol;
	return entry->symbol;
}

const struct symbol *dso_borrow_symbol(struct dso *dso, uint64_t file_offset, uint64_t *offset)
{
	struct symbol_entry *entry;
	uint64_t vaddr;

	*offset = 0;
	if (dso->found.state != DSO_FOUND ||
	    elf_file_vaddr(&dso->found.elf, file_offset, &vaddr) < 0)
		return &dso->whole.symbol;
	if (!dso->table_read)
		symbol_table_init(&dso->table, &dso->found.elf, &dso->store->arena);
	dso->table_read = true;
	entry = symbol_table_find(&dso->table, vaddr);
	if (!entry)
		return &dso->whole.symbol;
	*offset = vaddr - entry->start;
	return symbol_of(dso, entry);
}

struct source_line dso_symbol_line(const struct symbol *symbol)
{
	/* Only symbols of a dso are asked for, and those are dso_symbols. */
	struct dso_symbol *known = (struct dso_symbol *)symbol;
	struct dso *dso = symbol->dso;

	if (!dso || symbol->kind != SYMBOL_FUNCTION)
		return (struct source_line){ 0 };
	if (!known->line_known) {
		known->line = source_lines_find(&dso->lines, &dso->found.elf, dso->store->names,
						symbol->start);
		known->line_known = true;
		if (dso->lines.broken)
			diag_warn(dso->store->diag, "dwarf-damaged",
				  "%s: its debug information is damaged: lines may be missing",
				  dso->found.path ? dso->found.path : dso->path);
		dso->lines.broken = false;
	}
	return known->line;
}
