/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/budget.h"
#include "symbols/dso/dso_store.h"
#include "tests/support/tiny_elf.h"
#include "tests/support/unit.h"

/* The build id that the makefile gives to the sample. */
static const uint8_t sample_id[20] = { 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x01, 0x23,
				       0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x01, 0x23, 0x45, 0x67 };

static struct name_table names;
static struct diag diag;
static struct dso_store *store;
static char sample[4096]; /* path of the program */
static char place[64];    /* a folder of this test */

static void set_sample(const char *name)
{
	const char *build = getenv("top_builddir");

	snprintf(sample, sizeof(sample), "%s/tests/unit/symbols/%s", build, name);
	ck_assert_msg(access(sample, R_OK) == 0, "no %s", sample);
}

static void open_store(struct dso_store_options options)
{
	set_sample("sample");
	name_table_init(&names);
	diag_init(&diag);
	store = dso_store_open(&options, &names, &diag);
}

static void close_store(void)
{
	dso_store_close(store);
	diag_release(&diag);
	name_table_release(&names);
}

static void make_place(void)
{
	strcpy(place, "/tmp/dso_store.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(place));
}

static void remove_place(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", place);
	ck_assert_int_eq(system(command), 0);
}

static const char *in_place(const char *name)
{
	static char path[8192];

	snprintf(path, sizeof(path), "%s/%s", place, name);
	return path;
}

START_TEST(short_names_are_the_last_components_of_paths)
{
	static const char *const expected[][2] = {
		{ "/usr/lib/libc.so.6", "libc.so.6" },
		{ "program", "program" },
		{ "/tmp/gone (deleted)", "gone" },
		{ "/", "[unknown]" },
		{ "[vdso]", "[vdso]" },
		{ "[kernel.kallsyms]_text", "[kernel.kallsyms]" },
		{ "//anon", "[anon]" },
		{ "/[a]", "[a]" },
	};

	open_store((struct dso_store_options){ 0 });
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		const struct dso *dso = dso_store_borrow(store, expected[i][0], NULL, 0);

		ck_assert_str_eq(dso->short_name->text, expected[i][1]);
	}
	close_store();
}
END_TEST

START_TEST(a_map_of_names_under_many_names_is_loaded_once)
{
	char path[128], link_path[128];
	struct dso *dso;
	uint64_t offset;
	FILE *file;

	make_place();
	open_store((struct dso_store_options){ .perf_map_dir = place });
	snprintf(path, sizeof(path), "%s/perf-1.map", place);
	snprintf(link_path, sizeof(link_path), "%s/perf-2.map", place);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fputs("1000 10 compiled\n", file);
	fclose(file);
	ck_assert_int_eq(link(path, link_path), 0);
	dso = dso_store_borrow_jit(store, 1, false);
	ck_assert_str_eq(dso_borrow_symbol(dso, 0x1004, &offset)->name->text, "compiled");
	ck_assert_ptr_eq(dso_store_borrow_jit(store, 2, false), dso);
	ck_assert_ptr_eq(dso_store_borrow_jit(store, 2, false), dso);
	ck_assert_ptr_ne(dso_store_borrow_jit(store, 3, false), dso);
	close_store();
	remove_place();
}
END_TEST

static void put_number(FILE *file, uint32_t value, size_t size)
{
	fwrite(&value, size, 1, file);
}

/* PKWARE's APPNOTE.TXT, 4.3.7: the header of a stored file whose name is a letter. */
static void put_zip_file(FILE *file, char name, uint32_t size)
{
	put_number(file, 0x04034b50, 4);
	for (int i = 0; i < 7; i++)
		put_number(file, 0, 2);
	put_number(file, size, 4);
	put_number(file, size, 4);
	put_number(file, 1, 4);
	fputc(name, file);
}

/* 4.3.12 */
static void put_zip_entry(FILE *file, char name, uint32_t size, uint32_t at)
{
	put_number(file, 0x02014b50, 4);
	for (int i = 0; i < 8; i++)
		put_number(file, 0, 2);
	put_number(file, size, 4);
	put_number(file, size, 4);
	put_number(file, 1, 2);
	for (int i = 0; i < 6; i++)
		put_number(file, 0, 2);
	put_number(file, at, 4);
	fputc(name, file);
}

/* 4.3.16 */
static void put_zip_end(FILE *file, uint32_t directory)
{
	put_number(file, 0x06054b50, 4);
	for (int i = 0; i < 6; i++)
		put_number(file, 0, 2);
	put_number(file, directory, 4);
	put_number(file, 0, 2);
}

