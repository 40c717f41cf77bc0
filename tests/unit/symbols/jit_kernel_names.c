/* SPDX-License-Identifier: MIT */
/* Names of code in files of JIT compilers and of the kernel. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbols/dso/dso_store.h"
#include "symbols/names/jit_dump.h"
#include "symbols/names/syscall_names.h"
#include "symbols/names/text_map.h"
#include "tests/support/unit.h"

static char path[64];

static void write_file(const void *bytes, size_t size)
{
	int fd;

	strcpy(path, "/tmp/jit_kernel_names-XXXXXX");
	fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
	close(fd);
}

static void expect(const struct name_ranges *names, uint64_t address, const char *name)
{
	uint64_t begin, end;
	uint32_t range = range_map_find(&names->map, address, &begin, &end);

	ck_assert_uint_le(begin, address);
	ck_assert_uint_gt(end, address);
	if (!name) {
		ck_assert_uint_eq(range, RANGE_NONE);
		return;
	}
	ck_assert_uint_ne(range, RANGE_NONE);
	ck_assert_uint_eq(names->ranges[range].length, strlen(name));
	ck_assert_mem_eq(names->ranges[range].name, name, strlen(name));
}

/* Forms that perf reads (tools/perf/util/symbol.c, dso__load_perf_map). */
START_TEST(a_perf_map_has_numbers_with_or_without_0x_and_names_with_blanks)
{
	static const char text[] = "1000 10 plain\n0x2000 0x20 with 0x\nABC0 10 Lupper;::case\r\n"
				   "\nnonsense\n3000\n4000 0 empty\n5000 8 last";
	struct name_ranges map;

	write_file(text, sizeof(text) - 1);
	/* seeds.md: -perf-map-file, and /tmp/perf-PID.map */
	ck_assert(name_ranges_read_perf(&map, path));
	expect(&map, 0x0fff, NULL);
	expect(&map, 0x1000, "plain");
	expect(&map, 0x100f, "plain");
	/* seeds.md: a function without entry in the map ends with its size */
	expect(&map, 0x1010, NULL);
	expect(&map, 0x201f, "with 0x");
	expect(&map, 0xabc0, "Lupper;::case");
	expect(&map, 0x4000, NULL);
	expect(&map, 0x5007, "last");
	name_ranges_release(&map);
	unlink(path);
}
END_TEST

START_TEST(of_overlapping_lines_the_last_wins)
{
	static const char text[] = "1000 100 old\n1040 10 inner\n1080 100 later\n1000 8 newest\n";
	struct name_ranges map;

	write_file(text, sizeof(text) - 1);
	ck_assert(name_ranges_read_perf(&map, path));
	/* seeds.md: of two lines for one address the last wins */
	expect(&map, 0x1000, "newest");
	expect(&map, 0x1008, "old");
	expect(&map, 0x1040, "inner");
	expect(&map, 0x1050, "old");
	expect(&map, 0x1080, "later");
	expect(&map, 0x117f, "later");
	expect(&map, 0x1180, NULL);
	name_ranges_release(&map);
	unlink(path);
}
END_TEST

START_TEST(a_perf_map_of_another_user_is_not_read)
{
	static const char text[] = "1000 10 name\n";
	struct name_ranges map;

	write_file(text, sizeof(text) - 1);
	if (geteuid() == 0 && chown(path, 12345, 12345) == 0)
		ck_assert(!name_ranges_read_perf(&map, path));
	unlink(path);
	ck_assert(!name_ranges_read_perf(&map, path));
	ck_assert(!name_ranges_read_perf(&map, "/dev/zero"));
}
END_TEST

