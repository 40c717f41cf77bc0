/* SPDX-License-Identifier: MIT */
/* Finds the unit of an address, and its row in the unit's line table, by libdw. */
#include "symbols/dwarf/inline_table.h"

#include <dwarf.h>

/* Nested ranges of different units are rare (-ffunction-sections with inlined copies). */
#define OVERLAP_MAX 16

/* Units may share one list of ranges, so ranges are counted, too. */
static int add_ranges(struct line_table *table, Dwarf_Die *die, Dwarf_Off unit)
{
	Dwarf_Addr base, begin, end;
	ptrdiff_t next = 0;

	while ((next = dwarf_ranges(die, next, &base, &begin, &end)) > 0) {
		struct unit_range range = { begin, end, unit };

		if (!dwarf_guard_allows_memory(&table->guard, DWARF_RANGE_MEMORY))
			return -1;
		if (begin >= end)
			continue;
		*ARRAY_ADD(table->ranges, table->count, table->room) = range;
	}
	return next < 0 ? -1 : 0;
}

/* clang up to 3.4 gives a unit a beginning without an end; its functions have ranges. */
static int add_unit(struct line_table *table, Dwarf_Die *unit)
{
	Dwarf_Off offset = dwarf_dieoffset(unit);
	size_t before = table->count;
	int failed = add_ranges(table, unit, offset), status;
	Dwarf_Die die;

	if (table->count > before || !dwarf_hasattr(unit, DW_AT_low_pc) ||
	    dwarf_hasattr(unit, DW_AT_ranges))
		return failed;
	for (status = dwarf_child(unit, &die); status == 0; status = dwarf_siblingof(&die, &die)) {
		if (!dwarf_guard_allows_memory(&table->guard, DWARF_ENTRY_MEMORY))
			return -1;
		if (dwarf_tag(&die) == DW_TAG_subprogram)
			failed |= add_ranges(table, &die, offset);
	}
	return status < 0 ? -1 : failed;
}

/* Returns 0 if all units were read, -1 if some were not. */
static int read_units(struct line_table *table)
{
	Dwarf_Off unit = 0, next, abbrevs;
	size_t header;
	int status, failed = 0;

	while ((status = dwarf_next_unit(table->own.image.dwarf, unit, &next, &header, NULL,
					 &abbrevs, NULL, NULL, NULL, NULL)) == 0) {
		Dwarf_Die die;

		if (!dwarf_guard_allows_unit(&table->guard, abbrevs))
			return -1;
		if (!dwarf_offdie(table->own.image.dwarf, unit + header, &die))
			failed = -1;
		else if (dwarf_tag(&die) == DW_TAG_compile_unit ||
			 dwarf_tag(&die) == DW_TAG_skeleton_unit)
			failed |= add_unit(table, &die);
		unit = next;
	}
	return status < 0 ? -1 : failed;
}

/*
 * Several units claim the code of a function that the linker kept once: the first unit is right.
 * It is sorted last, because line_table_unit() searches from the end.
 */
COMPARE_WITH(compare_ranges, struct unit_range,
	     COMPARE(a->begin, b->begin) ?: COMPARE(b->unit, a->unit))

bool line_table_is_in(const struct elf_file *file)
{
	struct elf_section section = { 0 };

	return elf_section_find(file->elf, ".debug_info", &section) ||
	       elf_section_find(file->elf, ".zdebug_info", &section);
}

static bool open_part(struct line_part *part, const struct elf_file *file)
{
	debug_sections_read(&part->sections, file, false);
	return dwarf_image_open(&part->image, part->sections.views);
}

static void close_part(struct line_part *part)
{
	dwarf_image_close(&part->image);
	debug_sections_release(&part->sections);
}

int line_table_open(struct line_table *table, const struct elf_file *file, size_t *pool,
		    struct error *err)
{
	int failed;

	if (!line_table_is_in(file))
		return 0;
	if (dwarf_guard_is_bomb(file))
		return error_set(err, ERROR_FORMAT,
				 "debug information claims to be implausibly large");
	dwarf_guard_init(&table->guard, file, pool);
	if (!open_part(&table->own, file))
		return error_set(err, ERROR_FORMAT, "debug information cannot be read");
	dwarf_guard_find_sections(&table->guard, table->own.image.elf);
	errno = 0;
	failed = read_units(table);
	if (failed)
		alloc_check();
	SORT(table->ranges, table->count, compare_ranges);
	return failed ? error_set(err, ERROR_FORMAT, "debug information is damaged") : 0;
}

int line_table_share(struct line_table *table, const struct elf_file *shared)
{
	struct dwarf_guard guard;
	bool allowed;

	if (dwarf_guard_is_bomb(shared))
		return -1;
	dwarf_guard_init(&guard, shared, table->guard.pool);
	if (!open_part(&table->shared, shared))
		return -1;
	dwarf_guard_find_sections(&guard, table->shared.image.elf);
	allowed = dwarf_guard_allows_all_units(&guard);
	dwarf_guard_release(&guard);
	if (!allowed)
		return -1;
	dwarf_setalt(table->own.image.dwarf, table->shared.image.dwarf);
	return 0;
}

void line_table_close(struct line_table *table)
{
	close_part(&table->own);
	close_part(&table->shared);
	dwarf_guard_release(&table->guard);
	free(table->ranges);
	*table = (struct line_table){ 0 };
}

