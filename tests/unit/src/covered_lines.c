/* SPDX-License-Identifier: MIT */
/*
 * Counts of source lines of code made by hand; symbols and lines come from tables below instead of
 * files (ld --wrap).
 */
#include "src/formats/lcov/covered_lines.h"

#include <stdlib.h>
#include <unistd.h>

#include "src/formats/output_format.h"
#include "src/options/options.h"
#include "symbols/dso/dso_store.h"
#include "tests/support/unit.h"

#define BEGIN 0x1000
#define OTHER 0x1040
#define END   0x1060

/* Only their addresses, as files', are compared. */
static char files[2];
static struct symbol functions[2][2]; /* by file */
static uint8_t bytes[END - BEGIN];
static struct statement statements[8]; /* of both files */
static size_t statement_count;
static const char *source[2]; /* by file */
static uint32_t name_line;    /* of the function at BEGIN */
static struct name_table names;
static struct executed_code code;
static struct covered_lines lines;

static const struct dso *dso(int number)
{
	return (const struct dso *)(const void *)&files[number];
}

static int number_of(const struct dso *file)
{
	return file == dso(1);
}

const struct symbol *__wrap_dso_borrow_symbol_at(struct dso *file, uint64_t vaddr);
const uint8_t *__wrap_dso_borrow_code(const struct dso *file, uint64_t vaddr, size_t *left);
uint64_t __wrap_dso_find_unit(struct dso *file, uint64_t vaddr);
void __wrap_dso_list_statements(struct dso *file, uint64_t vaddr,
				void (*add)(void *context, const struct statement *statement),
				void *context);
struct source_line __wrap_dso_name_line(const struct symbol *symbol);

const struct symbol *__wrap_dso_borrow_symbol_at(struct dso *file, uint64_t vaddr)
{
	return &functions[number_of(file)][vaddr >= OTHER];
}

const uint8_t *__wrap_dso_borrow_code(const struct dso *file, uint64_t vaddr, size_t *left)
{
	(void)file;
	*left = END - vaddr;
	return bytes + (vaddr - BEGIN);
}

uint64_t __wrap_dso_find_unit(struct dso *file, uint64_t vaddr)
{
	(void)file;
	(void)vaddr;
	return 1;
}

void __wrap_dso_list_statements(struct dso *file, uint64_t vaddr,
				void (*add)(void *context, const struct statement *statement),
				void *context)
{
	const struct name *path = name_intern_text(&names, source[number_of(file)]);

	(void)vaddr;
	for (size_t i = 0; i < statement_count; i++) {
		struct statement statement = statements[i];

		statement.at.file = path;
		add(context, &statement);
	}
}

struct source_line __wrap_dso_name_line(const struct symbol *symbol)
{
	if (!name_line || symbol->start != BEGIN)
		return (struct source_line){ 0 };
	return (struct source_line){ name_intern_text(&names, source[0]), name_line, 0 };
}

static void setup(void)
{
	name_table_init(&names);
	executed_code_init(&code);
	lines = (struct covered_lines){ .names = &names };
	memset(bytes, 0x90, sizeof(bytes));
	for (int i = 0; i < 2; i++) {
		functions[i][0] = (struct symbol){ .start = BEGIN, .size = OTHER - BEGIN };
		functions[i][1] = (struct symbol){ .start = OTHER, .size = END - OTHER };
		source[i] = "/nonexistent/a.c";
	}
	statement_count = name_line = 0;
}

static void teardown(void)
{
	covered_lines_release(&lines);
	executed_code_release(&code);
	name_table_release(&names);
}

static void statement(uint64_t vaddr, uint32_t line)
{
	statements[statement_count++] =
		(struct statement){ .vaddr = vaddr, .at = { .line = line } };
}

static void add(int file, struct code_stretch stretch)
{
	stretch.dso = dso(file);
	*ARRAY_ADD(code.stretches, code.count, code.room) = stretch;
}

/* Code up to a return, or to a conditional jump if some are taken. */
static void ran(int file, uint64_t begin, uint64_t last, uint64_t count, uint64_t taken)
{
	add(file, (struct code_stretch){ .begin = begin,
					 .last = last,
					 .count = count,
					 .taken = taken,
					 .branch = taken ? BRANCH_COND : BRANCH_RETURN });
}

static void jumped(uint64_t from, uint64_t to, uint64_t count)
{
	add(0, (struct code_stretch){
		       .begin = from, .last = to, .count = count, .kind = STRETCH_JUMP });
}

