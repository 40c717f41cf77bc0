/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/tables/name.h"
#include "symbols/dso/dso_store.h"
#include "tests/support/tiny_elf.h"
#include "tests/support/unit.h"

#define CODE            UINT64_C(0x401000)
#define GLOBAL_FUNCTION ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)
#define WEAK_FUNCTION   ELF64_ST_INFO(STB_WEAK, STT_FUNC)
#define LOCAL_FUNCTION  ELF64_ST_INFO(STB_LOCAL, STT_FUNC)
#define LABEL           ELF64_ST_INFO(STB_LOCAL, STT_NOTYPE)
#define GLOBAL_LABEL    ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE)
#define OBJECT          ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT)

static struct name_table names;
static struct diag diag;
static struct dso_store *store;
static char path[64];

static void open_store(void)
{
	struct dso_store_options options = { .find.build_id_cache = "/nonexistent" };

	name_table_init(&names);
	diag_init(&diag);
	store = dso_store_open(&options, &names, &diag);
}

static void close_store(void)
{
	dso_store_close(store);
	name_table_release(&names);
	diag_release(&diag);
}

static void make_path(void)
{
	int fd;

	strcpy(path, "/tmp/ptrace2ftf-XXXXXX");
	fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	close(fd);
}

/* Write a file with 0x100 bytes of code and the symbols, and open it. */
static struct dso *open_tiny(const struct tiny_symbol *symbols, size_t count)
{
	static const uint8_t code[0x100];
	struct tiny_elf elf = { CODE, code, sizeof(code), symbols, count, 0, 0 };

	make_path();
	tiny_elf_write(&elf, path);
	open_store();
	return dso_store_borrow(store, path, NULL, 0);
}

static void close_tiny(void)
{
	close_store();
	unlink(path);
}

static void expect(struct dso *dso, uint64_t address, const char *name, uint64_t offset)
{
	uint64_t found_offset;
	const struct symbol *symbol =
		dso_borrow_symbol(dso, address - CODE + TINY_ELF_CODE_OFFSET, &found_offset);

	ck_assert_str_eq(symbol->name->text, name);
	ck_assert_uint_eq(found_offset, offset);
}

START_TEST(an_address_has_the_symbol_that_covers_it)
{
	const struct tiny_symbol symbols[] = {
		{ "first", CODE, 0x10, GLOBAL_FUNCTION },
		{ "second", CODE + 0x20, 0x10, LOCAL_FUNCTION },
		{ "data", CODE + 0x30, 0x10, OBJECT },
	};
	struct dso *dso = open_tiny(symbols, 3);
	char whole[80];

	snprintf(whole, sizeof(whole), "[%s]", strrchr(path, '/') + 1);
	expect(dso, CODE, "first", 0);
	expect(dso, CODE + 0xf, "first", 0xf);
	expect(dso, CODE + 0x10, whole, 0); /* between symbols */
	expect(dso, CODE + 0x2f, "second", 0xf);
	expect(dso, CODE + 0x30, "data", 0); /* perf also names data */
	expect(dso, CODE + 0x10000, whole, 0);
	close_tiny();
}
END_TEST

START_TEST(a_symbol_without_size_reaches_to_the_next)
{
	const struct tiny_symbol symbols[] = {
		{ "assembly", CODE, 0, LABEL },
		{ "next", CODE + 0x40, 0x10, GLOBAL_FUNCTION },
		{ "last", CODE + 0x60, 0, GLOBAL_FUNCTION },
	};
	struct dso *dso = open_tiny(symbols, 3);

	expect(dso, CODE + 0x3f, "assembly", 0x3f);
	expect(dso, CODE + 0x40, "next", 0);
	expect(dso, CODE + 0xff, "last", 0x9f);
	close_tiny();
}
END_TEST

/* i386's switch tables have such labels. */
START_TEST(a_label_of_the_assemblers_is_no_function)
{
	const struct tiny_symbol symbols[] = {
		{ "chooses", CODE, 0x30, GLOBAL_FUNCTION },
		{ ".L413", CODE + 0x10, 0, LABEL },
		{ "label", CODE + 0x30, 0, LABEL },
		{ ".Lnamed_so", CODE + 0x40, 0x10, GLOBAL_FUNCTION },
	};
	struct dso *dso = open_tiny(symbols, 4);

	expect(dso, CODE + 0x11, "chooses", 0x11);
	expect(dso, CODE + 0x31, "label", 1);
	expect(dso, CODE + 0x41, ".Lnamed_so", 1);
	close_tiny();
}
END_TEST

