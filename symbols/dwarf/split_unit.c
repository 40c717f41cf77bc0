/* SPDX-License-Identifier: MIT */
/* Finds the other parts of units and presents their sections to libdw as an ELF file. */
#include "symbols/dwarf/split_unit.h"

#include <dwarf.h>
#include <elf.h>

/* ---- Files --------------------------------------------------------------- */

/* Read the sections of an open file, unless it is a bomb: then it has no units. */
static void read_sections(struct split_file *split, size_t *pool)
{
	if (dwarf_guard_is_bomb(&split->file))
		return;
	dwarf_guard_init(&split->guard, &split->file, pool);
	debug_sections_read(&split->sections, &split->file, true);
	split->bytes_left = split->sections.views[DEBUG_INFO].size;
}

static void release_file(struct split_file *split)
{
	dwarf_guard_release(&split->guard);
	debug_sections_release(&split->sections);
	elf_file_close(&split->file);
}

void split_files_close(struct split_files *files)
{
	struct split_file *dwo;

	HASH_FREE_ALL(files->dwos, dwo, release_file(dwo));
	release_file(&files->package);
	*files = (struct split_files){ 0 };
}

/* ---- The hash table and the columns of .debug_cu_index --------------------- */

/* DWARF 5 has eight columns (table 7.1); later versions may add some. */
#define COLUMNS_MAX 32

#define INDEX_HEADER 16

/* The header of the section, checked against the section's size. */
struct dwp_header {
	const uint8_t *bytes; /* borrowed */
	uint16_t version;
	uint32_t columns;
	uint32_t units;
	uint32_t slots; /* slots of the hash table, a power of two */
};

static uint64_t number_at(const struct dwp_header *header, uint64_t offset, size_t size)
{
	struct cursor c = cursor_over(header->bytes + offset, size);

	return cursor_number(&c, size);
}

/*
 * Read the header and check the size.  A hash table of ids, one of rows, and three tables of 4-byte
 * numbers follow: the section of each column, offsets, sizes.  Returns 0, or -1 if the section is
 * damaged.
 */
static int read_header(struct dwp_header *header, const struct byte_view *index)
{
	struct cursor c = cursor_over(index->bytes, index->size);
	uint64_t rows;

	*header = (struct dwp_header){ .bytes = index->bytes };
	/* In version 2 the number has 4 bytes, in version 5 it has 2, with 2 bytes of padding. */
	header->version = cursor_u16(&c);
	if (cursor_u16(&c) != 0 || (header->version != 2 && header->version != 5))
		return -1;
	header->columns = cursor_u32(&c);
	header->units = cursor_u32(&c);
	header->slots = cursor_u32(&c);
	if (c.short_ || header->columns > COLUMNS_MAX || header->slots & (header->slots - 1))
		return -1;
	rows = 2 * (uint64_t)header->units + 1;
	return 12 * (uint64_t)header->slots + 4 * rows * header->columns <= cursor_left(&c) ? 0
											    : -1;
}

/* Returns the unit's row, counted from 1; 0 if it is absent (DWARF 5, 7.3.5.3). */
static uint32_t find_row(const struct dwp_header *header, uint64_t id)
{
	uint32_t mask = header->slots - 1, at = (uint32_t)id & mask;
	uint32_t step = ((uint32_t)(id >> 32) & mask) | 1;
	uint64_t rows = INDEX_HEADER + 8 * (uint64_t)header->slots;

	for (uint32_t tries = 0; tries < header->slots; tries++) {
		uint32_t row = (uint32_t)number_at(header, rows + 4 * (uint64_t)at, 4);

		if (!row)
			return 0;
		if (number_at(header, INDEX_HEADER + 8 * (uint64_t)at, 8) == id)
			return row;
		at = (at + step) & mask;
	}
	return 0;
}

/* Returns the section that a column's number (DW_SECT_*) means; DEBUG_SECTIONS: unused here. */
static enum debug_section section_of(const struct dwp_header *header, uint64_t column)
{
	switch (column) {
	case 1:
		return DEBUG_INFO;
	case 3:
		return DEBUG_ABBREV;
	case 6:
		return DEBUG_STR_OFFSETS;
	case 8:
		return header->version == 5 ? DEBUG_RNGLISTS : DEBUG_SECTIONS; /* macros before */
	default:
		return DEBUG_SECTIONS;
	}
}

