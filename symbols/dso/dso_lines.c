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

	if (name && cursor_left(&c))
		debug_file_open_shared(&request, path, name, c.at, cursor_left(&c), &dso->shared);
}

/* Find the files with debug information, and its cache. */
static void find_lines(struct dso *dso)
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
	if (dso->store->options.cache)
		line_cache_open(&dso->cache, &dso->elf, file, &dso->shared);
}

void dso_begin_lines(struct dso *dso)
{
	find_lines(dso);
	if (dso->with_lines && !dso->lines_loaded && !dso->cache.count)
		line_table_begin(&dso->lines, dso->with_lines, dso->store->workers);
}

/* Read the debug information at the first lookup. */
static void load_lines(struct dso *dso)
{
	struct error err = { 0 };

	if (dso->lines_loaded)
		return;
	dso->lines_loaded = dso->lines_asked = true;
	find_lines(dso);
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
	int status;

	dso->lines_asked = true;
	find_lines(dso);
	status = line_cache_find(&dso->cache, query, vaddr, row);
	if (status >= 0)
		return status;
	status = look_up[query](dso, vaddr, row);
	if (status >= 0)
		line_cache_add(&dso->cache, query, vaddr, status == 1 ? row : NULL);
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

/*
 * Find the line of the function itself: if a call at its very start was inlined, the
 * row there belongs to the called function, and the result is the line of the call.
 */
static struct source_line find_start(struct dso *dso, uint64_t vaddr)
{
	struct line_row row;

	return answer(dso, LINE_OF_CALL, vaddr, &row) == 1 ? make_line(dso, &row)
							   : find_line(dso, vaddr);
}

struct source_line dso_symbol_line(const struct symbol *symbol)
{
	/* Only the store makes symbols that have a dso, each inside a cached_symbol. */
	struct cached_symbol *cached = (struct cached_symbol *)symbol;

	if (!symbol->dso)
		return (struct source_line){ 0 };
	/* Called for every slice; the line is looked up once. */
	if (__atomic_load_n(&cached->has_line, __ATOMIC_ACQUIRE))
		return cached->line;
	HOLD_LOCK(&symbol->dso->store->lock);
	if (!cached->has_line) {
		cached->line = find_start(symbol->dso, symbol->start);
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

uint64_t dso_find_unit(struct dso *dso, uint64_t vaddr)
{
	Dwarf_Die unit;
	HOLD_LOCK(&dso->store->lock);

	load_lines(dso);
	return line_table_unit(&dso->lines, vaddr, &unit) ? dwarf_dieoffset(&unit) : 0;
}

void dso_list_statements(struct dso *dso, uint64_t vaddr,
			 void (*add)(void *context, const struct statement *statement),
			 void *context)
{
	const struct name *file = NULL;
	struct line_row row, last = { 0 }; /* `last`: of `file` */
	struct error err = { 0 };
	Dwarf_Lines *lines;
	size_t count = 0;
	Dwarf_Die unit;
	HOLD_LOCK(&dso->store->lock);

	if (line_table_unit(&dso->lines, vaddr, &unit) &&
	    line_table_rows(&dso->lines, &unit, &lines, &count, &err) < 0)
		warn_of_damage(dso, err.text);
	for (size_t i = 0; i < count; i++) {
		struct statement statement = { 0 };

		if (!line_table_statement(&unit, lines, i, &statement.vaddr, &row))
			continue;
		/* Most rows have the same file as the previous row. */
		if (row.line && (row.file != last.file || row.directory != last.directory))
			file = name_source(dso, &row);
		if (row.line) {
			last = row;
			statement.at = (struct source_line){ file, row.line, row.column };
		}
		add(context, &statement);
	}
}

/* ---- Inlined calls ------------------------------------------------------- */

static const struct symbol *make_inlined_symbol(struct dso *dso, const struct inline_call *call,
						struct inlined_call *inlined)
{
	struct cached_symbol *cached = arena_alloc(&dso->store->arena, sizeof(*cached));
	const char *linkage = call->name;
	const char *shown;

	/* Names may be suffixes of one long string. */
	if (!linkage ||
	    !dwarf_guard_allows_memory(&dso->lines.guard, strnlen(linkage, NAME_LENGTH_MAX)))
		linkage = "[unknown]";
	shown = dso_demangle(dso, linkage);

	cached->symbol.linkage = name_intern_text(dso->store->names, linkage);
	cached->symbol.name =
		shown ? name_intern_text(dso->store->names, shown) : cached->symbol.linkage;
	cached->symbol.inlined = inlined;
	cached->symbol.dso = dso;
	cached->line = make_line(dso, &call->at);
	cached->has_line = true;
	inlined->declared = make_line(dso, &call->declared);
	return &cached->symbol;
}

/* Returns the call, with the enclosing calls as its parents; each is created at first use. */
static const struct inlined_call *make_call(struct dso *dso, struct inline_function *function,
					    uint32_t index)
{
	struct inlined_call *inner = NULL, *first = NULL;

	for (; index != RANGE_NONE; index = function->calls[index].parent) {
		struct inline_call *call = &function->calls[index];
		struct inlined_call *made = call->data;

		if (!made) {
			made = arena_alloc(&dso->store->arena, sizeof(*made));
			made->symbol = make_inlined_symbol(dso, call, made);
			call->data = made;
		}
		/* Other threads read a parent that is set, without the lock. */
		if (inner && !inner->parent)
			inner->parent = made;
		first = first ? first : made;
		inner = made;
	}
	return first;
}

bool dso_find_inlined(struct dso *dso, uint64_t file_offset, struct inlined_code *code)
{
	const struct code_range *range = elf_file_code_at(&dso->elf, file_offset);
	struct error err = { 0 };
	struct inline_hit hit;
	uint64_t vaddr;
	int status;
	HOLD_LOCK(&dso->store->lock);

	if (!range)
		return false;
	load_lines(dso);
	vaddr = file_offset - range->offset + range->vaddr;
	status = inline_table_find(&dso->inlined, &dso->lines, vaddr, &hit, &err);
	if (status < 0) {
		diag_warn(dso->store->diag,
			  err.kind == ERROR_SYSTEM ? "split-dwarf-missing" : "lines-damaged",
			  "%s: %s", dso->path, err.text);
		status = inline_table_find(&dso->inlined, &dso->lines, vaddr, &hit, NULL);
	}
	if (status <= 0)
		return false;
	hit.begin = MAX(hit.begin, range->vaddr);
	hit.end = MIN(hit.end, range->vaddr + range->size);
	code->begin = hit.begin - range->vaddr + range->offset;
	code->end = hit.end - range->vaddr + range->offset;
	code->innermost = make_call(dso, hit.function, hit.call);
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
		size_t count = HASH_COUNT(dso->cache.added);

		if (dso->cache.frozen || dso->lines.guard.refused || dso->inlined.unsure)
			continue;
		if (line_cache_save(&dso->cache) < 0)
			error_set_system(err, errno, "cannot write the cache of lines");
		else
			saved += count;
	}
	return saved;
}
