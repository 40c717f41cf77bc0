/* SPDX-License-Identifier: MIT */
/* Print the rows of two recordings. */
#include "src/diff/diff.h"

#include "base/printable.h"
#include "src/formats/text/any_text.h"
#include "src/formats/text/digits.h"

/* Limit of callers, whose instructions with callees changed most. */
#define CALLERS_MOST 5

/* ---- Text and Markdown --------------------------------------------------- */

/* Print text so that HTML and Markdown (of GitHub and GitLab) leave it unchanged. */
static void print_plain(const char *text, size_t length, FILE *out)
{
	char *valid = valid_text(text, length, true);

	for (const char *at = valid; *at; at++) {
		bool letter = strchr("./-:, ", *at) ||
			      ((*at | 0x20) >= 'a' && (*at | 0x20) <= 'z') ||
			      (*at >= '0' && *at <= '9') || *at & 0x80;

		if (*at == '\n' || *at == '\t')
			fputs("\xef\xbf\xbd", out);
		else
			fprintf(out, "%s%c", letter ? "" : "\\", *at);
	}
	free(valid);
}

/* Returns the change from A to B in percent, in words if one is 0. */
static struct short_text change_text(double a, double b)
{
	double change = 100 * (b - a) / a;
	struct short_text text;

	if (a != b && a > 0 && b > 0)
		snprintf(text.text, sizeof(text.text), "%+.*f%%", change > -1 && change < 1 ? 2 : 1,
			 change);
	else
		strcpy(text.text, a == b ? "=" : b > 0 ? "new" : "gone");
	return text;
}

/* Print the columns of two sides; `per_call`: also the change of a call's instructions. */
static void print_numbers(const uint64_t *a, const uint64_t *b, enum diff_metric insns,
			  bool per_call, bool markdown, FILE *out)
{
	enum diff_metric time = insns == METRIC_INSNS ? METRIC_SELF : METRIC_TOTAL;
	double calls[SIDES] = { (double)a[METRIC_CALLS], (double)b[METRIC_CALLS] };

	fprintf(out,
		markdown ? " | %" PRIu64 " | %" PRIu64 " | %s | %s | %" PRIu64 " | %" PRIu64 " |"
			 : "%14" PRIu64 " %14" PRIu64 " %9s %9s %10" PRIu64 " %10" PRIu64,
		a[insns], b[insns], change_text((double)a[insns], (double)b[insns]).text,
		per_call && calls[SIDE_A] > 0 && calls[SIDE_B] > 0
			? change_text((double)a[insns] / calls[SIDE_A],
				      (double)b[insns] / calls[SIDE_B])
				  .text
			: "",
		a[METRIC_CALLS], b[METRIC_CALLS]);
	if (!markdown)
		fprintf(out, " %10s %10s  ", short_time(a[time]).text, short_time(b[time]).text);
}

/* Markdown has the name first, and neither file nor times. */
static void print_row(const struct diff_row *row, enum diff_metric insns, bool markdown, FILE *out)
{
	const uint64_t *a = row->values[SIDE_A], *b = row->values[SIDE_B];
	text_print_fn *print = markdown ? print_plain : printable_print;

	if (!markdown)
		print_numbers(a, b, insns, true, false, out);
	text_printf(out, print, markdown ? "| %s" : "%s", row->label);
	if (!markdown && *row->file)
		text_printf(out, print, " (%s)", row->file);
	if (row->was)
		text_printf(out, print, ", likely was %s, by its %s", row->was, row->was_by);
	if (markdown)
		print_numbers(a, b, insns, true, true, out);
	putc('\n', out);
}

static void print_heading(enum diff_metric insns, bool markdown, FILE *out)
{
	bool own = insns == METRIC_INSNS;

	if (markdown)
		fprintf(out,
			"\n| %s | A | B | change | per call | calls A | B |\n"
			"| :-- | --: | --: | --: | --: | --: | --: |\n",
			own ? "own instructions" : "instructions with callees");
	else
		fprintf(out, "\n%14s %14s %9s %9s %10s %10s %8s A %10s\n",
			own ? "instructions A" : "with callees A", "B", "change", "per call",
			"calls A", "B",
			digits_work_unit() ? digits_work_unit()
			: own              ? "self"
					   : "total",
			"B");
}

