/* SPDX-License-Identifier: MIT */
/* Bounds the memory and time that damaged debug information can cost. */
#include "symbols/dwarf/dwarf_guard.h"

#include <dwarf.h>

#include "base/budget.h"
#include "base/cursor.h"

/*
 * Bytes that libdw takes for a unit, an abbreviation, a row, and a file of a line table.  A row
 * takes more while libdw reads a program: it is also in a list, which libdw sorts at the end.
 */
#define UNIT_MEMORY    1000
#define ABBREV_MEMORY  80
#define ROW_MEMORY     48
#define ROW_MEMORY_NOW 112
#define FILE_MEMORY    96

/* ---- Memory -------------------------------------------------------------- */

bool dwarf_guard_is_bomb(const struct elf_file *file)
{
	uint64_t left = file->size * DWARF_UNPACK_FACTOR;
	struct elf_section section = { 0 };

	while (elf_section_next(file->elf, &section)) {
		uint64_t size = debug_section_unpacked_size(file, &section);

		if (size > left)
			return true;
		left -= size;
	}
	return false;
}

/* Returns the memory that a file's size allows, without the file and its unpacked sections. */
static size_t own_memory(const struct elf_file *file)
{
	struct elf_section section = { 0 };
	uint64_t packed = 0, unpacked = 0, counted;

	while (elf_section_next(file->elf, &section)) {
		uint64_t size = debug_section_unpacked_size(file, &section);

		unpacked += size;
		packed += size ? section.header.sh_size : 0;
	}
	counted = DWARF_MEMORY_FACTOR * (file->size - MIN(packed, file->size) + unpacked);
	return counted > file->size + unpacked ? counted - file->size - unpacked : 0;
}

static size_t memory_left(const struct dwarf_guard *guard)
{
	return guard->own_left + (guard->pool ? *guard->pool : 0);
}

bool dwarf_guard_allows_memory(struct dwarf_guard *guard, size_t size)
{
	size_t own = MIN(size, guard->own_left);

	if (size > memory_left(guard)) {
		guard->refused = true;
		return false;
	}
	guard->own_left -= own;
	if (size > own)
		*guard->pool -= size - own;
	return true;
}

/* ---- Sections ------------------------------------------------------------ */

void dwarf_guard_init(struct dwarf_guard *guard, const struct elf_file *file, size_t *pool)
{
	*guard = (struct dwarf_guard){ .own_left = own_memory(file), .pool = pool };
}

void dwarf_guard_find_sections(struct dwarf_guard *guard, Elf *image)
{
	guard->info = dwarf_image_data(image, DEBUG_INFO);
	guard->abbrev = dwarf_image_data(image, DEBUG_ABBREV);
	guard->line = dwarf_image_data(image, DEBUG_LINE);
	guard->line_str = dwarf_image_data(image, DEBUG_LINE_STR);
	guard->str = dwarf_image_data(image, DEBUG_STR);
	guard->line_bytes_left = guard->line ? guard->line->d_size : 0;
}

static struct cursor cursor_at(const Elf_Data *data, Dwarf_Off offset)
{
	if (!data || !data->d_buf || offset >= data->d_size)
		return cursor_over("", 0);
	return cursor_over((const uint8_t *)data->d_buf + offset, data->d_size - offset);
}

/* Returns the memory of a table of abbreviations; above `most`, a lower bound of it. */
static size_t count_abbrevs(struct cursor table, size_t most)
{
	size_t memory = 0;

	while (cursor_uleb128(&table) && !table.short_ && memory <= most) {
		uint64_t name, form;

		cursor_uleb128(&table); /* tag */
		cursor_u8(&table);      /* has children */
					/* Move past the attributes of one abbreviation. */
		do {
			/* Nearly all numbers have one byte. */
			while (cursor_left(&table) > 1 && table.at[0] &&
			       !((table.at[0] | table.at[1]) & 0x80) &&
			       table.at[1] != DW_FORM_implicit_const)
				table.at += 2;
			name = cursor_uleb128(&table);
			form = cursor_uleb128(&table);
			if (form == DW_FORM_implicit_const)
				cursor_uleb128(&table);
		} while (!table.short_ && (name || form));
		memory += ABBREV_MEMORY;
	}
	return memory;
}

/* libdw keeps a copy of a table for each unit, up to the last abbreviation that was wanted. */
static size_t memory_of_abbrevs(struct dwarf_guard *guard, Dwarf_Off offset)
{
	struct cursor c = cursor_at(guard->abbrev, offset);
	struct abbrev_table table = { c.at, c.at + cursor_left(&c) };
	struct counted_abbrevs *counted;

	HASH_FIND_OR_ADD(guard->abbrevs, table, &table, counted);
	if (!counted->memory)
		counted->memory = count_abbrevs(c, memory_left(guard));
	return counted->memory;
}

