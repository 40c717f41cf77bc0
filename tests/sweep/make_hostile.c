/* SPDX-License-Identifier: MIT */
/*
 * make-hostile KIND DIR [PROGRAM]: writes DIR/perf.data and DIR/sample, together less than 1 MiB,
 * which are made to take much time or memory.  Each tests a rule of doc/BUDGETS.md.
 *
 *	names     symbols that each take a demangler most of a millisecond
 *	texts     symbols that are long demangled
 *	rows      a line table of nothing but rows; packed_rows: packed
 *	files     a line table of nothing but names of files; packed_files: packed
 *	folders   a line table of nothing but names of directories; packed_folders: packed
 *	calls     a function of nothing but inlined calls; packed_calls: packed
 *	functions a unit of nothing but functions; packed_functions: packed
 *	units     units that share a table of abbreviations; packed_units: packed
 *	overlaps  units whose line programs end where the last one does; packed_overlaps: packed
 *	abbreviated
 *	          units that each have an entry of the last abbreviation of a long table
 *	headers   units of a header only in the file of what others share; packed_headers: packed
 *	shared    units of that file that are as those of abbreviated
 *	paths     a long name of a directory, and many files in it
 *	programs  line tables of many rows, of 16 programs
 *	split     units whose other part is, for each, the same file
 *	symbols   symbols around each other
 *	map       a perf-PID.map of ranges around each other
 *	jitdump   a jitdump of functions that replace each other; moves: that move
 *	parts     a moment after the other: --split=10ns makes a file of each
 *	big_KIND  the same with a hostile part of 8 MiB
 *	visit     no rule: PROGRAM, and a recording that is once in each of its functions
 */
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/support/sample.h"
#include "tests/sweep/hostile_dwarf.h"
#include "tests/sweep/hostile_set.h"

static void make_parts(const char *folder, int packed)
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

/* A pack expansion searches each of the 2^levels parts of a type without a pack. */
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

static void make_names(const char *folder, int packed)
{
	struct hostile_elf elf = { .functions = 4000 };
	char name[1024];

	(void)packed;
	for (unsigned i = 0; i < elf.functions; i++) {
		write_pack(name, i, 15);
		hostile_elf_symbol(&elf, i, name);
	}
	hostile_visit_functions(folder, elf.functions);
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

static void make_texts(const char *folder, int packed)
{
	struct hostile_elf elf = { .functions = 4000 };
	char name[1024];

	(void)packed;
	for (unsigned i = 0; i < elf.functions; i++) {
		write_pairs(name, i, 12);
		hostile_elf_symbol(&elf, i, name);
	}
	hostile_visit_functions(folder, elf.functions);
	hostile_elf_write(&elf, folder, &SAMPLE_PATH[1]);
}

static void make_symbols(const char *folder, int packed)
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
	hostile_visit_functions(folder, elf.functions);
	hostile_elf_write(&elf, folder, &SAMPLE_PATH[1]);
}

/* ---- Code of JIT compilers --------------------------------------------------- */

static void make_map(const char *folder, int packed)
{
	/* No file names the code. */
	struct hostile_visits visits = { .size = 4000, .mapped = "//anon" };
	struct bytes map = { 0 };
	char line[64], path[PATH_MAX];

	(void)packed;
	for (unsigned i = 0; map.size < hostile_room; i++) {
		int length =
			snprintf(line, sizeof(line), "%x %x f\n", 0x401000 + i, 0x100000 - 2 * i);

		bytes_add(&map, line, (size_t)length);
	}
	snprintf(path, sizeof(path), "%s/tmp", folder);
	mkdir(path, 0777);
	snprintf(line, sizeof(line), "tmp/perf-%d.map", SAMPLE_PID);
	hostile_file_write(folder, line, &map);
	free(map.at);
	for (size_t i = 0; i < visits.size; i++)
		hostile_visits_add(&visits, SAMPLE_CODE + i);
	hostile_visits_write(&visits, folder);
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

static void make_dump(const char *folder, int moves)
{
	struct hostile_elf elf = { .functions = 1000 };
	struct hostile_visits visits = { .size = 16000, .also_mapped = "/jit-1234.dump" };
	static const uint32_t header[] = { 0x4a695444, 1, 40, 62, 0, SAMPLE_PID, 0, 0, 1, 0 };
	struct bytes dump = { 0 };

	bytes_add(&dump, header, sizeof(header));
	for (uint64_t i = 0; dump.size < hostile_room; i++) {
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

/* The program at SAMPLE_CODE, mapped like its code segment. */
static void make_visit(const char *folder, const char *program)
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

static void make_jitdump(const char *folder, int packed)
{
	(void)packed;
	make_dump(folder, 0);
}

static void make_moves(const char *folder, int packed)
{
	(void)packed;
	make_dump(folder, 1);
}

static const struct hostile_kind own_kinds[] = {
	{ "names", make_names },     { "texts", make_texts },
	{ "symbols", make_symbols }, { "map", make_map },
	{ "jitdump", make_jitdump }, { "moves", make_moves },
	{ "parts", make_parts },     { NULL, NULL },
};

static const struct hostile_kind *find_kind(const struct hostile_kind *kinds, const char *name)
{
	while (kinds->name && strcmp(kinds->name, name) != 0)
		kinds++;
	return kinds->name ? kinds : NULL;
}

static bool take_prefix(const char **name, const char *prefix)
{
	size_t length = strlen(prefix);

	if (strncmp(*name, prefix, length) != 0)
		return false;
	*name += length;
	return true;
}

int main(int argc, char **argv)
{
	const char *name = argc > 2 ? argv[1] : "";
	const struct hostile_kind *kind;
	int packed;

	if (take_prefix(&name, "big_"))
		hostile_room = (size_t)8 << 20;
	packed = take_prefix(&name, "packed_");
	kind = find_kind(own_kinds, name) ?: find_kind(hostile_dwarf_kinds, name);

	if (argc >= 3 && (mkdir(argv[2], 0777) == 0 || errno == EEXIST)) {
		if (kind)
			kind->make(argv[2], packed);
		else if (argc == 4)
			make_visit(argv[2], argv[3]);
		if (kind || argc == 4)
			return 0;
	}
	fprintf(stderr, "usage: make-hostile KIND DIR [PROGRAM]\n");
	return 2;
}