/* The order of choose_best_symbol() in tools/perf/util/symbol.c. */
START_TEST(of_symbols_at_one_address_perfs_choice_wins)
{
	const struct tiny_symbol symbols[] = {
		{ "empty", CODE, 0, GLOBAL_FUNCTION },
		{ "sized", CODE, 8, LOCAL_FUNCTION },
		{ "weak_and_long", CODE + 0x10, 8, WEAK_FUNCTION },
		{ "local", CODE + 0x10, 8, LOCAL_FUNCTION },
		{ "a_local_name", CODE + 0x20, 8, LOCAL_FUNCTION },
		{ "global", CODE + 0x20, 8, GLOBAL_FUNCTION },
		{ "__underscored", CODE + 0x30, 8, GLOBAL_FUNCTION },
		{ "plain", CODE + 0x30, 8, GLOBAL_FUNCTION },
		{ "short", CODE + 0x40, 8, GLOBAL_FUNCTION },
		{ "longer_name", CODE + 0x40, 8, GLOBAL_FUNCTION },
	};
	struct dso *dso = open_tiny(symbols, 10);

	expect(dso, CODE, "sized", 0);
	expect(dso, CODE + 0x10, "local", 0);
	expect(dso, CODE + 0x20, "global", 0);
	expect(dso, CODE + 0x30, "plain", 0);
	expect(dso, CODE + 0x40, "longer_name", 0);
	close_tiny();
}
END_TEST

START_TEST(inside_a_symbol_the_innermost_wins)
{
	const struct tiny_symbol symbols[] = {
		{ "outer", CODE, 0x80, GLOBAL_FUNCTION },
		{ "inner", CODE + 0x20, 0x10, GLOBAL_FUNCTION },
	};
	struct dso *dso = open_tiny(symbols, 2);

	expect(dso, CODE + 0x20, "inner", 0);
	expect(dso, CODE + 0x30, "outer", 0x30);
	close_tiny();
}
END_TEST

static void expect_range(struct dso *dso, uint64_t address, uint64_t begin, uint64_t end)
{
	uint64_t found_begin, found_end, offset;
	uint64_t place = address - CODE + TINY_ELF_CODE_OFFSET;

	ck_assert_uint_eq(dso_find_range(dso, place, &found_begin, &found_end),
			  dso_borrow_symbol(dso, place, &offset)->kind);
	ck_assert_uint_eq(found_begin - TINY_ELF_CODE_OFFSET + CODE, begin);
	ck_assert_uint_eq(found_end - TINY_ELF_CODE_OFFSET + CODE, end);
}

START_TEST(a_range_has_a_kind_and_makes_no_symbol)
{
	const struct tiny_symbol symbols[] = {
		{ "_ZN3one3twoEv", CODE + 0x10, 0x10, GLOBAL_FUNCTION },
		{ "__x86_indirect_thunk_rax", CODE + 0x20, 0x10, GLOBAL_FUNCTION },
	};
	struct dso *dso = open_tiny(symbols, 2);
	size_t count = names.count;
	uint64_t begin, end;

	for (int i = 0; i < 2; i++) {
		ck_assert_uint_eq(dso_find_range(dso, TINY_ELF_CODE_OFFSET + 0x18, &begin, &end),
				  SYMBOL_FUNCTION);
		ck_assert_uint_eq(begin, TINY_ELF_CODE_OFFSET + 0x10);
		ck_assert_uint_eq(end, TINY_ELF_CODE_OFFSET + 0x20);
		ck_assert_uint_eq(dso_find_range(dso, TINY_ELF_CODE_OFFSET + 0x28, &begin, &end),
				  SYMBOL_PLT);
		ck_assert_uint_eq(dso_find_range(dso, 0, &begin, &end), SYMBOL_FILE);
		ck_assert_uint_eq(begin, end);
		ck_assert_uint_eq(names.count, count);
	}
	expect(dso, CODE + 0x18, "one::two", 8);
	ck_assert_uint_gt(names.count, count);
	close_tiny();
}
END_TEST

