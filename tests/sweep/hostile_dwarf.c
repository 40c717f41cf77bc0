/* SPDX-License-Identifier: MIT */
/* Debug information (DWARF 5) that is made to take much time or memory. */
#include "tests/sweep/hostile_dwarf.h"

#include <dwarf.h>
#include <elf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/support/sample.h"
#include "tests/sweep/hostile_set.h"

/* A packed section may unpack to 16 times the file (base/budget.h). */
#define UNPACKED (14 * hostile_room)

enum {
	ABBREV_UNIT = 1,
	ABBREV_FUNCTION,
	ABBREV_CALL,
	ABBREV_EMPTY,
	ABBREV_SKELETON,
	ABBREV_SHARED_CALL, /* its function is in the supplementary file */
	ABBREV_PARTIAL,     /* a unit of that file */
	ABBREV_NAMED_CALL,
	ABBREV_FILLER /* this and the following ones */
};

static void add_abbrev(struct bytes *abbrevs, unsigned code, unsigned tag,
		       const uint8_t *attributes)
{
	bytes_uleb128(abbrevs, code);
	bytes_uleb128(abbrevs, tag);
	bytes_number(abbrevs, code <= ABBREV_FUNCTION, 1);
	for (; attributes[0]; attributes += 2)
		bytes_add(abbrevs, attributes, 2);
	bytes_number(abbrevs, 0, 2);
}

static struct bytes make_abbrevs(void)
{
	static const uint8_t unit[] = { DW_AT_low_pc,
					DW_FORM_addr,
					DW_AT_high_pc,
					DW_FORM_data8,
					DW_AT_stmt_list,
					DW_FORM_sec_offset,
					0 };
	static const uint8_t function[] = { DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc,
					    DW_FORM_data8, 0 };
	static const uint8_t skeleton[] = { DW_AT_low_pc,
					    DW_FORM_addr,
					    DW_AT_high_pc,
					    DW_FORM_data8,
					    DW_AT_dwo_name,
					    DW_FORM_string,
					    0 };
	/* DW_FORM_GNU_ref_alt, 0x1f20, as ULEB128. */
	static const uint8_t shared_call[] = { DW_AT_abstract_origin, 0xa0, 0x3e, 0, 0 };
	static const uint8_t named_call[] = { DW_AT_low_pc,
					      DW_FORM_addr,
					      DW_AT_high_pc,
					      DW_FORM_data8,
					      DW_AT_name,
					      DW_FORM_strp,
					      0 };
	struct bytes abbrevs = { 0 };

	add_abbrev(&abbrevs, ABBREV_UNIT, DW_TAG_compile_unit, unit);
	add_abbrev(&abbrevs, ABBREV_FUNCTION, DW_TAG_subprogram, function);
	add_abbrev(&abbrevs, ABBREV_CALL, DW_TAG_inlined_subroutine, (const uint8_t[]){ 0 });
	add_abbrev(&abbrevs, ABBREV_EMPTY, DW_TAG_subprogram, (const uint8_t[]){ 0 });
	add_abbrev(&abbrevs, ABBREV_SKELETON, DW_TAG_skeleton_unit, skeleton);
	bytes_uleb128(&abbrevs, ABBREV_SHARED_CALL);
	bytes_uleb128(&abbrevs, DW_TAG_inlined_subroutine);
	bytes_number(&abbrevs, 0, 1);
	bytes_add(&abbrevs, shared_call, sizeof(shared_call));
	add_abbrev(&abbrevs, ABBREV_PARTIAL, DW_TAG_partial_unit, (const uint8_t[]){ 0 });
	add_abbrev(&abbrevs, ABBREV_NAMED_CALL, DW_TAG_inlined_subroutine, named_call);
	return abbrevs;
}

static void add_abbrevs(struct hostile_elf *elf, const char *section)
{
	struct bytes abbrevs = make_abbrevs();

	bytes_number(&abbrevs, 0, 1);
	hostile_elf_section(elf, section, &abbrevs, 0);
}

/* Add empty functions up to the size of ROOM; returns the code of the last one. */
static unsigned add_filler(struct bytes *abbrevs, size_t room)
{
	unsigned code = ABBREV_FILLER;

	for (; abbrevs->size < room; code++)
		add_abbrev(abbrevs, code, DW_TAG_subprogram, (const uint8_t[]){ 0 });
	bytes_number(abbrevs, 0, 1);
	return code - 1;
}

