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

/* A line program that may be run. */
struct allowed_lines {
	Dwarf_Off program;
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

/* ---- Line programs (DWARF 5, 6.2) ---------------------------------------- */

/* Move to the first opcode of a program; fills the numbers of operands of the standard ones. */
static struct cursor open_program(struct cursor c, uint8_t operands[UINT8_MAX], unsigned *base)
{
	uint64_t length = cursor_u32(&c), header;
	bool wide = length == UINT32_MAX;
	struct cursor program;
	unsigned version;

	if (wide)
		length = cursor_u64(&c);
	if (length < cursor_left(&c))
		c = cursor_over(c.at, length);
	version = cursor_u16(&c);
	if (version >= 5)
		cursor_u16(&c); /* sizes of an address and of a segment selector */
	header = wide ? cursor_u64(&c) : cursor_u32(&c);
	program = c;
	cursor_take(&program, header);
	cursor_take(&c, version >= 4 ? 5 : 4);
	*base = cursor_u8(&c);
	for (unsigned i = 1; i < *base; i++)
		operands[i - 1] = cursor_u8(&c);
	return program;
}

/* Count the rows that a line program makes, up to `most`: libdw keeps each in memory. */
static size_t count_rows(struct cursor c, size_t most)
{
	uint8_t operands[UINT8_MAX] = { 0 };
	unsigned base = 0;
	size_t rows = 0;

	c = open_program(c, operands, &base);
	while (!c.short_ && cursor_left(&c) && rows < most) {
		unsigned opcode = cursor_u8(&c);

		if (opcode >= base) {
			rows++;
		} else if (opcode == 0) {
			uint64_t length = cursor_uleb128(&c);
			struct cursor extended = c;

			rows += cursor_u8(&extended) == DW_LNE_end_sequence;
			cursor_take(&c, length);
		} else if (opcode == DW_LNS_fixed_advance_pc) {
			cursor_u16(&c);
		} else {
			rows += opcode == DW_LNS_copy;
			for (unsigned i = 0; i < operands[opcode - 1]; i++)
				cursor_uleb128(&c);
		}
	}
	return rows;
}

bool dwarf_guard_allows_lines(struct dwarf_guard *guard, Dwarf_Off program)
{
	struct allowed_lines *allowed;
	size_t rows;

	HASH_FIND(hh, guard->allowed, &program, sizeof(program), allowed);
	if (allowed)
		return true;
	rows = count_rows(cursor_at(guard->line, program), guard->rows_left);
	if (rows >= guard->rows_left)
		return false;
	guard->rows_left -= rows;
	allowed = alloc_zeroed(1, sizeof(*allowed));
	allowed->program = program;
	HASH_ADD(hh, guard->allowed, program, sizeof(program), allowed);
	return true;
}

void dwarf_guard_release(struct dwarf_guard *guard)
{
	struct allowed_lines *allowed, *next;

	HASH_ITER(hh, guard->allowed, allowed, next)
	{
		HASH_DEL(guard->allowed, allowed);
		free(allowed);
	}
	*guard = (struct dwarf_guard){ 0 };
}
