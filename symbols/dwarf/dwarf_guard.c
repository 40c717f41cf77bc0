/* SPDX-License-Identifier: MIT */
/* Bounds the memory and time that damaged debug information can cost. */
#include "symbols/dwarf/dwarf_guard.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/budget.h"
#include "base/cursor.h"
#include "base/tables/hash.h"

/*
 * All by the size of the file.  A unit costs libdw about 900 bytes of memory;
 * the smallest real ones take a few hundred bytes of the file, with their code,
 * lines and symbols.  A range takes some bytes itself, and some of code.
 * Abbreviations are counted up to that of the unit's first entry, which
 * compilers put first.
 */
#define BYTES_PER_UNIT   64
#define BYTES_PER_RANGE  8
#define ABBREVS_PER_BYTE 8

/* A line program that was counted. */
struct counted_lines {
	Dwarf_Off program;
	bool allowed;
	UT_hash_handle hh;
};

/* Returns the size to which a section of debug information is unpacked; 0: it is not packed. */
static uint64_t unpacked_size(const struct elf_file *file, const struct elf_section *section)
{
	const GElf_Shdr *shdr = &section->header;
	const uint8_t *bytes = elf_file_section_bytes(file, shdr);
	uint64_t size = 0;
	GElf_Chdr chdr;

	if (shdr->sh_flags & SHF_COMPRESSED)
		return gelf_getchdr(section->scn, &chdr) ? chdr.ch_size : UINT64_MAX;
	/* The older form: "ZLIB" and the size as 8 bytes, most significant first. */
	if (strncmp(section->name, ".zdebug", 7) != 0)
		return 0;
	for (unsigned i = 4; bytes && shdr->sh_size >= 12 && i < 12; i++)
		size = size << 8 | bytes[i];
	return size;
}

bool dwarf_guard_is_bomb(const struct elf_file *file)
{
	uint64_t left = file->size * DWARF_UNPACK_FACTOR;
	struct elf_section section = { 0 };

	while (elf_section_next(file->elf, &section)) {
		uint64_t size = unpacked_size(file, &section);

		if (size > left)
			return true;
		left -= size;
	}
	return false;
}

/* As libdw does, choose the first section of a name. */
static void choose_section(Elf_Data **data, const struct elf_section *section, const char *name,
			   const char *packed_name)
{
	if (!*data && (strcmp(section->name, name) == 0 || strcmp(section->name, packed_name) == 0))
		*data = elf_getdata(section->scn, NULL);
}

static size_t size_of(const Elf_Data *data)
{
	return data ? data->d_size : 0;
}

void dwarf_guard_init(struct dwarf_guard *guard, const struct elf_file *file)
{
	struct elf_section section = { 0 };
	size_t unpacked;

	*guard = (struct dwarf_guard){ .units_left = 64 + file->size / BYTES_PER_UNIT,
				       .ranges_left = file->size / BYTES_PER_RANGE,
				       .bytes_left = file->size * ABBREVS_PER_BYTE };
	while (elf_section_next(file->elf, &section)) {
		choose_section(&guard->info, &section, ".debug_info", ".zdebug_info");
		choose_section(&guard->abbrev, &section, ".debug_abbrev", ".zdebug_abbrev");
		choose_section(&guard->line, &section, ".debug_line", ".zdebug_line");
	}
	guard->line_bytes_left = size_of(guard->line);
	unpacked = size_of(guard->info) + size_of(guard->line);
	guard->rows_left = DWARF_ROWS_START +
			   (unpacked > file->size ? unpacked : file->size) / DWARF_BYTES_PER_ROW;
}

static struct cursor cursor_at(const Elf_Data *data, Dwarf_Off offset)
{
	if (!data || !data->d_buf || offset >= data->d_size)
		return cursor_over("", 0);
	return cursor_over((const uint8_t *)data->d_buf + offset, data->d_size - offset);
}

/* Move past the attributes of one abbreviation. */
static void skip_attributes(struct cursor *c)
{
	uint64_t name, form;

	do {
		name = cursor_uleb128(c);
		form = cursor_uleb128(c);
		if (form == DW_FORM_implicit_const)
			cursor_uleb128(c);
	} while (!c->short_ && (name || form));
}

