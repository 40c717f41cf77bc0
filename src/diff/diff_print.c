/* SPDX-License-Identifier: MIT */
/* Print the rows of two recordings. */
#include "src/diff/diff_rows.h"

#include "base/printable.h"
#include "src/formats/text/any_text.h"
#include "src/formats/text/short_time.h"

/* ---- The table ----------------------------------------------------------- */

void diff_write_change(char text[CHANGE_SIZE], double a, double b)
{
	double change = 100 * (b - a) / a;

	if (a == b)
		strcpy(text, "=");
	else if (a == 0)
		strcpy(text, "new");
	else if (b == 0)
		strcpy(text, "gone");
	else
		snprintf(text, CHANGE_SIZE, "%+.*f%%", change > -1 && change < 1 ? 2 : 1, change);
}

void diff_write_per_call(char text[CHANGE_SIZE], const struct diff_row *row, enum diff_metric insns)
{
	double per_call[SIDES] = { 0 };

	*text = 0;
	for (int side = 0; side < SIDES; side++) {
		const uint64_t *values = row->values[side];

		if (!values[METRIC_CALLS])
			return;
		per_call[side] = (double)values[insns] / (double)values[METRIC_CALLS];
	}
	diff_write_change(text, per_call[SIDE_A], per_call[SIDE_B]);
}

static void print_numbers(const uint64_t *a, const uint64_t *b, enum diff_metric insns,
			  const char *per_call, FILE *out)
{
	enum diff_metric time = insns == METRIC_INSNS ? METRIC_SELF : METRIC_TOTAL;
	char change[CHANGE_SIZE], before[SHORT_TIME_SIZE], after[SHORT_TIME_SIZE];

	diff_write_change(change, (double)a[insns], (double)b[insns]);
	fprintf(out, "%14" PRIu64 " %14" PRIu64 " %9s %9s %10" PRIu64 " %10" PRIu64 " %10s %10s  ",
		a[insns], b[insns], change, per_call, a[METRIC_CALLS], b[METRIC_CALLS],
		short_time(before, (int64_t)a[time]), short_time(after, (int64_t)b[time]));
}

static void print_row(const struct diff_row *row, enum diff_metric insns, FILE *out)
{
	char per_call[CHANGE_SIZE];

	diff_write_per_call(per_call, row, insns);
	print_numbers(row->values[SIDE_A], row->values[SIDE_B], insns, per_call, out);
	printable_print(row->name, out);
	if (*row->file) {
		fputs(" (", out);
		printable_print(row->file, out);
		putc(')', out);
	}
	if (row->was) {
		fputs(", likely was ", out);
		printable_print(row->was, out);
	}
	putc('\n', out);
}

static void print_heading(enum diff_metric insns, FILE *out)
{
	fprintf(out, "\n%14s %14s %9s %9s %10s %10s %10s %10s\n",
		insns == METRIC_INSNS ? "instructions A" : "with callees A", "B", "change",
		"per call", "calls A", "B", insns == METRIC_INSNS ? "self A" : "total A", "B");
}

static void print_callers(const struct diff_rows *rows, FILE *out)
{
	const struct diff_row *callers[DIFF_CALLERS];
	size_t count = diff_callers(rows, callers);

	if (count)
		print_heading(METRIC_TOTAL_INSNS, out);
	for (size_t i = 0; i < count; i++)
		print_row(callers[i], METRIC_TOTAL_INSNS, out);
}

void diff_print_table(const struct diff_rows *rows, enum diff_metric insns, size_t top,
		      char *const names[SIDES], FILE *out)
{
	size_t equal = 0, differ = 0, paired = 0;

	for (int side = 0; side < SIDES; side++) {
		fprintf(out, "%c: ", "AB"[side]);
		printable_print(names[side], out);
		putc('\n', out);
	}
	if (insns == METRIC_INSNS)
		print_callers(rows, out);
	print_heading(insns, out);
	print_numbers(rows->sums[SIDE_A], rows->sums[SIDE_B], METRIC_INSNS, "", out);
	fputs("all functions\n", out);
	for (size_t i = 0; i < rows->count; i++) {
		paired += rows->rows[i].was != NULL;
		if (!rows->rows[i].was && diff_row_is_equal(&rows->rows[i], insns))
			equal++;
		else if (!differ++ || !top || differ <= top)
			print_row(&rows->rows[i], insns, out);
	}
	if (top && differ > top)
		fprintf(out, "%zu more functions differ\n", differ - top);
	fprintf(out, "%zu of %zu functions have the same calls and instructions\n", equal,
		rows->count);
	if (paired)
		fprintf(out,
			"%zu likely renamed: functions with as many calls and instructions have "
			"two names\n",
			paired);
}

/* ---- JSON ---------------------------------------------------------------- */

static json_t *values_json(const uint64_t values[METRICS], bool sum)
{
	json_t *object = json_pack("{s:I, s:I, s:I}", "calls", (json_int_t)values[METRIC_CALLS],
				   "self_ns", (json_int_t)values[METRIC_SELF], "self_insns",
				   (json_int_t)values[METRIC_INSNS]);

	if (!sum) {
		json_object_set_new(object, "total_ns",
				    json_integer((json_int_t)values[METRIC_TOTAL]));
		json_object_set_new(object, "total_insns",
				    json_integer((json_int_t)values[METRIC_TOTAL_INSNS]));
	}
	return object;
}

static json_t *row_json(const struct diff_row *row)
{
	json_t *sides[SIDES];

	for (int side = 0; side < SIDES; side++)
		sides[side] = row->has[side] ? values_json(row->values[side], false) : json_null();
	return json_pack("{s:s, s:s, s:s?, s:o, s:o}", "name", row->name, "file", row->file, "was",
			 row->was, "a", sides[SIDE_A], "b", sides[SIDE_B]);
}

