/* SPDX-License-Identifier: MIT */
/* Looks up source lines and inlined calls of a dso by its debug information. */
#include "symbols/dso/dso_store.h"

/* Returns the name of a source path, relative to options.strip_prefix if it is below that. */
static const struct name *name_path(struct dso *dso, const char *path)
{
	const char *prefix = dso->store->options.strip_prefix;
	bool any = prefix && prefix[strspn(prefix, "/")];
	const char *rest = any ? path_after_prefix(path, prefix) : NULL;

	return name_intern_text(dso->store->names, rest ? rest + strspn(rest, "/") : path);
}

static const struct name *name_source(struct dso *dso, const struct line_row *row)
{
	const struct name *name;
	char *path;

	if (!row->file || !row->directory)
		return row->file ? name_path(dso, row->file) : NULL;
	path = alloc_text("%s/%s", row->directory, row->file);
	name = name_path(dso, path);
	free(path);
	return name;
}

/* Limits depend on what was read before, so no answer is kept then. */
static void warn_of_damage(struct dso *dso, const char *text)
{
	dso->cache.frozen = true;
	diag_warn(dso->store->diag, "lines-damaged", "%s: %s", dso->path, text);
}

/* Open the file of dwz(1) with the shared parts of the debug information in `file`. */
static void open_shared(struct dso *dso, const struct elf_file *file)
{
	struct debug_request request = dso_debug_request(dso);
	struct elf_part link = elf_file_section(file, ".gnu_debugaltlink");
	const char *path = file == &dso->elf ? dso->file : dso->debug_path;
	struct cursor c = cursor_over(link.bytes, link.size);
	const char *name = cursor_text(&c);

	if (name && cursor_left(&c) && !dso_unpack_beside(dso, DSO_PACKED_SHARED, &dso->shared))
		debug_file_open_shared(&request, path, name, c.at, cursor_left(&c), &dso->shared);
}

static void open_cache(struct dso *dso, struct line_cache *cache, const char *contents)
{
	if (dso->with_lines && dso->store->options.cache && !cache->name[0])
		line_cache_open(cache, &dso->elf, dso->with_lines, &dso->shared, contents);
}

void dso_find_lines(struct dso *dso)
{
	const struct elf_file *file = &dso->elf;

	if (dso->lines_found)
		return;
	dso->lines_found = true;
	if (!line_table_is_in(file)) {
		dso_load_debug_file(dso);
		file = &dso->debug;
	}
	if (!file->elf || !line_table_is_in(file))
		return;
	dso->with_lines = file;
	open_shared(dso, file);
	open_cache(dso, &dso->cache, "lines");
}

void dso_begin_lines(struct dso *dso)
{
	dso_find_lines(dso);
	if (dso->with_lines && !dso->lines_loaded && !dso->cache.count &&
	    line_table_is_in(dso->with_lines) && !dwarf_guard_is_bomb(dso->with_lines))
		debug_sections_begin(&dso->lines.own.sections, dso->with_lines, false,
				     dso->store->workers);
}

static void ask_lines(struct dso *dso)
{
	dso->lines_asked = true;
	dso_find_lines(dso);
}

/* Read the debug information at the first lookup that the cache cannot answer. */
static void load_lines(struct dso *dso)
{
	struct error err = { 0 };

	if (dso->lines_loaded)
		return;
	dso->lines_loaded = true;
	ask_lines(dso);
	if (dso->with_lines &&
	    line_table_open(&dso->lines, dso->with_lines, &dso->store->pool, &err) != 0)
		warn_of_damage(dso, err.text);
	if (dso->lines.own.image.dwarf && dso->shared.elf &&
	    line_table_share(&dso->lines, &dso->shared) != 0)
		warn_of_damage(dso, "the debug information that it shares with others (.dwz) is "
				    "damaged");
	dso->split_files.pool = &dso->store->pool;
	dso->split_files.request = dso_debug_request(dso);
	dso->split_files.debug_path = dso->debug_path;
	dso->inlined.split_files = &dso->split_files;
}

static struct source_line make_line(struct dso *dso, const struct line_row *row)
{
	return (struct source_line){ name_source(dso, row), row->line, row->column };
}

