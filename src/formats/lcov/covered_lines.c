/* SPDX-License-Identifier: MIT */
/* Find the lines of statements by address, and count executions of each line. */
#include "src/formats/lcov/covered_lines.h"

#include <unistd.h>

#include "symbols/dso/dso_store.h"

struct covered_row {
	uint64_t vaddr;
	struct covered_line *line; /* NULL: code without a line */
	uint32_t dso;              /* index */
	uint32_t order;            /* order of addition */
	uint32_t stop;             /* index of the next row of another line or dso */
};

/* ---- Statements ---------------------------------------------------------- */

static struct covered_file *file_of_path(struct covered_lines *lines, const struct name *path)
{
	struct covered_file *file;

	if (path != lines->file) {
		char *text = alloc_zeroed(path->length + 2, 1), *end = text;
		const struct name *plain;

		for (const char *at = path->text; *at; at += strcspn(at, "/")) {
			size_t slashes = strspn(at, "/"), length;

			at += slashes;
			length = strcspn(at, "/");
			if (!length || (length == 1 && *at == '.'))
				continue;
			if (length == 2 && !strncmp(at, "..", 2) && end > text &&
			    strrchr(text, '/')) {
				end = strrchr(text, '/');
				*end = '\0';
				continue;
			}
			if (slashes)
				*end++ = '/';
			memcpy(end, at, length);
			end += length;
			*end = '\0';
		}
		plain = name_intern_text(lines->names, text);
		free(text);
		lines->plain_file = access(plain->text, F_OK) < 0 && access(path->text, F_OK) == 0
					    ? path
					    : plain;
	}
	lines->file = path;
	HASH_FIND_OR_ADD(lines->files, name, &lines->plain_file, file);
	return file;
}

static struct covered_line *line_of(struct covered_lines *lines, const struct source_line *at)
{
	struct covered_line *line;
	struct covered_at key;

	if (!at->line || !at->file)
		return NULL;
	key = (struct covered_at){ file_of_path(lines, at->file), at->line };
	HASH_FIND_OR_ADD(lines->lines, key, &key, line);
	return line;
}

static void add_row(void *context, const struct statement *statement)
{
	struct covered_lines *lines = context;

	*ARRAY_ADD(lines->rows, lines->row_count, lines->row_room) = (struct covered_row){
		.vaddr = statement->vaddr,
		.dso = lines->dso,
		.line = line_of(lines, &statement->at),
		.order = (uint32_t)lines->row_count,
	};
}

/* Ends of sequences first, as in libdw: jobs read units in any order. */
COMPARE_WITH(compare_rows, struct covered_row,
	     COMPARE(a->dso, b->dso) ?: COMPARE(a->vaddr, b->vaddr) ?:
	     COMPARE(!!a->line, !!b->line) ?: COMPARE(a->order, b->order))

/* If a sequence ends at the begin of the next, keep only the begin. */
static void sort_rows(struct covered_lines *lines)
{
	size_t kept = 0;

	SORT(lines->rows, lines->row_count, compare_rows);
	for (size_t i = 0; i < lines->row_count; i++) {
		const struct covered_row *row = &lines->rows[i];

		if (!row->line && i + 1 < lines->row_count && row[1].dso == row->dso &&
		    row[1].vaddr == row->vaddr)
			continue;
		lines->rows[kept++] = *row;
	}
	lines->row_count = kept;
}

static const struct symbol *symbol_of(const struct covered_lines *lines,
				      const struct covered_row *row)
{
	const struct dso *dso = pair_table_pointer(&lines->dso_ids, row->dso);

	return dso_borrow_symbol_at((struct dso *)dso, row->vaddr);
}

/*
 * As in gcov, the head of a function is the line of its name, not of its brace, at which the code
 * begins.
 */
static void move_heads(struct covered_lines *lines)
{
	for (size_t i = 0; i < lines->row_count; i++) {
		struct covered_row *row = &lines->rows[i];
		const struct symbol *symbol = symbol_of(lines, row);
		const struct covered_line *line = row->line;
		struct source_line name;

		if (!line || symbol->start != row->vaddr)
			continue;
		name = dso_name_line(symbol);
		if (!name.file || !name.line || name.line >= line->key.line ||
		    file_of_path(lines, name.file) != line->key.file)
			continue;
		for (; i < lines->row_count && lines->rows[i].line == line &&
		       symbol_of(lines, &lines->rows[i]) == symbol;
		     i++)
			lines->rows[i].line = line_of(lines, &name);
		i--;
	}
}

/* Returns the first row at or after an address of a dso. */
static size_t find_row(const struct covered_lines *lines, uint32_t dso, uint64_t vaddr)
{
	return LOWER_BOUND(i, lines->row_count,
			   lines->rows[i].dso < dso ||
				   (lines->rows[i].dso == dso && lines->rows[i].vaddr < vaddr));
}

/* Returns the line of the code before a row. */
static struct covered_line *line_before(const struct covered_lines *lines, uint32_t dso, size_t row)
{
	return row && lines->rows[row - 1].dso == dso ? lines->rows[row - 1].line : NULL;
}

