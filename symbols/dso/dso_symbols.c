/* SPDX-License-Identifier: MIT */
/* Looks up symbols of a dso: reads its table or names at the first lookup. */

#include "symbols/dso/dso_store.h"
#include "symbols/names/jit_dump.h"

struct debug_request dso_debug_request(const struct dso *dso)
{
	return (struct debug_request){ &dso->store->options.find, &dso->elf, dso->path, dso->file };
}

bool dso_unpack_beside(const struct dso *dso, const char *suffix, struct elf_file *file)
{
	char *path = alloc_text("%s%s", dso->path, suffix);
	size_t size;
	uint8_t *bytes = dso_unpack(dso->store, path, &size);

	free(path);
	return bytes && elf_file_open_bytes(file, bytes, size, NULL) == 0;
}

void dso_load_debug_file(struct dso *dso)
{
	struct debug_request request = dso_debug_request(dso);
	char path[BENEATH_PATH];

	if (dso->debug_loaded)
		return;
	dso->debug_loaded = true;
	if (!dso_unpack_beside(dso, DSO_PACKED_DEBUG, &dso->debug) &&
	    debug_file_open(&request, &dso->debug, path))
		dso->debug_path = dso_keep_text(dso->store, path);
}

/* Returns the file with the .symtab that the file of code lacks, or NULL. */
static const struct elf_file *load_symtab(struct dso *dso)
{
	struct error err = { 0 };

	if (symbol_table_is_complete(&dso->elf))
		return NULL;
	dso_load_debug_file(dso);
	if (dso->debug.elf && symbol_table_is_complete(&dso->debug))
		return &dso->debug;
	if (debug_file_open_mini(&dso->elf, &dso->mini, &err) < 0)
		diag_warn(dso->store->diag, "symbols-damaged", "%s: %s", dso->path, err.text);
	return dso->mini.elf ? &dso->mini : NULL;
}

/* Find the languages.  Returns whether the OCaml runtime's raising function is there. */
static bool find_languages(struct dso *dso)
{
	const struct symbol_table *table = &dso->table;
	bool ocaml = false;

	for (size_t i = 0; i < table->count; i++) {
		const char *name = symbol_table_shows(table, i)
					   ? symbol_table_name(table, &table->entries[i])
					   : NULL;

		ocaml |= name && name[0] == 'c' && strcmp(name, "caml_raise_exn") == 0;
		dso->languages |= name ? demangle_languages(name) : 0;
	}
	return ocaml;
}

const char *dso_demangle(struct dso *dso, const char *linkage)
{
	struct dso_store *store = dso->store;
	const char *shown;
	size_t length;

	store->demangler.languages = dso->languages;
	shown = demangler_demangle(&store->demangler, linkage, store->options.demangle);
	length = shown ? strlen(shown) : 0;
	store->text_allowed += DEMANGLE_TEXT_FACTOR * strlen(linkage);
	if (!store->demangler.costly &&
	    store->text_used + length <= DEMANGLE_TEXT_START + store->text_allowed) {
		store->text_used += length;
		return shown;
	}
	diag_warn(store->diag, "names-too-costly",
		  "%s: a name takes too much time or memory to demangle, and stays mangled: %.200s",
		  dso->path, linkage);
	return NULL;
}

/* perf's name for the linkage table's header since Linux 6.3. */
static const char plt_header[] = ".plt";

/* Returns `text` + "@plt" for a linkage stub, `text` as a name for others. */
static const struct name *make_name(struct dso *dso, const char *text, bool stub)
{
	const struct name *name;
	char *stub_text;

	if (!stub)
		return name_intern_text(dso->store->names, text);
	stub_text = alloc_text("%s@plt", text);
	name = name_intern_text(dso->store->names, stub_text);
	free(stub_text);
	return name;
}

