/* SPDX-License-Identifier: MIT */
/*
 * Damaged ELF files: reading any damaged sample ends, without accesses outside its bytes, which the
 * sanitizers check: the bytes are on the heap, in exactly the file's size.
 */
#include <dwarf.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "symbols/dwarf/inline_table.h"
#include "symbols/files/elf_file.h"
#include "symbols/tables/code_starts.h"
#include "symbols/tables/symbol_table.h"
#include "symbols/tables/trap_table.h"
#include "tests/support/tiny_elf.h"
#include "tests/support/unit.h"

static uint8_t *whole;
static size_t whole_size;

static void load_sample(const char *name)
{
	const char *build = getenv("top_builddir");
	char path[4096];
	FILE *file;
	long size;

	snprintf(path, sizeof(path), "%s/tests/unit/symbols/%s", build, name);
	file = fopen(path, "rb");
	ck_assert_ptr_nonnull(file);
	fseek(file, 0, SEEK_END);
	size = ftell(file);
	rewind(file);
	whole = malloc((size_t)size);
	whole_size = fread(whole, 1, (size_t)size, file);
	ck_assert_int_eq(whole_size, size);
	fclose(file);
}

/* A look-up finds the same entry as the list of all ranges. */
static void check_find(struct symbol_table *table, uint64_t vaddr)
{
	uint64_t found[2], range[2];
	uint32_t entry = symbol_table_find(table, vaddr, &found[0], &found[1]);

	ck_assert_uint_eq(entry, range_map_find(&table->ranges, vaddr, &range[0], &range[1]));
	ck_assert(entry == SYMBOL_ENTRY_NONE || symbol_table_shows(table, entry));
	ck_assert_mem_eq(found, range, sizeof(range));
}

/* A size beyond the file is not used. */
static void check_sound(struct symbol_table *table, const struct elf_file *file)
{
	uint64_t begin, end;

	symbol_table_find(table, UINT64_MAX, &begin, &end);
	ck_assert_uint_le(table->count, file->size / 8);
	ck_assert_uint_le(table->ranges.count, 2 * table->count);
	for (size_t i = 1; i < table->count; i++)
		ck_assert(table->entries[i - 1].begin <= table->entries[i].begin);
	for (size_t i = 1; i < table->ranges.count; i++)
		ck_assert(table->ranges.pieces[i - 1].begin < table->ranges.pieces[i].begin);
	for (size_t i = 0; i < table->count; i++) {
		const char *name = symbol_table_name(table, &table->entries[i]);

		ck_assert(!name || strlen(name) < file->size);
		check_find(table, table->entries[i].begin);
		check_find(table, table->entries[i].end - 1);
		check_find(table, table->entries[i].end);
	}
}

/* The function around any address contains it. */
static void check_starts(const struct elf_file *file)
{
	struct code_starts starts;

	code_starts_open(&starts, file);
	for (size_t i = 0; i < file->code_count; i++) {
		for (unsigned part = 0; part < 50; part++) {
			uint64_t vaddr = file->code[i].vaddr + file->code[i].size * part / 50;
			struct code_start start = code_starts_find(&starts, vaddr);

			ck_assert(start.begin <= vaddr && vaddr < start.end);
			ck_assert_uint_gt(code_starts_next(&starts, vaddr), vaddr);
		}
	}
	ck_assert_uint_le(starts.unwind.count, file->size / 8);
	ck_assert_uint_le(starts.hint_count, file->size / 16);
	code_starts_close(&starts);
}

/* Read everything in a file; returns its number of symbols. */
static size_t read_all(const uint8_t *bytes, size_t size)
{
	struct symbol_table table = { 0 };
	struct trap_table traps;
	struct line_table lines = { 0 };
	struct inline_table inlined = { 0 };
	struct inline_hit hit;
	struct elf_file file;
	uint8_t *copy = malloc(size ? size : 1);
	struct line_row row;
	size_t count;

	memcpy(copy, bytes, size);
	if (elf_file_open_bytes(&file, copy, size, NULL) != 0)
		return 0;
	symbol_table_load(&table, &file, NULL, NULL);
	check_sound(&table, &file);
	line_table_open(&lines, &file, NULL, NULL);
	for (size_t i = 0; i < table.count; i++) {
		symbol_table_function(&table, (uint32_t)i);
		if (line_table_find(&lines, table.entries[i].begin, &row, NULL) == 1 && row.file)
			ck_assert_uint_lt(strlen(row.file), 2 * size);
		if (inline_table_find(&inlined, &lines, table.entries[i].begin, &hit, NULL) == 1)
			ck_assert(hit.call == RANGE_NONE || hit.call < hit.function->count);
	}
	check_starts(&file);
	trap_table_open(&traps, &file);
	trap_table_release(&traps);
	count = table.count;
	inline_table_release(&inlined);
	line_table_close(&lines);
	symbol_table_release(&table);
	elf_file_close(&file);
	return count;
}

