/* SPDX-License-Identifier: MIT */
/*
 * Tables as Go's linker writes them, byte by byte: cmd/link/internal/ld/pcln.go and
 * debug/gosym/pclntab.go.  The second of two functions has inlined code of another file.
 */

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/tables/symbol_table.h"
#include "tests/support/tiny_elf.h"
#include "tests/support/unit.h"

#define CODE  UINT64_C(0x401000)
#define MAIN  (CODE + 0x20)
#define END   (CODE + 0x50)
#define TABLE 0x100 /* offset in the code's segment */

/* Offsets in the table. */
enum { NAMES = 0x80, UNITS = 0xc0, FILES = 0xe0, VALUES = 0x100, FUNCTIONS = 0x140, SIZE = 0x200 };

static const uint8_t names[] = "main.work\0main.(*T).run";
static const uint8_t files[] = "/src/a.go\0b.go";

/* Pairs of a change, from -1, in zigzag coding, and the number of code bytes with the result. */
static const uint8_t values[] = {
	0,                                 /* no table begins at 0 */
	12, 0x10, 4,  0x10, 0,             /* 1: lines 5 and 7 */
	26, 0x08, 17, 0x28, 0,             /* 6: lines 12 and 3 */
	2,  0x20, 0,  2,    8, 2, 0x28, 0, /* 11, 14: files 0; 0 and 1 */
	4,  0x20, 0,  4,    8, 2, 0x28, 0, /* 19, 22: the same, counted from 1 */
};

static uint8_t code[TABLE + SIZE];

struct place {
	uint32_t magic;
	unsigned width; /* of addresses in the list of functions */
};

static const struct place layouts[] = {
	{ 0xfffffffb, 8 }, { 0xfffffffa, 8 }, { 0xfffffff0, 4 }, { 0xfffffff1, 4 }
};
#define LAYOUTS ((int)(sizeof(layouts) / sizeof(layouts[0])))

static uint8_t *put(uint8_t *at, uint64_t value, unsigned width)
{
	memcpy(at, &value, width);
	return at + width;
}

/* The list of functions, at `at`, and their data; offsets are from `base`. */
static uint8_t *put_functions(uint8_t *at, const struct place *layout, uint64_t base)
{
	const uint64_t text = layout->width == 4 ? CODE : 0;
	const bool old = layout->magic == 0xfffffffb;
	const uint64_t name = old ? NAMES : 0, value = old ? VALUES : 0;
	uint8_t *function = code + TABLE + FUNCTIONS + 0x40;

	for (unsigned i = 0; i < 2; i++) {
		const uint64_t begin = (i ? MAIN : CODE) - text;

		at = put(at, begin, layout->width);
		at = put(at, (uint64_t)(function - (code + TABLE)) - base, layout->width);
		function = put(function, begin, layout->width);
		function = put(function, name + (i ? 10 : 0), 4);
		function += 12; /* arguments, deferreturn, stack pointers */
		function = put(function, value + (old ? i ? 22 : 19 : i ? 14 : 11), 4);
		function = put(function, value + (i ? 6 : 1), 4);
		function += 8; /* other tables, unit */
	}
	return put(at, END - text, layout->width);
}

static void make_table(const struct place *layout)
{
	uint8_t *at = code + TABLE;
	const bool old = layout->magic == 0xfffffffb;

	memset(code, 0, sizeof(code));
	memcpy(code + TABLE + NAMES, names, sizeof(names));
	memcpy(code + TABLE + FILES, files, sizeof(files));
	memcpy(code + TABLE + VALUES, values, sizeof(values));
	at = put(at, layout->magic, 4);
	at = put(at, 0x08010000, 4); /* instructions of any length, pointers of 8 bytes */
	at = put(at, 2, 8);
	if (old) {
		at = put_functions(at, layout, 0);
		put(at, UNITS, 4);
		put(put(put(code + TABLE + UNITS, 3, 4), FILES, 4), FILES + 10, 4);
		return;
	}
	put(put(code + TABLE + UNITS, 0, 4), 10, 4);
	at = put(at, 2, 8);
	if (layout->width == 4)
		at = put(at, CODE, 8);
	for (unsigned i = 0; i < 5; i++)
		at = put(at, (uint64_t[]){ NAMES, UNITS, FILES, VALUES, FUNCTIONS }[i], 8);
	put_functions(code + TABLE + FUNCTIONS, layout, FUNCTIONS);
}

/* Returns the file of the table, with `count` symbols. */
static struct elf_file open_file(const struct tiny_symbol *symbols, size_t count)
{
	struct tiny_elf elf = { CODE, code, sizeof(code), symbols, count, TABLE, SIZE };
	struct elf_file file;
	size_t size;
	uint8_t *bytes = tiny_elf_bytes(&elf, &size);

	ck_assert_int_eq(elf_file_open_bytes(&file, bytes, size, NULL), 0);
	return file;
}