/* ---- Counts -------------------------------------------------------------- */

static void count_line(struct covered_line *line, uint64_t count)
{
	line->count += count;
	line->key.file->ran = true;
}

/* Find the end of the code of each row's line, and the lines with code. */
static void find_ends(struct covered_lines *lines)
{
	for (size_t i = lines->row_count; i-- > 0;) {
		struct covered_row *row = &lines->rows[i];

		if (row->line)
			row->line->shown = true;
		row->stop = (uint32_t)i + 1;
		if (i + 1 < lines->row_count && row[1].line == row->line && row[1].dso == row->dso)
			row->stop = row[1].stop;
	}
}

static bool is_row_at(const struct covered_lines *lines, size_t row, uint32_t dso, uint64_t vaddr)
{
	return row < lines->row_count && lines->rows[row].dso == dso &&
	       lines->rows[row].vaddr == vaddr;
}

/*
 * Count the first row of a stretch if the code before it belongs to another line, and add its other
 * rows to `through`: for each row, the executions that came from the previous row minus that row's.
 */
static void count_lines(struct covered_lines *lines, const struct code_stretch *stretch,
			uint32_t dso, uint64_t *through)
{
	uint64_t end = stretch->last + (stretch->kind != STRETCH_STOPPED);
	size_t row = find_row(lines, dso, stretch->begin), stop = find_row(lines, dso, end);
	struct covered_line *line;

	if (row == stop)
		return;
	line = lines->rows[row].line;
	if (line && line != line_before(lines, dso, row))
		count_line(line, stretch->count);
	through[row + 1] += stretch->count;
	through[stop] -= stretch->count;
}

/* Returns whether a jump stays in its line, and repeats no row. */
static bool stays_in_line(const struct covered_lines *lines, const struct code_stretch *jump,
			  uint32_t dso, size_t row)
{
	size_t end = find_row(lines, dso, jump->begin + 1);
	bool loops = row < end && lines->rows[row].stop >= end;

	return jump->kind == STRETCH_JUMP && !loops &&
	       line_before(lines, dso, end) == lines->rows[row].line;
}

/* count_lines() assumed that execution came from the preceding code: correct this for branches. */
static void count_branch(struct covered_lines *lines, const struct code_stretch *branch,
			 uint32_t dso)
{
	size_t row = find_row(lines, dso, branch->last);
	struct covered_line *line;
	bool counted, counts;

	if (!is_row_at(lines, row, dso, branch->last) || !lines->rows[row].line)
		return;
	line = lines->rows[row].line;
	counted = line != line_before(lines, dso, row);
	counts = !stays_in_line(lines, branch, dso, row);
	if (counts != counted)
		count_line(line, counts ? branch->count : -branch->count);
}

static void count_through(struct covered_lines *lines, const uint64_t *through)
{
	uint64_t count = 0;

	for (size_t i = 1; i < lines->row_count; i++) {
		struct covered_line *line = lines->rows[i].line;

		count += through[i];
		if (line && line != lines->rows[i - 1].line && count)
			count_line(line, count);
	}
}

/* Count both outcomes of the conditional jump at the end of a stretch. */
static void count_jump(struct covered_lines *lines, const struct code_stretch *stretch,
		       uint32_t dso)
{
	struct jump_key key = { stretch->dso, stretch->last };
	struct covered_line *line =
		line_before(lines, dso, find_row(lines, dso, stretch->last + 1));
	struct covered_jump *jump;

	if (!line || stretch->branch != BRANCH_COND || stretch->kind != STRETCH_RAN)
		return;
	HASH_FIND_OR_ADD(lines->jumps, key, &key, jump);
	jump->line = line;
	jump->back = executed_insn_at(stretch->dso, stretch->last).distance < 0;
	jump->taken += stretch->taken;
	jump->not_taken += stretch->count - stretch->taken;
	line->key.file->ran = true;
}

/* Add the conditional jumps of a row that did not run: numbers of branches count all of a line. */
static void add_jumps(struct covered_lines *lines, size_t row)
{
	const struct covered_row *at = &lines->rows[row];
	struct jump_key key = { pair_table_pointer(&lines->dso_ids, at->dso), at->vaddr };
	struct covered_jump *jump;
	struct insn insn;

	if (!at->line || !at->line->key.file->ran || row + 1 == lines->row_count ||
	    at[1].dso != at->dso)
		return;
	for (; key.vaddr < at[1].vaddr; key.vaddr += insn.length) {
		insn = executed_insn_at(key.dso, key.vaddr);
		if (!insn.length)
			return;
		if (insn.kind != BRANCH_COND)
			continue;
		HASH_FIND_OR_ADD(lines->jumps, key, &key, jump);
		jump->line = at->line;
		jump->back = insn.distance < 0;
	}
}

static struct covered_function *function_of(struct covered_lines *lines,
					    const struct symbol *symbol, struct covered_line *line)
{
	struct covered_function *function;

	HASH_FIND_OR_ADD(lines->functions, symbol, &symbol, function);
	function->line = function->line ? function->line : line;
	return function;
}