bool dso_names_stub(const char *name, size_t length)
{
	static const char plt[] = "@plt";
	static const char *const thunks[] = {
		"__x86_indirect_",     "__llvm_retpoline_",       "__x86_return_thunk",
		"srso_return_thunk",   "srso_alias_return_thunk", "srso_safe_ret",
		"srso_alias_safe_ret", "retbleed_return_thunk",   "call_depth_return_thunk",
		"its_return_thunk",
	};
	size_t end = strlen(plt);

	for (size_t i = 0; length && i < COUNT_OF(thunks); i++)
		if (name[0] == thunks[i][0] && length >= strlen(thunks[i]) &&
		    memcmp(name, thunks[i], strlen(thunks[i])) == 0)
			return true;
	return length >= end && (memcmp(name + length - end, plt, end) == 0 ||
				 (length == end && memcmp(name, plt_header, end) == 0));
}

/* Returns whether a packed file has the name for a function without one: "libfoo.so+0x1230". */
static bool names_place(const struct dso *dso, const char *linkage)
{
	const char *place = dso->store->options.packed.size ? strstr(linkage, "+0x") : NULL;
	const char *base = base_name(dso->path);

	return place && (size_t)(place - linkage) == strlen(base) && starts_with(linkage, base);
}

/* Returns the new symbol in the cache's slot. */
static struct symbol *add_symbol(struct dso *dso, uint32_t index, uint64_t begin, uint64_t end)
{
	struct cached_symbol *cached = arena_alloc(&dso->store->arena, sizeof(*cached));

	cached->symbol.start = begin;
	cached->symbol.size = end - begin;
	cached->symbol.dso = dso;
	dso_mark_changed(dso, &cached->symbol);
	dso->symbol_cache[index] = cached;
	return &cached->symbol;
}

/* Returns the linkage name of an entry of the table; the table's header has none there. */
static const char *linkage_of(const struct dso *dso, uint32_t index)
{
	return symbol_table_name(&dso->table, &dso->table.entries[index]) ?: plt_header;
}

/* Returns the kind of a symbol (enum symbol_kind) of the table or of `map`. */
static uint8_t kind_of(const struct dso *dso, uint32_t index)
{
	const struct named_range *range = dso->named ? &dso->map.ranges[index] : NULL;
	struct symbol_entry *entry;
	const char *linkage;

	if (range)
		return dso_names_stub(range->name, range->length) ? SYMBOL_PLT : SYMBOL_FUNCTION;
	entry = &dso->table.entries[index];
	if (!entry->looked_at) {
		linkage = linkage_of(dso, index);
		entry->thunk = dso_names_stub(linkage, strlen(linkage));
		if (names_place(dso, linkage))
			entry->kind = SYMBOL_UNNAMED;
		entry->looked_at = true;
	}
	return entry->thunk ? SYMBOL_PLT : entry->kind;
}

static const struct symbol *symbol_of_entry(struct dso *dso, uint32_t index)
{
	const struct symbol_entry *entry;
	const char *linkage, *shown;
	struct symbol *symbol;
	char *bare = NULL;
	uint32_t function;
	uint8_t kind;
	bool stub;

	if (dso->symbol_cache[index])
		return &dso->symbol_cache[index]->symbol;
	entry = &dso->table.entries[index];
	kind = kind_of(dso, index);
	if (kind == SYMBOL_UNNAMED)
		return dso_symbol_of_start(
			dso, &(struct code_start){ .begin = entry->begin, .end = entry->end });
	/* Cached before its function is looked up: two entries may be parts of each other. */
	symbol = add_symbol(dso, index, entry->begin, entry->end);
	linkage = linkage_of(dso, index);
	stub = entry->kind == SYMBOL_PLT && linkage != plt_header;
	/* A packed file has the stub's own name. */
	if (dso->store->options.packed.size && ends_with(linkage, "@plt")) {
		linkage = bare = alloc_text("%.*s", (int)strlen(linkage) - 4, linkage);
		stub = true;
	}
	symbol->linkage = make_name(dso, linkage, stub);
	shown = dso_demangle(dso, linkage);
	symbol->name = shown ? make_name(dso, shown, stub) : symbol->linkage;
	free(bare);
	symbol->kind = kind;
	symbol->binding = entry->binding;
	symbol->has_traps = dso_borrow_traps(dso) != NULL;
	function = symbol_table_function(&dso->table, index);
	if (function != SYMBOL_ENTRY_NONE && function != index)
		symbol->function = symbol_function(symbol_of_entry(dso, function));
	dso->symbol_cache[index]->has_line = entry->kind != SYMBOL_FUNCTION;
	return symbol;
}