bool dwarf_guard_allows_unit(struct dwarf_guard *guard, Dwarf_Off abbrevs)
{
	return dwarf_guard_allows_memory(guard, UNIT_MEMORY + memory_of_abbrevs(guard, abbrevs));
}

/* The header of a unit: DWARF 5, 7.5.1; before, 7.5.1.1 of DWARF 4. */
bool dwarf_guard_allows_all_units(struct dwarf_guard *guard)
{
	struct cursor c = cursor_at(guard->info, 0);

	while (cursor_left(&c)) {
		uint64_t length = cursor_u32(&c);
		size_t offset_size = length == UINT32_MAX ? 8 : 4;
		struct cursor unit;

		if (offset_size == 8)
			length = cursor_u64(&c);
		unit = c;
		if (cursor_u16(&unit) >= 5)
			cursor_u16(&unit); /* its type, size of an address */
		if (!dwarf_guard_allows_unit(guard, cursor_number(&unit, offset_size)))
			return false;
		cursor_take(&c, length);
	}
	return true;
}

/* ---- Line programs (DWARF 5, 6.2) ---------------------------------------- */

/* A line program that is counted. */
struct line_program {
	const struct dwarf_guard *guard;
	size_t longest;      /* directory, bytes */
	size_t memory, most; /* bytes of directories and files */
	/* From its header: */
	unsigned version;
	size_t offset_size;          /* 4 or 8 bytes */
	unsigned base;               /* the first special opcode */
	uint8_t operands[UINT8_MAX]; /* numbers of operands of standard opcodes */
	struct cursor names;         /* directories and files */
};

/* Returns the length of a text at an offset of a section. */
static size_t text_length(const Elf_Data *section, uint64_t offset)
{
	struct cursor c = cursor_at(section, offset);

	return strnlen((const char *)c.at, cursor_left(&c));
}

/* Returns the length of a text in a list of names; SIZE_MAX: libdw does not know the form. */
static size_t read_value(const struct dwarf_guard *guard, struct cursor *c, uint64_t form,
			 size_t offset_size)
{
	size_t length = 0;

	switch (form) {
	case DW_FORM_string:
		length = strnlen((const char *)c->at, cursor_left(c));
		cursor_take(c, length + 1);
		break;
	case DW_FORM_line_strp:
		length = text_length(guard->line_str, cursor_number(c, offset_size));
		break;
	case DW_FORM_strp:
		length = text_length(guard->str, cursor_number(c, offset_size));
		break;
	case DW_FORM_strx: /* no compiler writes it; any string */
		cursor_uleb128(c);
		length = guard->str ? guard->str->d_size : 0;
		break;
	case DW_FORM_strp_sup:
	case DW_FORM_sec_offset:
		cursor_take(c, offset_size);
		break;
	case DW_FORM_udata:
		cursor_uleb128(c);
		break;
	case DW_FORM_block:
		cursor_take(c, cursor_uleb128(c));
		break;
	case DW_FORM_data16:
		cursor_take(c, 8);
		__attribute__((fallthrough));
	case DW_FORM_data8:
		cursor_take(c, 8);
		break;
	case DW_FORM_data1:
	case DW_FORM_data2:
	case DW_FORM_data4:
		cursor_take(c, form == DW_FORM_data1 ? 1 : form == DW_FORM_data2 ? 2 : 4);
		break;
	default:
		return SIZE_MAX;
	}
	return length;
}

/* libdw puts the directory before the name of each file, and we keep the names of shown files. */
static void add_name(struct line_program *program, bool is_file, size_t length)
{
	if (!is_file && length > program->longest)
		program->longest = length;
	program->memory += FILE_MEMORY + (is_file ? 2 * (program->longest + length) : 0);
}

/* Move past one list of DWARF 5 (6.2.4). */
static void count_list(struct line_program *program, struct cursor *c, bool of_files)
{
	uint64_t forms[UINT8_MAX], count;
	unsigned form_count = cursor_u8(c);

	for (unsigned i = 0; i < form_count; i++) {
		cursor_uleb128(c); /* its kind */
		forms[i] = cursor_uleb128(c);
	}
	count = cursor_uleb128(c);
	for (uint64_t name = 0; name < count && program->memory <= program->most && !c->short_;
	     name++) {
		size_t length = 0;

		for (unsigned i = 0; i < form_count; i++) {
			size_t one = read_value(program->guard, c, forms[i], program->offset_size);

			if (one == SIZE_MAX)
				return;
			length += one;
		}
		add_name(program, of_files, length);
	}
}

/* Before DWARF 5, an empty string ends each list, and numbers follow a file's name. */
static void count_old_list(struct line_program *program, struct cursor *c, bool of_files)
{
	while (!c->short_ && program->memory <= program->most && cursor_left(c) && *c->at) {
		size_t length = read_value(program->guard, c, DW_FORM_string, 0);

		for (unsigned i = 0; i < 3 && of_files; i++)
			cursor_uleb128(c);
		add_name(program, of_files, length);
	}
	cursor_u8(c);
}