/* This distinguishes a jump within a function from one into another. */
START_TEST(a_range_ends_where_a_symbol_does_or_another_begins)
{
	const struct tiny_symbol symbols[] = {
		{ "outer", CODE + 0x10, 0x80, GLOBAL_FUNCTION },
		{ "inner", CODE + 0x30, 0x10, GLOBAL_FUNCTION },
		{ "last", CODE + 0xa0, 0x10, GLOBAL_FUNCTION },
	};
	struct dso *dso = open_tiny(symbols, 3);

	expect_range(dso, CODE + 0x2f, CODE + 0x10, CODE + 0x30);
	expect_range(dso, CODE + 0x30, CODE + 0x30, CODE + 0x40);
	expect_range(dso, CODE + 0x40, CODE + 0x40, CODE + 0x90);
	/* Without symbol: */
	expect_range(dso, CODE, CODE, CODE + 0x10);
	expect_range(dso, CODE + 0x90, CODE + 0x90, CODE + 0xa0);
	expect_range(dso, CODE + 0xff, CODE + 0xb0, CODE + 0x100);
	expect_range(dso, CODE + 0x10000, CODE + 0x10000, CODE + 0x10000); /* no code */
	close_tiny();
}
END_TEST

static const struct symbol *symbol_at(struct dso *dso, uint64_t address)
{
	uint64_t offset;

	return dso_borrow_symbol(dso, address - CODE + TINY_ELF_CODE_OFFSET, &offset);
}

#define SOURCE ELF64_ST_INFO(STB_LOCAL, STT_FILE)

START_TEST(a_part_belongs_to_the_function_of_its_source_file)
{
	const struct tiny_symbol symbols[] = {
		{ "one.c", 0, 0, SOURCE },
		{ "init", CODE, 0x10, LOCAL_FUNCTION },
		{ "init.cold", CODE + 0x10, 0x10, LOCAL_FUNCTION },
		{ "two.c", 0, 0, SOURCE },
		{ "init", CODE + 0x20, 0x10, LOCAL_FUNCTION },
		{ "init.part.0", CODE + 0x30, 0x10, LOCAL_FUNCTION },
		{ "init.part.0.cold", CODE + 0x40, 0x10, LOCAL_FUNCTION },
		{ "work.cold", CODE + 0x50, 0x10, LOCAL_FUNCTION },
		{ "gone.cold", CODE + 0x60, 0x10, LOCAL_FUNCTION },
		{ "work@@VERSION_1", CODE + 0x70, 0x10, GLOBAL_FUNCTION },
		{ "alias_of_work", CODE + 0x70, 0x10, GLOBAL_FUNCTION },
	};
	struct dso *dso = open_tiny(symbols, sizeof(symbols) / sizeof(symbols[0]));

	ck_assert_ptr_eq(symbol_at(dso, CODE + 0x10)->function, symbol_at(dso, CODE));
	ck_assert_ptr_eq(symbol_at(dso, CODE + 0x30)->function, symbol_at(dso, CODE + 0x20));
	ck_assert_ptr_eq(symbol_at(dso, CODE + 0x40)->function, symbol_at(dso, CODE + 0x20));
	ck_assert_ptr_eq(symbol_at(dso, CODE + 0x50)->function, symbol_at(dso, CODE + 0x70));
	ck_assert_ptr_null(symbol_at(dso, CODE + 0x60)->function);
	ck_assert_ptr_null(symbol_at(dso, CODE)->function);
	expect(dso, CODE + 0x40, "init", 0);
	ck_assert_str_eq(symbol_at(dso, CODE + 0x40)->linkage->text, "init.part.0.cold");
	close_tiny();
}
END_TEST