static unsigned add_long_abbrevs(struct hostile_elf *elf, size_t room)
{
	struct bytes abbrevs = make_abbrevs();
	unsigned last = add_filler(&abbrevs, room);

	hostile_elf_section(elf, ".debug_abbrev", &abbrevs, 0);
	return last;
}

/* An entry's code and the address range that it begins with. */
static void add_range(struct bytes *info, unsigned code, uint64_t address, uint64_t size)
{
	bytes_uleb128(info, code);
	bytes_number(info, address, 8);
	bytes_number(info, size, 8);
}

/* A unit's header (DWARF 5, 7.5.1) with the first table of abbreviations; the id if split. */
static size_t begin_split_unit(struct bytes *info, unsigned type, uint64_t id)
{
	size_t begin = info->size;

	bytes_number(info, 0, 4); /* the length: end_unit() */
	bytes_number(info, 5, 2);
	bytes_number(info, type, 1);
	bytes_number(info, 8, 1);
	bytes_number(info, 0, 4);
	if (type == DW_UT_skeleton || type == DW_UT_split_compile)
		bytes_number(info, id, 8);
	return begin;
}

static size_t begin_unit(struct bytes *info, unsigned type)
{
	return begin_split_unit(info, type, 1);
}

static void end_unit(struct bytes *info, size_t begin)
{
	uint32_t length = (uint32_t)(info->size - begin - 4);

	memcpy(info->at + begin, &length, 4);
}

/* A unit of all functions, with `count` entries of one kind in the first. */
static void add_unit(struct bytes *info, const struct hostile_elf *elf, unsigned code, size_t count)
{
	size_t begin = begin_unit(info, DW_UT_compile);

	add_range(info, ABBREV_UNIT, SAMPLE_CODE, elf->functions * HOSTILE_FUNCTION);
	bytes_number(info, 0, 4); /* the line table */
	if (code == ABBREV_CALL)
		add_range(info, ABBREV_FUNCTION, SAMPLE_CODE, elf->functions * HOSTILE_FUNCTION);
	for (size_t i = 0; i < count; i++)
		bytes_uleb128(info, code);
	bytes_number(info, 0, 2);
	end_unit(info, begin);
}

/* The start of a line table, before the lists of directories and files. */
static void begin_lines(struct bytes *lines)
{
	static const uint8_t operands[] = { 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1 };
	/* The two lengths are stored later. */
	static const uint8_t header[] = {
		0, 0, 0, 0, 5, 0, 8, 0, 0, 0, 0, 0, 1, 1, 1, 0xfb, 14, 13
	};

	bytes_add(lines, header, sizeof(header));
	bytes_add(lines, operands, sizeof(operands));
}

/* DWARF 5, 6.2.4: the names are strings in the table; libdw also needs a file's directory. */
static void add_names(struct bytes *lines, size_t count, int files)
{
	static const uint8_t format[] = { DW_LNCT_path, DW_FORM_string, DW_LNCT_directory_index,
					  DW_FORM_udata };

	bytes_number(lines, (uint64_t)1 + files, 1);
	bytes_add(lines, format, files ? 4 : 2);
	bytes_uleb128(lines, count);
	for (size_t i = 0; i < count; i++)
		bytes_number(lines, 0, (size_t)1 + files);
}

static void end_lines(struct bytes *lines, size_t rows)
{
	uint32_t header = (uint32_t)lines->size - 12, length;

	bytes_number(lines, 0, 1);
	bytes_number(lines, 9, 1);
	bytes_number(lines, DW_LNE_set_address, 1);
	bytes_number(lines, SAMPLE_CODE, 8);
	for (size_t i = 0; i < rows; i++)
		bytes_number(lines, 20, 1); /* a special opcode: a row */
	bytes_add(lines, (const uint8_t[]){ 0, 1, DW_LNE_end_sequence }, 3);
	length = (uint32_t)lines->size - 4;
	memcpy(lines->at, &length, 4);
	memcpy(lines->at + 8, &header, 4);
}

/* Incompressible bytes, so that the file keeps its size. */
static void add_noise(struct hostile_elf *elf, size_t size)
{
	struct bytes noise = { 0 };
	uint64_t random = 1;

	while (noise.size < size) {
		random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
		bytes_number(&noise, random >> 32, 4);
	}
	hostile_elf_section(elf, ".noise", &noise, 0);
}

/* Write the program, and a recording that visits each of its functions once. */
static void write_program(struct hostile_elf *elf, const char *folder)
{
	hostile_visit_functions(folder, elf->functions);
	hostile_elf_write(elf, folder, &SAMPLE_PATH[1]);
}

