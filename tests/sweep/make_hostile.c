/* SPDX-License-Identifier: MIT */
/*
 * make-hostile KIND DIR [PROGRAM]: write DIR/perf.data and DIR/sample, files of less than 1 MiB
 * together that are made to take much time or memory.  Each is a rule of doc/BUDGETS.md, tried.
 *
 *	names     symbols that each take a demangler most of a millisecond
 *	texts     symbols that are long demangled
 *	rows      a line table of nothing but rows; packed_rows: packed
 *	files     a line table of nothing but names of files; packed_files: packed
 *	folders   a line table of nothing but names of directories; packed_folders: packed
 *	calls     a function of nothing but inlined calls; packed_calls: packed
 *	functions a unit of nothing but functions; packed_functions: packed
 *	split     units whose other part is, for each, the same file
 *	units     units that share a table of abbreviations; packed_units: packed
 *	symbols   symbols around each other
 *	map       a perf-PID.map of ranges around each other
 *	jitdump   a jitdump of functions that replace each other; moves: that move
 *	parts     a moment after the other: --split=10ns makes a file of each
 *	visit     no rule: PROGRAM, and a recording that is once in each of its functions
 */
#include <dwarf.h>
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/support/sample.h"
#include "tests/sweep/hostile_set.h"

/* Of the hostile part; the recording and the rest of the program have the other half. */
#define ROOM ((size_t)512 << 10)

/* A section that is packed may become 16 times the file (base/budget.h). */
#define UNPACKED (14 * ROOM)

static const char *folder;

static void visit_functions(size_t count)
{
	struct hostile_visits visits = { .size = count * HOSTILE_FUNCTION };

	for (size_t i = 0; i < count; i++)
		hostile_visits_add(&visits, SAMPLE_CODE + i * HOSTILE_FUNCTION);
	hostile_visits_write(&visits, folder);
}

static void make_parts(int packed)
{
	struct hostile_elf elf = { .functions = 1 };
	struct hostile_visits visits = { .size = HOSTILE_FUNCTION };

	(void)packed;
	hostile_elf_symbol(&elf, 0, "f");
	for (size_t i = 0; i < 20000; i++)
		hostile_visits_add(&visits, SAMPLE_CODE + 4);
	hostile_visits_write(&visits, folder);
	hostile_elf_write(&elf, folder, &SAMPLE_PATH[1]);
}

/* ---- Names --------------------------------------------------------------- */

/* A pack expansion looks for a pack in each of the 2^levels parts of a type that has none. */
static void write_pack(char *name, unsigned number, int levels)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	name += sprintf(name, "_Z5f%04xIiEvDp", number);
	for (int i = 0; i < levels; i++)
		name += sprintf(name, "1AI");
	name += sprintf(name, "iiE");
	for (int type = levels; type < 2 * levels - 1; type++)
		name += sprintf(name, "S%c_E", digits[type]);
}

static void make_names(int packed)
{
	struct hostile_elf elf = { .functions = 4000 };
	char name[1024];

	(void)packed;
	for (unsigned i = 0; i < elf.functions; i++) {
		write_pack(name, i, 15);
		hostile_elf_symbol(&elf, i, name);
	}
	visit_functions(elf.functions);
	hostile_elf_write(&elf, folder, &SAMPLE_PATH[1]);
}

/* Each substitution is a pair of the one before it. */
static void write_pairs(char *name, unsigned number, int levels)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	name += sprintf(name, "_Z5f%04xI1pIccE", number);
	for (int i = 1; i < levels; i++)
		name += sprintf(name, "S0_IS%c_S%c_E", digits[i], digits[i]);
	sprintf(name, "Evv");
}

static void make_texts(int packed)
{
	struct hostile_elf elf = { .functions = 4000 };
	char name[1024];

	(void)packed;
	for (unsigned i = 0; i < elf.functions; i++) {
		write_pairs(name, i, 12);
		hostile_elf_symbol(&elf, i, name);
	}
	visit_functions(elf.functions);
	hostile_elf_write(&elf, folder, &SAMPLE_PATH[1]);
}

static void make_symbols(int packed)
{
	struct hostile_elf elf = { .functions = 8000 };
	Elf64_Sym *symbols;
	char name[16];

	(void)packed;
	for (unsigned i = 0; i < 12000; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		hostile_elf_symbol(&elf, i % elf.functions, name);
	}
	symbols = (Elf64_Sym *)(void *)elf.symbols.at;
	for (size_t i = 0; i < 12000; i++)
		symbols[i].st_size = (12000 - i) * HOSTILE_FUNCTION;
	visit_functions(elf.functions);
	hostile_elf_write(&elf, folder, &SAMPLE_PATH[1]);
}