/* Lookups go to and fro between two libraries, as calls between them do. */
START_TEST(each_file_of_an_archive_has_its_names)
{
	static const uint8_t code[16];
	static const struct tiny_symbol functions[] = {
		{ "first", 0x1000, 16, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC) },
		{ "second", 0x1000, 16, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC) },
	};
	const uint32_t header = 31;
	uint32_t begins[2], sizes[2];
	uint64_t offset;
	struct dso *dso;
	FILE *file;

	make_place();
	file = fopen(in_place("base.apk"), "w");
	ck_assert_ptr_nonnull(file);
	for (int i = 0; i < 2; i++) {
		struct tiny_elf elf = { 0x1000, code, sizeof(code), &functions[i], 1, 0, 0 };
		size_t length;
		uint8_t *bytes = tiny_elf_bytes(&elf, &length);

		sizes[i] = (uint32_t)length;
		begins[i] = (uint32_t)ftell(file) + header;
		put_zip_file(file, "ab"[i], sizes[i]);
		fwrite(bytes, length, 1, file);
		free(bytes);
	}
	for (int i = 0; i < 2; i++)
		put_zip_entry(file, "ab"[i], sizes[i], begins[i] - header);
	put_zip_end(file, begins[1] + sizes[1]);
	fclose(file);
	open_store((struct dso_store_options){ 0 });
	dso = dso_store_borrow(store, in_place("base.apk"), NULL, 0);
	for (int i = 0; i < 4; i++) {
		uint64_t inside = begins[i % 2] + TINY_ELF_CODE_OFFSET + 15;

		ck_assert_str_eq(dso_borrow_symbol(dso, inside, &offset)->name->text,
				 functions[i % 2].name);
		ck_assert_uint_eq(offset, 15);
		ck_assert_int_eq(dso_borrow_symbol(dso, begins[1] - 1, &offset)->kind, SYMBOL_FILE);
	}
	close_store();
	remove_place();
}
END_TEST

/* The inner file is a part of the outer one; both have the magic of ELF. */
START_TEST(files_of_an_archive_that_overlap_have_a_warning)
{
	const uint32_t header = 31, inner = 2000, outer = SELFMAG + header + inner;
	uint64_t offset;
	struct dso *dso;
	FILE *file;

	make_place();
	file = fopen(in_place("base.apk"), "w");
	ck_assert_ptr_nonnull(file);
	put_zip_file(file, 'b', outer);
	fputs(ELFMAG, file);
	put_zip_file(file, 'b', inner);
	fputs(ELFMAG, file);
	fprintf(file, "%*s", (int)(inner - SELFMAG), "");
	put_zip_entry(file, 'b', inner, header + SELFMAG);
	put_zip_entry(file, 'b', outer, 0);
	put_zip_end(file, header + outer);
	fclose(file);
	open_store((struct dso_store_options){ 0 });
	dso = dso_store_borrow(store, in_place("base.apk"), NULL, 0);
	dso_borrow_symbol(dso, header + SELFMAG + header + 10, &offset);
	ck_assert_ptr_null(diag.first);
	dso_borrow_symbol(dso, header + 1, &offset);
	ck_assert_str_eq(diag.first->kind, "symbols-damaged");
	close_store();
	remove_place();
}
END_TEST

/* The copy of a process's map has its pid; a folder that the user names has priority. */
START_TEST(a_copy_of_a_map_names_the_code_of_its_process)
{
	static const char text[] = "1000 10 copied";
	struct core_file core = { .copy_count = 1 };
	uint64_t offset;
	struct dso *dso;
	FILE *file;

	make_place();
	file = fopen(in_place("perf-5.map"), "w");
	ck_assert_ptr_nonnull(file);
	fputs("1000 10 given\n", file);
	fclose(file);
	core.copies = alloc_zeroed(1, sizeof(*core.copies));
	*core.copies = (struct core_copy){ 5,
					   "/tmp/perf-1.map",
					   { (const uint8_t *)text, sizeof(text) - 1 } };
	open_store((struct dso_store_options){ .perf_map_dir = _i ? place : NULL });
	dso_store_use_core(store, &core);
	dso = dso_store_borrow_jit(store, 5, false);
	ck_assert_str_eq(dso_borrow_symbol(dso, 0x100f, &offset)->name->text,
			 _i ? "given" : "copied");
	dso = dso_store_borrow_jit(store, 5, true);
	ck_assert_str_eq(dso_borrow_symbol(dso, 0x100f, &offset)->name->text,
			 _i ? "given" : "copied");
	dso = dso_store_borrow_jit(store, 2000000001, false);
	ck_assert_int_eq(dso_borrow_symbol(dso, 0x100f, &offset)->kind, SYMBOL_FILE);
	close_store();
	remove_place();
}
END_TEST