/* Returns false if the part is beyond the end of its section. */
static bool cut(struct byte_view *section, uint64_t offset, uint64_t size)
{
	if (offset > section->size || size > section->size - offset)
		return false;
	if (section->bytes)
		section->bytes += offset;
	section->size = size;
	return true;
}

int dwp_index_cut(struct byte_view sections[DEBUG_SECTIONS], uint64_t id)
{
	struct byte_view all[DEBUG_CU_INDEX];
	struct dwp_header header;
	uint64_t table, width, row;

	if (read_header(&header, &sections[DEBUG_CU_INDEX]) != 0)
		return -1;
	row = find_row(&header, id);
	if (row == 0 || row > header.units)
		return row ? -1 : 0;
	table = INDEX_HEADER + 12 * (uint64_t)header.slots;
	width = 4 * (uint64_t)header.columns;
	memcpy(all, sections, sizeof(all));
	for (int i = 0; i < DEBUG_CU_INDEX; i++)
		if (i != DEBUG_STR)
			sections[i].size = 0;
	for (uint32_t i = 0; i < header.columns; i++) {
		uint64_t column = table + 4 * (uint64_t)i;
		enum debug_section section = section_of(&header, number_at(&header, column, 4));

		if (section == DEBUG_SECTIONS)
			continue;
		sections[section] = all[section];
		if (!cut(&sections[section], number_at(&header, column + row * width, 4),
			 number_at(&header, column + (header.units + row) * width, 4)))
			return -1;
	}
	return 1;
}

/* ---- The unit's entry in the program ------------------------------------- */

struct skeleton {
	struct split_unit *unit; /* its other part, which is opened */
	struct split_files *files;
	struct split_name name; /* its file is NULL if the unit is not split */
	uint64_t id;
	Dwarf_Addr base;
	struct byte_view addresses, ranges;
	struct elf_file file; /* a file that was just opened */
};

static Dwarf_Word number_of(Dwarf_Die *die, unsigned name, unsigned gnu_name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (dwarf_formudata(dwarf_attr(die, name, &attribute), &value) == 0 ||
	    dwarf_formudata(dwarf_attr(die, gnu_name, &attribute), &value) == 0)
		return value;
	return 0;
}

/* Returns a section of the program, starting at an offset. */
static struct byte_view find_section(Elf *elf, enum debug_section section, uint64_t from)
{
	Elf_Data *data = dwarf_image_data(elf, section);

	if (!data || from > data->d_size)
		return (struct byte_view){ 0 };
	return (struct byte_view){ (const uint8_t *)data->d_buf + from, data->d_size - from };
}

static struct skeleton read_skeleton(Dwarf_Die *die)
{
	struct skeleton skeleton = { 0 };
	Elf *elf = dwarf_getelf(dwarf_cu_getdwarf(die->cu));
	Dwarf_Attribute attribute;

	skeleton.name.file = dwarf_formstring(dwarf_attr(die, DW_AT_dwo_name, &attribute));
	if (!skeleton.name.file)
		skeleton.name.file =
			dwarf_formstring(dwarf_attr(die, DW_AT_GNU_dwo_name, &attribute));
	if (!skeleton.name.file ||
	    dwarf_cu_info(die->cu, NULL, NULL, NULL, NULL, &skeleton.id, NULL, NULL) != 0)
		return (struct skeleton){ 0 };
	skeleton.name.directory = dwarf_formstring(dwarf_attr(die, DW_AT_comp_dir, &attribute));
	if (dwarf_lowpc(die, &skeleton.base) != 0)
		skeleton.base = 0;
	skeleton.addresses =
		find_section(elf, DEBUG_ADDR, number_of(die, DW_AT_addr_base, DW_AT_GNU_addr_base));
	skeleton.ranges = find_section(
		elf, DEBUG_RANGES, number_of(die, DW_AT_GNU_ranges_base, DW_AT_GNU_ranges_base));
	return skeleton;
}