static void expect_line(struct go_table *table, uint64_t vaddr, const char *path, uint32_t line)
{
	const char *found = NULL;

	ck_assert_uint_eq(go_table_line(table, vaddr, &found), line);
	ck_assert_pstr_eq(found, path);
}

static void expect_symbol(const struct symbol_table *table, size_t index, const char *name,
			  uint64_t begin, uint64_t end)
{
	ck_assert_uint_lt(index, table->count);
	ck_assert_str_eq(symbol_table_name(table, &table->entries[index]), name);
	ck_assert_uint_eq(table->entries[index].begin, begin);
	ck_assert_uint_eq(table->entries[index].end, end);
}

START_TEST(a_program_without_symbols_has_names_and_lines)
{
	struct elf_file file;
	struct symbol_table table;

	make_table(&layouts[_i]);
	file = open_file(NULL, 0);
	ck_assert_int_eq(symbol_table_load(&table, &file, NULL, NULL), 0);
	ck_assert_uint_eq(table.count, 2);
	expect_symbol(&table, 0, "main.work", CODE, MAIN);
	expect_symbol(&table, 1, "main.(*T).run", MAIN, END);
	expect_line(&table.go, CODE, "/src/a.go", 5);
	expect_line(&table.go, CODE + 0xf, "/src/a.go", 5);
	expect_line(&table.go, CODE + 0x10, "/src/a.go", 7);
	expect_line(&table.go, MAIN, "/src/a.go", 12);
	expect_line(&table.go, MAIN + 8, "b.go", 3);
	expect_line(&table.go, END - 1, "b.go", 3);
	expect_line(&table.go, END, NULL, 0);
	expect_line(&table.go, CODE - 1, NULL, 0);
	symbol_table_release(&table);
	elf_file_close(&file);
}
END_TEST

START_TEST(a_symbol_keeps_its_name_beside_the_table)
{
	const struct tiny_symbol symbol = { "main.work.abi0", CODE, 0x18,
					    ELF64_ST_INFO(STB_GLOBAL, STT_FUNC) };
	struct symbol_table table;
	struct elf_file file;

	make_table(&layouts[2]);
	file = open_file(&symbol, 1);
	ck_assert_int_eq(symbol_table_load(&table, &file, NULL, NULL), 0);
	ck_assert_uint_eq(table.count, 2);
	expect_symbol(&table, 0, "main.work.abi0", CODE, CODE + 0x18);
	expect_symbol(&table, 1, "main.(*T).run", MAIN, END);
	symbol_table_release(&table);
	elf_file_close(&file);
}
END_TEST

/* Programs of 1.26 without .go.module: the base of the offsets is unknown. */
START_TEST(without_the_address_of_the_code_nothing_is_named)
{
	struct go_table table;
	struct elf_file file;

	make_table(&layouts[3]);
	put(code + TABLE + 24, 0, 8);
	file = open_file(NULL, 0);
	go_table_open(&table, &file);
	ck_assert_uint_eq(table.count, 0);
	expect_line(&table, CODE, NULL, 0);
	elf_file_close(&file);
}
END_TEST

static void read_damaged(void)
{
	struct elf_file file = open_file(NULL, 0);
	struct symbol_table table;
	const char *path;

	symbol_table_load(&table, &file, NULL, NULL);
	ck_assert_uint_le(table.count, SIZE / 8);
	for (size_t i = 0; i < table.count; i++)
		ck_assert_uint_lt(strlen(symbol_table_name(&table, &table.entries[i])), file.size);
	for (uint64_t vaddr = CODE; vaddr < END; vaddr++)
		if (go_table_line(&table.go, vaddr, &path))
			ck_assert_uint_lt(strlen(path), file.size);
	symbol_table_release(&table);
	elf_file_close(&file);
}

START_TEST(a_damaged_table_is_harmless)
{
	for (size_t at = TABLE; at < sizeof(code); at++) {
		make_table(&layouts[_i]);
		code[at] ^= 0xff;
		read_damaged();
		code[at] ^= 0x7f;
		read_damaged();
	}
}
END_TEST

/* The bytes of a function's run are read up to a limit, over many lines. */
START_TEST(no_more_is_read_for_lines_than_allowed)
{
	struct go_table table;
	struct elf_file file;

	make_table(&layouts[2]);
	file = open_file(NULL, 0);
	go_table_open(&table, &file);
	ck_assert(!go_table_is_spent(&table));
	table.work = 5;
	expect_line(&table, CODE, "/src/a.go", 5);
	expect_line(&table, CODE, NULL, 0);
	ck_assert(go_table_is_spent(&table));
	elf_file_close(&file);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("go_table");
	TCase *all = tcase_create("all");

	tcase_add_loop_test(all, a_program_without_symbols_has_names_and_lines, 0, LAYOUTS);
	tcase_add_test(all, a_symbol_keeps_its_name_beside_the_table);
	tcase_add_test(all, without_the_address_of_the_code_nothing_is_named);
	tcase_add_loop_test(all, a_damaged_table_is_harmless, 0, LAYOUTS);
	tcase_add_test(all, no_more_is_read_for_lines_than_allowed);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