/* Equal changes: the innermost caller first. */
COMPARE_WITH(compare_callers, const struct diff_row *,
	     COMPARE(diff_row_change(*b, METRIC_TOTAL_INSNS),
		     diff_row_change(*a, METRIC_TOTAL_INSNS))
		     ?: COMPARE((*a)->values[SIDE_A][METRIC_TOTAL_INSNS],
				(*b)->values[SIDE_A][METRIC_TOTAL_INSNS])
		     ?: COMPARE(*a, *b))

void diff_print_table(const struct diff_rows *rows, enum diff_metric insns, size_t top,
		      char *const names[SIDES], bool markdown, FILE *out)
{
	const uint64_t *a = rows->sums[SIDE_A], *b = rows->sums[SIDE_B];
	size_t equal = 0, differ = 0, paired = 0, by_code = 0;

	if (markdown)
		fprintf(out, "**Instructions: %" PRIu64 " -> %" PRIu64 " (%s)**\n\n",
			a[METRIC_INSNS], b[METRIC_INSNS],
			change_text((double)a[METRIC_INSNS], (double)b[METRIC_INSNS]).text);
	text_printf(out, markdown ? print_plain : printable_print,
		    markdown ? "A: %s, B: %s\n" : "A: %s\nB: %s\n", names[SIDE_A], names[SIDE_B]);
	if (insns == METRIC_INSNS) {
		const struct diff_row **callers = alloc_zeroed(rows->count + 1, sizeof(*callers));
		size_t count = 0;

		/* Print the callers whose own instructions changed less than those with callees. */
		for (const struct diff_row *row = rows->rows; row < rows->rows + rows->count; row++)
			if (!row->outside && row->has[SIDE_A] && row->has[SIDE_B] &&
			    diff_row_change(row, METRIC_TOTAL_INSNS) >
				    diff_row_change(row, METRIC_INSNS))
				callers[count++] = row;
		SORT(callers, count, compare_callers);
		if (count)
			print_heading(METRIC_TOTAL_INSNS, markdown, out);
		for (size_t i = 0; i < count && i < CALLERS_MOST; i++)
			print_row(callers[i], METRIC_TOTAL_INSNS, markdown, out);
		free(callers);
	}
	print_heading(insns, markdown, out);
	if (!markdown) {
		print_numbers(a, b, METRIC_INSNS, false, false, out);
		fputs("all functions\n", out);
	}
	for (const struct diff_row *row = rows->rows; row < rows->rows + rows->count; row++) {
		paired += row->was != NULL;
		by_code += row->was && strcmp(row->was_by, "code") == 0;
		if (!row->was && diff_row_is_equal(row, insns))
			equal++;
		else if (!differ++ || !top || differ <= top)
			print_row(row, insns, markdown, out);
	}
	if (top && differ > top)
		fprintf(out, "%s%zu more functions differ\n", markdown ? "\n" : "", differ - top);
	fprintf(out, "%s%zu of %zu functions have the same calls and instructions\n",
		markdown ? "\n" : "", equal, rows->count);
	if (paired)
		fprintf(out,
			"%s%zu likely renamed: %zu by their code, %zu by their callers and "
			"callees\n",
			markdown ? "\n" : "", paired, by_code, paired - by_code);
}

/* ---- JSON ---------------------------------------------------------------- */

static json_t *values_json(const uint64_t values[METRICS], int metrics)
{
	json_t *object = json_object();

	for (int metric = 0; metric < metrics; metric++)
		json_object_set_new(object, diff_metric_keys[metric],
				    json_integer((json_int_t)values[metric]));
	return object;
}

static json_t *row_json(const struct diff_row *row)
{
	json_t *sides[SIDES];

	for (int side = 0; side < SIDES; side++)
		sides[side] =
			row->has[side] ? values_json(row->values[side], METRICS) : json_null();
	return json_pack("{s:s, s:s, s:s?, s:s?, s:o, s:o}", "name", row->label, "file", row->file,
			 "was", row->was, "was_by", row->was_by, "a", sides[SIDE_A], "b",
			 sides[SIDE_B]);
}

