/* SPDX-License-Identifier: MIT */
/*
 * --format=lcov: how often each line, branch and function was executed, as a tracefile of lcov
 * (geninfo(1), "TRACEFILE FORMAT"), which genhtml(1) and others show.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "base/tables/compare.h"
#include "src/formats/lcov/covered_lines.h"
#include "src/formats/output_format.h"
#include "src/formats/text/any_text.h"

struct lcov_output {
	struct format_output output; /* first */
	struct executed_code code;
	struct covered_lines covered;
	struct diag *diag; /* borrowed */
};

static struct format_output *open_lcov(const struct format_request *request, struct error *err)
{
	struct lcov_output *lcov = alloc_zeroed(1, sizeof(*lcov));

	(void)err;
	executed_code_init(&lcov->code);
	lcov->output.text = request->text;
	lcov->diag = request->diag;
	return &lcov->output;
}

static void count_branch(struct format_output *output, const struct branch_event *event,
			 const struct location *from, const struct location *to)
{
	executed_code_add(&((struct lcov_output *)output)->code, event, from, to);
}

static void count_runs(struct format_output *output, const struct branch_event *event,
		       const struct location *at)
{
	executed_code_add_runs(&((struct lcov_output *)output)->code, event, at);
}

/* ---- The order of the tracefile ------------------------------------------ */

static int compare_source(const struct covered_lines *covered, uint32_t left, uint32_t right)
{
	const struct covered_line *a = &covered->lines[left], *b = &covered->lines[right];
	const struct covered_file *files = covered->files;

	return (a->file == b->file ? 0
				   : strcmp(files[a->file].name->text, files[b->file].name->text)) ?:
	       COMPARE(a->file, b->file) ?: COMPARE(a->line, b->line);
}

static int compare_line_ids(const void *left, const void *right, void *covered)
{
	const uint32_t *a = left, *b = right;

	return compare_source(covered, *a, *b);
}

static int compare_jumps(const void *left, const void *right, void *covered)
{
	const struct covered_jump *a = left, *b = right;

	return compare_source(covered, a->line, b->line) ?: COMPARE(a->vaddr, b->vaddr);
}

static int compare_functions(const void *left, const void *right, void *covered)
{
	const struct covered_function *a = left, *b = right;

	return compare_source(covered, a->line, b->line) ?:
	       strcmp(a->symbol->name->text, b->symbol->name->text) ?:
	       COMPARE(a->symbol->start, b->symbol->start);
}

/* ---- Text ---------------------------------------------------------------- */

static uint32_t file_of(const struct covered_lines *covered, uint32_t line)
{
	return covered->lines[line].file;
}

/* Print the functions of a file, from *at on, which is moved behind them. */
static void print_functions(const struct covered_lines *covered, uint32_t file, size_t *at,
			    FILE *out)
{
	const struct covered_function *functions = covered->functions;
	size_t end = *at, hit = 0;

	for (; end < covered->function_ids.count && file_of(covered, functions[end].line) == file;
	     end++) {
		fprintf(out, "FN:%" PRIu32 ",", covered->lines[functions[end].line].line);
		escaped_text_print(functions[end].symbol->name->text,
				   functions[end].symbol->name->length, out);
		putc('\n', out);
	}
	for (size_t i = *at; i < end; i++) {
		fprintf(out, "FNDA:%" PRIu64 ",", functions[i].count);
		escaped_text_print(functions[i].symbol->name->text,
				   functions[i].symbol->name->length, out);
		putc('\n', out);
		hit += functions[i].count > 0;
	}
	fprintf(out, "FNF:%zu\nFNH:%zu\n", end - *at, hit);
	*at = end;
}