START_TEST(a_file_under_many_names_is_loaded_once)
{
	char link_path[128], hard_path[128], dots[8400];
	struct dso *dso;

	open_store((struct dso_store_options){ 0 });
	make_place();
	snprintf(hard_path, sizeof(hard_path), "%s/copy", place);
	snprintf(link_path, sizeof(link_path), "%s/link", place);
	snprintf(dots, sizeof(dots), "cp '%s' %s", sample, hard_path);
	ck_assert_int_eq(system(dots), 0);
	ck_assert_int_eq(symlink(hard_path, link_path), 0);
	dso = dso_store_borrow(store, hard_path, NULL, 0);
	ck_assert_int_eq(dso->state, DSO_FOUND);
	ck_assert_ptr_eq(dso_store_borrow(store, link_path, NULL, 0), dso);
	snprintf(dots, sizeof(dots), "%s//./copy", place);
	ck_assert_ptr_eq(dso_store_borrow(store, dots, NULL, 0), dso);
	ck_assert_ptr_eq(dso_store_borrow(store, dots, NULL, 0), dso);
	ck_assert_ptr_eq(dso_store_borrow(store, link_path, sample_id, sizeof(sample_id)), dso);
	snprintf(link_path, sizeof(link_path), "%s/hard", place);
	ck_assert_int_eq(link(hard_path, link_path), 0);
	ck_assert_ptr_eq(dso_store_borrow(store, link_path, NULL, 0), dso);
	/* Another file with the same contents may change. */
	ck_assert_ptr_ne(dso_store_borrow(store, sample, NULL, 0), dso);
	close_store();
	remove_place();
}
END_TEST

/* The debug information of "sample_gz" is compressed; `jobs`: other threads may unpack it. */
static const struct {
	const char *program;
	bool jobs;
} programs[] = { { "sample", false }, { "sample_gz", false }, { "sample_gz", true } };

START_TEST(symbols_and_lines_are_those_that_the_program_itself_reports)
{
	char name[100], line[200];
	uint64_t place_of, distance, offset;
	unsigned number, reports = 0;
	struct workers *workers = programs[_i].jobs ? workers_open(2) : NULL;
	FILE *program;

	open_store((struct dso_store_options){ 0 });
	dso_store_use_workers(store, workers);
	set_sample(programs[_i].program);
	program = popen(sample, "r");
	while (fgets(line, sizeof(line), program)) {
		const struct symbol *symbol;
		struct source_line source;

		ck_assert_int_eq(sscanf(line, "%" SCNx64 " %99s %" SCNx64 " %u", &place_of, name,
					&distance, &number),
				 4);
		symbol = dso_borrow_symbol(dso_store_borrow(store, sample, NULL, 0), place_of,
					   &offset);
		ck_assert_str_eq(symbol->name->text, name);
		ck_assert_uint_eq(offset, distance);
		ck_assert_uint_lt(offset, symbol->size);
		ck_assert_int_eq(symbol->kind, strchr(name, '@') ? SYMBOL_PLT : SYMBOL_FUNCTION);
		ck_assert_ptr_eq(symbol->dso->lines.own.sections.workers, workers);
		source = dso_symbol_line(symbol);
		if (number) {
			/* seeds.md: it has line, column and file of the function's begin */
			ck_assert_uint_eq(source.line, number);
			ck_assert_ptr_nonnull(
				strstr(source.file->text, "/tests/unit/symbols/sample.c"));
			ck_assert_int_eq(source.file->text[0], '/');
		}
		reports++;
	}
	ck_assert_int_eq(pclose(program), 0);
	ck_assert_uint_eq(reports, 11);
	ck_assert_uint_eq(diag_kinds(&diag), 0);
	workers_close(workers);
	close_store();
}
END_TEST

/* Jobs look up functions in any order. */
START_TEST(the_first_function_of_changed_code_is_of_the_lowest_address_then_of_the_first_name)
{
	const char *const paths[] = { "/b", "/a", "/c" };
	struct symbol symbols[COUNT_OF(paths)] = { 0 };
	uint64_t count;

	open_store((struct dso_store_options){ 0 });
	for (size_t i = 0; i < COUNT_OF(paths); i++) {
		char path[100] = DSO_CHANGED;

		symbols[i].dso = dso_store_borrow(store, strcat(path, paths[i]), NULL, 0);
		symbols[i].start = 1;
		symbols[i].name = name_intern_text(&names, paths[i]);
		dso_mark_changed(symbols[i].dso, &symbols[i]);
	}
	ck_assert_str_eq(dso_store_changed(store, &count)->text, "/a");
	ck_assert_uint_eq(count, 3);
	close_store();
}
END_TEST

START_TEST(what_no_symbol_covers_is_one_symbol_named_after_the_file)
{
	uint64_t offset = 99;
	const struct symbol *symbol;
	struct source_line line;
	struct dso *dso;

	open_store((struct dso_store_options){ 0 });
	dso = dso_store_borrow(store, sample, NULL, 0);
	symbol = dso_borrow_symbol(dso, 0, &offset);
	ck_assert_str_eq(symbol->name->text, "[sample]");
	ck_assert_int_eq(symbol->kind, SYMBOL_FILE);
	ck_assert_uint_eq(offset, 0);
	ck_assert_ptr_eq(dso_borrow_symbol(dso, UINT64_MAX, &offset), symbol);
	line = dso_symbol_line(symbol);
	ck_assert_ptr_null(line.file);
	ck_assert_uint_eq(line.line, 0);
	ck_assert_mem_eq(dso->elf.bytes, "\177ELF", 4);
	close_store();
}
END_TEST