/* ---- DWARF (version 5) ----------------------------------------------------- */

enum { ABBREV_UNIT = 1, ABBREV_FUNCTION, ABBREV_CALL, ABBREV_EMPTY, ABBREV_SKELETON };

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

static void add_abbrevs(struct hostile_elf *elf, const char *section)
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
	struct bytes abbrevs = { 0 };

	add_abbrev(&abbrevs, ABBREV_UNIT, DW_TAG_compile_unit, unit);
	add_abbrev(&abbrevs, ABBREV_FUNCTION, DW_TAG_subprogram, function);
	add_abbrev(&abbrevs, ABBREV_CALL, DW_TAG_inlined_subroutine, (const uint8_t[]){ 0 });
	add_abbrev(&abbrevs, ABBREV_EMPTY, DW_TAG_subprogram, (const uint8_t[]){ 0 });
	add_abbrev(&abbrevs, ABBREV_SKELETON, DW_TAG_skeleton_unit, skeleton);
	bytes_number(&abbrevs, 0, 1);
	hostile_elf_section(elf, section, &abbrevs, 0);
}

static void add_range(struct bytes *info, unsigned code, uint64_t size)
{
	bytes_uleb128(info, code);
	bytes_number(info, SAMPLE_CODE, 8);
	bytes_number(info, size, 8);
}

/* A unit of all functions, with `count` entries of one kind in the first. */
static void add_unit(struct bytes *info, const struct hostile_elf *elf, unsigned code, size_t count)
{
	uint32_t length;
	size_t begin = info->size;

	bytes_number(info, 0, 4);
	bytes_number(info, 5, 2);
	bytes_number(info, DW_UT_compile, 1);
	bytes_number(info, 8, 1);
	bytes_number(info, 0, 4);
	add_range(info, ABBREV_UNIT, elf->functions * HOSTILE_FUNCTION);
	bytes_number(info, 0, 4);
	if (code == ABBREV_CALL)
		add_range(info, ABBREV_FUNCTION, elf->functions * HOSTILE_FUNCTION);
	for (size_t i = 0; i < count; i++) {
		bytes_uleb128(info, code);
	}
	bytes_number(info, 0, 2);
	length = (uint32_t)(info->size - begin - 4);
	memcpy(info->at + begin, &length, 4);
}

/* The start of a line table up to the lists of directories and files. */
static void begin_lines(struct bytes *lines)
{
	static const uint8_t operands[] = { 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1 };
	/* Length and header's length come later. */
	static const uint8_t header[] = {
		0, 0, 0, 0, 5, 0, 8, 0, 0, 0, 0, 0, 1, 1, 1, 0xfb, 14, 13
	};

	bytes_add(lines, header, sizeof(header));
	bytes_add(lines, operands, sizeof(operands));
}

/* DWARF 5, 6.2.4: the names are texts in the table; libdw wants a file's directory, too. */
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

struct debug_counts {
	size_t folders, files, rows, entries, units;
	unsigned code;
};

static void make_debug(struct debug_counts counts, int packed)
{
	struct hostile_elf elf = { .functions = 100 };
	struct bytes lines = { 0 }, info = { 0 };
	char name[16];

	for (unsigned i = 0; i < elf.functions; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		hostile_elf_symbol(&elf, i, name);
	}
	/* What cannot be packed, so that the file has its size. */
	if (packed) {
		struct bytes noise = { 0 };
		uint64_t random = 1;

		while (noise.size < ROOM) {
			random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
			bytes_number(&noise, random >> 32, 4);
		}
		hostile_elf_section(&elf, ".noise", &noise, 0);
	}
	add_abbrevs(&elf, ".debug_abbrev");
	for (size_t i = 0; i < (counts.units ? counts.units : 1); i++)
		add_unit(&info, &elf, counts.code, counts.entries);
	begin_lines(&lines);
	add_names(&lines, counts.folders ? counts.folders : 1, 0);
	add_names(&lines, counts.files ? counts.files : 2, 1);
	end_lines(&lines, counts.rows ? counts.rows : 1);
	hostile_elf_section(&elf, ".debug_info", &info, packed);
	hostile_elf_section(&elf, ".debug_line", &lines, packed);
	visit_functions(elf.functions);
	hostile_elf_write(&elf, folder, &SAMPLE_PATH[1]);
}

static void make_rows(int packed)
{
	make_debug((struct debug_counts){ .rows = 250000 }, packed);
}

static void make_files(int packed)
{
	make_debug((struct debug_counts){ .files = (packed ? UNPACKED : ROOM) / 2 }, packed);
}