START_TEST(kallsyms_names_code_up_to_the_next_function)
{
	static const char text[] = "ffffffff81000000 T _text\nffffffff81000040 t local\n"
				   "ffffffff81000080 D data\nffffffff81000100 W weak\n"
				   "ffffffffc0000000 t init_module\t[module]\n";
	struct name_ranges map;

	write_file(text, sizeof(text) - 1);
	ck_assert(name_ranges_read_kallsyms(&map, path));
	expect(&map, 0xffffffff81000010, "_text");
	expect(&map, 0xffffffff81000090, "local");
	expect(&map, 0xffffffff81000100, "weak");
	expect(&map, 0xffffffffc0000010, "init_module");
	expect(&map, 0xffffffffd0000000, NULL);
	name_ranges_release(&map);
	unlink(path);
}
END_TEST

START_TEST(kallsyms_without_addresses_is_none)
{
	static const char text[] = "0000000000000000 T _text\n0000000000000000 T main\n";
	struct name_ranges map;

	write_file(text, sizeof(text) - 1);
	ck_assert(!name_ranges_read_kallsyms(&map, path));
	unlink(path);
}
END_TEST

/* Returns the name; NULL: not known. */
static const char *name_of(int32_t number, bool i386)
{
	static char name[SYSCALL_NAME_MAX];

	return syscall_name(number, i386, name) ? name : NULL;
}

/* By arch/x86/entry/syscalls/syscall_64.tbl; Linux 6.12's are newer than Debian 12's headers. */
START_TEST(system_calls_have_the_names_of_x86_64_on_any_system)
{
	ck_assert_str_eq(name_of(0, false), "read");
	ck_assert_str_eq(name_of(59, false), "execve");
	ck_assert_str_eq(name_of(462, false), "mseal");
	ck_assert_ptr_null(name_of(400, false));
	ck_assert_ptr_null(name_of(-1, false));
	ck_assert_ptr_null(name_of(INT32_MAX, false));
}
END_TEST

/* By the installed kernel headers, which may be newer. */
START_TEST(old_system_calls_have_the_names_of_i386)
{
	static const char *const headers[] = { "/usr/include/x86_64-linux-gnu/asm/unistd_32.h",
					       "/usr/include/asm/unistd_32.h" };
	FILE *header = fopen(headers[0], "r");
	char line[200], name[100];
	int32_t number;

	if (!header)
		header = fopen(headers[1], "r");
	while (header && fgets(line, sizeof(line), header)) {
		if (sscanf(line, "#define __NR_%99s %" SCNd32, name, &number) == 2 && number < 451)
			ck_assert_str_eq(name_of(number, true), name);
	}
	if (header)
		fclose(header);
	ck_assert_str_eq(name_of(1, true), "exit");
	ck_assert_str_eq(name_of(423, true), "sched_rr_get_interval_time64");
	ck_assert_str_eq(name_of(462, true), "mseal");
	ck_assert_ptr_null(name_of(223, true));
	ck_assert_ptr_null(name_of(-1, true));
}
END_TEST

START_TEST(the_vsyscall_page_has_three_functions)
{
	struct dso_store_options options = { 0 };
	struct name_table names;
	struct dso_store *store;
	uint64_t offset;

	name_table_init(&names);
	store = dso_store_open(&options, &names, NULL);
	ck_assert_str_eq(
		dso_borrow_symbol(dso_store_borrow(store, "[vsyscall]", NULL, 0), 0x409, &offset)
			->name->text,
		"vtime");
	ck_assert_uint_eq(offset, 9);
	dso_store_close(store);
	name_table_release(&names);
}
END_TEST

/* ---- jitdump ------------------------------------------------------------- */

static uint8_t dump_bytes[1000];
static size_t dump_size;

static void put(uint64_t value, size_t size)
{
	memcpy(dump_bytes + dump_size, &value, size);
	dump_size += size;
}

static void put_record(uint32_t type, uint32_t size, uint64_t time)
{
	put(type, 4);
	put(size, 4);
	put(time, 8);
}