/* Like line_table_find(), but warns of damage. */
static int look_up_row(struct dso *dso, uint64_t vaddr, struct line_row *row)
{
	struct error err = { 0 };
	int status;

	load_lines(dso);
	status = line_table_find(&dso->lines, vaddr, row, &err);
	if (status < 0)
		warn_of_damage(dso, err.text);
	return status;
}

/* Fill the location of the outermost inlined call at an address.  Returns 0 if there is no call. */
static int look_up_call(struct dso *dso, uint64_t vaddr, struct line_row *row)
{
	struct inline_hit hit;
	uint32_t call;

	load_lines(dso);
	if (inline_table_find(&dso->inlined, &dso->lines, vaddr, &hit, NULL) != 1 ||
	    hit.call == RANGE_NONE)
		return 0;
	call = hit.call;
	while (hit.function->calls[call].parent != RANGE_NONE)
		call = hit.function->calls[call].parent;
	*row = hit.function->calls[call].at;
	return 1;
}

static int look_up_name(struct dso *dso, uint64_t vaddr, struct line_row *row)
{
	struct inline_hit hit;

	load_lines(dso);
	if (inline_table_find(&dso->inlined, &dso->lines, vaddr, &hit, NULL) != 1)
		return 0;
	*row = hit.function->at;
	return 1;
}

/* Returns 1 and fills *row; 0: there is no line; -1 after a warning of damage. */
static int answer(struct dso *dso, enum line_query query, uint64_t vaddr, struct line_row *row)
{
	static int (*const look_up[LINE_QUERIES])(struct dso *, uint64_t, struct line_row *) = {
		[LINE_OF_CODE] = look_up_row,
		[LINE_OF_CALL] = look_up_call,
		[LINE_OF_NAME] = look_up_name,
	};
	uint64_t found;
	int status;

	ask_lines(dso);
	if (line_cache_find(&dso->cache, query, vaddr, row, &found))
		return found != 0;
	*row = (struct line_row){ 0 };
	status = look_up[query](dso, vaddr, row);
	if (status >= 0)
		line_cache_add(&dso->cache, query, vaddr, row, (uint64_t)status);
	return status;
}

/* Returns the line of a jitdump's code at an offset of the file. */
static struct source_line find_dump_line(struct dso *dso, uint64_t offset)
{
	const struct dump_line *rows = dso->dump_lines, *row;
	size_t next = LOWER_BOUND(i, dso->dump_line_count, rows[i].offset <= offset);
	uint64_t begin, end;

	row = next ? &rows[next - 1] : NULL;
	range_map_find(&dso->map.map, offset, &begin, &end);
	if (!row || row->begin != begin || !row->file)
		return (struct source_line){ 0 };
	return (struct source_line){ name_path(dso, row->file), row->line, 0 };
}

static struct source_line find_line(struct dso *dso, uint64_t vaddr)
{
	struct source_line line = { 0 };
	struct line_row row;

	if (dso->dump_lines)
		return find_dump_line(dso, vaddr);

	switch (answer(dso, LINE_OF_CODE, vaddr, &row)) {
	case 1:
		line = make_line(dso, &row);
		break;
	case 0:
		row = (struct line_row){ 0 };
		row.line = go_table_line(&dso->table.go, vaddr, &row.file);
		if (row.line)
			line = make_line(dso, &row);
		else if (go_table_is_spent(&dso->table.go))
			diag_warn(dso->store->diag, "lines-too-costly",
				  "%s: its line table takes too long to read; the rest of "
				  "its code has no lines",
				  dso->path);
		break;
	}
	return line;
}

struct source_line dso_line(const struct symbol *symbol, uint64_t offset)
{
	if (!symbol->dso || symbol->kind != SYMBOL_FUNCTION)
		return (struct source_line){ 0 };
	HOLD_LOCK(&symbol->dso->store->lock);
	return find_line(symbol->dso, symbol->start + offset);
}

struct source_line dso_symbol_line(const struct symbol *symbol)
{
	/* Only the store makes symbols that have a dso, each inside a cached_symbol. */
	struct cached_symbol *cached = (struct cached_symbol *)symbol;
	struct line_row row;