START_TEST(every_prefix_of_a_file_can_be_read)
{
	load_sample("sample");
	ck_assert_uint_gt(read_all(whole, whole_size), 10);
	for (size_t size = 0; size < whole_size; size += 1 + size / 100)
		read_all(whole, size);
	free(whole);
}
END_TEST

/* The first bytes of every structure with offsets, sizes and counts. */
START_TEST(any_byte_of_the_headers_may_be_wrong)
{
	static const uint8_t values[] = { 0x00, 0x01, 0x7f, 0x80, 0xff };
	Elf64_Ehdr header;

	load_sample("sample");
	memcpy(&header, whole, sizeof(header));
	for (size_t i = 0; i < whole_size; i++) {
		uint8_t kept = whole[i];

		/* Program headers follow the header; section headers end the file. */
		if (i == sizeof(header) + 14 * sizeof(Elf64_Phdr))
			i = header.e_shoff;
		whole[i] = values[i % sizeof(values)];
		read_all(whole, whole_size);
		whole[i] = kept;
	}
	free(whole);
}
END_TEST

START_TEST(any_byte_of_the_contents_may_be_wrong)
{
	unsigned seed = 1;

	load_sample(_i ? "sample_gz" : "sample");
	for (int round = 0; round < 1000; round++) {
		size_t at[4];
		uint8_t kept[4];

		for (int i = 0; i < 4; i++) {
			seed = seed * 1103515245 + 12345;
			at[i] = (seed >> 8) % whole_size;
			kept[i] = whole[at[i]];
			whole[at[i]] ^= (uint8_t)(seed >> 4);
		}
		read_all(whole, whole_size);
		for (int i = 3; i >= 0; i--)
			whole[at[i]] = kept[i];
	}
	free(whole);
}
END_TEST

static Elf64_Shdr *section_of_type(uint32_t type)
{
	Elf64_Ehdr *header = (Elf64_Ehdr *)whole;
	Elf64_Shdr *sections = (Elf64_Shdr *)(whole + header->e_shoff);

	for (unsigned i = 0; i < header->e_shnum; i++)
		if (sections[i].sh_type == type)
			return &sections[i];
	return NULL;
}

START_TEST(a_symbol_table_that_is_its_own_string_table_or_has_no_entry_size_is_read)
{
	struct symbol_table table;
	struct elf_file file;
	struct error err = { 0 };
	Elf64_Shdr *symbols;

	load_sample("sample");
	symbols = section_of_type(SHT_SYMTAB);
	ck_assert_ptr_nonnull(symbols);
	symbols->sh_entsize = 0;
	read_all(whole, whole_size);
	symbols->sh_link =
		(uint32_t)(symbols - (Elf64_Shdr *)(whole + ((Elf64_Ehdr *)whole)->e_shoff));
	read_all(whole, whole_size);
	symbols->sh_size = UINT64_MAX / 2;
	read_all(whole, whole_size);
	ck_assert_int_eq(elf_file_open_bytes(&file, whole, whole_size, NULL), 0);
	ck_assert_int_eq(symbol_table_load(&table, &file, NULL, &err), -1);
	ck_assert_int_eq(err.kind, ERROR_FORMAT);
	symbol_table_release(&table);
	elf_file_close(&file);
}
END_TEST

/* A relocatable-looking file of two sections of debug information. */
struct debug_file {
	uint8_t *bytes; /* owned until it is opened */
	size_t size;
};

static uint64_t put(struct debug_file *file, const void *bytes, size_t size)
{
	uint64_t offset = file->size;

	file->bytes = realloc(file->bytes, file->size + size);
	memcpy(file->bytes + file->size, bytes, size);
	file->size += size;
	return offset;
}

