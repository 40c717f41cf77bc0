/* SPDX-License-Identifier: MIT */
/* Bounds the memory and time that damaged debug information can cost. */
#include "symbols/dwarf/dwarf_guard.h"

#include <dwarf.h>
#include <string.h>

#include "base/cursor.h"

/*
 * Compilers' output shrinks to a tenth at best; a section that claims to grow a
 * hundredfold is there to exhaust memory.
 */
#define INFLATE_MAX 100

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

/* Bytes of a line program.  SQLite in one file of 250,000 lines has 0.5 MB. */
#define LINE_PROGRAM_MAX (8 << 20)

static bool grows_too_much(const struct elf_file *file, const struct elf_section *section)
{
	const GElf_Shdr *shdr = &section->header;
	const uint8_t *bytes = elf_file_section_bytes(file, shdr);
	uint64_t size = 0;
	GElf_Chdr chdr;

	if (shdr->sh_flags & SHF_COMPRESSED)
		return !gelf_getchdr(section->scn, &chdr) ||
		       chdr.ch_size / INFLATE_MAX > shdr->sh_size;
	/* The older form: "ZLIB" and the size as 8 bytes, most significant first. */
	if (strncmp(section->name, ".zdebug", 7) != 0)
		return false;
	for (unsigned i = 4; bytes && shdr->sh_size >= 12 && i < 12; i++)
		size = size << 8 | bytes[i];
	return size / INFLATE_MAX > shdr->sh_size;
}

bool dwarf_guard_is_bomb(const struct elf_file *file)
{
	struct elf_section section = { 0 };

	while (elf_section_next(file->elf, &section))
		if (grows_too_much(file, &section))
			return true;
	return false;
}

/* As libdw does, choose the first section of a name. */
static void choose_section(Elf_Data **data, const struct elf_section *section, const char *name,
			   const char *packed_name)
{
	if (!*data && (strcmp(section->name, name) == 0 || strcmp(section->name, packed_name) == 0))
		*data = elf_getdata(section->scn, NULL);
}

void dwarf_guard_init(struct dwarf_guard *guard, const struct elf_file *file)
{
	struct elf_section section = { 0 };

	*guard = (struct dwarf_guard){ .units_left = 64 + file->size / BYTES_PER_UNIT,
				       .ranges_left = file->size / BYTES_PER_RANGE,
				       .bytes_left = file->size * ABBREVS_PER_BYTE };
	while (elf_section_next(file->elf, &section)) {
		choose_section(&guard->info, &section, ".debug_info", ".zdebug_info");
		choose_section(&guard->abbrev, &section, ".debug_abbrev", ".zdebug_abbrev");
		choose_section(&guard->line, &section, ".debug_line", ".zdebug_line");
	}
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

bool dwarf_guard_allows_lines(const struct dwarf_guard *guard, Dwarf_Off program)
{
	struct cursor c = cursor_at(guard->line, program);
	uint64_t length = cursor_u32(&c);

	/* The 64-bit format (DWARF 5, 7.4). */
	if (length == UINT32_MAX)
		length = cursor_u64(&c);
	return length <= LINE_PROGRAM_MAX;
}