static const struct symbol *symbol_of_range(struct dso *dso, uint32_t index)
{
	const struct named_range *range;
	struct symbol *symbol;

	if (dso->symbol_cache[index])
		return &dso->symbol_cache[index]->symbol;
	range = &dso->map.ranges[index];
	symbol = add_symbol(dso, index, range->begin, range->end);
	symbol->name = name_intern(dso->store->names, range->name, range->length);
	symbol->linkage = symbol->name;
	symbol->binding = SYMBOL_GLOBAL;
	symbol->kind = kind_of(dso, index);
	dso->symbol_cache[index]->has_line = !dso->dump_lines;
	return symbol;
}

/* Returns the symbol of the last hit, made at first use. */
static const struct symbol *symbol_of_hit(struct dso *dso)
{
	struct last_hit hit;

	if (dso->hit.symbol)
		return dso->hit.symbol;
	/* The function of a part is another hit. */
	hit = dso->hit;
	hit.symbol = &dso->file_symbol.symbol;
	if (hit.entry != SYMBOL_ENTRY_NONE)
		hit.symbol = (dso->named ? symbol_of_range : symbol_of_entry)(dso, hit.entry);
	else if (hit.start.kind != CODE_NO_START)
		hit.symbol = dso_symbol_of_start(dso, &hit.start);
	dso->hit = hit;
	return hit.symbol;
}

/*
 * Find the function without a symbol around an address, in the range of the hit, which no symbol
 * covers, and cut the range to it.
 */
static void find_uncovered(struct dso *dso, uint64_t vaddr, struct last_hit *hit)
{
	struct code_starts *starts = dso_load_starts(dso);
	struct code_start start;
	bool cut;

	hit->entry = SYMBOL_ENTRY_NONE;
	if (!starts)
		return;
	start = code_starts_find(starts, vaddr);
	/* A symbol is in between. */
	cut = start.begin < hit->begin;
	if (!cut)
		hit->begin = start.begin;
	hit->end = MIN(hit->end, start.end);
	if (start.kind != CODE_BY_HINT || !cut)
		hit->start = start;
}

/* Returns whether a symbol without size in [*begin, *end) reaches an address. */
static bool reaches(struct dso *dso, uint64_t vaddr, uint64_t *begin, uint64_t *end)
{
	const struct code_starts *starts = dso_load_starts(dso);
	uint64_t limit = starts ? code_starts_next(starts, *begin) : UINT64_MAX;

	if (vaddr >= limit) {
		*begin = limit;
		return false;
	}
	*end = MIN(*end, limit);
	return true;
}