static struct debug_file make_debug_file(const struct debug_file *info,
					 const struct debug_file *abbrev)
{
	static const char strings[] = "\0.debug_info\0.debug_abbrev";
	Elf64_Ehdr header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB,
					   EV_CURRENT },
			      .e_type = ET_DYN,
			      .e_machine = EM_X86_64,
			      .e_version = EV_CURRENT,
			      .e_ehsize = sizeof(header),
			      .e_shentsize = sizeof(Elf64_Shdr),
			      .e_shnum = 4,
			      .e_shstrndx = 3 };
	Elf64_Shdr sections[4] = {
		[1] = { .sh_name = 1, .sh_type = SHT_PROGBITS, .sh_size = info->size },
		[2] = { .sh_name = 13, .sh_type = SHT_PROGBITS, .sh_size = abbrev->size },
		[3] = { .sh_name = 0, .sh_type = SHT_STRTAB, .sh_size = sizeof(strings) },
	};
	struct debug_file file = { 0 };

	put(&file, &header, sizeof(header));
	sections[1].sh_offset = put(&file, info->bytes, info->size);
	sections[2].sh_offset = put(&file, abbrev->bytes, abbrev->size);
	sections[3].sh_offset = put(&file, strings, sizeof(strings));
	put(&file, "\0\0\0\0\0\0\0", 8 - file.size % 8);
	header.e_shoff = put(&file, sections, sizeof(sections));
	memcpy(file.bytes, &header, sizeof(header));
	return file;
}

/* DWARF 4, 7.5.1.1: length, version, table of abbreviations, size of addresses; then entry 0x4001.
 */
static const uint8_t small_unit[] = { 10, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, 0x81, 0x80, 0x01 };

/* A packed section of 64 KiB that claims 512 KiB, under `count` section headers. */
static void *make_packed(unsigned count, size_t *size)
{
	const size_t blob = 64 << 10, headers = sizeof(Elf64_Ehdr) + blob;
	uint8_t *bytes = calloc(1, headers + (count + 1) * sizeof(Elf64_Shdr));
	Elf64_Shdr *sections = (void *)(bytes + headers);

	*size = headers + (count + 1) * sizeof(Elf64_Shdr);
	*(Elf64_Ehdr *)(void *)bytes = (Elf64_Ehdr){
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_shoff = headers,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = (Elf64_Half)(count + 1),
	};
	*(Elf64_Chdr *)(void *)(bytes + sizeof(Elf64_Ehdr)) =
		(Elf64_Chdr){ ELFCOMPRESS_ZLIB, 0, 8 * blob, 1 };
	for (unsigned i = 1; i <= count; i++)
		sections[i] = (Elf64_Shdr){ .sh_type = SHT_PROGBITS,
					    .sh_flags = SHF_COMPRESSED,
					    .sh_offset = sizeof(Elf64_Ehdr),
					    .sh_size = blob };
	return bytes;
}

START_TEST(packed_sections_count_together)
{
	for (unsigned count = 1; count <= 17; count += 16) {
		struct elf_file file;
		size_t size;
		void *bytes = make_packed(count, &size);

		ck_assert_int_eq(elf_file_open_bytes(&file, bytes, size, NULL), 0);
		ck_assert_int_eq(dwarf_guard_is_bomb(&file), count > 1);
		elf_file_close(&file);
	}
}
END_TEST