struct debug_counts {
	size_t folders, files, rows, entries, units;
	unsigned code;
};

static void make_debug(const char *folder, struct debug_counts counts, int packed)
{
	struct hostile_elf elf = { .functions = 100 };
	struct bytes lines = { 0 }, info = { 0 };

	hostile_elf_name_functions(&elf);
	if (packed)
		add_noise(&elf, hostile_room);
	add_abbrevs(&elf, ".debug_abbrev");
	for (size_t i = 0; i < (counts.units ? counts.units : 1); i++)
		add_unit(&info, &elf, counts.code, counts.entries);
	begin_lines(&lines);
	add_names(&lines, counts.folders ? counts.folders : 1, 0);
	add_names(&lines, counts.files ? counts.files : 2, 1);
	end_lines(&lines, counts.rows ? counts.rows : 1);
	hostile_elf_section(&elf, ".debug_info", &info, packed);
	hostile_elf_section(&elf, ".debug_line", &lines, packed);
	write_program(&elf, folder);
}

/* A directory of half of the room, and its files. */
static void make_paths(const char *folder, int packed)
{
	struct hostile_elf elf = { .functions = 100 };
	struct bytes lines = { 0 }, info = { 0 };
	size_t files = hostile_room / 4;

	(void)packed;
	hostile_elf_name_functions(&elf);
	add_abbrevs(&elf, ".debug_abbrev");
	add_unit(&info, &elf, 0, 0);
	begin_lines(&lines);
	add_names(&lines, 1, 0);
	lines.size--; /* its name */
	for (size_t i = 0; i < hostile_room / 2; i++)
		bytes_number(&lines, 'd', 1);
	bytes_number(&lines, 0, 1);
	add_names(&lines, files, 1);
	end_lines(&lines, 1);
	hostile_elf_section(&elf, ".debug_info", &info, 0);
	hostile_elf_section(&elf, ".debug_line", &lines, 0);
	write_program(&elf, folder);
}

/* Line programs that each have the maximum number of rows. */
static void make_programs(const char *folder, int packed)
{
	struct hostile_visits visits = { .size = HOSTILE_FUNCTION, .programs = 15 };
	char name[32] = "sample";

	(void)packed;
	for (unsigned i = 0; i <= visits.programs; i++) {
		struct hostile_elf elf = { .functions = 1 };
		struct bytes lines = { 0 }, info = { 0 };

		hostile_elf_name_functions(&elf);
		add_noise(&elf, hostile_room / 16);
		add_abbrevs(&elf, ".debug_abbrev");
		add_unit(&info, &elf, 0, 0);
		begin_lines(&lines);
		add_names(&lines, 1, 0);
		add_names(&lines, 2, 1);
		end_lines(&lines, 200000);
		hostile_elf_section(&elf, ".debug_info", &info, 0);
		hostile_elf_section(&elf, ".debug_line", &lines, 1);
		hostile_elf_write(&elf, folder, name);
		snprintf(name, sizeof(name), "sample%u", i + 1);
		hostile_visits_add(&visits, SAMPLE_CODE + i * HOSTILE_APART);
	}
	hostile_visits_write(&visits, folder);
}

static void make_rows(const char *folder, int packed)
{
	make_debug(folder, (struct debug_counts){ .rows = 250000 }, packed);
}

static void make_files(const char *folder, int packed)
{
	make_debug(folder, (struct debug_counts){ .files = (packed ? UNPACKED : hostile_room) / 2 },
		   packed);
}

static void make_folders(const char *folder, int packed)
{
	make_debug(folder, (struct debug_counts){ .folders = packed ? UNPACKED : hostile_room },
		   packed);
}

static void make_calls(const char *folder, int packed)
{
	make_debug(folder,
		   (struct debug_counts){ .entries = packed ? UNPACKED : hostile_room,
					  .code = ABBREV_CALL },
		   packed);
}

static void make_functions(const char *folder, int packed)
{
	make_debug(folder,
		   (struct debug_counts){ .entries = packed ? UNPACKED : hostile_room,
					  .code = ABBREV_EMPTY },
		   packed);
}

static void make_units(const char *folder, int packed)
{
	make_debug(folder,
		   (struct debug_counts){ .units = (packed ? UNPACKED : hostile_room) / 34 },
		   packed);
}

/* ---- Units with common parts -------------------------------------------------- */