	if (!symbol->dso)
		return (struct source_line){ 0 };
	/* Called for every slice; the line is looked up once. */
	if (__atomic_load_n(&cached->has_line, __ATOMIC_ACQUIRE))
		return cached->line;
	HOLD_LOCK(&symbol->dso->store->lock);
	if (!cached->has_line) {
		/* If a call at the very start is inlined, the row there is the called function's.
		 */
		cached->line = answer(symbol->dso, LINE_OF_CALL, symbol->start, &row) == 1
				       ? make_line(symbol->dso, &row)
				       : find_line(symbol->dso, symbol->start);
		__atomic_store_n(&cached->has_line, true, __ATOMIC_RELEASE);
	}
	return cached->line;
}

struct source_line dso_name_line(const struct symbol *symbol)
{
	struct line_row row;
	HOLD_LOCK(&symbol->dso->store->lock);

	return answer(symbol->dso, LINE_OF_NAME, symbol->start, &row) == 1
		       ? make_line(symbol->dso, &row)
		       : (struct source_line){ 0 };
}

/* ---- Statements ---------------------------------------------------------- */

static uint64_t find_unit(struct dso *dso, uint64_t vaddr)
{
	uint64_t begin, end, unit;

	ask_lines(dso);
	open_cache(dso, &dso->statements, "statements");
	if (line_cache_find_range(&dso->statements, UNIT_AT, vaddr, &begin, &end, &unit))
		return unit;
	load_lines(dso);
	unit = line_table_unit_at(&dso->lines, vaddr, &begin, &end);
	line_cache_add_range(&dso->statements, UNIT_AT, begin, end, unit);
	return unit;
}

uint64_t dso_find_unit(struct dso *dso, uint64_t vaddr)
{
	HOLD_LOCK(&dso->store->lock);
	return find_unit(dso, vaddr);
}

/* A call of dso_list_statements(). */
struct statement_list {
	struct dso *dso;
	void (*add)(void *context, const struct statement *statement);
	void *context;
	struct line_row last; /* row with the file of `at` */
	struct source_line at;
};

static void add_statement(struct statement_list *list, uint64_t vaddr, const struct line_row *row)
{
	struct statement statement = { .vaddr = vaddr };

	/* Most rows have the same file as the previous row. */
	if (row->line && (row->file != list->last.file || row->directory != list->last.directory))
		list->at.file = name_source(list->dso, row);
	if (row->line) {
		list->last = *row;
		statement.at = (struct source_line){ list->at.file, row->line, row->column };
	}
	list->add(list->context, &statement);
}

/* List the statements that the cache has.  Returns false if it lacks any. */
static bool list_cached(struct statement_list *list, uint64_t unit)
{
	const struct line_cache *cache = &list->dso->statements;
	uint64_t key = UNIT_KEY(unit), count, vaddr;
	struct line_row row;

	/* They are written in order, so the last one is there only if all are. */
	if (!line_cache_find(cache, UNIT_STATEMENT, key, &row, &count) ||
	    !line_cache_find(cache, UNIT_STATEMENT, key + count, &row, &vaddr))
		return false;
	for (uint64_t i = 1;
	     i <= count && line_cache_find(cache, UNIT_STATEMENT, key + i, &row, &vaddr); i++)
		add_statement(list, vaddr, &row);
	return true;
}

/* List the statements of a unit by debug information, and add them to the cache. */
static void list_rows(struct statement_list *list, Dwarf_Die *unit)
{
	struct dso *dso = list->dso;
	struct line_cache *cache = &dso->statements;
	uint64_t key = UNIT_KEY(dwarf_dieoffset(unit)), number = 0, vaddr;
	struct line_row row = { 0 };
	struct error err = { 0 };
	Dwarf_Lines *lines;
	size_t count = 0;

	if (line_table_rows(&dso->lines, unit, &lines, &count, &err) < 0)
		warn_of_damage(dso, err.text);
	for (size_t i = 0; i < count; i++) {
		if (!line_table_statement(unit, lines, i, &vaddr, &row))
			continue;
		add_statement(list, vaddr, &row);
		line_cache_add(cache, UNIT_STATEMENT, key + ++number, &row, vaddr);
	}
	line_cache_add(cache, UNIT_STATEMENT, key, &(struct line_row){ 0 }, number);
}