/* The count for a line table follows libdw's memory. */
START_TEST(a_line_table_takes_memory_by_its_rows_and_names)
{
	struct line_table table = { 0 };
	struct elf_file file;
	Dwarf_CU *unit = NULL;
	size_t units = 0;
	Dwarf_Die die;

	load_sample("sample");
	ck_assert_int_eq(elf_file_open_bytes(&file, whole, whole_size, NULL), 0);
	ck_assert_int_eq(line_table_open(&table, &file, NULL, NULL), 0);
	while (dwarf_get_units(table.own.image.dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0) {
		size_t before = table.guard.own_left, count, memory = 0, longest = 0;
		const char *const *folders;
		Dwarf_Attribute attribute;
		Dwarf_Lines *lines;
		Dwarf_Files *files;
		Dwarf_Word program;
		size_t file_count, folder_count;

		if (dwarf_formudata(dwarf_attr(&die, DW_AT_stmt_list, &attribute), &program) != 0)
			continue;
		ck_assert_int_eq(dwarf_getsrclines(&die, &lines, &count), 0);
		ck_assert_int_eq(dwarf_getsrcfiles(&die, &files, &file_count), 0);
		ck_assert_int_eq(dwarf_getsrcdirs(files, &folders, &folder_count), 0);
		for (size_t i = 0; i < folder_count; i++)
			longest = strlen(folders[i]) > longest ? strlen(folders[i]) : longest;
		for (size_t i = 0; i < file_count; i++)
			memory += strlen(dwarf_filesrc(files, i, NULL, NULL));
		ck_assert(dwarf_guard_allows_lines(&table.guard, program, &die));
		/* Names count twice; next to the longest folder, short ones count more. */
		ck_assert_uint_ge(before - table.guard.own_left,
				  count * 48 + (file_count + folder_count) * 96 + memory);
		ck_assert_uint_le(before - table.guard.own_left,
				  count * 48 + (file_count + folder_count) * 96 +
					  2 * (memory + file_count * longest));
		before = table.guard.own_left;
		/* Only the first time. */
		ck_assert(dwarf_guard_allows_lines(&table.guard, program, &die));
		ck_assert_uint_eq(before, table.guard.own_left);
		units++;
	}
	ck_assert_uint_ge(units, 1);
	line_table_close(&table);
	elf_file_close(&file);
}
END_TEST

START_TEST(a_line_program_of_more_rows_than_memory_is_left_for_is_refused)
{
	/* DWARF 4: length, version, header's length, ...; opcodes from 13 on make a row each. */
	static uint8_t program[1000] = { 0xe4, 3,  0, 0, 4, 0, 20, 0, 0, 0, 1, 1, 1, 0xfb,
					 14,   13, 0, 1, 1, 1, 1,  0, 0, 0, 1, 0, 0, 1 };
	Elf_Data line = { .d_buf = program, .d_size = sizeof(program) };

	memset(program + 30, 20, sizeof(program) - 30);
	for (unsigned enough = 0; enough < 2; enough++) {
		size_t pool = 100;
		struct dwarf_guard guard = { .line = &line,
					     .own_left = 970 * 112 - 101 + enough,
					     .pool = &pool,
					     .line_bytes_left = 1000 };

		ck_assert_int_eq(dwarf_guard_allows_lines(&guard, 0, NULL), enough);
		/* They take less once they are read, and the file's own memory first. */
		ck_assert_uint_eq(pool, 100);
		ck_assert_uint_eq(guard.own_left, 970 * 112 - (enough ? 100 + 970 * 48 : 101));
		dwarf_guard_release(&guard);
	}
}
END_TEST

/* 100 files of one letter in a folder of 600 letters, which libdw prepends to each. */
START_TEST(a_long_directory_counts_for_each_file_in_it)
{
	static uint8_t program[1000] = { 0xe4, 3,  0, 0, 4, 0, 0xda, 3, 0, 0, 1, 1, 1, 0xfb,
					 14,   13, 0, 1, 1, 1, 1,    0, 0, 0, 1, 0, 0, 1 };
	Elf_Data line = { .d_buf = program, .d_size = sizeof(program) };
	struct dwarf_guard guard = { .line = &line, .line_bytes_left = 1000 };
	size_t at = 28;

	memset(program + at, 'd', 600);
	at += 602;
	for (unsigned i = 0; i < 70; i++, at += 5)
		memcpy(program + at, "f\0\1\0\0", 5);
	guard.own_left = 70 * 600;
	ck_assert(!dwarf_guard_allows_lines(&guard, 0, NULL));
	dwarf_guard_release(&guard);
	guard = (struct dwarf_guard){ .line = &line, .line_bytes_left = 1000, .own_left = 100000 };
	ck_assert(dwarf_guard_allows_lines(&guard, 0, NULL));
	dwarf_guard_release(&guard);
}
END_TEST

START_TEST(line_programs_that_overlap_are_counted_up_to_the_sections_size)
{
	/* At 0 and at 8, DWARF 2 programs up to the end, without rows: DW_LNS_set_basic_block. */
	static uint8_t programs[1000] = { 0xe4, 3, 0, 0, 2, 0, 0, 0, 0xdc, 3, 0, 0, 2, 0 };
	Elf_Data line = { .d_buf = programs, .d_size = sizeof(programs) };
	struct dwarf_guard guard = { .line = &line, .own_left = 1000, .line_bytes_left = 1000 };

	ck_assert(dwarf_guard_allows_lines(&guard, 0, NULL));
	ck_assert(!dwarf_guard_allows_lines(&guard, 8, NULL));
	/* It is counted already. */
	ck_assert(dwarf_guard_allows_lines(&guard, 0, NULL));
	dwarf_guard_release(&guard);
}
END_TEST

START_TEST(units_that_are_shared_are_as_many_as_memory_is_left_for)
{
	uint8_t units[10 * sizeof(small_unit)];
	Elf_Data info = { .d_buf = units, .d_size = sizeof(units) };

	for (size_t i = 0; i < 10; i++)
		memcpy(units + i * sizeof(small_unit), small_unit, sizeof(small_unit));
	for (unsigned enough = 0; enough < 2; enough++) {
		struct dwarf_guard guard = { .info = &info, .own_left = 9999 + enough };

		ck_assert_int_eq(dwarf_guard_allows_all_units(&guard), enough);
		dwarf_guard_release(&guard);
	}
}
END_TEST

/* Symbols at one address or in a row, whose names are all suffixes of one text. */
static void *make_long_names(size_t count, size_t length, bool spread, size_t *size)
{
	struct tiny_symbol *symbols = calloc(count, sizeof(*symbols));
	uint8_t *code = calloc(count, 1), *bytes;
	char *text = malloc(length + 1);
	Elf64_Shdr *sections;
	Elf64_Ehdr *header;

	memset(text, 'x', length);
	text[length] = 0;
	for (size_t i = 0; i < count; i++)
		symbols[i] = (struct tiny_symbol){ i ? "y" : text, 0x1000 + (spread ? i : 0), 1,
						   ELF64_ST_INFO(STB_GLOBAL, STT_FUNC) };
	bytes = tiny_elf_bytes(&(struct tiny_elf){ .address = 0x1000,
						   .code = code,
						   .code_size = count,
						   .symbols = symbols,
						   .symbol_count = count },
			       size);
	header = (void *)bytes;
	sections = (void *)(bytes + header->e_shoff);
	for (unsigned i = 0; i < header->e_shnum; i++) {
		Elf64_Sym *all = (void *)(bytes + sections[i].sh_offset);

		for (size_t j = 2; sections[i].sh_type == SHT_SYMTAB && j <= count; j++)
			all[j].st_name = (Elf64_Word)(all[1].st_name + j);
	}
	free(symbols);
	free(code);
	free(text);
	return bytes;
}

START_TEST(names_that_are_ends_of_one_long_name_take_time_by_the_files_size)
{
	/* Some 90,000 symbols, and four times the file's size. */
	static const size_t counts[] = { 200000, 4 };

	for (int i = 0; i < 4; i++) {
		struct symbol_table table;
		struct elf_file file;
		struct error err = { 0 };
		clock_t before = clock();
		size_t size;
		void *bytes = make_long_names(counts[i / 2], 4000000, i % 2, &size);

		ck_assert_int_eq(elf_file_open_bytes(&file, bytes, size, NULL), 0);
		ck_assert_int_eq(symbol_table_load(&table, &file, NULL, &err), -1);
		ck_assert_str_eq(err.text, "the names of its symbols are longer than the file");
		ck_assert_int_lt(clock() - before, 2 * CLOCKS_PER_SEC);
		check_sound(&table, &file);
		symbol_table_release(&table);
		elf_file_close(&file);
	}
}
END_TEST

/* Up to three headers have the same notes, in segments or sections; libdw reads them for each. */
START_TEST(notes_that_overlap_have_no_build_id)
{
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr segments[3];
		Elf64_Shdr sections[4];
		Elf64_Nhdr empty[100], info;
		char name[4], id[20];
	} *file = calloc(1, sizeof(*file));
	const uint64_t begin = offsetof(__typeof__(*file), empty), size = sizeof(*file) - begin;
	bool in_sections = _i % 2, overlap = _i / 2;
	struct elf_file elf;

	memcpy(file->header.e_ident, ELFMAG "\2\1\1", 7);
	file->header.e_type = ET_DYN;
	file->header.e_version = EV_CURRENT;
	file->header.e_phoff = offsetof(__typeof__(*file), segments);
	file->header.e_phentsize = sizeof(Elf64_Phdr);
	file->header.e_phnum = in_sections ? 0 : 3;
	file->header.e_shoff = in_sections ? offsetof(__typeof__(*file), sections) : 0;
	file->header.e_shentsize = sizeof(Elf64_Shdr);
	file->header.e_shnum = in_sections ? 4 : 0;
	for (int i = overlap ? 0 : 2; i < 3; i++) {
		file->segments[i] = (Elf64_Phdr){
			.p_type = PT_NOTE, .p_offset = begin, .p_filesz = size, .p_align = 4
		};
		file->sections[i + 1] = (Elf64_Shdr){
			.sh_type = SHT_NOTE, .sh_offset = begin, .sh_size = size, .sh_addralign = 4
		};
	}
	file->info = (Elf64_Nhdr){ 4, sizeof(file->id), NT_GNU_BUILD_ID };
	memcpy(file->name, "GNU", 4);
	ck_assert_int_eq(elf_file_open_bytes(&elf, (uint8_t *)file, sizeof(*file), NULL), 0);
	ck_assert_uint_eq(elf.build_id_size, overlap ? 0 : sizeof(file->id));
	elf_file_close(&elf);
}
END_TEST