START_TEST(a_part_is_one_by_any_of_its_names_and_of_the_first_function_in_the_file)
{
	const struct tiny_symbol symbols[] = {
		{ "work@VERSION_1", CODE + 0x40, 0x10, GLOBAL_FUNCTION },
		{ "work@@VERSION_2", CODE, 0x10, GLOBAL_FUNCTION },
		{ "shown", CODE + 0x10, 0x10, GLOBAL_FUNCTION },
		{ "work.cold", CODE + 0x10, 0x10, LOCAL_FUNCTION },
	};
	struct dso *dso = open_tiny(symbols, sizeof(symbols) / sizeof(symbols[0]));

	expect(dso, CODE + 0x10, "shown", 0);
	ck_assert_ptr_eq(symbol_at(dso, CODE + 0x10)->function, symbol_at(dso, CODE + 0x40));
	close_tiny();
}
END_TEST

START_TEST(a_part_of_one_of_several_functions_in_other_files_is_not_guessed)
{
	const struct tiny_symbol symbols[] = {
		{ "one.c", 0, 0, SOURCE },   { "init", CODE, 0x10, LOCAL_FUNCTION },
		{ "two.c", 0, 0, SOURCE },   { "init", CODE + 0x10, 0x10, LOCAL_FUNCTION },
		{ "three.c", 0, 0, SOURCE }, { "init", CODE + 0x20, 0x10, LOCAL_FUNCTION },
		{ "four.c", 0, 0, SOURCE },  { "init.cold", CODE + 0x30, 0x10, LOCAL_FUNCTION },
	};
	struct dso *dso = open_tiny(symbols, sizeof(symbols) / sizeof(symbols[0]));

	ck_assert_ptr_null(symbol_at(dso, CODE + 0x30)->function);
	close_tiny();
}
END_TEST

/* It is reached without a call: by falling through, or from a system call. */
START_TEST(a_label_inside_a_function_is_a_part_of_it)
{
	const struct tiny_symbol symbols[] = {
		{ "sized", CODE, 0x10, GLOBAL_FUNCTION },
		{ "its_start", CODE, 0, GLOBAL_LABEL },
		{ "its_label", CODE + 0x8, 0, GLOBAL_LABEL },
		{ "after_it", CODE + 0x10, 0, LABEL },
		{ "typed", CODE + 0x20, 0, GLOBAL_FUNCTION },
		{ "local_in_typed", CODE + 0x24, 0, LABEL },
		{ "another", CODE + 0x28, 0, LABEL },
		{ "global_after_typed", CODE + 0x2c, 0, GLOBAL_LABEL },
		{ "local_after_label", CODE + 0x30, 0, LABEL },
		{ "nasm", CODE + 0x40, 0, GLOBAL_LABEL },
		{ "nasm.loop", CODE + 0x44, 0, LABEL },
		{ "nasm.end", CODE + 0x48, 0, LABEL },
		{ "masm.end", CODE + 0x4a, 0, LABEL },
		{ "nasm2", CODE + 0x4b, 0, GLOBAL_LABEL },
		{ "nasm.end", CODE + 0x4c, 0, LABEL },
		{ "nasm3", CODE + 0x4d, 0, GLOBAL_LABEL },
		{ "nasm3.global", CODE + 0x4e, 0, GLOBAL_LABEL },
		{ "sized_label", CODE + 0x50, 0x10, GLOBAL_LABEL },
		{ "its_end", CODE + 0x5f, 0, GLOBAL_LABEL },
		{ "sized_again", CODE + 0x60, 0x10, GLOBAL_FUNCTION },
		{ "with_type", CODE + 0x62, 0, LOCAL_FUNCTION },
		{ "with_size", CODE + 0x68, 4, LABEL },
	};
	static const struct {
		uint64_t label, function;
	} expected[] = {
		{ 0x8, 0 },     { 0x10, 0x10 }, { 0x24, 0x20 }, { 0x28, 0x20 }, { 0x2c, 0x2c },
		{ 0x30, 0x30 }, { 0x44, 0x40 }, { 0x48, 0x40 }, { 0x4a, 0x4a }, { 0x4c, 0x4c },
		{ 0x4e, 0x4e }, { 0x5f, 0x50 }, { 0x62, 0x62 }, { 0x68, 0x68 },
	};
	struct dso *dso = open_tiny(symbols, sizeof(symbols) / sizeof(symbols[0]));

	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		ck_assert_uint_eq(symbol_function(symbol_at(dso, CODE + expected[i].label))->start,
				  CODE + expected[i].function);
	expect(dso, CODE, "sized", 0);
	expect(dso, CODE + 0x9, "sized", 9);
	expect(dso, CODE + 0x5f, "sized_label", 0xf);
	close_tiny();
}
END_TEST