/* ---- The unit as a file of its own --------------------------------------- */

/* A .dwo may hold several units, of types for example. */
static bool find_die(struct split_unit *unit, uint64_t id)
{
	Dwarf_Off offset = 0, next, abbrevs;
	uint64_t found;
	uint8_t type;
	size_t header;

	while (dwarf_next_unit(unit->image.dwarf, offset, &next, &header, NULL, &abbrevs, NULL,
			       NULL, NULL, NULL) == 0) {
		if (!dwarf_guard_allows_unit(unit->guard, abbrevs))
			return false;
		if (dwarf_offdie(unit->image.dwarf, offset + header, &unit->die) &&
		    dwarf_cu_info(unit->die.cu, NULL, &type, NULL, NULL, &found, NULL, NULL) == 0 &&
		    type == DW_UT_split_compile && found == id) {
			unit->size = next - offset;
			return true;
		}
		offset = next;
	}
	return false;
}

/* libdw reads this many bytes of a header before it checks the section's end. */
#define HEADER_MAX 20

static bool open_sections(struct split_unit *unit, const struct skeleton *skeleton,
			  struct byte_view sections[DEBUG_SECTIONS])
{
	static const enum debug_section with_header[] = { DEBUG_STR_OFFSETS, DEBUG_RNGLISTS };

	sections[DEBUG_ADDR] = skeleton->addresses;
	sections[DEBUG_RANGES] = skeleton->ranges;
	unit->base = skeleton->base;
	for (int i = 0; i < 2; i++)
		if (sections[with_header[i]].size < HEADER_MAX)
			sections[with_header[i]] = (struct byte_view){ 0 };
	memcpy(unit->sections, sections, sizeof(unit->sections));
	if (!dwarf_image_open(&unit->image, unit->sections))
		return false;
	dwarf_guard_find_sections(unit->guard, unit->image.elf);
	return find_die(unit, skeleton->id);
}

/*
 * Open the unit in the package.  Returns 1 if it is open, 0 if the package does not have
 * it, -1 if it is damaged.
 */
static int open_packed(struct split_unit *unit, struct split_files *files,
		       const struct skeleton *skeleton)
{
	struct byte_view sections[DEBUG_SECTIONS];
	struct split_file *package = &files->package;
	int found;

	if (!files->package_looked_up &&
	    debug_file_open_package(&files->request, files->debug_path, &package->file))
		read_sections(package, files->pool);
	files->package_looked_up = true;
	if (!package->sections.begun)
		return 0;
	memcpy(sections, package->sections.views, sizeof(sections));
	found = dwp_index_cut(sections, skeleton->id);
	if (found <= 0)
		return found;
	if (sections[DEBUG_INFO].size > package->bytes_left)
		return -1;
	package->bytes_left -= sections[DEBUG_INFO].size;
	unit->guard = &package->guard;
	return open_sections(unit, skeleton, sections) ? 1 : -1;
}

/* Returns the file that was just opened; if it is known, closes it and returns the known one. */
static struct split_file *borrow_file(struct skeleton *skeleton)
{
	const struct file_identity *identity = &skeleton->file.identity;
	struct split_file *dwo;

	HASH_FIND(hh, skeleton->files->dwos, identity, sizeof(*identity), dwo);
	if (dwo) {
		elf_file_close(&skeleton->file);
		return dwo;
	}
	dwo = alloc_zeroed(1, sizeof(*dwo));
	dwo->file = skeleton->file;
	skeleton->file = (struct elf_file){ 0 };
	HASH_ADD(hh, skeleton->files->dwos, file.identity, sizeof(*identity), dwo);
	read_sections(dwo, skeleton->files->pool);
	return dwo;
}

static bool open_file(void *context)
{
	struct skeleton *skeleton = context;
	struct split_unit *unit = skeleton->unit;
	struct split_file *dwo = borrow_file(skeleton);
	struct byte_view sections[DEBUG_SECTIONS];

	memcpy(sections, dwo->sections.views, sizeof(sections));
	unit->guard = &dwo->guard;
	if (open_sections(unit, skeleton, sections) && unit->size <= dwo->bytes_left) {
		dwo->bytes_left -= unit->size;
		return true;
	}
	split_unit_close(unit);
	return false;
}