static void make_folders(int packed)
{
	make_debug((struct debug_counts){ .folders = packed ? UNPACKED : ROOM }, packed);
}

static void make_calls(int packed)
{
	make_debug(
		(struct debug_counts){ .entries = packed ? UNPACKED : ROOM, .code = ABBREV_CALL },
		packed);
}

static void make_functions(int packed)
{
	make_debug(
		(struct debug_counts){ .entries = packed ? UNPACKED : ROOM, .code = ABBREV_EMPTY },
		packed);
}

static void make_units(int packed)
{
	make_debug((struct debug_counts){ .units = (packed ? UNPACKED : ROOM) / 34 }, packed);
}

/* The header of a unit with another part (DWARF 5, 7.5.1.2); end_unit() sets its length. */
static size_t begin_unit(struct bytes *info, unsigned type)
{
	size_t begin = info->size;

	bytes_number(info, 0, 4);
	bytes_number(info, 5, 2);
	bytes_number(info, type, 1);
	bytes_number(info, 8, 1);
	bytes_number(info, 0, 4);
	bytes_number(info, 1, 8); /* the id */
	return begin;
}

static void end_unit(struct bytes *info, size_t begin)
{
	uint32_t length = (uint32_t)(info->size - begin - 4);

	memcpy(info->at + begin, &length, 4);
}

static void make_split(int packed)
{
	struct hostile_elf elf = { .functions = 4000 }, other = { .functions = 1 };
	struct bytes info = { 0 }, other_info = { 0 };
	size_t begin;

	(void)packed;
	for (size_t i = 0; i < elf.functions; i++) {
		begin = begin_unit(&info, DW_UT_skeleton);
		bytes_uleb128(&info, ABBREV_SKELETON);
		bytes_number(&info, SAMPLE_CODE + i * HOSTILE_FUNCTION, 8);
		bytes_number(&info, HOSTILE_FUNCTION, 8);
		bytes_text(&info, "other.dwo");
		end_unit(&info, begin);
		hostile_elf_symbol(&elf, i, "f");
	}
	add_abbrevs(&elf, ".debug_abbrev");
	hostile_elf_section(&elf, ".debug_info", &info, 0);
	begin = begin_unit(&other_info, DW_UT_split_compile);
	bytes_uleb128(&other_info, ABBREV_UNIT);
	bytes_number(&other_info, 0, 20);
	for (size_t i = 0; i < 20000; i++)
		add_range(&other_info, ABBREV_FUNCTION, HOSTILE_FUNCTION);
	end_unit(&other_info, begin);
	add_abbrevs(&other, ".debug_abbrev.dwo");
	hostile_elf_section(&other, ".debug_info.dwo", &other_info, 0);
	visit_functions(elf.functions);
	hostile_elf_write(&elf, folder, &SAMPLE_PATH[1]);
	hostile_elf_write(&other, folder, "other.dwo");
}

/* ---- Code of JIT compilers --------------------------------------------------- */

static void make_map(int packed)
{
	struct hostile_elf elf = { .functions = 4000 };
	struct bytes map = { 0 };
	char line[64], path[PATH_MAX];

	(void)packed;
	for (unsigned i = 0; map.size < ROOM; i++) {
		int length =
			snprintf(line, sizeof(line), "%x %x f\n", 0x401000 + i, 0x100000 - 2 * i);

		bytes_add(&map, line, (size_t)length);
	}
	snprintf(path, sizeof(path), "%s/tmp", folder);
	mkdir(path, 0777);
	snprintf(line, sizeof(line), "tmp/perf-%d.map", SAMPLE_PID);
	hostile_file_write(folder, line, &map);
	free(map.at);
	visit_functions(elf.functions);
	hostile_elf_write(&elf, folder, &SAMPLE_PATH[1]);
	/* There is no program: the map names the code. */
	snprintf(path, sizeof(path), "%s%s", folder, SAMPLE_PATH);
	remove(path);
}

/* tools/perf/Documentation/jitdump-specification.txt. */
static void begin_jit_record(struct bytes *dump, unsigned type, size_t size)
{
	bytes_number(dump, type, 4);
	bytes_number(dump, 16 + size, 4);
	bytes_number(dump, dump->size, 8); /* the time */
	bytes_number(dump, SAMPLE_PID, 4);
	bytes_number(dump, SAMPLE_PID, 4);
	bytes_number(dump, SAMPLE_CODE, 8);
}