/*
 * glibc 2.41 has such labels; they are no functions in branches and samples, either.  Other
 * functions may begin between a function's begin and its label.
 */
START_TEST(a_label_inside_a_function_with_a_size_is_not_shown)
{
	const struct tiny_symbol symbols[] = {
		{ "first", CODE, 0x40, GLOBAL_FUNCTION },
		{ "inner", CODE + 0x10, 8, LOCAL_FUNCTION },
		{ "inner_without_size", CODE + 0x20, 0, LOCAL_FUNCTION },
		{ "label_in_it", CODE + 0x24, 0, LABEL },
		{ "another_name", CODE + 0x24, 0, GLOBAL_LABEL },
		{ "after_inner", CODE + 0x1c, 0, GLOBAL_LABEL },
		{ "at_the_end", CODE + 0x40, 0, GLOBAL_LABEL },
		{ "with_a_type", CODE + 0x48, 0, GLOBAL_FUNCTION },
		{ "too_long", CODE + 0xf0, 0x1000, GLOBAL_FUNCTION },
	};
	struct dso *dso = open_tiny(symbols, sizeof(symbols) / sizeof(symbols[0]));

	expect(dso, CODE + 0x1c, "first", 0x1c);
	expect(dso, CODE + 0x12, "inner", 2);
	expect(dso, CODE + 0x26, "inner_without_size", 6);
	expect(dso, CODE + 0x42, "at_the_end", 2);
	expect(dso, CODE + 0x49, "with_a_type", 1);
	ck_assert_uint_eq(dso_info(dso).symbols, 6);
	close_tiny();
}
END_TEST

/* musl's __syscall_cp_asm: perf shows the code by the label's name. */
START_TEST(a_function_is_one_by_whichever_name_it_is_shown)
{
	const struct tiny_symbol symbols[] = {
		{ "label_with_the_longer_name", CODE, 0, LABEL },
		{ "function", CODE, 0, LOCAL_FUNCTION },
		{ "label", CODE + 0x8, 0, LABEL },
	};
	struct dso *dso = open_tiny(symbols, sizeof(symbols) / sizeof(symbols[0]));

	expect(dso, CODE, "label_with_the_longer_name", 0);
	ck_assert_ptr_eq(symbol_at(dso, CODE + 0x8)->function, symbol_at(dso, CODE));
	close_tiny();
}
END_TEST

/* Each of two names claims to be a part of the code at the other's address. */
START_TEST(functions_that_are_parts_of_each_other_are_harmless)
{
	const struct tiny_symbol symbols[] = {
		{ "x.cold", CODE, 0x10, GLOBAL_FUNCTION },
		{ "y", CODE, 0x10, GLOBAL_FUNCTION },
		{ "y.cold", CODE + 0x10, 0x10, GLOBAL_FUNCTION },
		{ "z", CODE + 0x10, 0x10, GLOBAL_FUNCTION },
		{ "z.cold", CODE + 0x20, 0x10, GLOBAL_FUNCTION },
		{ "x", CODE + 0x20, 0x10, GLOBAL_FUNCTION },
	};
	struct dso *dso = open_tiny(symbols, sizeof(symbols) / sizeof(symbols[0]));

	for (uint64_t at = 0; at < 0x30; at += 0x10)
		ck_assert_uint_eq(symbol_at(dso, CODE + at)->start, CODE + at);
	close_tiny();
}
END_TEST

/*
 * The test's own code, at an address that compiler and loader know.  Unoptimised, its start has one
 * line, that of the brace.
 */
#ifdef __clang__
#define NOT_OPTIMIZED optnone
#else
#define NOT_OPTIMIZED optimize("O0")
#endif
enum { KNOWN_LINE = __LINE__ + 2 };
static __attribute__((noinline, NOT_OPTIMIZED)) int known_function(int x)
{
	return x + 1;
}

