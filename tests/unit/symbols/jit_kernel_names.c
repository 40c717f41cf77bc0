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
	tcase_add_test(all, a_damaged_jitdump_is_harmless);
	tcase_add_test(all, only_jit_pid_dump_is_the_name_of_a_jitdump);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