static void make_dump(int moves)
{
	struct hostile_elf elf = { .functions = 1000 };
	struct hostile_visits visits = { .size = 16000, .also_mapped = "/jit-1234.dump" };
	static const uint32_t header[] = { 0x4a695444, 1, 40, 62, 0, SAMPLE_PID, 0, 0, 1, 0 };
	struct bytes dump = { 0 };

	bytes_add(&dump, header, sizeof(header));
	for (uint64_t i = 0; dump.size < ROOM; i++) {
		int moved = moves && i;

		begin_jit_record(&dump, moved != 0, moved ? 48 : 43);
		bytes_number(&dump, SAMPLE_CODE + i % 1000, 8);
		if (moved)
			bytes_number(&dump, SAMPLE_CODE + i * 7 % 1000, 8);
		bytes_number(&dump, 1, 8);
		bytes_number(&dump, moves ? 0 : i, 8);
		if (!moved)
			bytes_add(&dump, "f\0\xc3", 3); /* the name, a ret */
	}
	hostile_file_write(folder, visits.also_mapped + 1, &dump);
	free(dump.at);
	for (size_t i = 0; i < elf.functions; i++)
		hostile_visits_add(&visits, SAMPLE_CODE + i);
	hostile_visits_write(&visits, folder);
	hostile_elf_write(&elf, folder, &SAMPLE_PATH[1]);
}

/* ---- A program ------------------------------------------------------------- */

static struct bytes read_file(const char *path)
{
	struct bytes bytes = { 0 };
	uint8_t part[4096];
	FILE *in = fopen(path, "rb");
	size_t got;

	while (in && (got = fread(part, 1, sizeof(part), in)) > 0)
		bytes_add(&bytes, part, got);
	if (!bytes.size) {
		perror(path);
		exit(1);
	}
	fclose(in);
	return bytes;
}

static void visit_symbols(struct hostile_visits *visits, const struct bytes *file)
{
	const Elf64_Ehdr *header = (const void *)file->at;
	const Elf64_Shdr *sections = (const void *)(file->at + header->e_shoff);

	for (unsigned i = 0; i < header->e_shnum; i++) {
		const Elf64_Sym *symbols = (const void *)(file->at + sections[i].sh_offset);

		for (size_t j = 0; sections[i].sh_type == SHT_SYMTAB &&
				   j < sections[i].sh_size / sizeof(*symbols);
		     j++)
			if (ELF64_ST_TYPE(symbols[j].st_info) == STT_FUNC && symbols[j].st_value)
				hostile_visits_add(visits, SAMPLE_CODE + symbols[j].st_value);
	}
}

/* The program, mapped as its segment of code says, at SAMPLE_CODE. */
static void make_visit(const char *program)
{
	struct bytes file = read_file(program);
	const Elf64_Ehdr *header = (const void *)file.at;
	const Elf64_Phdr *segments = (const void *)(file.at + header->e_phoff);
	struct hostile_visits visits = { 0 };

	for (unsigned i = 0; i < header->e_phnum; i++) {
		if (segments[i].p_type != PT_LOAD || !(segments[i].p_flags & PF_X))
			continue;
		visits.base = SAMPLE_CODE + segments[i].p_vaddr;
		visits.file_offset = segments[i].p_offset;
		visits.size = segments[i].p_filesz;
	}
	visit_symbols(&visits, &file);
	hostile_file_write(folder, &SAMPLE_PATH[1], &file);
	free(file.at);
	hostile_visits_write(&visits, folder);
}

static void make_jitdump(int packed)
{
	(void)packed;
	make_dump(0);
}

static void make_moves(int packed)
{
	(void)packed;
	make_dump(1);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*make)(int packed);
	} kinds[] = { { "names", make_names },     { "texts", make_texts },
		      { "symbols", make_symbols }, { "rows", make_rows },
		      { "files", make_files },     { "folders", make_folders },
		      { "calls", make_calls },     { "functions", make_functions },
		      { "units", make_units },     { "split", make_split },
		      { "map", make_map },         { "parts", make_parts },
		      { "jitdump", make_jitdump }, { "moves", make_moves } };
	int packed = argc > 2 && strncmp(argv[1], "packed_", 7) == 0;

	if (argc >= 3 && (mkdir(argv[2], 0777) == 0 || errno == EEXIST)) {
		folder = argv[2];
		for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
			if (strcmp(argv[1] + (packed ? 7 : 0), kinds[i].name) == 0) {
				kinds[i].make(packed);
				return 0;
			}
		}
		if (argc == 4) {
			make_visit(argv[3]);
			return 0;
		}
	}
	fprintf(stderr, "usage: make-hostile KIND DIR [PROGRAM]\n");
	return 2;
}