/* Directories and files: libdw keeps each in memory. */
static void count_names(struct line_program *program)
{
	struct cursor c = program->names;

	for (int of_files = 0; of_files <= 1; of_files++) {
		if (program->version >= 5)
			count_list(program, &c, of_files);
		else
			count_old_list(program, &c, of_files);
	}
}

/* Returns the program's opcodes. */
static struct cursor open_program(struct cursor c, struct line_program *program)
{
	uint64_t length = cursor_u32(&c), size;
	struct cursor opcodes;

	program->offset_size = length == UINT32_MAX ? 8 : 4;
	if (program->offset_size == 8)
		length = cursor_u64(&c);
	if (length < cursor_left(&c))
		c = cursor_over(c.at, length);
	program->version = cursor_u16(&c);
	if (program->version >= 5)
		cursor_u16(&c); /* sizes of an address and of a segment selector */
	size = cursor_number(&c, program->offset_size);
	opcodes = c;
	cursor_take(&opcodes, size);
	cursor_take(&c, program->version >= 4 ? 5 : 4);
	program->base = cursor_u8(&c);
	for (unsigned i = 1; i < program->base; i++)
		program->operands[i - 1] = cursor_u8(&c);
	program->names = c;
	return opcodes;
}

/* Returns the rows that an extended opcode adds; it can add a file, too. */
static size_t count_extended(struct line_program *program, struct cursor c)
{
	uint8_t opcode = cursor_u8(&c);

	if (opcode == DW_LNE_define_file)
		add_name(program, true, cursor_left(&c));
	return opcode == DW_LNE_end_sequence;
}

/* Returns the rows of a line program and counts its names, until they exceed program->most. */
static size_t count_rows(struct line_program *program, struct cursor c)
{
	size_t rows = 0;

	c = open_program(c, program);
	count_names(program);
	while (!c.short_ && cursor_left(&c) &&
	       program->memory + rows * ROW_MEMORY_NOW <= program->most) {
		unsigned opcode = cursor_u8(&c);

		if (opcode >= program->base) {
			rows++;
		} else if (opcode == 0) {
			uint64_t length = cursor_uleb128(&c);
			struct cursor operands = c;

			if (length < cursor_left(&c))
				operands = cursor_over(c.at, length);
			rows += count_extended(program, operands);
			cursor_take(&c, length);
		} else if (opcode == DW_LNS_fixed_advance_pc) {
			cursor_u16(&c);
		} else {
			rows += opcode == DW_LNS_copy;
			for (unsigned i = 0; i < program->operands[opcode - 1]; i++)
				cursor_uleb128(&c);
		}
	}
	return rows;
}

/* Returns whether a program that was not yet counted may be run. */
static bool spend_lines(struct dwarf_guard *guard, Dwarf_Off offset, size_t directory)
{
	struct line_program program = { .guard = guard,
					.longest = directory,
					.most = memory_left(guard) };
	struct cursor c = cursor_at(guard->line, offset);
	uint64_t length = cursor_u32(&c);
	size_t rows;

	if (length == UINT32_MAX)
		length = cursor_u64(&c);
	/* Programs do not overlap. */
	if (length > guard->line_bytes_left)
		return false;
	guard->line_bytes_left -= length;
	rows = count_rows(&program, cursor_at(guard->line, offset));
	return program.memory + rows * ROW_MEMORY_NOW <= program.most &&
	       dwarf_guard_allows_memory(guard, program.memory + rows * ROW_MEMORY);
}

static size_t directory_length(Dwarf_Die *unit)
{
	Dwarf_Attribute attribute;
	const char *directory =
		unit ? dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute)) : NULL;

	return directory ? strlen(directory) : 0;
}

bool dwarf_guard_allows_lines(struct dwarf_guard *guard, Dwarf_Off program, Dwarf_Die *unit)
{
	struct counted_lines *counted;

	HASH_FIND(hh, guard->lines, &program, sizeof(program), counted);
	if (counted)
		return counted->allowed;
	counted = alloc_zeroed(1, sizeof(*counted));
	counted->program = program;
	counted->allowed = spend_lines(guard, program, directory_length(unit));
	guard->refused |= !counted->allowed;
	HASH_ADD(hh, guard->lines, program, sizeof(program), counted);
	return counted->allowed;
}

void dwarf_guard_release(struct dwarf_guard *guard)
{
	struct counted_abbrevs *abbrevs;
	struct counted_lines *lines;

	HASH_FREE_ALL(guard->lines, lines);
	HASH_FREE_ALL(guard->abbrevs, abbrevs);
	*guard = (struct dwarf_guard){ 0 };
}