/* Set dso->hit to the range of one symbol around an address of code. */
static void find_hit(struct dso *dso, const struct code_range *code, uint64_t vaddr)
{
	struct last_hit hit = { .start.kind = CODE_NO_START };

	if (!dso->symbols_loaded) {
		struct error err = { 0 };

		dso->symbols_loaded = true;
		trap_table_open(&dso->traps, &dso->elf);
		if (symbol_table_load(&dso->table, &dso->elf, load_symtab(dso), &err) != 0)
			diag_warn(dso->store->diag, "symbols-damaged", "%s: %s", dso->path,
				  err.text);
		if (find_languages(dso) && !dso->traps.count)
			trap_table_scan(&dso->traps, &dso->elf);
		dso->symbol_cache = alloc_zeroed(dso->table.count, sizeof(*dso->symbol_cache));
	}
	hit.entry = symbol_table_find(&dso->table, vaddr, &hit.begin, &hit.end);
	hit.begin = MAX(hit.begin, code->vaddr);
	hit.end = MIN(hit.end, code->vaddr + code->size);
	if (hit.entry == SYMBOL_ENTRY_NONE ||
	    (!dso->table.entries[hit.entry].sized && !reaches(dso, vaddr, &hit.begin, &hit.end)))
		find_uncovered(dso, vaddr, &hit);
	hit.vaddr = hit.begin;
	hit.begin += code->offset - code->vaddr;
	hit.end += code->offset - code->vaddr;
	dso->hit = hit;
}

const struct symbol *dso_symbol_at(struct dso *dso, uint64_t vaddr)
{
	const struct last_hit *hit = &dso->hit;
	const struct code_range *code;

	if (vaddr - hit->vaddr < hit->end - hit->begin)
		return symbol_of_hit(dso);
	code = elf_file_code_at_vaddr(&dso->elf, vaddr);
	if (!code)
		return &dso->file_symbol.symbol;
	find_hit(dso, code, vaddr);
	return symbol_of_hit(dso);
}

const struct symbol *dso_borrow_symbol_at(struct dso *dso, uint64_t vaddr)
{
	HOLD_LOCK(&dso->store->lock);

	return dso_symbol_at(dso, vaddr);
}

COMPARE_BY(compare_dump_lines, struct dump_line, offset)

/* Add the lines that are in the code; the first one is that of the code's begin, too. */
static void add_dump_lines(struct dso *dso, struct jit_code code)
{
	struct dump_line row = { .begin = code.offset, .offset = code.offset };
	uint64_t ip;

	for (bool first = true; jit_dump_next_line(&code, &ip, &row.line); first = false) {
		row.file = code.file;
		if (ip - code.address >= code.size)
			continue;
		if (!first)
			row.offset = code.offset + (ip - code.address);
		*ARRAY_ADD(dso->dump_lines, dso->dump_line_count, dso->dump_line_room) = row;
	}
}

/* Load the names of the bytes of a jitdump, or of a file for Windows. */
static void load_dump(struct dso *dso)
{
	struct jit_dump dump;
	struct jit_code code;

	dso->symbols_loaded = true;
	if (!jit_dump_init(&dump, dso->elf.bytes, dso->elf.size))
		name_ranges_read_pe(&dso->map, dso->elf.bytes, dso->elf.size);
	while (jit_dump_next(&dump, &code)) {
		struct named_range range = { code.offset, code.offset + code.size, code.name,
					     (uint32_t)strlen(code.name) };

		if (code.moved)
			continue;
		name_ranges_add(&dso->map, &range);
		add_dump_lines(dso, code);
	}
	SORT(dso->dump_lines, dso->dump_line_count, compare_dump_lines);
	jit_dump_release(&dump);
	name_ranges_finish(&dso->map, UINT64_MAX);
	if (dso->map.count)
		dso_set_named(dso);
}

/* Fill dso->hit; returns false if no code is at the offset. */
static bool look_up(struct dso *dso, uint64_t file_offset)
{
	const struct code_range *code = elf_file_code_at(&dso->elf, file_offset);

	if (dso->elf.bytes && !dso->elf.elf && !dso->symbols_loaded)
		load_dump(dso);
	if (dso->named) {
		struct last_hit hit = { .start.kind = CODE_NO_START };

		hit.entry = range_map_find(&dso->map.map, file_offset, &hit.begin, &hit.end);
		if (hit.entry != SYMBOL_ENTRY_NONE && !dso->map.ranges[hit.entry].length)
			hit.entry = SYMBOL_ENTRY_NONE;
		hit.vaddr = hit.begin;
		dso->hit = hit;
		return true;
	}
	if (!code)
		return false;
	find_hit(dso, code, file_offset - code->offset + code->vaddr);
	return true;
}