#define UNITS ((size_t)3000)

/* A unit of one function and a line table. */
static size_t begin_small_unit(struct bytes *info, size_t function, uint64_t line_table)
{
	size_t begin = begin_unit(info, DW_UT_compile);

	add_range(info, ABBREV_UNIT, SAMPLE_CODE + function * HOSTILE_FUNCTION, HOSTILE_FUNCTION);
	bytes_number(info, line_table, 4);
	return begin;
}

/* All line programs end at the section's end; each skips the headers of the next ones. */
static void make_overlaps(const char *folder, int packed)
{
	const size_t size = packed ? UNPACKED : hostile_room;
	struct hostile_elf elf = { .functions = UNITS };
	struct bytes info = { 0 }, lines = { 0 };
	uint32_t starts[UNITS];

	for (size_t i = 0; i < UNITS; i++) {
		struct bytes header = { 0 };
		uint32_t length;

		begin_lines(&header);
		add_names(&header, 1, 0);
		add_names(&header, 2, 1);
		length = (uint32_t)header.size - 12;
		memcpy(header.at + 8, &length, 4);
		if (i) {
			bytes_number(&lines, 0, 1); /* an unknown extended opcode */
			bytes_uleb128(&lines, 1 + header.size);
			bytes_number(&lines, DW_LNE_lo_user, 1);
		}
		starts[i] = (uint32_t)bytes_add(&lines, header.at, header.size);
		free(header.at);
		end_unit(&info, begin_small_unit(&info, i, starts[i]));
	}
	while (lines.size < size)
		bytes_number(&lines, DW_LNS_set_basic_block, 1); /* no row */
	for (size_t i = 0; i < UNITS; i++) {
		uint32_t length = (uint32_t)(lines.size - starts[i] - 4);

		memcpy(lines.at + starts[i], &length, 4);
	}
	hostile_elf_name_functions(&elf);
	add_abbrevs(&elf, ".debug_abbrev");
	hostile_elf_section(&elf, ".debug_info", &info, packed);
	hostile_elf_section(&elf, ".debug_line", &lines, packed);
	if (packed)
		add_noise(&elf, hostile_room);
	write_program(&elf, folder);
}

/* Each unit's second entry uses the last abbreviation of a common table. */
static void make_abbreviated(const char *folder, int packed)
{
	struct hostile_elf elf = { .functions = UNITS };
	unsigned last = add_long_abbrevs(&elf, hostile_room);
	struct bytes info = { 0 };

	(void)packed;
	for (size_t i = 0; i < UNITS; i++) {
		size_t begin = begin_small_unit(&info, i, 0);

		bytes_uleb128(&info, last);
		bytes_number(&info, 0, 1);
		end_unit(&info, begin);
	}
	hostile_elf_name_functions(&elf);
	hostile_elf_section(&elf, ".debug_info", &info, 0);
	write_program(&elf, folder);
}

/* An inlined call in each function; their names are suffixes of one text. */
static void make_names(const char *folder, int packed)
{
	struct hostile_elf elf = { .functions = UNITS };
	struct bytes info = { 0 }, text = { 0 };

	for (uint64_t random = 1; text.size < (packed ? UNPACKED : hostile_room) / 2;) {
		random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
		bytes_number(&text,
			     UINT64_C(0x6161616161616161) + (random >> 4 & 0x0f0f0f0f0f0f0f0f), 8);
	}
	bytes_number(&text, 0, 1);
	for (size_t i = 0; i < UNITS; i++) {
		uint64_t address = SAMPLE_CODE + i * HOSTILE_FUNCTION;
		size_t begin = begin_small_unit(&info, i, 0);

		add_range(&info, ABBREV_FUNCTION, address, HOSTILE_FUNCTION);
		add_range(&info, ABBREV_NAMED_CALL, address, HOSTILE_FUNCTION);
		bytes_number(&info, i, 4);
		bytes_number(&info, 0, 3);
		end_unit(&info, begin);
	}
	hostile_elf_name_functions(&elf);
	add_abbrevs(&elf, ".debug_abbrev");
	hostile_elf_section(&elf, ".debug_info", &info, packed);
	hostile_elf_section(&elf, ".debug_str", &text, packed);
	if (packed)
		add_noise(&elf, hostile_room);
	write_program(&elf, folder);
}

/* ---- Units in the supplementary file (.dwz) ------------------------------------ */

static const uint8_t shared_id[20] = { 0xab, 0xcd };