/* One recording: its name, sums, and its reports of missing trace. */
static json_t *side_json(const char *name, const uint64_t sums[METRICS], const json_t *report)
{
	json_t *object = values_json(sums, true);

	json_object_set_new(object, "input", json_text_or_null(name));
	json_object_set(object, "gaps", json_object_get(report, "gaps"));
	json_object_set(object, "warnings", json_object_get(report, "warnings"));
	return object;
}

json_t *diff_print_json(const struct diff_rows *rows, char *const names[SIDES],
			const json_t *const reports[SIDES], json_t *exceeded)
{
	json_t *list = json_array(), *sides[SIDES];

	for (size_t i = 0; i < rows->count; i++)
		json_array_append_new(list, row_json(&rows->rows[i]));
	for (int side = 0; side < SIDES; side++)
		sides[side] = side_json(names[side], rows->sums[side], reports[side]);
	return json_pack("{s:i, s:o, s:o, s:o, s:o}", "version", 1, "a", sides[SIDE_A], "b",
			 sides[SIDE_B], "functions", list, "exceeded", exceeded);
}

/* ---- Stacks -------------------------------------------------------------- */

struct stack_lines {
	/* "THREAD;OUTER;INNER 123": the thread is the root. */
	struct stack_line {
		const char *root, *rest;
		size_t root_length, rest_length;
		uint64_t values[SIDES];
	} * lines; /* owned */
	size_t count, room;
};

static void add_lines(struct stack_lines *lines, enum diff_side side, const char *text, size_t size)
{
	const char *end = text + size, *newline, *blank, *rest;
	struct stack_line *line;

	for (; text < end; text = newline + 1) {
		newline = memchr(text, '\n', (size_t)(end - text));
		blank = newline ? memrchr(text, ' ', (size_t)(newline - text)) : NULL;
		if (!blank)
			return;
		rest = memchr(text, ';', (size_t)(blank - text));
		rest = rest ? rest : blank;
		lines->lines = alloc_grow(lines->lines, &lines->room, lines->count + 1,
					  sizeof(*lines->lines));
		line = &lines->lines[lines->count++];
		*line = (struct stack_line){ .root = text,
					     .rest = rest,
					     .root_length = (size_t)(rest - text),
					     .rest_length = (size_t)(blank - rest) };
		line->values[side] = strtoull(blank + 1, NULL, 10);
	}
}

static int compare_texts(const char *a, size_t a_length, const char *b, size_t b_length)
{
	int order = memcmp(a, b, a_length < b_length ? a_length : b_length);

	return order ?: COMPARE(a_length, b_length);
}

static int compare_roots(const struct stack_line *a, const struct stack_line *b)
{
	return compare_texts(a->root, a->root_length, b->root, b->root_length);
}

static int compare_stacks(const void *left, const void *right)
{
	const struct stack_line *a = left, *b = right;
	int order = compare_roots(a, b);

	return order ?: compare_texts(a->rest, a->rest_length, b->rest, b->rest_length);
}

static void sort_lines(struct stack_lines *lines)
{
	if (lines->count)
		qsort(lines->lines, lines->count, sizeof(*lines->lines), compare_stacks);
}

/* If each side has one thread whose name the other side lacks, the program was renamed. */
static void join_renamed(struct stack_lines *lines)
{
	struct stack_line *alone[SIDES] = { NULL };
	size_t found[SIDES] = { 0 }, size[SIDES] = { 0 };

	for (size_t i = 0, end; i < lines->count; i = end) {
		struct stack_line *first = &lines->lines[i];
		uint64_t sums[SIDES] = { 0 };
		enum diff_side side;

		for (end = i; end < lines->count && !compare_roots(first, &lines->lines[end]);
		     end++) {
			sums[SIDE_A] |= lines->lines[end].values[SIDE_A];
			sums[SIDE_B] |= lines->lines[end].values[SIDE_B];
		}
		if (sums[SIDE_A] && sums[SIDE_B])
			continue;
		side = sums[SIDE_A] ? SIDE_A : SIDE_B;
		alone[side] = first;
		size[side] = end - i;
		found[side]++;
	}
	if (found[SIDE_A] != 1 || found[SIDE_B] != 1)
		return;
	for (size_t i = 0; i < size[SIDE_A]; i++) {
		alone[SIDE_A][i].root = alone[SIDE_B]->root;
		alone[SIDE_A][i].root_length = alone[SIDE_B]->root_length;
	}
	sort_lines(lines);
}

void diff_print_folded(const char *const texts[SIDES], const size_t sizes[SIDES], FILE *out)
{
	struct stack_lines lines = { 0 };

	for (int side = 0; side < SIDES; side++)
		add_lines(&lines, (enum diff_side)side, texts[side], sizes[side]);
	sort_lines(&lines);
	join_renamed(&lines);
	for (size_t i = 0; i < lines.count; i++) {
		struct stack_line *line = &lines.lines[i];

		for (; i + 1 < lines.count && compare_stacks(line, line + 1) == 0; i++, line++) {
			line[1].values[SIDE_A] += line->values[SIDE_A];
			line[1].values[SIDE_B] += line->values[SIDE_B];
		}
		fwrite(line->root, 1, line->root_length, out);
		fwrite(line->rest, 1, line->rest_length, out);
		fprintf(out, " %" PRIu64 " %" PRIu64 "\n", line->values[SIDE_A],
			line->values[SIDE_B]);
	}
	free(lines.lines);
}