int split_unit_open(struct split_unit *unit, struct split_files *files, Dwarf_Die *die,
		    struct error *err)
{
	struct skeleton skeleton = read_skeleton(die);
	int packed;

	*unit = (struct split_unit){ 0 };
	if (!skeleton.name.file)
		return 0;
	skeleton.unit = unit;
	skeleton.files = files;
	packed = open_packed(unit, files, &skeleton);
	if (packed == 1)
		return 1;
	split_unit_close(unit);
	if (debug_file_open_split(&files->request, &skeleton.name, &skeleton.file, open_file,
				  &skeleton))
		return 1;
	if (packed < 0)
		return error_set(err, ERROR_FORMAT, "the package of debug information is damaged");
	return error_set(err, ERROR_SYSTEM, "%s is missing, also from .dwp files",
			 skeleton.name.file);
}

void split_unit_close(struct split_unit *unit)
{
	dwarf_image_close(&unit->image);
	*unit = (struct split_unit){ 0 };
}

/* ---- Ranges -------------------------------------------------------------- */

/* Returns the offset of a list in .debug_rnglists, by its number; 0 on damage. */
static uint64_t list_offset(const struct byte_view *lists, uint64_t number)
{
	struct cursor c = cursor_over(lists->bytes, lists->size);
	size_t width = 4;
	uint64_t begin;

	/* DWARF 5, 7.28: length, version, sizes of addresses and segments, count of lists. */
	if (cursor_u32(&c) == UINT32_MAX) {
		cursor_u64(&c);
		width = 8;
	}
	cursor_u32(&c);
	if (number >= cursor_u32(&c))
		return 0;
	begin = lists->size - cursor_left(&c);
	cursor_take(&c, number * width);
	begin += cursor_number(&c, width);
	return c.short_ ? 0 : begin;
}

/* DWARF 4, 2.17.3: pairs of addresses; a pair of zeros ends them, one of -1 sets the base. */
static ptrdiff_t next_pair(const struct byte_view *pairs, ptrdiff_t next, Dwarf_Addr *base,
			   Dwarf_Addr range[2])
{
	struct cursor c = cursor_over(pairs->bytes, pairs->size);

	cursor_take(&c, (size_t)next);
	for (;;) {
		Dwarf_Addr begin = cursor_u64(&c), end = cursor_u64(&c);

		if (c.short_)
			return -1;
		if (!begin && !end)
			return 0;
		if (begin != UINT64_MAX) {
			range[0] = *base + begin;
			range[1] = *base + end;
			return (ptrdiff_t)(pairs->size - cursor_left(&c));
		}
		*base = end;
	}
}

ptrdiff_t split_unit_ranges(const struct split_unit *unit, Dwarf_Die *die, ptrdiff_t next,
			    Dwarf_Addr *base, Dwarf_Addr range[2])
{
	Dwarf_Attribute attribute;
	Dwarf_Word offset = (Dwarf_Word)next;
	Dwarf_Half version = 0;

	/* A single range has no list; libdw returns 1 after it. */
	if (next == 1 || !dwarf_attr(die, DW_AT_ranges, &attribute))
		return dwarf_ranges(die, next, base, &range[0], &range[1]);
	dwarf_cu_info(die->cu, &version, NULL, NULL, NULL, NULL, NULL, NULL);
	if (!next) {
		*base = unit->base;
		if (dwarf_formudata(&attribute, &offset) != 0)
			return -1;
	}
	if (version < 5)
		return next_pair(&unit->sections[DEBUG_RANGES], (ptrdiff_t)offset, base, range);
	if (!next && dwarf_whatform(&attribute) == DW_FORM_rnglistx)
		offset = list_offset(&unit->sections[DEBUG_RNGLISTS], offset);
	/* After an offset, libdw counts from the base that it gets. */
	return offset > 1 && offset < PTRDIFF_MAX
		       ? dwarf_ranges(die, (ptrdiff_t)offset, base, &range[0], &range[1])
		       : -1;
}