/* Returns the executions of a line; UINT64_MAX: it has no code. */
static uint64_t executions(uint32_t line)
{
	uint64_t found = UINT64_MAX;

	for (const struct covered_line *at = lines.lines; at; at = at->hh.next) {
		if (at->key.line != line || !at->shown)
			continue;
		ck_assert_msg(found == UINT64_MAX, "line %u is there twice", line);
		found = at->count;
	}
	return found;
}

static const struct covered_function *function(const struct symbol *symbol)
{
	for (const struct covered_function *at = lines.functions; at; at = at->hh.next)
		if (at->symbol == symbol)
			return at;
	ck_abort_msg("a function is missing");
}

static void find(void)
{
	covered_lines_find(&lines, &code, NULL);
}

/*
 * The example of GCC's manual, "Invoking gcov": for (i = 0; i < 10; i++) is executed 11 times, its
 * body 10 times, and of the branches at its end 91 % and 9 % are taken.
 */
START_TEST(a_loop_has_the_counts_of_gcov)
{
	statement(BEGIN, 9);
	statement(BEGIN + 0x04, 11); /* i = 0, and a jump to the condition */
	statement(BEGIN + 0x08, 12);
	statement(BEGIN + 0x0c, 11); /* i++ */
	statement(BEGIN + 0x10, 11); /* i < 10 */
	statement(BEGIN + 0x14, 14);
	bytes[0x12] = 0x7c; /* jl 0x1008 */
	bytes[0x13] = 0xf4;
	add(0, (struct code_stretch){
		       .begin = BEGIN, .last = BEGIN + 0x06, .count = 1, .branch = BRANCH_JUMP });
	jumped(BEGIN + 0x06, BEGIN + 0x10, 1);
	ran(0, BEGIN + 0x10, BEGIN + 0x12, 1, 1);
	jumped(BEGIN + 0x12, BEGIN + 0x08, 10);
	ran(0, BEGIN + 0x08, BEGIN + 0x12, 10, 9);
	ran(0, BEGIN + 0x14, BEGIN + 0x18, 1, 0);
	find();
	ck_assert_uint_eq(executions(9), 1);
	ck_assert_uint_eq(executions(11), 11);
	ck_assert_uint_eq(executions(12), 10);
	ck_assert_uint_eq(executions(14), 1);
	ck_assert_uint_eq(HASH_COUNT(lines.jumps), 1);
	ck_assert_uint_eq(lines.jumps->taken, 10);
	ck_assert_uint_eq(lines.jumps->not_taken, 1);
	ck_assert(lines.jumps->back);
	ck_assert_uint_eq(lines.jumps->line->key.line, 11);
}
END_TEST

/* Units are read in the order of executed code, which differs for jobs. */
START_TEST(a_unit_is_read_before_or_after_the_unit_that_it_follows)
{
	statement(OTHER, 2);
	statement(OTHER + 0x04, 2);
	statement(END, 0);
	statement(BEGIN, 1);
	statement(OTHER, 0);
	ran(0, BEGIN, BEGIN + 0x08, 3, 0);
	ran(0, OTHER, OTHER + 0x08, 5, 0);
	find();
	ck_assert_uint_eq(executions(1), 3);
	ck_assert_uint_eq(executions(2), 5);
}
END_TEST

/* x = a ? b : c on line 2: of 5 times 2 jump to c. */
START_TEST(a_line_of_several_statements_counts_once_each_time)
{
	statement(BEGIN, 1);
	statement(BEGIN + 0x04, 2);
	statement(BEGIN + 0x08, 2);
	statement(BEGIN + 0x0c, 2);
	statement(BEGIN + 0x10, 3);
	bytes[0x06] = 0x74; /* je 0x100c */
	bytes[0x07] = 0x04;
	ran(0, BEGIN, BEGIN + 0x06, 5, 2);
	jumped(BEGIN + 0x06, BEGIN + 0x0c, 2);
	ran(0, BEGIN + 0x08, BEGIN + 0x14, 3, 0);
	ran(0, BEGIN + 0x0c, BEGIN + 0x14, 2, 0);
	find();
	ck_assert_uint_eq(executions(1), 5);
	ck_assert_uint_eq(executions(2), 5);
	ck_assert_uint_eq(executions(3), 5);
	ck_assert_uint_eq(lines.jumps->taken, 2);
	ck_assert_uint_eq(lines.jumps->not_taken, 3);
	ck_assert(!lines.jumps->back);
}
END_TEST