/* tools/perf/Documentation/jitdump-specification.txt */
static void build_dump(void)
{
	dump_size = 0;
	put(0x4a695444, 4);
	put(1, 4);
	put(40, 4);
	put(62, 4);
	put(0, 4);
	put(77, 4); /* pid */
	put(0, 8);
	put(1, 8);                           /* times are TSC ticks */
	put_record(0, 16 + 40 + 5 + 4, 100); /* load */
	put(77, 4);
	put(77, 4);
	put(0x1000, 8);
	put(0x1000, 8); /* address */
	put(4, 8);
	put(9, 8);          /* index */
	put(0x6b726f77, 5); /* "work" */
	put(0xc3909090, 4);
	put_record(2, 24, 150); /* debug information: not read */
	put(0, 8);
	put_record(1, 16 + 48, 200); /* move */
	put(77, 4);
	put(77, 4);
	put(0x1000, 8);
	put(0x1000, 8);
	put(0x2000, 8);
	put(4, 8);
	put(9, 8);
}

START_TEST(a_jitdump_has_code_written_and_moved)
{
	struct jit_dump dump;
	struct jit_code code;

	build_dump();
	ck_assert(jit_dump_init(&dump, dump_bytes, dump_size));
	ck_assert(dump.tsc_times);
	ck_assert(jit_dump_next(&dump, &code));
	ck_assert_str_eq(code.name, "work");
	ck_assert_uint_eq(code.time, 100);
	ck_assert_uint_eq(code.address, 0x1000);
	ck_assert_uint_eq(code.size, 4);
	ck_assert_mem_eq(dump_bytes + code.offset, "\x90\x90\x90\xc3", 4);
	ck_assert(!code.moved);
	ck_assert(jit_dump_next(&dump, &code));
	ck_assert_str_eq(code.name, "work");
	ck_assert_uint_eq(code.time, 200);
	ck_assert_uint_eq(code.address, 0x2000);
	ck_assert(code.moved);
	ck_assert(!jit_dump_next(&dump, &code));
	jit_dump_release(&dump);
}
END_TEST

static void put_line(uint64_t address, uint32_t line, const char *file)
{
	put(address, 8);
	put(line, 4);
	put(0, 4); /* discriminator */
	memcpy(dump_bytes + dump_size, file, strlen(file) + 1);
	dump_size += strlen(file) + 1;
}

/* "\377": the file of the row before (debug_entry_file() in tools/perf/util/jitdump.h). */
START_TEST(lines_are_those_of_the_code_that_follows_them)
{
	static const struct {
		uint64_t ip;
		uint32_t line;
		const char *file;
	} rows[] = { { 0x1000, 7, "a.js" }, { 0x1002, 9, "a.js" }, { 0x1003, 1, "b.js" } };
	struct jit_dump dump;
	struct jit_code code;
	uint64_t ip;
	uint32_t line;
	size_t load;

	build_dump();
	load = 40;
	memmove(dump_bytes + 500, dump_bytes + load, 16 + 40 + 9);
	dump_size = load;
	put_record(2, 16 + 16 + 3 * 16 + 5 + 2 + 5, 90);
	put(_i ? 0x3000 : 0x1000, 8);
	put(3, 8);
	put_line(0x1000, 7, "a.js");
	put_line(0x1002, 9, "\377");
	put_line(0x1003, 1, "b.js");
	memmove(dump_bytes + dump_size, dump_bytes + 500, 16 + 40 + 9);
	dump_size += 16 + 40 + 9;
	ck_assert(jit_dump_init(&dump, dump_bytes, dump_size));
	ck_assert(jit_dump_next(&dump, &code));
	for (size_t i = 0; i < 3 && _i == 0; i++) {
		ck_assert(jit_dump_next_line(&code, &ip, &line));
		ck_assert_uint_eq(ip, rows[i].ip);
		ck_assert_uint_eq(line, rows[i].line);
		ck_assert_str_eq(code.file, rows[i].file);
	}
	ck_assert(!jit_dump_next_line(&code, &ip, &line));
	jit_dump_release(&dump);
}
END_TEST