/*
 * Find the range around a byte, as the hit of a dso: of *dso, or of a file in it, which *dso and
 * *file_offset become. Returns false if no code is there.
 */
static inline bool find_range(struct dso **dso, uint64_t *file_offset)
{
	const struct last_hit *hit;

	if (!(*dso)->elf.elf)
		*dso = dso_find_member(*dso, file_offset) ?: *dso;
	hit = &(*dso)->hit;
	return *file_offset - hit->begin < hit->end - hit->begin || look_up(*dso, *file_offset);
}

static enum dso_names names_of(const struct dso *dso)
{
	if (dso->named)
		return dso->map.count ? DSO_NAMES_ALL : DSO_NAMES_NONE;
	if (!dso->table.count)
		return DSO_NAMES_NONE;
	if (dso->table.strings[SYMBOL_STRINGS_SYMTAB].section || dso->table.go.count)
		return DSO_NAMES_ALL;
	return DSO_NAMES_EXPORTED;
}

struct dso_info dso_info(const struct dso *dso)
{
	HOLD_LOCK(&dso->store->lock);

	/* The decoder may have loaded the names of a file without chosen code. */
	if (!dso->used)
		return (struct dso_info){ .refused = dso->refused };
	return (struct dso_info){
		.used = true,
		.names = names_of(dso),
		.symbols = dso->named ? dso->map.count : dso->table.shown,
		.lines = dso->lines.own.image.dwarf ||
			 (dso->lines_asked &&
			  (dso->cache.count || dso->statements.count || dso->table.go.count)),
		.debug_file = dso->lines_asked || !symbol_table_is_complete(&dso->elf)
				      ? dso->debug_path
				      : NULL,
		.refused = dso->refused,
	};
}

const struct symbol *dso_borrow_symbol(struct dso *dso, uint64_t file_offset, uint64_t *offset)
{
	dso_use(dso);
	return dso_find_symbol(dso, file_offset, offset);
}

const struct symbol *dso_find_symbol(struct dso *dso, uint64_t file_offset, uint64_t *offset)
{
	const struct symbol *symbol;

	HOLD_LOCK(&dso->store->lock);

	*offset = 0;
	if (!find_range(&dso, &file_offset))
		return &dso->file_symbol.symbol;
	symbol = symbol_of_hit(dso);
	if (symbol != &dso->file_symbol.symbol)
		*offset = file_offset - dso->hit.begin + dso->hit.vaddr - symbol->start;
	return symbol;
}

void dso_use(struct dso *dso)
{
	if (dso->used)
		return;
	HOLD_LOCK(&dso->store->lock);
	if (dso->store->workers && dso->elf.elf)
		dso_begin_lines(dso);
	dso->used = true;
}

enum symbol_kind dso_find_range(struct dso *dso, uint64_t file_offset, uint64_t *begin,
				uint64_t *end)
{
	uint64_t inside = file_offset;
	const struct last_hit *hit;
	HOLD_LOCK(&dso->store->lock);

	*begin = *end = file_offset;
	if (!find_range(&dso, &inside))
		return SYMBOL_FILE;
	hit = &dso->hit;
	if (inside >= hit->begin && inside < hit->end) {
		*begin = hit->begin + (file_offset - inside);
		*end = hit->end + (file_offset - inside);
	}
	if (hit->entry == SYMBOL_ENTRY_NONE)
		return hit->start.kind == CODE_NO_START ? SYMBOL_FILE : SYMBOL_UNNAMED;
	return hit->symbol ? hit->symbol->kind : kind_of(dso, hit->entry);
}

const struct trap_table *dso_borrow_traps(const struct dso *dso)
{
	return dso->traps.count ? &dso->traps : NULL;
}