/* while (*p++); has 10 executions, of which 9 jump back. */
START_TEST(a_loop_of_one_statement_counts_each_time)
{
	statement(BEGIN, 1);
	statement(BEGIN + 0x04, 2);
	statement(BEGIN + 0x08, 3);
	ran(0, BEGIN, BEGIN + 0x06, 1, 1);
	jumped(BEGIN + 0x06, BEGIN + 0x04, 9);
	ran(0, BEGIN + 0x04, BEGIN + 0x06, 9, 8);
	ran(0, BEGIN + 0x08, BEGIN + 0x10, 1, 0);
	find();
	ck_assert_uint_eq(executions(1), 1);
	ck_assert_uint_eq(executions(2), 10);
	ck_assert_uint_eq(executions(3), 1);
}
END_TEST

/* An interrupt within line 2, and one before line 3. */
START_TEST(a_line_that_an_interrupt_stopped_counts_once)
{
	struct code_stretch stopped = { .count = 1, .kind = STRETCH_STOPPED };

	statement(BEGIN, 1);
	statement(BEGIN + 0x04, 2);
	statement(BEGIN + 0x08, 2);
	statement(BEGIN + 0x0c, 3);
	stopped.begin = BEGIN;
	stopped.last = BEGIN + 0x08;
	add(0, stopped);
	stopped.begin = BEGIN + 0x08;
	stopped.last = BEGIN + 0x0c;
	add(0, stopped);
	ran(0, BEGIN + 0x0c, BEGIN + 0x10, 1, 0);
	find();
	ck_assert_uint_eq(executions(1), 1);
	ck_assert_uint_eq(executions(2), 1);
	ck_assert_uint_eq(executions(3), 1);
}
END_TEST

/* Of 5 times that its begin is executed one is a loop. */
START_TEST(a_function_counts_its_calls)
{
	statement(BEGIN, 1);
	statement(OTHER, 6);
	ran(0, BEGIN, BEGIN + 0x10, 3, 0);
	ran(0, BEGIN, BEGIN + 0x20, 2, 1);
	jumped(BEGIN + 0x20, BEGIN, 1);
	find();
	ck_assert_uint_eq(HASH_COUNT(lines.functions), 2);
	ck_assert_uint_eq(function(&functions[0][0])->count, 4);
	ck_assert_uint_eq(function(&functions[0][1])->count, 0);
	ck_assert_uint_eq(executions(6), 0);
}
END_TEST

START_TEST(a_function_begins_at_its_name)
{
	name_line = 3;
	statement(BEGIN, 4);
	statement(BEGIN + 0x04, 5);
	ran(0, BEGIN, BEGIN + 0x10, 7, 0);
	find();
	ck_assert_uint_eq(executions(3), 7);
	ck_assert_uint_eq(executions(4), UINT64_MAX);
	ck_assert_uint_eq(executions(5), 7);
	ck_assert_uint_eq(function(&functions[0][0])->line->key.line, 3);
}
END_TEST

START_TEST(two_binaries_of_a_file_share_its_lines)
{
	source[1] = "/nonexistent/./lib/../a.c";
	statement(BEGIN, 1);
	ran(0, BEGIN, BEGIN + 0x10, 3, 1);
	ran(1, BEGIN, BEGIN + 0x10, 4, 3);
	find();
	ck_assert_uint_eq(HASH_COUNT(lines.files), 1);
	ck_assert_str_eq(lines.files->name->text, "/nonexistent/a.c");
	ck_assert(lines.files->ran && lines.files->missing);
	ck_assert_uint_eq(executions(1), 7);
	ck_assert_uint_eq(function(&functions[0][0])->count, 3);
	ck_assert_uint_eq(function(&functions[1][0])->count, 4);
	ck_assert_uint_eq(HASH_COUNT(lines.jumps), 2);
	ck_assert_uint_eq(lines.jumps->taken, 1);
	ck_assert_uint_eq(((struct covered_jump *)lines.jumps->hh.next)->taken, 3);
}
END_TEST

/* ---- The tracefile, as geninfo(1) describes it -------------------------------------- */

/* Lines 1 to 4 of f, with two jumps in line 2, and line 6 of g, which did not run. */
#define RECORD                                                                                     \
	"FN:1,f\nFN:6,g\nFNDA:5,f\nFNDA:0,g\nFNF:2\nFNH:1\n"                                       \
	"BRDA:2,0,0,3\nBRDA:2,0,1,2\nBRDA:2,0,2,0\nBRDA:2,0,3,3\nBRF:4\nBRH:3\n"                   \
	"DA:1,5\nDA:2,5\nDA:3,2\nDA:4,5\nDA:6,0\nLF:5\nLH:4\nend_of_record\n"