/* Copies of exact size, so that a sanitizer sees an overrun. */
START_TEST(a_damaged_jitdump_is_harmless)
{
	build_dump();
	for (size_t at = 0; at <= 2 * dump_size; at++) {
		size_t size = at <= dump_size ? at : dump_size;
		uint8_t *bytes = malloc(size + !size);
		struct jit_dump dump;
		struct jit_code code;

		memcpy(bytes, dump_bytes, size);
		if (at > dump_size)
			bytes[at - dump_size - 1] ^= 0xff;
		if (jit_dump_init(&dump, bytes, size)) {
			while (jit_dump_next(&dump, &code))
				ck_assert_uint_le(code.offset + code.size, size);
			jit_dump_release(&dump);
		}
		free(bytes);
	}
}
END_TEST

/* ---- PE ------------------------------------------------------------------ */

#define PE_SIZE  0xa00
#define PE       0x80  /* offset of the header */
#define SECTIONS 0x188 /* offset of the sections, after a header of 240 bytes */

static uint8_t pe_bytes[PE_SIZE];

static void pe_put(size_t at, uint64_t value, size_t size)
{
	memcpy(pe_bytes + at, &value, size);
}

static void pe_section(int index, uint32_t rva, uint32_t size, uint32_t offset, uint32_t flags)
{
	const uint32_t words[] = { 0, 0, size, rva, size, offset, 0, 0, 0, flags };

	memcpy(pe_bytes + SECTIONS + (size_t)index * sizeof(words), words, sizeof(words));
}

/* Bytes of .rdata, which is at 0x600 in the file and 0x2000 in memory. */
static void pe_words(uint32_t at, const uint32_t *words, size_t count)
{
	memcpy(pe_bytes + 0x600 + at, words, count * sizeof(*words));
}

static void pe_symbol(size_t index, const char name[8], uint32_t value, uint16_t section,
		      uint8_t type)
{
	size_t at = 0x900 + index * 18;

	memcpy(pe_bytes + at, name, 8);
	pe_put(at + 8, value, 4);
	pe_put(at + 12, section, 2);
	pe_put(at + 14, type, 1);
}

/*
 * Functions from 0x1000, in the file from 0x400: [0, 0x10) named, [0x10, 0x20) nameless, a leaf
 * from 0x20 that has no unwind information, [0x30, 0x50) in two parts, [0x60, 0x70) named twice.
 * Names of another library's function and of data are no functions. The symbol table, at 0x900,
 * names an exported function otherwise, and two that are not exported.
 */