/* Returns an address's offset in this program's file; `path` gets the file's path. */
static uint64_t own_offset(uint64_t address, char path[4096])
{
	char line[8192];
	uint64_t begin, end, offset, found = 0;
	FILE *maps = fopen("/proc/self/maps", "r");

	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %4095s", &begin,
			   &end, &offset, path) == 4 &&
		    address >= begin && address < end) {
			found = offset + address - begin;
			break;
		}
	}
	fclose(maps);
	return found;
}

START_TEST(a_program_begins_where_the_kernel_began_this_one)
{
	char path[4096];
	uint64_t entry = own_offset(getauxval(AT_ENTRY), path);
	const struct dso *dso;

	open_store((struct dso_store_options){ 0 });
	dso = dso_store_borrow(store, path, NULL, 0);
	ck_assert_int_eq(dso->state, DSO_FOUND);
	ck_assert(dso_is_entry(dso, entry));
	ck_assert(!dso_is_entry(dso, entry + 1));
	ck_assert(!dso_is_entry(dso, 0));
	ck_assert(!dso_is_entry(dso_store_borrow(store, "/nowhere", NULL, 0), entry));
	close_store();
}
END_TEST

START_TEST(a_file_is_used_only_if_its_build_id_is_the_recorded_one)
{
	uint8_t other[20] = { 0xff }, padded[32] = { 0 }, none[20] = { 0 };
	struct dso *dso;
	size_t size;

	open_store((struct dso_store_options){ 0 });
	memcpy(padded, sample_id, sizeof(sample_id));
	dso = dso_store_borrow(store, sample, other, sizeof(other));
	ck_assert_int_eq(dso->state, DSO_MISMATCHED);
	ck_assert_ptr_null(dso->elf.bytes);
	ck_assert_ptr_null(dso->file);
	ck_assert_uint_eq(diag_kinds(&diag), 1);
	ck_assert_str_eq(diag.first->kind, "build-id-mismatch");
	ck_assert_ptr_nonnull(strstr(diag.first->text, "0123456789abcdef0123456789abcdef01234567"));

	/* seeds.md: -executable FILE gives symbols */
	ck_assert_int_eq(dso_store_borrow(store, sample, sample_id, 20)->state, DSO_FOUND);
	ck_assert_int_eq(dso_store_borrow(store, sample, padded, 32)->state, DSO_FOUND);
	dso = dso_store_borrow(store, sample, none, sizeof(none));
	ck_assert_int_eq(dso->state, DSO_FOUND);
	ck_assert_ptr_eq(dso_store_borrow(store, sample, NULL, 0), dso);
	ck_assert_mem_eq(dso_build_id(dso, &size), sample_id, 20);
	ck_assert_uint_eq(size, 20);
	close_store();
}
END_TEST

START_TEST(a_file_with_another_build_id_is_used_if_that_is_asked_for)
{
	uint8_t other[20] = { 0xff };
	struct dso *dso;

	open_store((struct dso_store_options){ .force = true });
	dso = dso_store_borrow(store, sample, other, sizeof(other));
	ck_assert_int_eq(dso->state, DSO_FOUND);
	ck_assert_uint_eq(diag_kinds(&diag), 1);
	ck_assert_ptr_nonnull(strstr(diag.first->text, sample));
	close_store();
}
END_TEST

START_TEST(source_paths_below_the_prefix_are_relative_to_it)
{
	const struct symbol *main_symbol = NULL;
	char here[4200], *end;
	uint64_t offset;

	open_store((struct dso_store_options){ 0 });
	for (uint64_t at = 0; at < 0x4000 && !main_symbol; at++) {
		const struct symbol *symbol =
			dso_borrow_symbol(dso_store_borrow(store, sample, NULL, 0), at, &offset);

		if (strcmp(symbol->name->text, "main") == 0)
			main_symbol = symbol;
	}
	ck_assert_ptr_nonnull(main_symbol);
	snprintf(here, sizeof(here), "%s", dso_symbol_line(main_symbol).file->text);
	close_store();
	end = strrchr(here, '/');
	*end = 0;
	open_store((struct dso_store_options){ .strip_prefix = here });
	for (uint64_t at = 0; at < 0x4000; at++) {
		const struct symbol *symbol =
			dso_borrow_symbol(dso_store_borrow(store, sample, NULL, 0), at, &offset);

		if (strcmp(symbol->name->text, "main") == 0)
			ck_assert_str_eq(dso_symbol_line(symbol).file->text, "sample.c");
	}
	close_store();
}
END_TEST