/*
 * 20,000 units that share a table of 16,384 abbreviations and each use the last one: 400 kB, from
 * which libdw would make 20 GB.
 */
START_TEST(units_that_share_a_long_table_of_abbreviations_are_refused)
{
	struct debug_file info = { 0 }, abbrev = { 0 }, file;
	struct line_table lines = { 0 };
	struct error err = { 0 };
	struct elf_file elf;

	for (unsigned i = 0; i < 20000; i++)
		put(&info, small_unit, sizeof(small_unit));
	for (unsigned i = 1; i <= 0x4001; i++) {
		/* The code, DW_TAG_compile_unit, no children, no attributes. */
		uint8_t entry[] = { (uint8_t)(i | 0x80),
				    (uint8_t)(i >> 7 | 0x80),
				    (uint8_t)(i >> 14),
				    0x11,
				    0,
				    0,
				    0 };

		put(&abbrev, entry, sizeof(entry));
	}
	put(&abbrev, "", 1);
	file = make_debug_file(&info, &abbrev);
	ck_assert_int_eq(elf_file_open_bytes(&elf, file.bytes, file.size, NULL), 0);
	ck_assert_int_eq(line_table_open(&lines, &elf, NULL, &err), -1);
	ck_assert_int_eq(err.kind, ERROR_FORMAT);
	line_table_close(&lines);
	elf_file_close(&elf);
	free(info.bytes);
	free(abbrev.bytes);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("hostile_elf");
	TCase *all = tcase_create("hostile_elf");

	tcase_add_test(all, every_prefix_of_a_file_can_be_read);
	tcase_add_test(all, any_byte_of_the_headers_may_be_wrong);
	tcase_add_loop_test(all, any_byte_of_the_contents_may_be_wrong, 0, 2);
	tcase_add_test(all,
		       a_symbol_table_that_is_its_own_string_table_or_has_no_entry_size_is_read);
	tcase_add_test(all, a_line_program_of_more_rows_than_memory_is_left_for_is_refused);
	tcase_add_test(all, a_long_directory_counts_for_each_file_in_it);
	tcase_add_test(all, line_programs_that_overlap_are_counted_up_to_the_sections_size);
	tcase_add_test(all, units_that_are_shared_are_as_many_as_memory_is_left_for);
	tcase_add_test(all, packed_sections_count_together);
	tcase_add_test(all, a_line_table_takes_memory_by_its_rows_and_names);
	tcase_add_loop_test(all, notes_that_overlap_have_no_build_id, 0, 4);
	tcase_add_test(all, names_that_are_ends_of_one_long_name_take_time_by_the_files_size);
	tcase_add_test(all, units_that_share_a_long_table_of_abbreviations_are_refused);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