static void build_pe(bool wide)
{
	static const uint32_t unwind[] = { 0x1000, 0x1010, 0x2100, 0x1010, 0x1020,
					   0x2100, 0x1030, 0x1040, 0x2100, 0x1040,
					   0x1050, 0x2104, 0x1060, 0x1070, 0x2100 };
	static const uint32_t exports[] = { 0, 0, 0, 0, 1, 7, 7, 0x2240, 0x2260, 0x2280 };
	static const uint32_t functions[] = { 0x1000, 0x1020, 0x1030, 0x1060, 0x22e0, 0x2300 };
	static const uint32_t texts[] = { 0x22a0, 0x22a6, 0x22ab, 0x22b1, 0x22b7, 0x22bc, 0x22c2 };
	static const uint16_t ordinals[] = { 0, 1, 2, 3, 3, 4, 5 };
	const size_t tables = PE + (wide ? 136 : 120);

	memset(pe_bytes, 0, sizeof(pe_bytes));
	memcpy(pe_bytes, "MZ", 2);
	pe_put(0x3c, PE, 4);
	pe_put(PE, 0x4550, 4);
	pe_put(PE + 4, wide ? 0x8664 : 0x14c, 2);
	pe_put(PE + 6, 2, 2);
	pe_put(PE + 20, 240, 2);
	pe_put(PE + 24, wide ? 0x20b : 0x10b, 2);
	pe_put(tables - 4, 16, 4);
	pe_put(tables, 0x2200, 4);
	pe_put(tables + 4, 0x100, 4);
	pe_put(tables + 24, 0x2000, 4);
	pe_put(tables + 28, sizeof(unwind), 4);
	pe_section(0, 0x1000, 0x200, 0x400, 0x60000020);
	pe_section(1, 0x2000, 0x400, 0x600, 0x40000040);
	pe_words(0, unwind, COUNT_OF(unwind));
	pe_put(0x700, 1, 1);          /* version 1, no flags */
	pe_put(0x704, 1 | 4 << 3, 1); /* UNW_FLAG_CHAININFO */
	pe_words(0x200, exports, COUNT_OF(exports));
	pe_words(0x240, functions, COUNT_OF(functions));
	pe_words(0x260, texts, COUNT_OF(texts));
	memcpy(pe_bytes + 0x880, ordinals, sizeof(ordinals));
	memcpy(pe_bytes + 0x8a0, "first\0leaf\0parts\0alias\0last\0other\0data", 39);
	pe_put(PE + 12, 0x900, 4);
	pe_put(PE + 16, 7, 4);
	pe_symbol(0, "internal", 0, 1, 0x20);
	pe_symbol(1, "eight_it", 0x10, 1, 0x20);
	pe_symbol(2, "data\0\0\0", 0x20, 1, 0);
	pe_symbol(3, "import\0", 0x28, 0, 0x20);
	pe_symbol(4, "\0\0\0\0\4\0\0", 0x50, 1, 0x20);
	pe_put(0x900 + 4 * 18 + 17, 1, 1);
	pe_symbol(5, "auxiliar", 0x38, 1, 0x20);
	pe_symbol(6, "absolute", 0x38, UINT16_MAX, 0x20);
	memcpy(pe_bytes + 0x900 + 7 * 18 + 4, "a_longer_name", 14);
}

START_TEST(functions_of_a_pe_file_end_where_others_are_known)
{
	static const struct {
		uint64_t begin, end;
		const char *name;
	} expected[] = { { 0x400, 0x410, "first" },
			 { 0x410, 0x420, "eight_it" },
			 { 0x420, 0x430, "leaf" },
			 { 0x430, 0x450, "parts" },
			 { 0x450, 0x460, "a_longer_name" },
			 { 0x460, 0x470, "last" },
			 { 0x470, 0x480, "" } };
	struct name_ranges ranges = { 0 };

	build_pe(_i);
	name_ranges_read_pe(&ranges, pe_bytes, sizeof(pe_bytes));
	name_ranges_finish(&ranges, UINT64_MAX);
	for (size_t i = 0; i < COUNT_OF(expected); i++) {
		expect(&ranges, expected[i].begin, expected[i].name);
		expect(&ranges, expected[i].end - 1, expected[i].name);
	}
	expect(&ranges, 0x3ff, NULL);
	expect(&ranges, 0x8e0, ""); /* the name of another library's function */
	name_ranges_release(&ranges);
}
END_TEST

static void read_harmless(const uint8_t *from, size_t size)
{
	uint8_t *bytes = malloc(size + !size);
	struct name_ranges ranges = { 0 };
	size_t length = 0;

	memcpy(bytes, from, size);
	name_ranges_read_pe(&ranges, bytes, size);
	for (size_t i = 0; i < ranges.count; i++) {
		const struct named_range *range = &ranges.ranges[i];

		ck_assert_uint_lt(range->begin, size);
		length += range->length;
		ck_assert((const uint8_t *)range->name >= bytes &&
			  (const uint8_t *)range->name + range->length <= bytes + size);
	}
	/* BUDGETS.md: a name takes 96 bytes. */
	ck_assert_uint_le(96 * ranges.count + length, 4 * size);
	name_ranges_release(&ranges);
	free(bytes);
}