void dso_list_statements(struct dso *dso, uint64_t vaddr,
			 void (*add)(void *context, const struct statement *statement),
			 void *context)
{
	struct statement_list list = { .dso = dso, .add = add, .context = context };
	Dwarf_Die unit;
	HOLD_LOCK(&dso->store->lock);

	if (list_cached(&list, find_unit(dso, vaddr)))
		return;
	load_lines(dso);
	if (line_table_unit(&dso->lines, vaddr, &unit))
		list_rows(&list, &unit);
}

/* ---- Inlined calls ------------------------------------------------------- */

/* Limit of nested calls: inline_table.c reads no more, and a file may have a ring of them. */
#define NESTED_MOST 200

static const struct inlined_call *made_call(const struct dso *dso, uint64_t id)
{
	struct made_call *made;

	HASH_FIND(hh, dso->calls, &id, sizeof(id), made);
	return made ? made->call : NULL;
}

/* Make a call inside of another one, or of NULL. */
static const struct inlined_call *make_call(struct dso *dso, const struct inline_call *call,
					    const struct inlined_call *parent)
{
	struct cached_symbol *cached = arena_alloc(&dso->store->arena, sizeof(*cached));
	struct inlined_call *inlined = arena_alloc(&dso->store->arena, sizeof(*inlined));
	struct made_call *made = arena_alloc(&dso->store->arena, sizeof(*made));
	const char *linkage = call->name ?: "[unknown]";
	const char *shown = dso_demangle(dso, linkage);

	cached->symbol.linkage = name_intern_text(dso->store->names, linkage);
	cached->symbol.name =
		shown ? name_intern_text(dso->store->names, shown) : cached->symbol.linkage;
	cached->symbol.inlined = inlined;
	cached->symbol.dso = dso;
	cached->line = make_line(dso, &call->at);
	cached->has_line = true;
	*inlined =
		(struct inlined_call){ &cached->symbol, parent, make_line(dso, &call->declared) };
	made->id = call->id;
	made->call = inlined;
	HASH_ADD(hh, dso->calls, id, sizeof(made->id), made);
	return inlined;
}

/* Returns a call with those around it; NULL: the cache lacks one. */
static const struct inlined_call *find_cached_call(struct dso *dso, uint64_t id, unsigned depth)
{
	const struct inlined_call *made = made_call(dso, id), *parent = NULL;
	struct inline_call call = { .id = id };
	struct line_row name;
	uint64_t outer, unused;

	if (made)
		return made;
	if (depth == NESTED_MOST ||
	    !line_cache_find(&dso->cache, INLINED_CALL, id, &call.at, &outer) ||
	    !line_cache_find(&dso->cache, INLINED_NAME, id, &name, &unused) ||
	    !line_cache_find(&dso->cache, INLINED_DECLARED, id, &call.declared, &unused))
		return NULL;
	if (outer && !(parent = find_cached_call(dso, outer, depth + 1)))
		return NULL;
	call.name = name.file;
	return make_call(dso, &call, parent);
}

static uint64_t id_of(const struct inline_function *function, uint32_t index)
{
	return index == RANGE_NONE ? 0 : function->calls[index].id;
}

/* Returns a call with those around it; RANGE_NONE: NULL. */
static const struct inlined_call *find_call(struct dso *dso, const struct inline_function *function,
					    uint32_t index)
{
	struct inline_call call;
	const struct inlined_call *made = made_call(dso, id_of(function, index));

	if (index == RANGE_NONE || made)
		return made;
	call = function->calls[index];
	/* Names may be suffixes of one long string. */
	if (call.name &&
	    !dwarf_guard_allows_memory(&dso->lines.guard, strnlen(call.name, NAME_LENGTH_MAX)))
		call.name = NULL;
	line_cache_add(&dso->cache, INLINED_CALL, call.id, &call.at, id_of(function, call.parent));
	line_cache_add(&dso->cache, INLINED_NAME, call.id, &(struct line_row){ .file = call.name },
		       0);
	line_cache_add(&dso->cache, INLINED_DECLARED, call.id, &call.declared, 0);
	return make_call(dso, &call, find_call(dso, function, call.parent));
}

