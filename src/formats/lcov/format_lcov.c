/* SPDX-License-Identifier: MIT */
/*
 * --format=lcov: execution counts of each line, branch and function, as a tracefile of lcov
 * (geninfo(1), "TRACEFILE FORMAT"), for genhtml(1) and others.
 */

#include "src/formats/lcov/covered_lines.h"
#include "src/formats/output_format.h"
#include "src/formats/text/any_text.h"
#include "src/options/options.h"

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

COMPARE_WITHIN(compare_line_ids, uint32_t, struct covered_lines, compare_source(context, *a, *b))
COMPARE_WITHIN(compare_jumps, struct covered_jump, struct covered_lines,
	       compare_source(context, a->line, b->line) ?: COMPARE(a->vaddr, b->vaddr))
COMPARE_WITHIN(compare_functions, struct covered_function, struct covered_lines,
	       compare_source(context, a->line, b->line) ?:
	       strcmp(a->symbol->name->text, b->symbol->name->text) ?:
	       COMPARE(a->symbol->start, b->symbol->start))

/* ---- Text ---------------------------------------------------------------- */

static uint32_t file_of(const struct covered_lines *covered, uint32_t line)
{
	return covered->lines[line].file;
}

static void print_functions(const struct covered_lines *covered, size_t begin, size_t end,
			    FILE *out)
{
	const struct covered_function *functions = covered->functions;
	size_t hit = 0;

	for (size_t i = begin; i < end; i++) {
		const struct name *name = functions[i].symbol->name;

		fprintf(out, "FN:%" PRIu32 ",", covered->lines[functions[i].line].line);
		escaped_text_print(name->text, name->length, out);
		putc('\n', out);
	}
	for (size_t i = begin; i < end; i++) {
		const struct name *name = functions[i].symbol->name;

		fprintf(out, "FNDA:%" PRIu64 ",", functions[i].count);
		escaped_text_print(name->text, name->length, out);
		putc('\n', out);
		hit += functions[i].count > 0;
	}
	fprintf(out, "FNF:%zu\nFNH:%zu\n", end - begin, hit);
}

/*
 * Number the branches of a line as gcov does: both outcomes of each jump, first the one for a true
 * condition in the source. Compilers skip conditional code by a jump forward, and repeat a loop by
 * a jump back.
 */
static void print_jumps(const struct covered_lines *covered, size_t begin, size_t end, FILE *out)
{
	size_t branch = 0, hit = 0;

	for (size_t i = begin; i < end; i++) {
		const struct covered_jump *jump = &covered->jumps[i];
		uint32_t line = covered->lines[jump->line].line;

		branch = i > begin && jump[-1].line == jump->line ? branch + 2 : 0;
		fprintf(out,
			"BRDA:%" PRIu32 ",0,%zu,%" PRIu64 "\nBRDA:%" PRIu32 ",0,%zu,%" PRIu64 "\n",
			line, branch, jump->back ? jump->taken : jump->not_taken, line, branch + 1,
			jump->back ? jump->not_taken : jump->taken);
		hit += (jump->taken > 0) + (jump->not_taken > 0);
	}
	fprintf(out, "BRF:%zu\nBRH:%zu\n", 2 * (end - begin), hit);
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

/* Print a file if one of its lines ran, and genhtml can read it. */
static void print_files(struct lcov_output *lcov, const uint32_t *ids, size_t id_count)
{
	const struct covered_lines *covered = &lcov->covered;
	FILE *out = lcov->output.text;
	size_t function_end = 0, jump_end = 0;

	for (size_t i = 0, end; i < id_count; i = end) {
		size_t function = function_end, jump = jump_end;
		uint32_t number = file_of(covered, ids[i]);
		const struct covered_file *file = &covered->files[number];

		for (end = i; end < id_count && file_of(covered, ids[end]) == number;)
			end++;
		while (function_end < covered->function_ids.count &&
		       file_of(covered, covered->functions[function_end].line) == number)
			function_end++;
		while (jump_end < covered->jump_ids.count &&
		       file_of(covered, covered->jumps[jump_end].line) == number)
			jump_end++;
		if (!file->ran || (lcov->sources && file->missing))
			continue;
		fputs("TN:\nSF:", out);
		escaped_text_print(file->name->text, file->name->length, out);
		putc('\n', out);
		print_functions(covered, function, function_end, out);
		print_jumps(covered, jump, jump_end, out);
		print_lines(covered, ids + i, end - i, out);
		fputs("end_of_record\n", out);
	}
}

/* Omit missing files, unless all are missing because the recording is from another machine. */
static void look_for_sources(struct lcov_output *lcov)
{
	const struct covered_lines *covered = &lcov->covered;
	const struct covered_file *files = covered->files;

	for (uint32_t i = 0; i < covered->file_ids.count; i++)
		lcov->sources |= files[i].ran && !files[i].missing;
	for (uint32_t i = 0; i < covered->file_ids.count && lcov->sources; i++)
		if (files[i].ran && files[i].missing)
			diag_warn(lcov->diag, "sources-missing",
				  "%s: the source is not here, so its lines are left out; install "
				  "it, or choose files of code with --dso",
				  files[i].name->text);
}

static void find_lines(struct lcov_output *lcov)
{
	const struct selection *select = lcov->select;
	bool chosen = select->symbols.count || select->dsos.count;
	struct function_choice choice = { .selection = select };

	covered_lines_find(&lcov->covered, &lcov->code, chosen ? &choice : NULL);
	if (chosen)
		function_choice_warn(&choice, lcov->covered.function_ids.count, lcov->diag);
	function_choice_release(&choice);
}

static int print_lcov(struct format_output *output, struct error *err)
{
	struct lcov_output *lcov = (struct lcov_output *)output;
	struct covered_lines *covered = &lcov->covered;
	size_t count = 0;
	uint32_t *ids;

	(void)err;
	executed_code_finish(&lcov->code);
	find_lines(lcov);
	if (lcov->code.count && !covered->line_ids.count)
		diag_warn(lcov->diag, "no-lines",
			  "the code that ran has no source lines; build it with -g, or install its "
			  "debug files");
	look_for_sources(lcov);
	ids = alloc_zeroed(covered->line_ids.count + 1, sizeof(*ids));
	for (uint32_t i = 0; i < covered->line_ids.count; i++)
		if (covered->lines[i].shown)
			ids[count++] = i;
	SORT_WITHIN(ids, count, compare_line_ids, covered);
	SORT_WITHIN(covered->jumps, covered->jump_ids.count, compare_jumps, covered);
	SORT_WITHIN(covered->functions, covered->function_ids.count, compare_functions, covered);
	print_files(lcov, ids, count);
	free(ids);
	return 0;
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