/* All prefixes; each byte with other values, and random ones in the headers and tables. */
START_TEST(a_damaged_pe_file_is_harmless)
{
	static const uint8_t values[] = { 0, 1, 0x7f, 0x80, 0xff };
	unsigned random = 1;

	build_pe(true);
	for (size_t size = 0; size <= PE_SIZE; size++)
		read_harmless(pe_bytes, size);
	for (size_t i = 0; i < PE_SIZE * sizeof(values); i++) {
		uint8_t *byte = &pe_bytes[i / sizeof(values)], saved = *byte;

		*byte = values[i % sizeof(values)];
		read_harmless(pe_bytes, PE_SIZE);
		*byte = saved;
	}
	for (int i = 0; i < 20000; i++) {
		build_pe(i % 2);
		for (int n = 0; n < 4; n++) {
			random = random * 1103515245 + 12345;
			pe_bytes[random / 65536 % PE_SIZE] = (uint8_t)(random / 256);
		}
		read_harmless(pe_bytes, PE_SIZE);
	}
}
END_TEST

/* Tables that count more than the file has room for, of names that are one long text. */
START_TEST(names_of_a_pe_file_take_memory_in_proportion)
{
	build_pe(true);
	memset(pe_bytes + 0x8a0, 'x', PE_SIZE - 0x8a0);
	pe_put(0x818, UINT32_MAX, 4);
	pe_put(PE + 136 + 28, UINT32_MAX, 4);
	for (size_t at = 0x860; at < 0x8a0; at += 4)
		pe_put(at, 0x22a0, 4);
	read_harmless(pe_bytes, PE_SIZE);
}
END_TEST

/* Exports without end, which repeat the first one, or are all of other libraries. */
START_TEST(names_of_a_pe_file_take_time_in_proportion)
{
	const clock_t begin = clock();

	build_pe(true);
	pe_put(PE + 136 + 4, _i ? UINT32_MAX : 0x100, 4);
	pe_put(0x818, UINT32_MAX, 4);
	read_harmless(pe_bytes, PE_SIZE);
	ck_assert_int_lt(clock() - begin, 10 * CLOCKS_PER_SEC);
}
END_TEST

START_TEST(only_jit_pid_dump_is_the_name_of_a_jitdump)
{
	ck_assert(jit_dump_is_path("/tmp/jit-123.dump"));
	ck_assert(jit_dump_is_path("jit-1.dump"));
	ck_assert(!jit_dump_is_path("/tmp/jit-.dump"));
	ck_assert(!jit_dump_is_path("/tmp/jit-12.dump.old"));
	ck_assert(!jit_dump_is_path("/jit-12.dump/libfoo.so"));
	ck_assert(!jit_dump_is_path("//anon"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("jit_kernel_names");
	TCase *all = tcase_create("jit_kernel_names");

	tcase_add_test(all, a_perf_map_has_numbers_with_or_without_0x_and_names_with_blanks);
	tcase_add_test(all, of_overlapping_lines_the_last_wins);
	tcase_add_test(all, a_perf_map_of_another_user_is_not_read);
	tcase_add_test(all, kallsyms_names_code_up_to_the_next_function);
	tcase_add_test(all, kallsyms_without_addresses_is_none);
	tcase_add_test(all, system_calls_have_the_names_of_x86_64_on_any_system);
	tcase_add_test(all, old_system_calls_have_the_names_of_i386);
	tcase_add_test(all, the_vsyscall_page_has_three_functions);
	tcase_add_test(all, a_jitdump_has_code_written_and_moved);
	tcase_add_loop_test(all, lines_are_those_of_the_code_that_follows_them, 0, 2);
	tcase_add_test(all, a_damaged_jitdump_is_harmless);
	tcase_add_loop_test(all, functions_of_a_pe_file_end_where_others_are_known, 0, 2);
	tcase_add_test(all, a_damaged_pe_file_is_harmless);
	tcase_add_test(all, names_of_a_pe_file_take_memory_in_proportion);
	tcase_add_loop_test(all, names_of_a_pe_file_take_time_in_proportion, 0, 2);
	tcase_add_test(all, only_jit_pid_dump_is_the_name_of_a_jitdump);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
