/* SPDX-License-Identifier: MIT */
#include "symbols/source_lines.h"

#include <dwarf.h>
#include <stdlib.h>

#include "base/alloc.h"

/* Ranges of one unit; more than this is no compiler's work. */
#define UNIT_RANGES_MAX 1000000

static void add_range(struct source_lines *lines, uint64_t begin, uint64_t end, Dwarf_Off unit)
{
	if (begin >= end)
		return;
	lines->ranges = alloc_grow(lines->ranges, &lines->room, lines->count + 1,
				   sizeof(*lines->ranges));
	lines->ranges[lines->count++] = (struct unit_range){ begin, end, unit };
}

static void add_unit(struct source_lines *lines, Dwarf_Die *unit)
{
	Dwarf_Addr base, begin, end;
	ptrdiff_t next = 0;

	for (int i = 0; i < UNIT_RANGES_MAX; i++) {
		next = dwarf_ranges(unit, next, &base, &begin, &end);
		if (next < 0)
			lines->broken = true;
		if (next <= 0)
			return;
		add_range(lines, begin, end, dwarf_dieoffset(unit));
	}
}

static int compare(const void *left, const void *right)
{
	const struct unit_range *a = left, *b = right;

	return a->begin < b->begin ? -1 : a->begin > b->begin;
}

static void open_dwarf(struct source_lines *lines, const struct elf_file *file)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	uint8_t type;
	int status;

	lines->opened = true;
	lines->dwarf = dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
	if (!lines->dwarf)
		return;
	while ((status = dwarf_get_units(lines->dwarf, unit, &unit, NULL, &type, &die, NULL)) == 0) {
		if (type == DW_UT_compile || type == DW_UT_skeleton)
			add_unit(lines, &die);
	}
	if (status < 0)
		lines->broken = true;
	if (lines->count)
		qsort(lines->ranges, lines->count, sizeof(*lines->ranges), compare);
}

static const struct unit_range *find_unit(const struct source_lines *lines, uint64_t vaddr)
{
	size_t low = 0, high = lines->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (lines->ranges[middle].begin <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	return low && vaddr < lines->ranges[low - 1].end ? &lines->ranges[low - 1] : NULL;
}

struct source_line source_lines_find(struct source_lines *lines, const struct elf_file *file,
				     struct name_table *names, uint64_t vaddr)
{
	const struct unit_range *range;
	struct source_line found = { 0 };
	Dwarf_Line *row;
	Dwarf_Die unit;
	const char *path;
	int number = 0;

	if (!lines->opened)
		open_dwarf(lines, file);
	range = find_unit(lines, vaddr);
	if (!range || !dwarf_offdie(lines->dwarf, range->unit, &unit))
		return found;
	row = dwarf_getsrc_die(&unit, vaddr);
	path = row ? dwarf_linesrc(row, NULL, NULL) : NULL;
	if (!path)
		return found;
	found.file = name_intern_text(names, path);
	if (dwarf_lineno(row, &number) == 0 && number > 0)
		found.line = (uint32_t)number;
	if (dwarf_linecol(row, &number) == 0 && number > 0)
		found.column = (uint32_t)number;
	return found;
}

void source_lines_release(struct source_lines *lines)
{
	if (lines->dwarf)
		dwarf_end(lines->dwarf);
	free(lines->ranges);
	*lines = (struct source_lines){ 0 };
}