START_TEST(with_symfs_no_file_outside_of_it_is_opened)
{
	char climbing[4200];

	make_place();
	ck_assert_int_eq(mkdir(in_place("inside"), 0700), 0);
	open_store((struct dso_store_options){ .find.symfs = in_place("inside") });
	ck_assert_int_eq(symlink(sample, in_place("outside")), 0);
	ck_assert_int_eq(dso_store_borrow(store, sample, NULL, 0)->state, DSO_MISSING);
	ck_assert_int_eq(dso_store_borrow(store, "/../outside", NULL, 0)->state, DSO_MISSING);
	snprintf(climbing, sizeof(climbing), "/a/../../..%s", sample);
	ck_assert_int_eq(dso_store_borrow(store, climbing, NULL, 0)->state, DSO_MISSING);
	close_store();
	remove_place();
}
END_TEST

/* A link would lead out of symfs and is not followed.  Returns 0. */
static int copy_sample(const char *path)
{
	static char bytes[65536];
	FILE *from = fopen(sample, "rb"), *to = fopen(path, "wb");
	size_t size;

	ck_assert(from && to);
	while ((size = fread(bytes, 1, sizeof(bytes), from)) > 0)
		ck_assert_uint_eq(fwrite(bytes, 1, size, to), size);
	fclose(from);
	return fclose(to);
}

START_TEST(symfs_holds_the_file_at_its_path_or_by_its_name)
{
	struct dso *dso;

	make_place();
	open_store((struct dso_store_options){ .find.symfs = place });
	ck_assert_int_eq(mkdir(in_place("opt"), 0700), 0);
	ck_assert_int_eq(copy_sample(in_place("opt/program")), 0);
	ck_assert_int_eq(copy_sample(in_place("other")), 0);
	dso = dso_store_borrow(store, "/opt/program", NULL, 0);
	ck_assert_int_eq(dso->state, DSO_FOUND);
	ck_assert_str_eq(dso->path, "/opt/program");
	dso = dso_store_borrow(store, "/deep/down/other", NULL, 0);
	ck_assert_int_eq(dso->state, DSO_FOUND);
	close_store();
	remove_place();
}
END_TEST

START_TEST(a_deleted_file_is_replaced_only_by_one_with_its_build_id)
{
	char path[4200];

	open_store((struct dso_store_options){ 0 });
	snprintf(path, sizeof(path), "%s (deleted)", sample);
	ck_assert_int_eq(dso_store_borrow(store, path, NULL, 0)->state, DSO_MISSING);
	ck_assert_int_eq(dso_store_borrow(store, path, sample_id, 20)->state, DSO_FOUND);
	close_store();
}
END_TEST

/* A container's files have other paths outside it (proc(5), /proc/PID/root). */
START_TEST(a_containers_file_is_at_its_path_inside_of_it)
{
	uint8_t other[20] = { 0xff };
	char path[4200], real[4096];

	make_place();
	open_store((struct dso_store_options){ .find.symfs = place });
	ck_assert_int_eq(mkdir(in_place("app"), 0700), 0);
	ck_assert_int_eq(copy_sample(in_place("app/program")), 0);
	ck_assert_int_eq(dso_store_borrow(store, "/proc/4711/root/app/program", NULL, 0)->state,
			 DSO_FOUND);
	ck_assert_int_eq(
		dso_store_borrow(store, "/proc/4711/root/app/program (deleted)", sample_id, 20)
			->state,
		DSO_FOUND);
	ck_assert_int_eq(dso_store_borrow(store, "/proc/4711/rooted/app/program", NULL, 0)->state,
			 DSO_MISSING);
	close_store();
	remove_place();

	/* Without symfs it is this machine's file of that path, perhaps a different one. */
	open_store((struct dso_store_options){ 0 });
	snprintf(path, sizeof(path), "/proc/999999999/root%s", realpath(sample, real));
	ck_assert_int_eq(dso_store_borrow(store, path, sample_id, 20)->state, DSO_FOUND);
	ck_assert_int_eq(dso_store_borrow(store, path, other, 20)->state, DSO_MISSING);
	ck_assert_int_eq(dso_store_borrow(store, path, NULL, 0)->state, DSO_MISSING);
	close_store();
}
END_TEST