/* Files that are here, by number; "": the other machine's, all of them. */
static const struct {
	bool here[2];
	bool ran[2];
	const char *files; /* in the tracefile */
	uint64_t left_out;
} traces[] = {
	{ { true, true }, { true, true }, "01", 0 }, { { true, false }, { true, true }, "0", 1 },
	{ { false, true }, { true, true }, "1", 1 }, { { false, false }, { true, true }, "01", 0 },
	{ { true, true }, { true, false }, "0", 0 }, { { true, false }, { false, true }, "1", 0 },
	{ { true, true }, { false, false }, "", 0 },
};

static void run_code(int file)
{
	ran(file, BEGIN, BEGIN + 0x06, 5, 2);
	add(file, (struct code_stretch){ .begin = BEGIN + 0x06,
					 .last = BEGIN + 0x0c,
					 .count = 2,
					 .kind = STRETCH_JUMP });
	ran(file, BEGIN + 0x08, BEGIN + 0x0a, 3, 3);
	add(file, (struct code_stretch){ .begin = BEGIN + 0x0a,
					 .last = BEGIN + 0x10,
					 .count = 3,
					 .kind = STRETCH_JUMP });
	ran(file, BEGIN + 0x0c, BEGIN + 0x14, 2, 0);
	ran(file, BEGIN + 0x10, BEGIN + 0x14, 3, 0);
}

static struct diag diag;
static struct options options;

/* Gives the code to --format=lcov, and closes `out`. */
static struct format_output *print_code(FILE *out)
{
	struct format_output *output;

	options = (struct options){ .format = &format_lcov };
	output = output_format_open(&format_lcov, &(struct format_request){ .options = &options,
									    .text = out,
									    .names = &names,
									    .diag = &diag });
	executed_code_release(output->code);
	*output->code = code;
	executed_code_init(&code);
	format_lcov.finish(output);
	fclose(out);
	return output;
}

START_TEST(a_tracefile_has_functions_branches_and_lines)
{
	char folder[] = "/tmp/ptrace2ftf-XXXXXX", paths[2][60], *text, expected[2000] = "";
	struct format_output *output;
	size_t size;
	FILE *out;

	diag_init(&diag);
	ck_assert_ptr_nonnull(mkdtemp(folder));
	for (int i = 0; i < 2; i++) {
		sprintf(paths[i], "%s/%d.c", folder, i);
		source[i] = paths[i];
		if (traces[_i].here[i])
			fclose(fopen(paths[i], "w"));
		for (int k = 0; k < 2; k++)
			functions[i][k].name = name_intern_text(&names, k ? "g" : "f");
	}
	statement(BEGIN, 1);
	statement(BEGIN + 0x04, 2);
	statement(BEGIN + 0x0c, 3);
	statement(BEGIN + 0x10, 4);
	statement(OTHER, 6);
	for (int i = 2; i-- > 0;)
		if (traces[_i].ran[i])
			run_code(i);
	out = open_memstream(&text, &size);
	output = print_code(out);
	for (const char *file = traces[_i].files; *file; file++)
		sprintf(expected + strlen(expected), "TN:\nSF:%s\n" RECORD, paths[*file - '0']);
	ck_assert_str_eq(text, expected);
	ck_assert_uint_eq(output->sources_left_out, traces[_i].left_out);
	ck_assert_uint_eq(diag_kinds(&diag), 0);
	output_format_close(&format_lcov, output);
	free(text);
	for (int i = 0; i < 2; i++)
		unlink(paths[i]);
	rmdir(folder);
	diag_release(&diag);
}
END_TEST

/* The first outcome is the one in which the condition of the source is true. */
START_TEST(a_jump_back_is_taken_if_the_condition_is_true)
{
	struct format_output *output;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	diag_init(&diag);
	functions[0][0].name = name_intern_text(&names, "f");
	statement(BEGIN, 1);
	statement(BEGIN + 0x04, 2);
	statement(BEGIN + 0x08, 3);
	bytes[0x06] = 0x7c; /* jl 0x1004 */
	bytes[0x07] = 0xfc;
	ran(0, BEGIN, BEGIN + 0x06, 1, 1);
	jumped(BEGIN + 0x06, BEGIN + 0x04, 9);
	ran(0, BEGIN + 0x04, BEGIN + 0x06, 9, 8);
	ran(0, BEGIN + 0x08, BEGIN + 0x10, 1, 0);
	output = print_code(out);
	ck_assert_ptr_nonnull(strstr(text, "\nBRDA:2,0,0,9\nBRDA:2,0,1,1\nBRF:2\nBRH:2\n"));
	output_format_close(&format_lcov, output);
	free(text);
	diag_release(&diag);
}
END_TEST