bool dwarf_guard_allows_unit(struct dwarf_guard *guard, Dwarf_Off entry, Dwarf_Off abbrevs)
{
	struct cursor die = cursor_at(guard->info, entry);
	struct cursor table = cursor_at(guard->abbrev, abbrevs);
	uint64_t wanted = cursor_uleb128(&die), code;
	size_t before = cursor_left(&table);

	if (!guard->units_left--)
		return false;
	do {
		code = cursor_uleb128(&table);
		if (!code)
			break;
		cursor_uleb128(&table); /* tag */
		cursor_u8(&table);      /* has children */
		skip_attributes(&table);
		if (before - cursor_left(&table) > guard->bytes_left)
			return false;
	} while (!table.short_ && code != wanted);
	guard->bytes_left -= before - cursor_left(&table);
	return true;
}

bool dwarf_guard_allows_range(struct dwarf_guard *guard)
{
	if (!guard->ranges_left)
		return false;
	guard->ranges_left--;
	return true;
}

bool dwarf_guard_allows_all_units(struct dwarf_guard *guard)
{
	struct cursor c = cursor_at(guard->info, 0);

	while (cursor_left(&c)) {
		uint64_t length = cursor_u32(&c);

		if (!guard->units_left)
			return false;
		guard->units_left--;
		cursor_take(&c, length == UINT32_MAX ? cursor_u64(&c) : length);
	}
	return true;
}

/* ---- Line programs (DWARF 5, 6.2) ---------------------------------------- */

/* The header of a line program. */
struct line_header {
	unsigned version;
	size_t offset_size;          /* 4 or 8 bytes */
	unsigned base;               /* the first special opcode */
	uint8_t operands[UINT8_MAX]; /* numbers of operands of standard opcodes */
	struct cursor names;         /* directories and files */
};

/* Move past the value of a form in a list of names.  Returns false if libdw knows none such. */
static bool skip_form(struct cursor *c, uint64_t form, size_t offset_size)
{
	switch (form) {
	case DW_FORM_string:
		while (!c->short_ && cursor_u8(c))
			;
		return true;
	case DW_FORM_line_strp:
	case DW_FORM_strp:
	case DW_FORM_strp_sup:
	case DW_FORM_sec_offset:
		cursor_take(c, offset_size);
		return true;
	case DW_FORM_udata:
	case DW_FORM_strx:
		cursor_uleb128(c);
		return true;
	case DW_FORM_block:
		cursor_take(c, cursor_uleb128(c));
		return true;
	case DW_FORM_data1:
	case DW_FORM_data2:
	case DW_FORM_data4:
	case DW_FORM_data8:
	case DW_FORM_data16:
		cursor_take(c, form == DW_FORM_data1   ? 1
			       : form == DW_FORM_data2 ? 2
			       : form == DW_FORM_data4 ? 4
			       : form == DW_FORM_data8 ? 8
						       : 16);
		return true;
	}
	return false;
}

/* Move past one list of DWARF 5 (6.2.4).  Returns the number of its names. */
static size_t count_list(struct cursor *c, size_t offset_size, size_t most)
{
	uint64_t forms[UINT8_MAX], count;
	unsigned form_count = cursor_u8(c);

	for (unsigned i = 0; i < form_count; i++) {
		cursor_uleb128(c); /* what it is */
		forms[i] = cursor_uleb128(c);
	}
	count = cursor_uleb128(c);
	for (uint64_t name = 0; name < count && name < most && !c->short_; name++)
		for (unsigned i = 0; i < form_count; i++)
			if (!skip_form(c, forms[i], offset_size))
				return name;
	return count < most ? count : most;
}