/* Layouts of perf buildid-cache: a folder with "elf" or "vdso" in it, or the file itself. */
START_TEST(a_missing_file_is_found_in_the_build_id_cache)
{
	static const char *const layouts[] = { "elf", "vdso", "" };
	char path[4200], id[] = ".build-id/01/23456789abcdef0123456789abcdef01234567";

	for (size_t i = 0; i < 3; i++) {
		make_place();
		open_store((struct dso_store_options){ .find.build_id_cache = place });
		mkdir(in_place(".build-id"), 0700);
		mkdir(in_place(".build-id/01"), 0700);
		snprintf(path, sizeof(path), "%s%s%s", id, layouts[i][0] ? "/" : "", layouts[i]);
		if (layouts[i][0])
			mkdir(in_place(id), 0700);
		ck_assert_int_eq(symlink(sample, in_place(path)), 0);
		ck_assert_int_eq(dso_store_borrow(store, "/gone", NULL, 0)->state, DSO_MISSING);
		ck_assert_int_eq(dso_store_borrow(store, "/gone", sample_id, 20)->state, DSO_FOUND);
		close_store();
		remove_place();
	}
}
END_TEST

/* perf-archive.sh: .build-id/xx/rest is a link to ../../PATH/ID, where "elf" is. */
START_TEST(a_missing_file_is_found_in_an_unpacked_archive)
{
	char command[4400];

	make_place();
	set_sample("sample");
	snprintf(command, sizeof(command),
		 "cd %s && mkdir -p .build-id/01 usr/bin/gone/ID && cp %s usr/bin/gone/ID/elf && "
		 "ln -s ../../usr/bin/gone/ID .build-id/01/23456789abcdef0123456789abcdef01234567",
		 place, sample);
	ck_assert_int_eq(system(command), 0);
	if (_i == 0)
		open_store((struct dso_store_options){ .find.symfs = place });
	else
		open_store((struct dso_store_options){ .find.debug_dir = place,
						       .find.symfs = _i == 1 ? NULL : "/var/empty",
						       .find.build_id_cache = "/nowhere" });
	ck_assert_int_eq(dso_store_borrow(store, "/usr/bin/gone", sample_id, 20)->state, DSO_FOUND);
	ck_assert_int_eq(dso_store_borrow(store, "/usr/bin/gone", sample_id, 19)->state,
			 DSO_MISSING);
	close_store();
	remove_place();
}
END_TEST

/* A link that leads out of symfs is not followed. */
START_TEST(an_archive_below_symfs_has_no_files_of_elsewhere)
{
	char command[4400];

	make_place();
	set_sample("sample");
	snprintf(command, sizeof(command),
		 "cd %s && mkdir -p .build-id/01 && ln -s $(realpath %s) "
		 ".build-id/01/23456789abcdef0123456789abcdef01234567",
		 place, sample);
	ck_assert_int_eq(system(command), 0);
	open_store((struct dso_store_options){ .find.symfs = place });
	ck_assert_int_eq(dso_store_borrow(store, "/gone", sample_id, 20)->state, DSO_MISSING);
	close_store();
	remove_place();
}
END_TEST

START_TEST(a_wrong_file_is_not_worth_a_word_if_the_right_one_is_in_the_cache)
{
	struct dso *dso;

	make_place();
	open_store((struct dso_store_options){ .find.build_id_cache = place });
	mkdir(in_place(".build-id"), 0700);
	mkdir(in_place(".build-id/01"), 0700);
	ck_assert_int_eq(symlink(sample, in_place(".build-id/01/23456789abcdef0123456789abcdef"
						  "01234567")),
			 0);
	/* This test program differs from the sample. */
	dso = dso_store_borrow(store, "/proc/self/exe", sample_id, 20);
	ck_assert_int_eq(dso->state, DSO_FOUND);
	ck_assert_uint_eq(diag_kinds(&diag), 0);
	close_store();
	remove_place();
}
END_TEST

START_TEST(a_vdso_of_64_bits_is_not_that_of_a_32_bit_process)
{
	open_store((struct dso_store_options){ .find.build_id_cache = "/nowhere", .vdso = sample });
	dso_store_set_kernel(store, NULL, 0, RUNNING_BUILD);
	ck_assert_int_eq(dso_store_borrow(store, "[vdso]", NULL, 0)->state, DSO_FOUND);
	ck_assert_int_eq(dso_store_borrow(store, "[vdso32]", NULL, 0)->state, DSO_MISSING);
	close_store();
}
END_TEST

