/* SPDX-License-Identifier: MIT */
/*
 * --format=lcov: execution counts of each line, branch and function, as a tracefile of lcov
 * (geninfo(1), "TRACEFILE FORMAT"), for genhtml(1) and others.
 */

#include "src/formats/lcov/covered_lines.h"
#include "src/formats/output_format.h"
#include "src/formats/text/any_text.h"
#include "src/options/options.h"
#include "symbols/dso/dso_store.h"

struct lcov_output {
	struct format_output output; /* first */
	struct executed_code code;
	struct covered_lines covered;
	const struct selection *select; /* borrowed, as the next */
	struct diag *diag;
	bool sources; /* some sources are on this machine: omit others */
};

static void open_lcov(struct format_output *output, const struct format_request *request)
{
	struct lcov_output *lcov = (struct lcov_output *)output;

	executed_code_init(&lcov->code);
	output->code = &lcov->code;
	lcov->diag = request->diag;
	lcov->select = &request->options->select;
	lcov->covered.names = request->names;
	lcov->covered.program = request->facts.program;
}

/* ---- The order of the tracefile ------------------------------------------ */

static int compare_lines(const struct covered_line *a, const struct covered_line *b)
{
	return strcmp(a->key.file->name->text, b->key.file->name->text)
		       ?: COMPARE(a->key.line, b->key.line);
}

static int compare_jumps(const struct covered_jump *a, const struct covered_jump *b)
{
	return compare_lines(a->line, b->line) ?: COMPARE(a->key.vaddr, b->key.vaddr) ?:
	       dso_compare(a->key.dso, b->key.dso);
}

static int compare_functions(const struct covered_function *a, const struct covered_function *b)
{
	return compare_lines(a->line, b->line) ?:
	       strcmp(a->symbol->name->text, b->symbol->name->text) ?:
	       COMPARE(a->symbol->start, b->symbol->start) ?:
	       dso_compare(a->symbol->dso, b->symbol->dso);
}

/* ---- Text ---------------------------------------------------------------- */

/* Each of the next three functions prints the items of a file, which begin with `first`. */

static void print_functions(const struct covered_function *first, const struct covered_file *file,
			    FILE *out)
{
	const struct covered_function *function;
	size_t count = 0, hit = 0;

	for (function = first; function && function->line->key.file == file;
	     function = function->hh.next)
		escaped_printf(out, "FN:%" PRIu64 ",%s\n", function->line->key.line,
			       function->symbol->name->text);
	for (function = first; function && function->line->key.file == file;
	     function = function->hh.next) {
		escaped_printf(out, "FNDA:%" PRIu64 ",%s\n", function->count,
			       function->symbol->name->text);
		count++;
		hit += function->count > 0;
	}
	fprintf(out, "FNF:%zu\nFNH:%zu\n", count, hit);
}

static void print_branch(uint64_t line, size_t branch, uint64_t count, bool ran, FILE *out)
{
	fprintf(out, "BRDA:%" PRIu64 ",0,%zu,", line, branch);
	fprintf(out, ran ? "%" PRIu64 "\n" : "-\n", count);
}

/*
 * Number the branches of a line as gcov does: both outcomes of each jump, first the one for a true
 * condition in the source. Compilers skip conditional code by a jump forward, and repeat a loop by
 * a jump back.
 */
static void print_jumps(const struct covered_jump *jump, const struct covered_file *file, FILE *out)
{
	const struct covered_line *last = NULL;
	size_t branch = 0, count = 0, hit = 0;

	for (; jump && jump->line->key.file == file; jump = jump->hh.next) {
		uint64_t line = jump->line->key.line;
		bool ran = jump->taken || jump->not_taken;

		branch = jump->line == last ? branch + 2 : 0;
		last = jump->line;
		print_branch(line, branch, jump->back ? jump->taken : jump->not_taken, ran, out);
		print_branch(line, branch + 1, jump->back ? jump->not_taken : jump->taken, ran,
			     out);
		count += 2;
		hit += (jump->taken > 0) + (jump->not_taken > 0);
	}
	fprintf(out, "BRF:%zu\nBRH:%zu\n", count, hit);
}