/* Returns the symbol of a function that begins at a row of an executed file, or NULL. */
static const struct symbol *function_at(const struct covered_lines *lines,
					const struct covered_row *row)
{
	const struct symbol *symbol;

	if (!row->line || !row->line->key.file->ran)
		return NULL;
	symbol = symbol_of(lines, row);
	return symbol->kind == SYMBOL_FUNCTION && symbol->start == row->vaddr && !symbol->function
		       ? symbol
		       : NULL;
}

/* Count branches to a function's entry, except jumps from within it, which are loops. */
static void count_calls(struct covered_lines *lines, const struct code_stretch *stretch,
			uint32_t dso)
{
	uint64_t vaddr = stretch_is_code(stretch) ? stretch->begin : stretch->last;
	size_t row = find_row(lines, dso, vaddr);
	const struct symbol *symbol = NULL;
	struct covered_function *function;

	if (is_row_at(lines, row, dso, vaddr))
		symbol = function_at(lines, &lines->rows[row]);
	if (!symbol)
		return;
	function = function_of(lines, symbol, lines->rows[row].line);
	if (stretch_is_code(stretch))
		function->count += stretch->count;
	else if (stretch->kind == STRETCH_JUMP && stretch->begin - symbol->start < symbol->size)
		function->count -= stretch->count;
}

/* Find the executed files of source that are here, and those that ought to be. */
static void look_for_files(struct covered_lines *lines)
{
	bool *expects = alloc_zeroed(lines->dso_ids.count + 1, sizeof(*expects)); /* by dso */
	struct covered_file *file;

	for (file = lines->files; file; file = file->hh.next)
		file->missing = access(file->name->text, F_OK) < 0;
	for (size_t i = 0; i < lines->dso_ids.count; i++)
		expects[i] = pair_table_pointer(&lines->dso_ids, i) == lines->program;
	for (size_t i = 0; i < lines->row_count; i++) {
		const struct covered_row *row = &lines->rows[i];

		expects[row->dso] |=
			row->line && row->line->key.file->ran && !row->line->key.file->missing;
	}
	for (size_t i = 0; i < lines->row_count; i++)
		if (lines->rows[i].line)
			lines->rows[i].line->key.file->expected |= expects[lines->rows[i].dso];
	free(expects);
}

void covered_lines_find(struct covered_lines *lines, const struct executed_code *code,
			struct function_choice *choice)
{
	uint64_t *through; /* by row */

	for (size_t i = 0; i < code->count; i++) {
		const struct code_stretch *stretch = &code->stretches[i];

		if (stretch_is_code(stretch)) {
			uint64_t unit = dso_find_unit((struct dso *)stretch->dso, stretch->begin);
			size_t count = lines->unit_ids.count;

			if (!unit)
				continue;
			lines->dso = pair_table_find_pointer(&lines->dso_ids, stretch->dso);
			if (pair_table_find(&lines->unit_ids, lines->dso, (uint32_t)unit) == count)
				dso_list_statements((struct dso *)stretch->dso, stretch->begin,
						    add_row, lines);
		}
	}
	sort_rows(lines);
	for (size_t i = 0; i < lines->row_count && choice; i++)
		if (!function_choice_has(choice, symbol_of(lines, &lines->rows[i])))
			lines->rows[i].line = NULL;
	move_heads(lines);
	find_ends(lines);
	through = alloc_zeroed(lines->row_count + 2, sizeof(*through));
	for (size_t i = 0; i < code->count; i++) {
		const struct code_stretch *stretch = &code->stretches[i];
		uint32_t dso = pair_table_find_pointer(&lines->dso_ids, stretch->dso);

		if (!stretch_is_code(stretch)) {
			count_branch(lines, stretch, dso);
			continue;
		}
		count_lines(lines, stretch, dso, through);
		count_jump(lines, stretch, dso);
	}
	count_through(lines, through);
	for (size_t i = 0; i < lines->row_count; i++) {
		const struct symbol *symbol = function_at(lines, &lines->rows[i]);

		if (symbol)
			function_of(lines, symbol, lines->rows[i].line);
		add_jumps(lines, i);
	}
	for (size_t i = 0; i < code->count; i++)
		count_calls(lines, &code->stretches[i],
			    pair_table_find_pointer(&lines->dso_ids, code->stretches[i].dso));
	look_for_files(lines);
	free(through);
}

void covered_lines_release(struct covered_lines *lines)
{
	struct covered_function *function;
	struct covered_jump *jump;
	struct covered_line *line;
	struct covered_file *file;

	HASH_FREE_ALL(lines->functions, function);
	HASH_FREE_ALL(lines->jumps, jump);
	HASH_FREE_ALL(lines->lines, line);
	HASH_FREE_ALL(lines->files, file);
	pair_table_release(&lines->dso_ids);
	pair_table_release(&lines->unit_ids);
	free(lines->rows);
	*lines = (struct covered_lines){ 0 };
}