START_TEST(the_running_kernels_vdso_is_our_own)
{
	void *handle = dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD);
	const char *function = handle ? dlsym(handle, "__vdso_gettimeofday") : NULL;
	const char *image = (const char *)getauxval(AT_SYSINFO_EHDR);
	const struct symbol *symbol;
	uint8_t id[ELF_BUILD_ID_MAX];
	uint64_t offset = 99;
	struct dso *dso;
	size_t size;

	open_store((struct dso_store_options){ .find.build_id_cache = "/nowhere" });
	dso = dso_store_borrow(store, "[vdso]", NULL, 0);
	ck_assert_int_eq(dso->state, DSO_MISSING);
	ck_assert_str_eq(dso_borrow_symbol(dso, 0, &offset)->name->text, "[vdso]");
	close_store();
	if (!function || !image)
		return;
	open_store((struct dso_store_options){ .find.build_id_cache = "/nowhere" });
	dso_store_set_kernel(store, NULL, 0, RUNNING_BUILD);
	dso = dso_store_borrow(store, "[vdso]", NULL, 0);
	symbol = dso_borrow_symbol(dso, (uint64_t)(function - image), &offset);
	ck_assert_int_eq(dso->state, DSO_FOUND);
	ck_assert_str_eq(symbol->name->text, "__vdso_gettimeofday");
	ck_assert_uint_eq(offset, 0);
	/* A build id proves or refutes it, whatever the kernel. */
	size = dso->elf.build_id_size;
	memcpy(id, dso->elf.build_id, size);
	close_store();
	for (int running = RUNNING_OTHER; size && running <= RUNNING_BUILD; running++) {
		open_store((struct dso_store_options){ .find.build_id_cache = "/nowhere" });
		dso_store_set_kernel(store, NULL, 0, running);
		dso = dso_store_borrow(store, "[vdso]", id, size);
		ck_assert_int_eq(dso->state, DSO_FOUND);
		id[0] ^= 1;
		dso = dso_store_borrow(store, "[vdso]", id, size);
		ck_assert_int_ne(dso->state, DSO_FOUND);
		id[0] ^= 1;
		close_store();
	}
}
END_TEST

START_TEST(what_is_no_file_is_not_looked_for_and_has_a_name_in_brackets)
{
	static const char *const shapes[][2] = {
		{ "//anon", "[anon]" },
		{ "[heap]", "[heap]" },
		{ "[stack]", "[stack]" },
		{ "[vsyscall]", "[vsyscall]" },
		{ "[uprobes]", "[uprobes]" },
		{ "[kernel.kallsyms]_text", "[kernel.kallsyms]" },
		{ "[guest.kernel.kallsyms]", "[guest.kernel.kallsyms]" },
		{ "[nf_tables]", "[nf_tables]" },
		{ "/dev/zero (deleted)", "[zero]" },
		{ "/SYSV00000000 (deleted)", "[SYSV00000000]" },
		{ "/memfd:jit/code (deleted)", "[memfd:jit/code]" },
		{ "anon_inode:[io_uring]", "[anon_inode:[io_uring]]" },
		{ "", "[unknown]" },
	};
	uint64_t offset;

	open_store((struct dso_store_options){ 0 });
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		struct dso *dso = dso_store_borrow(store, shapes[i][0], NULL, 0);

		ck_assert_int_eq(dso->state, DSO_NOT_A_FILE);
		ck_assert_str_eq(dso_borrow_symbol(dso, 0x1000, &offset)->name->text, shapes[i][1]);
	}
	ck_assert_uint_eq(diag_kinds(&diag), 0);
	close_store();
}
END_TEST

START_TEST(most_of_many_missing_files_have_one_name)
{
	struct dso *others, *memory;
	char path[32];

	make_place();
	open_store((struct dso_store_options){ .perf_map_dir = place });
	for (int i = 0; i < DSO_SMALL_MOST; i++) {
		snprintf(path, sizeof(path), "/nowhere/%d", i);
		ck_assert_str_eq(dso_store_borrow(store, path, NULL, 0)->path, path);
	}
	ck_assert_uint_eq(diag_kinds(&diag), 0);
	others = dso_store_borrow(store, "/nowhere/else", NULL, 0);
	ck_assert_str_eq(others->short_name->text, "[other files]");
	ck_assert_int_eq(others->state, DSO_MISSING);
	ck_assert_ptr_eq(dso_store_borrow(store, "/nowhere/again", NULL, 0), others);
	ck_assert_str_eq(diag.first->kind, "too-many-files");
	ck_assert_uint_eq(diag.first->count, 2);
	/* Those before, and files that are found, are themselves. */
	ck_assert_str_eq(dso_store_borrow(store, "/nowhere/7", NULL, 0)->path, "/nowhere/7");
	ck_assert_str_eq(dso_store_borrow(store, sample, NULL, 0)->path, sample);
	/* Memory is not a missing file, and changed code is known as such. */
	memory = dso_store_borrow_jit(store, 1, false);
	ck_assert_int_eq(memory->state, DSO_NOT_A_FILE);
	ck_assert_ptr_eq(dso_store_borrow_jit(store, 2, false), memory);
	ck_assert_ptr_eq(dso_store_borrow(store, "//anon", NULL, 0), memory);
	ck_assert(!memory->changed);
	ck_assert(dso_store_borrow_jit(store, 2, true)->changed);
	close_store();
	remove_place();
}
END_TEST