#define PASS_FILE(item, of, file)                                                                  \
	while ((item) && (of) == (file))                                                           \
	(item) = (item)->hh.next

/* Print a file if one of its lines ran, and genhtml can read it. */
static void print_files(const struct lcov_output *lcov)
{
	const struct covered_function *function = lcov->covered.functions;
	const struct covered_line *line = lcov->covered.lines;
	const struct covered_jump *jump = lcov->covered.jumps;
	FILE *out = lcov->output.text;

	while (line) {
		const struct covered_file *file = line->key.file;

		if (file->ran && !(lcov->sources && file->missing)) {
			size_t count = 0, hit = 0;

			escaped_printf(out, "TN:\nSF:%s\n", file->name->text);
			print_functions(function, file, out);
			print_jumps(jump, file, out);
			for (; line && line->key.file == file; line = line->hh.next) {
				if (!line->shown)
					continue;
				fprintf(out, "DA:%" PRIu64 ",%" PRIu64 "\n", line->key.line,
					line->count);
				count++;
				hit += line->count > 0;
			}
			fprintf(out, "LF:%zu\nLH:%zu\n", count, hit);
			fputs("end_of_record\n", out);
		}
		PASS_FILE(function, function->line->key.file, file);
		PASS_FILE(jump, jump->line->key.file, file);
		PASS_FILE(line, line->key.file, file);
	}
}

static void print_lcov(struct format_output *output)
{
	struct lcov_output *lcov = (struct lcov_output *)output;
	struct covered_lines *covered = &lcov->covered;
	const struct covered_file *file;
	const struct selection *select;
	bool chosen;
	struct function_choice choice;

	executed_code_finish(&lcov->code);
	select = lcov->select;
	chosen = select->symbols.count || select->dsos.count;
	choice = (struct function_choice){ .selection = select };
	covered_lines_find(&lcov->covered, &lcov->code, chosen ? &choice : NULL);
	if (chosen)
		function_choice_warn(&choice, HASH_COUNT(lcov->covered.functions), lcov->diag);
	function_choice_release(&choice);
	if (lcov->code.count && !covered->lines)
		diag_warn(lcov->diag, "no-lines",
			  "the code that ran has no source lines; build it with -g, or install its "
			  "debug files");
	/*
	 * Omit missing files, unless all are missing because the recording is from another
	 * machine.
	 */
	for (file = lcov->covered.files; file; file = file->hh.next)
		lcov->sources |= file->ran && !file->missing;
	for (file = lcov->covered.files; file && lcov->sources; file = file->hh.next) {
		if (!file->ran || !file->missing)
			continue;
		if (file->expected)
			diag_warn(lcov->diag, "sources-missing",
				  "%s: the source is not here, so its lines are left out; install "
				  "it, or choose files of code with --dso",
				  file->name->text);
		else
			lcov->output.sources_left_out++;
	}
	HASH_SORT(covered->lines, compare_lines);
	HASH_SORT(covered->jumps, compare_jumps);
	HASH_SORT(covered->functions, compare_functions);
	print_files(lcov);
}

static void release_lcov(struct format_output *output)
{
	struct lcov_output *lcov = (struct lcov_output *)output;

	executed_code_release(&lcov->code);
	covered_lines_release(&lcov->covered);
}

#define LCOV                                                                                       \
	.name = "lcov", .suffix = "info", .lines = true, .chooses_calls = true,                    \
	.size = sizeof(struct lcov_output), .open = open_lcov, .finish = print_lcov,               \
	.release = release_lcov

static const struct output_format within = { LCOV, .slices = SLICES_SORTED, .all_branches = true };
const struct output_format format_lcov = { LCOV, .within = &within };