Dwarf_Off line_table_unit_at(const struct line_table *table, uint64_t vaddr, uint64_t *begin,
			     uint64_t *end)
{
	size_t next = LOWER_BOUND(i, table->count, table->ranges[i].begin <= vaddr);

	*begin = next ? table->ranges[next - 1].begin : 0;
	*end = next < table->count ? table->ranges[next].begin : UINT64_MAX;
	for (size_t i = 0; i < OVERLAP_MAX && i < next; i++) {
		const struct unit_range *range = &table->ranges[next - 1 - i];

		if (vaddr < range->end) {
			*end = MIN(*end, range->end);
			return range->unit;
		}
		*begin = MAX(*begin, range->end);
	}
	return 0;
}

bool line_table_unit(struct line_table *table, uint64_t vaddr, Dwarf_Die *unit)
{
	uint64_t begin, end;
	Dwarf_Off offset = line_table_unit_at(table, vaddr, &begin, &end);

	return offset && dwarf_offdie(table->own.image.dwarf, offset, unit);
}

static Dwarf_Addr row_address(Dwarf_Lines *lines, size_t index)
{
	Dwarf_Addr vaddr = 0;

	dwarf_lineaddr(dwarf_onesrcline(lines, index), &vaddr);
	return vaddr;
}

static bool ends_sequence(Dwarf_Lines *lines, size_t index)
{
	bool end = true;

	dwarf_lineendsequence(dwarf_onesrcline(lines, index), &end);
	return end;
}

/*
 * libdw sorts the rows by address.  The last row at an address describes the instruction there;
 * addr2line(1) chooses the same row.
 */
static Dwarf_Line *find_row(Dwarf_Lines *lines, size_t count, uint64_t vaddr)
{
	size_t next = LOWER_BOUND(i, count, row_address(lines, i) <= vaddr);

	return next && !ends_sequence(lines, next - 1) ? dwarf_onesrcline(lines, next - 1) : NULL;
}

/*
 * Before DWARF 5, libdw always puts the compiler's working directory before a name; since then,
 * only for the line table's directory 0.
 */
static const char *directory_of(Dwarf_Die *unit, const char *file)
{
	Dwarf_Attribute attribute;
	const char *directory;
	size_t length;

	if (!file || file[0] == '/')
		return NULL;
	directory = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
	length = directory ? strlen(directory) : 0;
	return strncmp(file, directory ? directory : "", length) == 0 && file[length] == '/'
		       ? NULL
		       : directory;
}

int line_table_rows(struct line_table *table, Dwarf_Die *unit, Dwarf_Lines **lines, size_t *count,
		    struct error *err)
{
	Dwarf_Attribute attribute;
	Dwarf_Word program;

	if (dwarf_formudata(dwarf_attr(unit, DW_AT_stmt_list, &attribute), &program) != 0)
		return 0;
	if (!dwarf_guard_allows_lines(&table->guard, program, unit))
		return error_set(err, ERROR_FORMAT, "a line table is implausibly large");
	errno = 0;
	if (dwarf_getsrclines(unit, lines, count) != 0) {
		alloc_check();
		return error_set(err, ERROR_FORMAT, "line table: %s", dwarf_errmsg(-1));
	}
	return 1;
}

static struct line_row read_row(Dwarf_Die *unit, Dwarf_Line *line)
{
	struct line_row row = { .file = dwarf_linesrc(line, NULL, NULL) };
	unsigned discriminator = 0;
	int number = 0, column = 0;

	dwarf_lineno(line, &number);
	dwarf_linecol(line, &column);
	dwarf_linediscriminator(line, &discriminator);
	row.directory = directory_of(unit, row.file);
	row.line = number > 0 ? (uint32_t)number : 0;
	row.column = column > 0 ? (uint32_t)column : 0;
	row.discriminator = discriminator;
	return row;
}

int line_table_find(struct line_table *table, uint64_t vaddr, struct line_row *row,
		    struct error *err)
{
	Dwarf_Lines *lines;
	Dwarf_Line *line;
	Dwarf_Die unit;
	size_t count;
	int status;

	if (!line_table_unit(table, vaddr, &unit))
		return 0;
	status = line_table_rows(table, &unit, &lines, &count, err);
	line = status == 1 ? find_row(lines, count, vaddr) : NULL;
	if (!line)
		return status == 1 ? 0 : status;
	*row = read_row(&unit, line);
	return 1;
}

bool line_table_statement(Dwarf_Die *unit, Dwarf_Lines *lines, size_t index, uint64_t *vaddr,
			  struct line_row *row)
{
	bool begins = false, ends = ends_sequence(lines, index);

	dwarf_linebeginstatement(dwarf_onesrcline(lines, index), &begins);
	*vaddr = row_address(lines, index);
	*row = ends ? (struct line_row){ 0 } : read_row(unit, dwarf_onesrcline(lines, index));
	return begins || ends;
}

void line_table_file(struct line_table *table, Dwarf_Die *unit, uint32_t file, struct line_row *row)
{
	Dwarf_Attribute attribute;
	Dwarf_Files *files;
	Dwarf_Word program;
	size_t count;

	row->file = row->directory = NULL;
	if (dwarf_formudata(dwarf_attr(unit, DW_AT_stmt_list, &attribute), &program) == 0 &&
	    !dwarf_guard_allows_lines(&table->guard, program, unit))
		return;
	errno = 0;
	if (dwarf_getsrcfiles(unit, &files, &count) != 0) {
		alloc_check();
		return;
	}
	if (file >= count)
		return;
	row->file = dwarf_filesrc(files, file, NULL, NULL);
	row->directory = directory_of(unit, row->file);
}