json_t *diff_print_json(const struct diff_rows *rows, char *const names[SIDES],
			const json_t *const reports[SIDES], json_t *exceeded)
{
	json_t *sides[SIDES];

	for (int side = 0; side < SIDES; side++) {
		json_t *object = values_json(rows->sums[side], METRIC_TOTAL);

		/* One recording: its name, sums, and its reports of missing trace. */
		json_object_set_new(object, "input", json_text_or_null(names[side]));
		json_object_set(object, "gaps", json_object_get(reports[side], "gaps"));
		json_object_set(object, "warnings", json_object_get(reports[side], "warnings"));
		sides[side] = object;
	}
	return json_pack("{s:i, s:o, s:o, s:o, s:o}", "version", 1, "a", sides[SIDE_A], "b",
			 sides[SIDE_B], "functions",
			 JSON_LIST(i, rows->count, row_json(&rows->rows[i])), "exceeded", exceeded);
}

/* ---- Stacks -------------------------------------------------------------- */

struct stack_lines {
	/* "THREAD;OUTER;INNER 123": the thread is the root. */
	struct stack_line {
		const char *root, *rest; /* borrowed from the texts */
		uint64_t values[SIDES];
	} * lines; /* owned */
	size_t count, room;
};

static void add_lines(struct stack_lines *lines, enum diff_side side, char *text)
{
	for (char *end, *blank, *rest; (end = strchr(text, '\n')); text = end + 1) {
		struct stack_line *line;

		*end = '\0';
		blank = strrchr(text, ' ');
		if (!blank)
			return;
		*blank = '\0';
		rest = strchrnul(text, ';');
		if (*rest)
			*rest++ = '\0';
		line = ARRAY_ADD(lines->lines, lines->count, lines->room);
		*line = (struct stack_line){ .root = text, .rest = rest };
		line->values[side] = strtoull(blank + 1, NULL, 10);
	}
}

COMPARE_WITH(compare_stacks, struct stack_line,
	     strcmp(a->root, b->root) ?: strcmp(a->rest, b->rest))

/* If each side has one thread whose name the other side lacks, the program was renamed. */
static void join_renamed(struct stack_lines *lines)
{
	struct stack_line *alone[SIDES] = { NULL };
	size_t found[SIDES] = { 0 }, size = 0;

	for (size_t i = 0, end; i < lines->count; i = end) {
		struct stack_line *first = &lines->lines[i];
		uint64_t sums[SIDES] = { 0 };
		enum diff_side side;

		for (end = i; end < lines->count && !strcmp(first->root, lines->lines[end].root);
		     end++) {
			sums[SIDE_A] |= lines->lines[end].values[SIDE_A];
			sums[SIDE_B] |= lines->lines[end].values[SIDE_B];
		}
		if (sums[SIDE_A] && sums[SIDE_B])
			continue;
		side = sums[SIDE_A] ? SIDE_A : SIDE_B;
		alone[side] = first;
		size = side == SIDE_A ? end - i : size;
		found[side]++;
	}
	if (found[SIDE_A] != 1 || found[SIDE_B] != 1)
		return;
	for (size_t i = 0; i < size; i++)
		alone[SIDE_A][i].root = alone[SIDE_B]->root;
	SORT(lines->lines, lines->count, compare_stacks);
}

void diff_print_folded(const char *const texts[SIDES], const size_t sizes[SIDES], FILE *out)
{
	struct stack_lines lines = { 0 };
	char *copies[SIDES];

	for (int side = 0; side < SIDES; side++) {
		copies[side] = ALLOC_CHECKED(strndup(texts[side], sizes[side]));
		add_lines(&lines, (enum diff_side)side, copies[side]);
	}
	SORT(lines.lines, lines.count, compare_stacks);
	join_renamed(&lines);
	for (size_t i = 0; i < lines.count; i++) {
		struct stack_line *line = &lines.lines[i];

		for (; i + 1 < lines.count && compare_stacks(line, line + 1) == 0; i++, line++) {
			line[1].values[SIDE_A] += line->values[SIDE_A];
			line[1].values[SIDE_B] += line->values[SIDE_B];
		}
		fprintf(out, "%s%s%s %" PRIu64 " %" PRIu64 "\n", line->root, *line->rest ? ";" : "",
			line->rest, line->values[SIDE_A], line->values[SIDE_B]);
	}
	for (int side = 0; side < SIDES; side++)
		free(copies[side]);
	free(lines.lines);
}