START_TEST(what_is_not_elf_is_unreadable_and_said_once)
{
	uint64_t offset;
	struct dso *dso;
	FILE *file;

	make_place();
	open_store((struct dso_store_options){ 0 });
	file = fopen(in_place("libtext.so"), "w");
	fputs("\177ELF, but nothing of it", file);
	fclose(file);
	fclose(fopen(in_place("libempty.so"), "w"));
	dso = dso_store_borrow(store, in_place("libtext.so"), NULL, 0);
	ck_assert_int_eq(dso->state, DSO_UNREADABLE);
	ck_assert_str_eq(dso_borrow_symbol(dso, 0, &offset)->name->text, "[libtext.so]");
	dso = dso_store_borrow(store, in_place("libempty.so"), NULL, 0);
	ck_assert_int_eq(dso->state, DSO_UNREADABLE);
	ck_assert_int_eq(dso_store_borrow(store, place, NULL, 0)->state, DSO_MISSING);
	ck_assert_int_eq(dso_store_borrow(store, "/dev/null", NULL, 0)->state, DSO_MISSING);
	ck_assert_uint_eq(diag_kinds(&diag), 1);
	ck_assert_uint_eq(diag.first->count, 2);
	close_store();
	remove_place();
}
END_TEST

/* perf reads the bytes of any mapped file (tools/perf/util/dso.c, dso__data_read_offset()). */
START_TEST(a_file_that_is_not_elf_is_code_without_names)
{
	static const uint8_t id[20] = { 1, 2, 3 };
	static const char text[] = "MZ and what follows";
	uint64_t offset;
	struct dso *dso;
	FILE *file;

	make_place();
	open_store((struct dso_store_options){ 0 });
	file = fopen(in_place("lib.dll"), "w");
	fputs(text, file);
	fclose(file);
	dso = dso_store_borrow(store, in_place("lib.dll"), NULL, 0);
	ck_assert_int_eq(dso->state, DSO_NOT_A_FILE);
	ck_assert_uint_eq(dso->elf.size, strlen(text));
	ck_assert_mem_eq(dso->elf.bytes, text, strlen(text));
	ck_assert_str_eq(dso_borrow_symbol(dso, 3, &offset)->name->text, "[lib.dll]");
	ck_assert_uint_eq(diag_kinds(&diag), 0);
	/* The recorded file was an ELF file. */
	dso = dso_store_borrow(store, in_place("lib.dll"), id, sizeof(id));
	ck_assert_int_eq(dso->state, DSO_UNREADABLE);
	ck_assert_ptr_null(dso->elf.bytes);
	close_store();
	remove_place();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("dso_store");
	TCase *all = tcase_create("dso_store");

	tcase_add_loop_test(all, symbols_and_lines_are_those_that_the_program_itself_reports, 0, 3);
	tcase_add_test(all, short_names_are_the_last_components_of_paths);
	tcase_add_test(all, a_map_of_names_under_many_names_is_loaded_once);
	tcase_add_test(all, each_file_of_an_archive_has_its_names);
	tcase_add_test(all, files_of_an_archive_that_overlap_have_a_warning);
	tcase_add_loop_test(all, a_copy_of_a_map_names_the_code_of_its_process, 0, 2);
	tcase_add_test(all, a_file_under_many_names_is_loaded_once);
	tcase_add_test(
		all,
		the_first_function_of_changed_code_is_of_the_lowest_address_then_of_the_first_name);
	tcase_add_test(all, what_no_symbol_covers_is_one_symbol_named_after_the_file);
	tcase_add_test(all, a_program_begins_where_the_kernel_began_this_one);
	tcase_add_test(all, a_file_is_used_only_if_its_build_id_is_the_recorded_one);
	tcase_add_test(all, a_file_with_another_build_id_is_used_if_that_is_asked_for);
	tcase_add_test(all, source_paths_below_the_prefix_are_relative_to_it);
	tcase_add_test(all, with_symfs_no_file_outside_of_it_is_opened);
	tcase_add_test(all, symfs_holds_the_file_at_its_path_or_by_its_name);
	tcase_add_test(all, a_deleted_file_is_replaced_only_by_one_with_its_build_id);
	tcase_add_test(all, a_containers_file_is_at_its_path_inside_of_it);
	tcase_add_test(all, a_missing_file_is_found_in_the_build_id_cache);
	tcase_add_loop_test(all, a_missing_file_is_found_in_an_unpacked_archive, 0, 3);
	tcase_add_test(all, an_archive_below_symfs_has_no_files_of_elsewhere);
	tcase_add_test(all, a_wrong_file_is_not_worth_a_word_if_the_right_one_is_in_the_cache);
	tcase_add_test(all, the_running_kernels_vdso_is_our_own);
	tcase_add_test(all, a_vdso_of_64_bits_is_not_that_of_a_32_bit_process);
	tcase_add_test(all, what_is_no_file_is_not_looked_for_and_has_a_name_in_brackets);
	tcase_add_test(all, most_of_many_missing_files_have_one_name);
	tcase_add_test(all, what_is_not_elf_is_unreadable_and_said_once);
	tcase_add_test(all, a_file_that_is_not_elf_is_code_without_names);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