/* Write the file to the path by its build id. */
static void write_shared(struct hostile_elf *shared, const char *folder)
{
	static const uint8_t note[] = { 4,   0,   0,   0, sizeof(shared_id), 0, 0, 0, 3, 0, 0, 0,
					'G', 'N', 'U', 0 };
	static const char *const parents[] = { "usr", "usr/lib", "usr/lib/debug",
					       "usr/lib/debug/.build-id",
					       "usr/lib/debug/.build-id/ab" };
	char path[PATH_MAX];
	struct bytes id = { 0 };

	bytes_add(&id, note, sizeof(note));
	bytes_add(&id, shared_id, sizeof(shared_id));
	hostile_elf_section(shared, ".note.gnu.build-id", &id, 0);
	shared->sections[shared->section_count - 1].type = SHT_NOTE;
	for (size_t i = 0; i < sizeof(parents) / sizeof(parents[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, parents[i]);
		mkdir(path, 0777);
	}
	snprintf(path, sizeof(path), "%s/cd%036d.debug", parents[4], 0);
	hostile_elf_write(shared, folder, path);
}

/* Write a program of one function, with inlined calls of entries of the supplementary file. */
static void write_sharing(const char *folder, const uint64_t *entries, size_t count)
{
	struct hostile_elf elf = { .functions = 1 };
	struct bytes info = { 0 }, link = { 0 };
	size_t begin = begin_small_unit(&info, 0, 0);

	add_range(&info, ABBREV_FUNCTION, SAMPLE_CODE, HOSTILE_FUNCTION);
	for (size_t i = 0; i < count; i++) {
		bytes_uleb128(&info, ABBREV_SHARED_CALL);
		bytes_number(&info, entries[i], 4);
	}
	bytes_number(&info, 0, 2);
	end_unit(&info, begin);
	bytes_text(&link, "shared");
	bytes_add(&link, shared_id, sizeof(shared_id));
	hostile_elf_name_functions(&elf);
	add_abbrevs(&elf, ".debug_abbrev");
	hostile_elf_section(&elf, ".debug_info", &info, 0);
	hostile_elf_section(&elf, ".gnu_debugaltlink", &link, 0);
	write_program(&elf, folder);
}

/* Only headers; libdw reads them up to the requested unit. */
static void make_headers(const char *folder, int packed)
{
	struct hostile_elf shared = { .functions = 1 };
	struct bytes info = { 0 };
	uint64_t entry;

	while (info.size < (packed ? UNPACKED : hostile_room))
		end_unit(&info, begin_unit(&info, DW_UT_partial));
	entry = info.size - 1;
	add_abbrevs(&shared, ".debug_abbrev");
	hostile_elf_section(&shared, ".debug_info", &info, packed);
	if (packed)
		add_noise(&shared, hostile_room);
	write_shared(&shared, folder);
	write_sharing(folder, &entry, 1);
}

/* Entries of the last abbreviation of a table that all units share. */
static void make_shared(const char *folder, int packed)
{
	struct hostile_elf shared = { .functions = 1 };
	unsigned last = add_long_abbrevs(&shared, hostile_room / 2);
	struct bytes info = { 0 };
	uint64_t entries[UNITS];

	(void)packed;
	for (size_t i = 0; i < UNITS; i++) {
		size_t begin = begin_unit(&info, DW_UT_partial);

		entries[i] = info.size;
		bytes_uleb128(&info, last);
		end_unit(&info, begin);
	}
	hostile_elf_section(&shared, ".debug_info", &info, 0);
	write_shared(&shared, folder);
	write_sharing(folder, entries, UNITS);
}

/* ---- Split units ---------------------------------------------------------------- */

static void make_split(const char *folder, int packed)
{
	struct hostile_elf elf = { .functions = 4000 }, other = { .functions = 1 };
	struct bytes info = { 0 }, other_info = { 0 };
	size_t begin;

	(void)packed;
	for (size_t i = 0; i < elf.functions; i++) {
		begin = begin_unit(&info, DW_UT_skeleton);
		add_range(&info, ABBREV_SKELETON, SAMPLE_CODE + i * HOSTILE_FUNCTION,
			  HOSTILE_FUNCTION);
		bytes_text(&info, "other.dwo");
		end_unit(&info, begin);
		hostile_elf_symbol(&elf, i, "f");
	}
	add_abbrevs(&elf, ".debug_abbrev");
	hostile_elf_section(&elf, ".debug_info", &info, 0);
	begin = begin_unit(&other_info, DW_UT_split_compile);
	add_range(&other_info, ABBREV_UNIT, 0, 0);
	bytes_number(&other_info, 0, 4); /* the line table */
	for (size_t i = 0; i < 20000; i++)
		add_range(&other_info, ABBREV_FUNCTION, SAMPLE_CODE, HOSTILE_FUNCTION);
	end_unit(&other_info, begin);
	add_abbrevs(&other, ".debug_abbrev.dwo");
	hostile_elf_section(&other, ".debug_info.dwo", &other_info, 0);
	write_program(&elf, folder);
	hostile_elf_write(&other, folder, "other.dwo");
}

#define SMALL_UNITS 10

/*
 * A package's index of units (DWARF 5, 7.3.5.3).  All share a table of abbreviations, of which the
 * first ones have only `small` bytes.
 */
static void add_index(struct hostile_elf *package, size_t unit_size, size_t small, size_t table)
{
	size_t slots = 1;
	struct bytes index = { 0 };

	while (slots <= UNITS)
		slots *= 2;
	bytes_number(&index, 5, 4); /* the version */
	bytes_number(&index, 2, 4); /* columns */
	bytes_number(&index, UNITS, 4);
	bytes_number(&index, slots, 4);
	for (size_t id = 0; id < slots; id++)
		bytes_number(&index, id <= UNITS ? id : 0, 8);
	for (size_t id = 0; id < slots; id++)
		bytes_number(&index, id <= UNITS ? id : 0, 4); /* the row */
	bytes_number(&index, 1, 4);                            /* DW_SECT_INFO */
	bytes_number(&index, 3, 4);                            /* DW_SECT_ABBREV */
	for (size_t i = 0; i < UNITS; i++) {
		bytes_number(&index, i * unit_size, 4);
		bytes_number(&index, 0, 4);
	}
	for (size_t i = 0; i < UNITS; i++) {
		bytes_number(&index, unit_size, 4);
		bytes_number(&index, i < SMALL_UNITS ? small : table, 4);
	}
	hostile_elf_section(package, ".debug_cu_index", &index, 0);
}

/* A package; its units' second entries use the last abbreviation of the table. */
static void make_package(const char *folder, int packed)
{
	struct hostile_elf elf = { .functions = UNITS }, package = { .functions = 1 };
	struct bytes info = { 0 }, split = { 0 }, abbrevs = make_abbrevs();
	size_t small = abbrevs.size, begin;
	unsigned last = add_filler(&abbrevs, hostile_room / 2);

	(void)packed;
	for (size_t i = 0; i < UNITS; i++) {
		uint64_t address = SAMPLE_CODE + i * HOSTILE_FUNCTION;

		begin = begin_split_unit(&info, DW_UT_skeleton, i + 1);
		add_range(&info, ABBREV_SKELETON, address, HOSTILE_FUNCTION);
		bytes_text(&info, "none.dwo");
		end_unit(&info, begin);
		begin = begin_split_unit(&split, DW_UT_split_compile, i + 1);
		add_range(&split, ABBREV_UNIT, address, HOSTILE_FUNCTION);
		bytes_number(&split, 0, 4); /* the line table */
		bytes_uleb128(&split, i < SMALL_UNITS ? ABBREV_CALL : last);
		bytes_number(&split, 0, i < SMALL_UNITS ? 3 : 1);
		end_unit(&split, begin);
	}
	hostile_elf_name_functions(&elf);
	add_abbrevs(&elf, ".debug_abbrev");
	hostile_elf_section(&elf, ".debug_info", &info, 0);
	add_index(&package, split.size / UNITS, small, abbrevs.size);
	hostile_elf_section(&package, ".debug_info.dwo", &split, 0);
	hostile_elf_section(&package, ".debug_abbrev.dwo", &abbrevs, 0);
	write_program(&elf, folder);
	hostile_elf_write(&package, folder, "sample.dwp");
}

const struct hostile_kind hostile_dwarf_kinds[] = {
	{ "rows", make_rows },           { "files", make_files },
	{ "folders", make_folders },     { "calls", make_calls },
	{ "functions", make_functions }, { "units", make_units },
	{ "paths", make_paths },         { "programs", make_programs },
	{ "overlaps", make_overlaps },   { "abbreviated", make_abbreviated },
	{ "headers", make_headers },     { "shared", make_shared },
	{ "split", make_split },         { "package", make_package },
	{ "call_names", make_names },    { NULL, NULL },
};
