/* SPDX-License-Identifier: MIT */
/*
 * Lines, inlined calls and statements of a program are the same by debug information, by the cache,
 * and by both, and a filled cache needs no debug information.
 */
#include <ftw.h>
#include <unistd.h>

#include "symbols/dso/dso_store.h"
#include "tests/support/unit.h"

static char home[32], program[4096];
static struct name_table names;
static struct diag diag;
static struct dso_store *store;
static struct dso *dso;

static int remove_one(const char *name, const struct stat *status, int kind, struct FTW *level)
{
	(void)status, (void)kind, (void)level;
	return remove(name);
}

static void begin(void)
{
	snprintf(program, sizeof(program), "%s/tests/programs/inlined", getenv("top_builddir"));
	strcpy(home, "/tmp/dso-lines-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(home));
	setenv("XDG_CACHE_HOME", home, 1);
}

static void end(void)
{
	nftw(home, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void open_program(bool cache)
{
	const struct dso_store_options options = { .cache = cache };

	name_table_init(&names);
	diag_init(&diag);
	store = dso_store_open(&options, &names, &diag);
	dso = dso_store_borrow(store, program, NULL, 0);
	ck_assert_uint_eq(dso->state, DSO_FOUND);
}

static void close_program(void)
{
	struct error err = { 0 };

	dso_store_save_lines(store, &err);
	ck_assert_uint_eq(err.kind, ERROR_NONE);
	ck_assert_uint_eq(diag_kinds(&diag), 0);
	dso_store_close(store);
	diag_release(&diag);
	name_table_release(&names);
}

static void print_line(FILE *out, struct source_line line)
{
	fprintf(out, " %s:%u:%u", line.file ? line.file->text : "?", line.line, line.column);
}

static void print_statement(void *context, const struct statement *statement)
{
	fprintf(context, "%lx", statement->vaddr);
	print_line(context, statement->at);
	fputc('\n', context);
}

/* Print all that is known of each `step`th byte of code, and the number of its inlined calls. */
static char *ask(uint64_t step)
{
	const struct code_range *range = &dso->elf.code[0];
	const struct inlined_call *calls[64];
	size_t count = 0;
	uint64_t unit = 0;
	char *text;
	FILE *out = OPEN_TEXT(text);

	for (uint64_t at = 0; at < range->size; at += step) {
		const struct symbol *symbol = dso_borrow_symbol_at(dso, range->vaddr + at);
		struct inlined_code code = { 0 };
		uint64_t now = dso_find_unit(dso, range->vaddr + at);
		bool found = dso_find_inlined(dso, range->offset + at, &code);

		if (!found)
			code = (struct inlined_code){ 0 };

		fprintf(out, "%lx %d %lx %lx-%lx", range->vaddr + at, found, now, code.begin,
			code.end);
		for (const struct inlined_call *c = code.innermost; c; c = c->parent) {
			fprintf(out, " in %s %s", c->symbol->name->text, c->symbol->linkage->text);
			print_line(out, dso_symbol_line(c->symbol));
			print_line(out, c->declared);
		}
		print_line(out, dso_symbol_line(symbol));
		print_line(out, dso_line(symbol, range->vaddr + at - symbol->start));
		print_line(out, dso_name_line(symbol));
		fputc('\n', out);
		if (now && now != unit)
			dso_list_statements(dso, range->vaddr + at, print_statement, out);
		unit = now;
		for (size_t i = 0; code.innermost && i <= count; i++) {
			if (i == count)
				calls[count++] = code.innermost;
			if (calls[i] == code.innermost)
				break;
		}
	}
	fprintf(out, "%zu calls\n", count);
	alloc_close_text(out, &text);
	return text;
}

/* Returns the answers for each byte, and whether debug information was read. */
static char *ask_all(bool cache, bool *read)
{
	char *text;

	open_program(cache);
	text = ask(1);
	*read = dso->lines_loaded;
	close_program();
	return text;
}

/* Check's messages have a limit. */
static void compare(const char *text, const char *expected)
{
	size_t same = 0, line = 0;

	for (; text[same] && text[same] == expected[same]; same++)
		line = text[same] == '\n' ? same + 1 : line;
	ck_assert_msg(text[same] == expected[same], "\n%.300s\nnot\n%.300s", text + line,
		      expected + line);
}

START_TEST(answers_are_the_same_and_need_no_debug_information_again)
{
	bool read;
	char *expected = ask_all(false, &read), *cold, *warm;

	ck_assert(read);
	ck_assert_ptr_nonnull(strstr(expected, " in add add "));
	/* twice(), two add(), early() and ask() */
	ck_assert_ptr_nonnull(strstr(expected, "\n5 calls\n"));
	cold = ask_all(true, &read);
	ck_assert(read);
	warm = ask_all(true, &read);
	ck_assert(!read);
	compare(cold, expected);
	compare(warm, expected);
	free(expected);
	free(cold);
	free(warm);
}
END_TEST

/* A call has one pointer, whichever answered. */
START_TEST(answers_of_the_cache_and_of_debug_information_mix)
{
	bool read;
	char *expected = ask_all(false, &read), *mixed;

	open_program(true);
	free(ask(7));
	close_program();
	mixed = ask_all(true, &read);
	ck_assert(read);
	compare(mixed, expected);
	free(mixed);
	mixed = ask_all(true, &read);
	ck_assert(!read);
	compare(mixed, expected);
	free(mixed);
	free(expected);
}
END_TEST

static void open_cache(struct line_cache *cache, const struct elf_file *elf, const char *contents)
{
	static const struct elf_file none;

	*cache = (struct line_cache){ 0 };
	line_cache_open(cache, elf, elf, &none, contents);
}

/* Whoever can write the folder can also make a checksum. */
START_TEST(a_file_of_calls_that_do_not_end_is_not_followed)
{
	const struct line_row row = { .file = "x", .line = 1 };
	struct line_cache cache;
	struct elf_file elf;
	char *text;

	ck_assert_int_eq(elf_file_open(&elf, program, NULL), 0);
	open_cache(&cache, &elf, "lines");
	line_cache_add_range(&cache, INLINED_AT, elf.code[0].vaddr,
			     elf.code[0].vaddr + elf.code[0].size, 7);
	for (uint64_t call = 7; call < 9; call++) {
		line_cache_add(&cache, INLINED_CALL, call, &row, 15 - call);
		line_cache_add(&cache, INLINED_NAME, call, &row, 0);
		line_cache_add(&cache, INLINED_DECLARED, call, &row, 0);
	}
	ck_assert_int_eq(line_cache_save(&cache), 0);
	line_cache_close(&cache);
	open_cache(&cache, &elf, "statements");
	line_cache_add_range(&cache, UNIT_AT, elf.code[0].vaddr,
			     elf.code[0].vaddr + elf.code[0].size, 9);
	line_cache_add(&cache, UNIT_STATEMENT, UNIT_KEY(9), &row, UINT64_MAX);
	line_cache_add(&cache, UNIT_STATEMENT, UNIT_KEY(9) - 1, &row, 0);
	ck_assert_int_eq(line_cache_save(&cache), 0);
	line_cache_close(&cache);
	elf_file_close(&elf);

	open_program(true);
	text = ask(1);
	ck_assert(dso->lines_loaded);
	ck_assert_ptr_nonnull(strstr(text, " in add add "));
	ck_assert_ptr_nonnull(strstr(text, "\n5 calls\n"));
	close_program();
	free(text);
}
END_TEST

/* The header of a unit is there, but not the last statement. */
START_TEST(a_unit_with_too_few_statements_is_read_again)
{
	const struct line_row row = { .file = "x", .line = 1 };
	bool read;
	char *expected = ask_all(false, &read), *text;
	uint64_t unit = 0, count;
	struct line_cache cache;
	struct line_row found;

	free(ask_all(true, &read));
	open_program(true);
	for (uint64_t at = 0; !unit; at++)
		unit = dso_find_unit(dso, dso->elf.code[0].vaddr + at);
	ck_assert(
		line_cache_find(&dso->statements, UNIT_STATEMENT, UNIT_KEY(unit), &found, &count));
	open_cache(&cache, &dso->elf, "statements");
	line_cache_add(&cache, UNIT_STATEMENT, UNIT_KEY(unit), &row, count + 1);
	ck_assert_int_eq(line_cache_save(&cache), 0);
	line_cache_close(&cache);
	close_program();
	text = ask_all(true, &read);
	ck_assert(read);
	compare(text, expected);
	free(text);
	free(expected);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("dso_lines");
	TCase *tcase = tcase_create("dso_lines");

	tcase_add_checked_fixture(tcase, begin, end);
	tcase_add_test(tcase, answers_are_the_same_and_need_no_debug_information_again);
	tcase_add_test(tcase, answers_of_the_cache_and_of_debug_information_mix);
	tcase_add_test(tcase, a_file_of_calls_that_do_not_end_is_not_followed);
	tcase_add_test(tcase, a_unit_with_too_few_statements_is_read_again);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