/* The file offset of the byte that is mapped at an address in this program. */
static uint64_t own_offset(uintptr_t address)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long begin, end, offset;
	char line[400];

	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %*s %lx", &begin, &end, &offset) == 3 &&
		    address >= begin && address < end) {
			fclose(maps);
			return address - begin + offset;
		}
	}
	ck_abort_msg("not mapped");
	return 0;
}

START_TEST(this_programs_own_function_has_its_name_and_line)
{
	const struct symbol *symbol;
	struct source_line line;
	uint64_t offset;
	struct dso *dso;
	char own[400];
	ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);

	ck_assert_int_gt(length, 0);
	own[length] = 0;
	open_store();
	dso = dso_store_borrow(store, own, NULL, 0);
	ck_assert_int_eq(dso->state, DSO_FOUND);
	symbol = dso_borrow_symbol(dso, own_offset((uintptr_t)known_function), &offset);
	ck_assert_str_eq(symbol->name->text, "known_function");
	ck_assert_uint_eq(offset, 0);
	ck_assert_ptr_eq(symbol->name, symbol->linkage);
	line = dso_symbol_line(symbol);
	ck_assert_ptr_nonnull(line.file);
	ck_assert_ptr_nonnull(strstr(line.file->text, "tests/unit/symbols/tiny_files.c"));
	ck_assert_uint_eq(line.line, KNOWN_LINE);
#ifndef __clang__ /* gives a function's first line no column */
	ck_assert_uint_gt(line.column, 0);
#endif
	ck_assert_int_eq(known_function(1), 2);
	close_store();
}
END_TEST

#ifdef __x86_64__
START_TEST(a_stub_has_the_name_of_what_it_jumps_to)
{
	const struct symbol *symbol;
	uint64_t offset, before, plt = 0;
	struct dso *dso;
	const uint8_t *bytes;

	/*
	 * Stubs are `jmp *slot(%rip)`, with -fcf-protection (Ubuntu) after an endbr64: find a named
	 * one of this program.
	 */
	open_store();
	dso = dso_store_borrow(store, "/proc/self/exe", NULL, 0);
	bytes = dso->elf.bytes;
	for (uint64_t at = 0; at + 16 <= dso->elf.size && !plt; at++) {
		if (bytes[at] == 0xff && bytes[at + 1] == 0x25 &&
		    strstr(dso_borrow_symbol(dso, at, &before)->name->text, "@plt"))
			plt = at;
	}
	ck_assert_uint_ne(plt, 0);
	symbol = dso_borrow_symbol(dso, plt + 2, &offset);
	ck_assert_int_eq(symbol->kind, SYMBOL_PLT);
	ck_assert_uint_eq(offset, before + 2);
	ck_assert_ptr_nonnull(strstr(symbol->name->text, "@plt"));
	close_store();
}
END_TEST
#endif

START_TEST(a_file_of_another_build_is_not_used_and_named)
{
	const uint8_t id[20] = { 1, 2, 3 };
	struct dso *dso;

	open_store();
	dso = dso_store_borrow(store, "/proc/self/exe", id, sizeof(id));
	/* Without a build id in the file there is nothing to compare. */
	if (dso->state != DSO_FOUND) {
		ck_assert_int_eq(dso->state, DSO_MISMATCHED);
		ck_assert_ptr_null(dso->file);
		ck_assert_uint_eq(diag_kinds(&diag), 1);
		ck_assert_ptr_nonnull(strstr(diag.first->text, "/proc/self/exe"));
	}
	close_store();
}
END_TEST

START_TEST(with_symfs_nothing_outside_of_it_is_opened)
{
	struct dso_store_options options = { .find.symfs = "/nonexistent" };
	struct dso_store *below;

	name_table_init(&names);
	diag_init(&diag);
	below = dso_store_open(&options, &names, &diag);
	ck_assert_int_eq(dso_store_borrow(below, "/proc/self/exe", NULL, 0)->state, DSO_MISSING);
	ck_assert_int_eq(dso_store_borrow(below, "/x/../../proc/self/exe", NULL, 0)->state,
			 DSO_MISSING);
	dso_store_close(below);
	name_table_release(&names);
}
END_TEST