/* Find the function at an address as inline_table_find() does, with a warning of a problem. */
static bool find_hit(struct dso *dso, uint64_t vaddr, struct inline_hit *hit)
{
	struct error err = { 0 };
	int status;

	load_lines(dso);
	status = inline_table_find(&dso->inlined, &dso->lines, vaddr, hit, &err);
	if (status < 0) {
		diag_warn(dso->store->diag,
			  err.kind == ERROR_SYSTEM ? "split-dwarf-missing" : "lines-damaged",
			  "%s: %s", dso->path, err.text);
		status = inline_table_find(&dso->inlined, &dso->lines, vaddr, hit, NULL);
	}
	return status > 0;
}

/* Find the innermost call at an address; the range of `code` is one of addresses. */
static bool find_inlined(struct dso *dso, uint64_t vaddr, struct inlined_code *code)
{
	struct line_cache *cache = &dso->cache;
	struct inline_hit hit;
	uint64_t id;

	ask_lines(dso);
	if (line_cache_find_range(cache, INLINED_AT, vaddr, &code->begin, &code->end, &id)) {
		code->innermost = find_cached_call(dso, id, 0);
		if (!id || id == NO_FUNCTION || code->innermost)
			return id != NO_FUNCTION;
	}
	if (!find_hit(dso, vaddr, &hit)) {
		line_cache_add_range(cache, INLINED_AT, vaddr, vaddr + 1, NO_FUNCTION);
		return false;
	}
	id = id_of(hit.function, hit.call);
	*code = (struct inlined_code){ hit.begin, hit.end, find_call(dso, hit.function, hit.call) };
	line_cache_add_range(cache, INLINED_AT, hit.begin, hit.end, id);
	return true;
}

bool dso_find_inlined(struct dso *dso, uint64_t file_offset, struct inlined_code *code)
{
	const struct code_range *range = elf_file_code_at(&dso->elf, file_offset);
	HOLD_LOCK(&dso->store->lock);

	if (!range || !find_inlined(dso, file_offset - range->offset + range->vaddr, code))
		return false;
	code->begin = MAX(code->begin, range->vaddr) - range->vaddr + range->offset;
	code->end = MIN(code->end, range->vaddr + range->size) - range->vaddr + range->offset;
	return true;
}

const struct inlined_call *dso_inlined_at(struct dso *dso, uint64_t vaddr)
{
	const struct code_range *range = elf_file_code_at_vaddr(&dso->elf, vaddr);
	struct inlined_code code = { 0 };

	if (range)
		dso_find_inlined(dso, vaddr - range->vaddr + range->offset, &code);
	return code.innermost;
}

size_t dso_source_frames(struct dso *dso, uint64_t vaddr, struct source_frame frames[SOURCE_FRAMES])
{
	struct name_table *names = dso->store->names;
	struct inline_hit hit;
	struct line_row row;
	uint32_t index;
	size_t count = 0;
	HOLD_LOCK(&dso->store->lock);

	if (look_up_row(dso, vaddr, &row) != 1 ||
	    inline_table_find(&dso->inlined, &dso->lines, vaddr, &hit, NULL) != 1)
		return 0;
	for (index = hit.call; index != RANGE_NONE && count < SOURCE_FRAMES - 1; count++) {
		const struct inline_call *call = &hit.function->calls[index];

		if (!call->name)
			return 0;
		frames[count] =
			(struct source_frame){ name_intern_text(names, call->name),
					       row.line - call->declared.line, row.discriminator };
		row = call->at;
		index = call->parent;
	}
	frames[count] =
		(struct source_frame){ symbol_function(dso_symbol_at(dso, vaddr))->linkage,
				       row.line - hit.function->at.line, row.discriminator };
	return index == RANGE_NONE ? count + 1 : 0;
}

/* ---- The cache ----------------------------------------------------------- */

size_t dso_store_save_lines(struct dso_store *store, struct error *err)
{
	size_t saved = 0;
	HOLD_LOCK(&store->lock);

	for (struct dso *dso = store->dsos; dso; dso = dso->hh.next) {
		size_t count = dso->cache.added_count + dso->statements.added_count;

		if (dso->cache.frozen || dso->lines.guard.refused || dso->inlined.unsure)
			continue;
		if (line_cache_save(&dso->cache) < 0 || line_cache_save(&dso->statements) < 0)
			error_set_system(err, errno, "cannot write the cache of lines");
		else
			saved += count;
	}
	return saved;
}