/* Directories and files, up to `most`: libdw keeps each in memory. */
static size_t count_names(const struct line_header *header, size_t most)
{
	struct cursor c = header->names;
	size_t count = 0;

	if (header->version >= 5) {
		count = count_list(&c, header->offset_size, most);
		return count + count_list(&c, header->offset_size, most - count);
	}
	/* A text without a byte ends each list; numbers follow the name of a file. */
	for (unsigned numbers = 0; numbers <= 3; numbers += 3) {
		while (!c.short_ && count < most && cursor_left(&c) && *c.at) {
			skip_form(&c, DW_FORM_string, 0);
			for (unsigned i = 0; i < numbers; i++)
				cursor_uleb128(&c);
			count++;
		}
		cursor_u8(&c);
	}
	return count;
}

/* Returns the program's opcodes. */
static struct cursor open_program(struct cursor c, struct line_header *header)
{
	uint64_t length = cursor_u32(&c), size;
	struct cursor program;

	*header = (struct line_header){ .offset_size = length == UINT32_MAX ? 8 : 4 };
	if (header->offset_size == 8)
		length = cursor_u64(&c);
	if (length < cursor_left(&c))
		c = cursor_over(c.at, length);
	header->version = cursor_u16(&c);
	if (header->version >= 5)
		cursor_u16(&c); /* sizes of an address and of a segment selector */
	size = cursor_number(&c, header->offset_size);
	program = c;
	cursor_take(&program, size);
	cursor_take(&c, header->version >= 4 ? 5 : 4);
	header->base = cursor_u8(&c);
	for (unsigned i = 1; i < header->base; i++)
		header->operands[i - 1] = cursor_u8(&c);
	header->names = c;
	return program;
}

/* Returns whether an extended opcode adds a row or a file. */
static bool extended_adds(struct cursor c)
{
	uint8_t opcode = cursor_u8(&c);

	return opcode == DW_LNE_end_sequence || opcode == DW_LNE_define_file;
}

/* Count the rows and names that a line program makes, up to `most`: libdw keeps each in memory. */
static size_t count_rows(struct cursor c, size_t most)
{
	struct line_header header;
	size_t rows;

	c = open_program(c, &header);
	rows = count_names(&header, most);
	while (!c.short_ && cursor_left(&c) && rows < most) {
		unsigned opcode = cursor_u8(&c);

		if (opcode >= header.base) {
			rows++;
		} else if (opcode == 0) {
			uint64_t length = cursor_uleb128(&c);

			rows += extended_adds(c);
			cursor_take(&c, length);
		} else if (opcode == DW_LNS_fixed_advance_pc) {
			cursor_u16(&c);
		} else {
			rows += opcode == DW_LNS_copy;
			for (unsigned i = 0; i < header.operands[opcode - 1]; i++)
				cursor_uleb128(&c);
		}
	}
	return rows;
}

/* Returns whether a program may be run, whose rows were not yet counted. */
static bool spend_rows(struct dwarf_guard *guard, Dwarf_Off program)
{
	struct cursor c = cursor_at(guard->line, program);
	uint64_t length = cursor_u32(&c);
	size_t rows;

	if (length == UINT32_MAX)
		length = cursor_u64(&c);
	/* Programs do not overlap. */
	if (length > guard->line_bytes_left)
		return false;
	guard->line_bytes_left -= length;
	rows = count_rows(cursor_at(guard->line, program), guard->rows_left);
	if (rows >= guard->rows_left)
		return false;
	guard->rows_left -= rows;
	return true;
}

bool dwarf_guard_allows_lines(struct dwarf_guard *guard, Dwarf_Off program)
{
	struct counted_lines *counted;

	HASH_FIND(hh, guard->counted, &program, sizeof(program), counted);
	if (counted)
		return counted->allowed;
	counted = alloc_zeroed(1, sizeof(*counted));
	counted->program = program;
	counted->allowed = spend_rows(guard, program);
	HASH_ADD(hh, guard->counted, program, sizeof(program), counted);
	return counted->allowed;
}

void dwarf_guard_release(struct dwarf_guard *guard)
{
	struct counted_lines *counted, *next;

	HASH_ITER(hh, guard->counted, counted, next)
	{
		HASH_DEL(guard->counted, counted);
		free(counted);
	}
	*guard = (struct dwarf_guard){ 0 };
}