START_TEST(code_without_a_file_is_named_by_what_it_is)
{
	static const char *const pairs[][2] = {
		{ "/usr/lib/libfoo.so.1", "[libfoo.so.1]" },
		{ "[vdso]", "[vdso]" },
		{ "//anon", "[anon]" },
		{ "[kernel.kallsyms]_text", "[kernel.kallsyms]" },
	};
	uint64_t offset;

	open_store();
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		struct dso *dso = dso_store_borrow(store, pairs[i][0], NULL, 0);
		const struct symbol *symbol = dso_borrow_symbol(dso, 1234, &offset);

		ck_assert_int_eq(symbol->kind, SYMBOL_FILE);
		ck_assert_str_eq(symbol->name->text, pairs[i][1]);
		ck_assert_ptr_eq(dso_borrow_symbol(dso, 99, &offset), symbol);
	}
	close_store();
}
END_TEST

/* A cut or changed file may lose names, but do no harm. */
static void read_damaged(const uint8_t *bytes, size_t size)
{
	FILE *file = fopen(path, "wb");
	struct dso *dso;
	uint64_t offset;

	ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
	fclose(file);
	open_store();
	dso = dso_store_borrow(store, path, NULL, 0);
	for (uint64_t at = 0; at < 0x1200; at += 0x10)
		dso_symbol_line(dso_borrow_symbol(dso, at, &offset));
	close_store();
}

START_TEST(damaged_files_are_harmless)
{
	const struct tiny_symbol symbols[] = { { "first", CODE, 0x10, GLOBAL_FUNCTION },
					       { "second", CODE + 0x20, 0x10, LOCAL_FUNCTION } };
	static const uint8_t code[0x100];
	struct tiny_elf elf = { CODE, code, sizeof(code), symbols, 2, 0, 0 };
	size_t size;
	uint8_t *bytes = tiny_elf_bytes(&elf, &size);

	make_path();
	for (size_t cut = 0; cut < size; cut += cut < 0x80 || cut > 0x1000 ? 1 : 0x100)
		read_damaged(bytes, cut);
	for (size_t at = 0; at < size; at += at < 0x80 || at > 0x1000 ? 1 : 0x100) {
		uint8_t old = bytes[at];

		bytes[at] ^= 0xff;
		read_damaged(bytes, size);
		bytes[at] = old;
	}
	free(bytes);
	unlink(path);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tiny_files");
	TCase *all = tcase_create("tiny_files");

	tcase_add_test(all, an_address_has_the_symbol_that_covers_it);
	tcase_add_test(all, a_symbol_without_size_reaches_to_the_next);
	tcase_add_test(all, a_label_of_the_assemblers_is_no_function);
	tcase_add_test(all, of_symbols_at_one_address_perfs_choice_wins);
	tcase_add_test(all, inside_a_symbol_the_innermost_wins);
	tcase_add_test(all, a_range_has_a_kind_and_makes_no_symbol);
	tcase_add_test(all, a_range_ends_where_a_symbol_does_or_another_begins);
	tcase_add_test(all, a_part_belongs_to_the_function_of_its_source_file);
	tcase_add_test(all,
		       a_part_is_one_by_any_of_its_names_and_of_the_first_function_in_the_file);
	tcase_add_test(all, a_part_of_one_of_several_functions_in_other_files_is_not_guessed);
	tcase_add_test(all, a_label_inside_a_function_is_a_part_of_it);
	tcase_add_test(all, a_label_inside_a_function_with_a_size_is_not_shown);
	tcase_add_test(all, a_function_is_one_by_whichever_name_it_is_shown);
	tcase_add_test(all, functions_that_are_parts_of_each_other_are_harmless);
	tcase_add_test(all, this_programs_own_function_has_its_name_and_line);
#ifdef __x86_64__ /* this program's own stub */
	tcase_add_test(all, a_stub_has_the_name_of_what_it_jumps_to);
#endif
	tcase_add_test(all, a_file_of_another_build_is_not_used_and_named);
	tcase_add_test(all, with_symfs_nothing_outside_of_it_is_opened);
	tcase_add_test(all, code_without_a_file_is_named_by_what_it_is);
	tcase_add_test(all, damaged_files_are_harmless);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
