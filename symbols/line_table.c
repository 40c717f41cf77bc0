/* SPDX-License-Identifier: MIT */
#include "symbols/line_table.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/*
 * Compilers' output shrinks to a tenth at best; a section that claims to grow a
 * hundredfold is there to fill our memory.
 */
#define INFLATE_MAX 100

/* Nested ranges of different units are rare (-ffunction-sections with inlined copies). */
#define OVERLAP_MAX 16

static bool grows_too_much(const struct elf_file *file, Elf_Scn *scn, const GElf_Shdr *shdr)
{
	const uint8_t *bytes = elf_file_section_bytes(file, shdr);
	uint64_t size = 0;
	GElf_Chdr chdr;

	if (shdr->sh_flags & SHF_COMPRESSED)
		return !gelf_getchdr(scn, &chdr) || chdr.ch_size / INFLATE_MAX > shdr->sh_size;
	/* The older form: "ZLIB" and the size as 8 bytes, most significant first. */
	if (strncmp(elf_file_section_name(file, shdr), ".zdebug", 7) != 0)
		return false;
	for (unsigned i = 4; bytes && shdr->sh_size >= 12 && i < 12; i++)
		size = size << 8 | bytes[i];
	return size / INFLATE_MAX > shdr->sh_size;
}

static bool is_a_bomb(const struct elf_file *file)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	while ((scn = elf_nextscn(file->elf, scn)))
		if (gelf_getshdr(scn, &shdr) && grows_too_much(file, scn, &shdr))
			return true;
	return false;
}

/*
 * Units may share one list of ranges, so a small file can hold a great many
 * ranges; `room_left` counts down what is sound for a file of its size.
 */
static int add_unit(struct line_table *table, Dwarf_Die *unit, size_t *room_left)
{
	Dwarf_Addr base, begin, end;
	ptrdiff_t next = 0;

	while ((next = dwarf_ranges(unit, next, &base, &begin, &end)) > 0) {
		struct unit_range range = { begin, end, dwarf_dieoffset(unit) };

		if (!*room_left)
			return -1;
		--*room_left;
		if (begin >= end)
			continue;
		table->ranges =
			alloc_grow(table->ranges, &table->room, table->count + 1, sizeof(range));
		table->ranges[table->count++] = range;
	}
	return next < 0 ? -1 : 0;
}

static int read_units(struct line_table *table, size_t room_left)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	int status, failed = 0;

	while ((status = dwarf_get_units(table->dwarf, unit, &unit, NULL, NULL, &die, NULL)) == 0) {
		if (!room_left)
			return -1;
		if (dwarf_tag(&die) == DW_TAG_compile_unit ||
		    dwarf_tag(&die) == DW_TAG_skeleton_unit)
			failed |= add_unit(table, &die, &room_left);
	}
	return status < 0 || failed ? -1 : 0;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct unit_range *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return (x->unit > y->unit) - (x->unit < y->unit);
}

static bool has_debug_info(const struct elf_file *file)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	while ((scn = elf_nextscn(file->elf, scn))) {
		const char *name;

		if (!gelf_getshdr(scn, &shdr))
			continue;
		name = elf_file_section_name(file, &shdr);
		if (strcmp(name, ".debug_info") == 0 || strcmp(name, ".zdebug_info") == 0)
			return true;
	}
	return false;
}

int line_table_open(struct line_table *table, const struct elf_file *file, struct error *err)
{
	int failed;

	*table = (struct line_table){ 0 };
	if (!has_debug_info(file))
		return 0;
	if (is_a_bomb(file))
		return error_set(err, ERROR_FORMAT,
				 "debug information claims to be implausibly large");
	table->dwarf = dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
	if (!table->dwarf)
		return error_set(err, ERROR_FORMAT, "debug information: %s", dwarf_errmsg(-1));
	/* A unit and its range take more than 8 bytes; so do the instructions of most ranges. */
	failed = read_units(table, file->size / 8);
	if (table->count)
		qsort(table->ranges, table->count, sizeof(*table->ranges), compare_ranges);
	return failed ? error_set(err, ERROR_FORMAT, "debug information is damaged") : 0;
}

void line_table_close(struct line_table *table)
{
	if (table->dwarf)
		dwarf_end(table->dwarf);
	free(table->ranges);
	*table = (struct line_table){ 0 };
}

/* Returns how many ranges begin at or before the address. */
static size_t ranges_before(const struct line_table *table, uint64_t vaddr)
{
	size_t low = 0, high = table->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->ranges[middle].begin <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool find_unit(struct line_table *table, uint64_t vaddr, Dwarf_Die *unit)
{
	size_t last = ranges_before(table, vaddr);

	for (size_t i = 0; i < OVERLAP_MAX && i < last; i++) {
		const struct unit_range *range = &table->ranges[last - 1 - i];

		if (vaddr < range->end)
			return dwarf_offdie(table->dwarf, range->unit, unit);
	}
	return false;
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
 * libdw sorts the rows by address.  Several may have one address; the last
 * says where execution goes on, the first where the function's head is.
 */
static Dwarf_Line *first_row(Dwarf_Lines *lines, size_t count, uint64_t vaddr)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (row_address(lines, middle) <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || ends_sequence(lines, low - 1))
		return NULL;
	vaddr = row_address(lines, --low);
	while (low && row_address(lines, low - 1) == vaddr && !ends_sequence(lines, low - 1))
		low--;
	return dwarf_onesrcline(lines, low);
}

int line_table_find(struct line_table *table, uint64_t vaddr, struct line_row *row,
		    struct error *err)
{
	Dwarf_Lines *lines;
	Dwarf_Line *line;
	Dwarf_Die unit;
	size_t count;
	int number = 0, column = 0;

	if (!find_unit(table, vaddr, &unit))
		return 0;
	/* A unit without a line table is none of ours to complain about. */
	if (!dwarf_hasattr(&unit, DW_AT_stmt_list))
		return 0;
	if (dwarf_getsrclines(&unit, &lines, &count) != 0)
		return error_set(err, ERROR_FORMAT, "line table: %s", dwarf_errmsg(-1));
	line = first_row(lines, count, vaddr);
	if (!line)
		return 0;
	dwarf_lineno(line, &number);
	dwarf_linecol(line, &column);
	row->file = dwarf_linesrc(line, NULL, NULL);
	row->line = number > 0 ? (uint32_t)number : 0;
	row->column = column > 0 ? (uint32_t)column : 0;
	return 1;
}