/* The branches of a line are numbered: of each jump the way when it is taken, and the other. */
static void print_jumps(const struct covered_lines *covered, uint32_t file, size_t *at, FILE *out)
{
	const struct covered_jump *jumps = covered->jumps;
	size_t begin = *at, branch = 0, hit = 0;

	for (; *at < covered->jump_ids.count && file_of(covered, jumps[*at].line) == file; ++*at) {
		const struct covered_jump *jump = &jumps[*at];
		uint32_t line = covered->lines[jump->line].line;

		branch = *at > begin && jumps[*at - 1].line == jump->line ? branch + 2 : 0;
		fprintf(out,
			"BRDA:%" PRIu32 ",0,%zu,%" PRIu64 "\nBRDA:%" PRIu32 ",0,%zu,%" PRIu64 "\n",
			line, branch, jump->taken, line, branch + 1, jump->not_taken);
		hit += (jump->taken > 0) + (jump->not_taken > 0);
	}
	fprintf(out, "BRF:%zu\nBRH:%zu\n", 2 * (*at - begin), hit);
}

static void print_lines(const struct covered_lines *covered, const uint32_t *ids, size_t count,
			FILE *out)
{
	size_t hit = 0;

	for (size_t i = 0; i < count; i++) {
		const struct covered_line *line = &covered->lines[ids[i]];

		fprintf(out, "DA:%" PRIu32 ",%" PRIu64 "\n", line->line, line->count);
		hit += line->count > 0;
	}
	fprintf(out, "LF:%zu\nLH:%zu\n", count, hit);
}

/* Only files of which a line ran are shown; functions and jumps are of such alone. */
static void print_files(const struct covered_lines *covered, const uint32_t *ids, FILE *out)
{
	size_t count, function = 0, jump = 0;

	for (size_t i = 0; i < covered->line_ids.count; i += count) {
		uint32_t file = file_of(covered, ids[i]);

		count = 1;
		while (i + count < covered->line_ids.count &&
		       file_of(covered, ids[i + count]) == file)
			count++;
		if (!covered->files[file].ran)
			continue;
		fputs("TN:\nSF:", out);
		escaped_text_print(covered->files[file].name->text,
				   covered->files[file].name->length, out);
		putc('\n', out);
		print_functions(covered, file, &function, out);
		print_jumps(covered, file, &jump, out);
		print_lines(covered, ids + i, count, out);
		fputs("end_of_record\n", out);
	}
}

static void warn_of_no_lines(const struct lcov_output *lcov)
{
	if (lcov->code.count && !lcov->covered.line_ids.count)
		diag_warn(lcov->diag, "no-lines",
			  "the code that ran has no source lines; build it with -g, or install its "
			  "debug files");
}

static int print_lcov(struct format_output *output, struct error *err)
{
	struct lcov_output *lcov = (struct lcov_output *)output;
	struct covered_lines *covered = &lcov->covered;
	uint32_t *ids;

	(void)err;
	executed_code_finish(&lcov->code);
	covered_lines_find(covered, &lcov->code);
	warn_of_no_lines(lcov);
	ids = alloc_zeroed(covered->line_ids.count + 1, sizeof(*ids));
	for (size_t i = 0; i < covered->line_ids.count; i++)
		ids[i] = (uint32_t)i;
	qsort_r(ids, covered->line_ids.count, sizeof(*ids), compare_line_ids, covered);
	if (covered->jump_ids.count)
		qsort_r(covered->jumps, covered->jump_ids.count, sizeof(*covered->jumps),
			compare_jumps, covered);
	if (covered->function_ids.count)
		qsort_r(covered->functions, covered->function_ids.count,
			sizeof(*covered->functions), compare_functions, covered);
	print_files(covered, ids, output->text);
	free(ids);
	return 0;
}

static void release_lcov(struct format_output *output)
{
	struct lcov_output *lcov = (struct lcov_output *)output;

	executed_code_release(&lcov->code);
	covered_lines_release(&lcov->covered);
}

const struct output_format format_lcov = {
	.name = "lcov",
	.suffix = "info",
	.lines = true,
	.open = open_lcov,
	.branch = count_branch,
	.runs = count_runs,
	.finish = print_lcov,
	.release = release_lcov,
};