/* Code without lines is reported; no code is not. */
START_TEST(code_without_lines_is_reported)
{
	struct format_output *output;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	diag_init(&diag);
	if (_i)
		ran(0, BEGIN, BEGIN + 0x10, 1, 0);
	output = print_code(out);
	ck_assert_str_eq(text, "");
	ck_assert_uint_eq(diag_kinds(&diag), _i);
	output_format_close(&format_lcov, output);
	free(text);
	diag_release(&diag);
}
END_TEST

/* A jump from line 3 into the middle of line 2 reaches it again. */
START_TEST(a_jump_from_another_line_counts)
{
	statement(BEGIN, 1);
	statement(BEGIN + 0x04, 2);
	statement(BEGIN + 0x08, 2);
	statement(BEGIN + 0x0c, 3);
	statement(BEGIN + 0x10, 4);
	ran(0, BEGIN, BEGIN + 0x0e, 1, 1);
	jumped(BEGIN + 0x0e, BEGIN + 0x08, 5);
	ran(0, BEGIN + 0x08, BEGIN + 0x0e, 5, 4);
	ran(0, BEGIN + 0x10, BEGIN + 0x14, 1, 0);
	find();
	ck_assert_uint_eq(executions(1), 1);
	ck_assert_uint_eq(executions(2), 6);
	ck_assert_uint_eq(executions(3), 6);
	ck_assert_uint_eq(executions(4), 1);
}
END_TEST

/* Line 2 has two parts around line 3: a jump from one to the other stays in the line. */
START_TEST(a_jump_within_a_line_does_not_count)
{
	statement(BEGIN, 1);
	statement(BEGIN + 0x04, 2);
	statement(BEGIN + 0x08, 3);
	statement(BEGIN + 0x0c, 2);
	statement(BEGIN + 0x10, 4);
	ran(0, BEGIN, BEGIN + 0x06, 5, 2);
	jumped(BEGIN + 0x06, BEGIN + 0x0c, 2);
	ran(0, BEGIN + 0x08, BEGIN + 0x14, 3, 0);
	ran(0, BEGIN + 0x0c, BEGIN + 0x14, 2, 0);
	find();
	ck_assert_uint_eq(executions(1), 5);
	/* 5 times from line 1, and 3 times from line 3. */
	ck_assert_uint_eq(executions(2), 8);
	ck_assert_uint_eq(executions(3), 3);
	ck_assert_uint_eq(executions(4), 5);
}
END_TEST

/* "link/../a.c" is beside the target of the link, unless there is a file beside the link. */
START_TEST(a_path_through_a_link_stays_as_it_is)
{
	char folder[] = "/tmp/ptrace2ftf-XXXXXX", command[400], path[100], plain[100];

	ck_assert_ptr_nonnull(mkdtemp(folder));
	sprintf(command, "cd %s && mkdir -p far/away && ln -s far/away link && touch far/a.c %s",
		folder, _i ? "a.c" : "");
	ck_assert_int_eq(system(command), 0);
	sprintf(path, "%s/link/../a.c", folder);
	sprintf(plain, "%s/a.c", folder);
	source[0] = path;
	statement(BEGIN, 1);
	ran(0, BEGIN, BEGIN + 0x10, 1, 0);
	find();
	ck_assert_str_eq(lines.files->name->text, _i ? plain : path);
	ck_assert(!lines.files->missing);
	sprintf(command, "rm -r %s", folder);
	ck_assert_int_eq(system(command), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("covered_lines");
	TCase *tests = tcase_create("all");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, a_loop_has_the_counts_of_gcov);
	tcase_add_test(tests, a_line_of_several_statements_counts_once_each_time);
	tcase_add_test(tests, a_loop_of_one_statement_counts_each_time);
	tcase_add_test(tests, a_line_that_an_interrupt_stopped_counts_once);
	tcase_add_test(tests, a_function_counts_its_calls);
	tcase_add_test(tests, a_function_begins_at_its_name);
	tcase_add_test(tests, two_binaries_of_a_file_share_its_lines);
	tcase_add_test(tests, a_unit_is_read_before_or_after_the_unit_that_it_follows);
	tcase_add_loop_test(tests, a_tracefile_has_functions_branches_and_lines, 0,
			    COUNT_OF(traces));
	tcase_add_test(tests, a_jump_back_is_taken_if_the_condition_is_true);
	tcase_add_loop_test(tests, code_without_lines_is_reported, 0, 2);
	tcase_add_test(tests, a_jump_from_another_line_counts);
	tcase_add_test(tests, a_jump_within_a_line_does_not_count);
	tcase_add_loop_test(tests, a_path_through_a_link_stays_as_it_is, 0, 2);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
