/* SPDX-License-Identifier: MIT */
/* Makes symbols of functions that have no name: "libc.so.6+0x29d90". */
#include "symbols/dso/dso_store.h"

/* As dso_load_starts(), also with UNNAMED_FILES. */
static struct code_starts *dso_load_unwind(struct dso *dso)
{
	if (!dso->starts_loaded)
		code_starts_open(&dso->starts, &dso->elf);
	dso->starts_loaded = true;
	return &dso->starts;
}

struct code_starts *dso_load_starts(struct dso *dso)
{
	return dso->store->options.unnamed == UNNAMED_FILES ? NULL : dso_load_unwind(dso);
}

/* Returns the name of code at an address: "libc.so.6+0x..."; of memory "[vdso]+0x...". */
static const struct name *name_start(struct dso *dso, uint64_t vaddr)
{
	const struct name *file = dso->file_symbol.symbol.name;
	bool brackets = dso->state == DSO_FOUND && dso->path[0] != '[' && file->length > 2;
	char *text = alloc_text("%.*s+0x%" PRIx64, (int)file->length - (brackets ? 2 : 0),
				file->text + brackets, vaddr);
	const struct name *name = name_intern_text(dso->store->names, text);

	free(text);
	return name;
}

static struct symbol *unnamed_at(const struct dso *dso, uint64_t begin)
{
	struct unnamed_symbol *found;

	HASH_FIND(hh, dso->unnamed, &begin, sizeof(begin), found);
	return found ? &found->cached.symbol : NULL;
}

static struct symbol *add_unnamed(struct dso *dso, const struct code_start *start)
{
	struct unnamed_symbol *added = arena_alloc(&dso->store->arena, sizeof(*added));
	struct cached_symbol *cached = &added->cached;

	if (!dso->shown_path) {
		dso->shown_path = name_intern_text(dso->store->names, dso->path);
		dso->shown_build_id = dso_build_id_name(dso, dso->store->names);
	}
	cached->has_line = true;
	cached->symbol = (struct symbol){ .start = start->begin,
					  .size = start->end - start->begin,
					  .name = name_start(dso, start->begin),
					  .dso = dso,
					  .kind = SYMBOL_UNNAMED,
					  .binding = SYMBOL_LOCAL,
					  .has_traps = dso_borrow_traps(dso) != NULL };
	cached->symbol.linkage = cached->symbol.name;
	dso_mark_changed(dso, &cached->symbol);
	HASH_ADD(hh, dso->unnamed, cached.symbol.start, sizeof(start->begin), added);
	return &cached->symbol;
}

#define PAGE_SIZE 4096

/* No real program runs more than 64 MiB of such code. */
#define PAGES_MAX 16384

const struct symbol *dso_borrow_page(struct dso *dso, uint64_t address, uint64_t *offset)
{
	struct code_start page = { .begin = address & ~(uint64_t)(PAGE_SIZE - 1) };
	struct symbol *symbol;

	if (dso->state != DSO_NOT_A_FILE || dso->store->options.unnamed == UNNAMED_FILES)
		return NULL;
	HOLD_LOCK(&dso->store->lock);
	symbol = unnamed_at(dso, page.begin);
	if (!symbol && HASH_COUNT(dso->unnamed) < PAGES_MAX) {
		page.end = page.begin + PAGE_SIZE;
		symbol = add_unnamed(dso, &page);
		symbol->kind = SYMBOL_PART;
	}
	*offset = address - page.begin;
	return symbol;
}

const struct symbol *dso_symbol_of_start(struct dso *dso, const struct code_start *start)
{
	struct symbol *symbol = unnamed_at(dso, start->begin);
	const struct symbol *function;

	if (symbol)
		return symbol;
	/* Added before its function is looked up: two parts may jump to each other. */
	symbol = add_unnamed(dso, start);
	if (start->kind != CODE_PART)
		return symbol;
	function = start->source ? symbol_function(dso_symbol_at(dso, start->source)) : NULL;
	if (function && function != symbol && function->kind != SYMBOL_FILE)
		symbol->function = function;
	else
		symbol->kind = SYMBOL_PART;
	return symbol;
}

/*
 * Limit of call sites read per file: far more than exceptions pass through, but bounded work. Each
 * call is read once, so the sum does not depend on the number and order of lookups.
 */
#define WORK_MOST ((size_t)1 << 24)

/* A stored call counts as its memory, in bytes. */
#define CALL_WORK sizeof(struct landing_call)

static uint64_t read_pad(struct dso *dso, uint64_t call)
{
	struct unwind_table *table = &dso_load_unwind(dso)->unwind;
	struct unwind_range range;
	struct elf_part lsda;
	size_t left = WORK_MOST - dso->landing_work;
	uint64_t pad;

	if (!unwind_table_find(table, call, &range) || !range.lsda)
		return 0;
	lsda = elf_file_loaded_at(&dso->elf, range.lsda);
	pad = landing_pad_find(&lsda, elf_file_is_wide(&dso->elf), range.begin, call, &left);
	dso->landing_work = WORK_MOST - left;
	return pad;
}

uint64_t dso_find_landing_pad(struct dso *dso, uint64_t call)
{
	struct landing_call *known;
	HOLD_LOCK(&dso->store->lock);

	HASH_FIND(hh, dso->landing, &call, sizeof(call), known);
	if (known)
		return known->pad;
	if (dso->landing_work + CALL_WORK > WORK_MOST)
		return 0;
	dso->landing_work += CALL_WORK;
	known = alloc_zeroed(1, sizeof(*known));
	known->call = call;
	known->pad = read_pad(dso, call);
	HASH_ADD(hh, dso->landing, call, sizeof(call), known);
	return known->pad;
}
