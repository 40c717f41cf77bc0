/* SPDX-License-Identifier: MIT */
/* Match the functions of two reports, and sort them. */
#include "src/diff/diff.h"

#include "src/formats/text/any_text.h"

const char *const diff_metric_keys[METRICS] = {
	[METRIC_CALLS] = "calls",
	[METRIC_SELF] = "self_ns",
	[METRIC_INSNS] = "self_insns",
	[METRIC_TOTAL] = "total_ns",
	[METRIC_TOTAL_INSNS] = "total_insns",
};

static void add_function(struct diff_rows *rows, enum diff_side side, const json_t *function)
{
	const char *path = json_value_text(function, "file");
	struct diff_row *row = ARRAY_ADD(rows->rows, rows->count, rows->room);

	*row = (struct diff_row){
		.name = json_value_text(function, "name"),
		.file = base_name(path),
		.outside = json_is_false(json_object_get(function, "function")),
	};
	row->has[side] = true;
	for (int metric = 0; metric < METRICS; metric++)
		row->values[side][metric] =
			(uint64_t)json_value_number(function, diff_metric_keys[metric]);
}

static void merge(struct diff_row *into, const struct diff_row *row)
{
	for (int side = 0; side < SIDES; side++) {
		into->has[side] |= row->has[side];
		for (int metric = 0; metric < METRICS; metric++)
			into->values[side][metric] += row->values[side][metric];
	}
}

static int compare_names(const void *left, const void *right)
{
	const struct diff_row *a = left, *b = right;

	return strcmp(a->name, b->name) ?: strcmp(a->file, b->file);
}

/* Merge rows of the same name and file. */
static void merge_same(struct diff_rows *rows)
{
	size_t kept = 0;

	for (size_t i = 0; i < rows->count; i++) {
		if (kept && compare_names(&rows->rows[kept - 1], &rows->rows[i]) == 0)
			merge(&rows->rows[kept - 1], &rows->rows[i]);
		else
			rows->rows[kept++] = rows->rows[i];
	}
	rows->count = kept;
}

/* Merge two rows of a name if they are the only ones in a single side, one of each side. */
static void merge_alone(struct diff_row *rows, size_t count)
{
	struct diff_row *alone[SIDES] = { NULL };
	size_t found[SIDES] = { 0 };

	for (size_t i = 0; i < count; i++) {
		if (rows[i].has[SIDE_A] && rows[i].has[SIDE_B])
			continue;
		alone[rows[i].has[SIDE_B]] = &rows[i];
		found[rows[i].has[SIDE_B]]++;
	}
	if (found[SIDE_A] != 1 || found[SIDE_B] != 1)
		return;
	merge(alone[SIDE_B], alone[SIDE_A]);
	alone[SIDE_A]->name = NULL;
}

/* Drop the rows that were merged: they have no name. */
static void drop_merged(struct diff_rows *rows)
{
	size_t kept = 0;

	for (size_t i = 0; i < rows->count; i++)
		if (rows->rows[i].name)
			rows->rows[kept++] = rows->rows[i];
	rows->count = kept;
}

static void merge_renamed_files(struct diff_rows *rows)
{
	for (size_t i = 0, end; i < rows->count; i = end) {
		for (end = i + 1; end < rows->count; end++)
			if (strcmp(rows->rows[i].name, rows->rows[end].name) != 0)
				break;
		merge_alone(&rows->rows[i], end - i);
	}
	drop_merged(rows);
}

void diff_rows_make(struct diff_rows *rows, const json_t *const reports[SIDES])
{
	*rows = (struct diff_rows){ 0 };
	for (int side = 0; side < SIDES; side++) {
		const json_t *functions = json_object_get(reports[side], "functions");
		const json_t *all = json_object_get(functions, "all");

		for (size_t i = 0; i < json_array_size(all); i++)
			add_function(rows, (enum diff_side)side, json_array_get(all, i));
	}
	if (rows->count)
		qsort(rows->rows, rows->count, sizeof(*rows->rows), compare_names);
	merge_same(rows);
	merge_renamed_files(rows);
	for (const struct diff_row *row = rows->rows; row < rows->rows + rows->count; row++)
		for (int side = 0; side < SIDES; side++)
			for (int metric = 0; metric < METRICS; metric++)
				if (metric != METRIC_CALLS || !row->outside)
					rows->sums[side][metric] += row->values[side][metric];
}

/* ---- Renamed functions --------------------------------------------------- */

/* Instructions by which a function is known. */
#define KNOWN_BY 16

static bool is_alone(const struct diff_row *row)
{
	enum diff_side side = row->has[SIDE_B] ? SIDE_B : SIDE_A;

	return row->has[SIDE_A] != row->has[SIDE_B] && !row->outside &&
	       row->values[side][METRIC_INSNS] >= KNOWN_BY;
}

/* By own instructions and calls, of either side. */
static int compare_code(const void *left, const void *right)
{
	const struct diff_row *a = *(struct diff_row *const *)left;
	const struct diff_row *b = *(struct diff_row *const *)right;
	const uint64_t *of_a = a->values[a->has[SIDE_B]], *of_b = b->values[b->has[SIDE_B]];

	return COMPARE(of_a[METRIC_INSNS], of_b[METRIC_INSNS])
		       ?: COMPARE(of_a[METRIC_CALLS], of_b[METRIC_CALLS]);
}

void diff_rows_pair(struct diff_rows *rows)
{
	struct diff_row **alone = alloc_zeroed(rows->count + 1, sizeof(*alone)), *a, *b;
	size_t count = 0;

	for (size_t i = 0; i < rows->count; i++)
		if (is_alone(&rows->rows[i]))
			alone[count++] = &rows->rows[i];
	if (count)
		qsort(alone, count, sizeof(*alone), compare_code);
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && compare_code(&alone[i], &alone[end]) == 0;)
			end++;
		if (end - i != 2 || alone[i]->has[SIDE_A] == alone[i + 1]->has[SIDE_A])
			continue;
		a = alone[alone[i]->has[SIDE_A] ? i : i + 1];
		b = alone[alone[i]->has[SIDE_A] ? i + 1 : i];
		merge(b, a);
		b->was = a->name;
		a->name = NULL;
	}
	drop_merged(rows);
	free(alone);
}

/* ---- Order --------------------------------------------------------------- */

uint64_t diff_row_change(const struct diff_row *row, enum diff_metric metric)
{
	uint64_t a = row->values[SIDE_A][metric], b = row->values[SIDE_B][metric];

	return a > b ? a - b : b - a;
}

/* Larger differences first; if equal, compare own instructions, calls and own time, then names. */
static int compare_differences(const void *left, const void *right, void *first)
{
	const enum diff_metric metrics[] = { *(enum diff_metric *)first, METRIC_INSNS, METRIC_CALLS,
					     METRIC_SELF };

	for (size_t i = 0; i < COUNT_OF(metrics); i++) {
		uint64_t a = diff_row_change(left, metrics[i]);
		uint64_t b = diff_row_change(right, metrics[i]);

		if (a != b)
			return a > b ? -1 : 1;
	}
	return compare_names(left, right);
}

void diff_rows_sort(struct diff_rows *rows, enum function_order order)
{
	enum diff_metric first = order == ORDER_TOTAL   ? METRIC_TOTAL_INSNS
				 : order == ORDER_CALLS ? METRIC_CALLS
							: METRIC_INSNS;

	if (rows->count && order == ORDER_NAME)
		qsort(rows->rows, rows->count, sizeof(*rows->rows), compare_names);
	else if (rows->count)
		qsort_r(rows->rows, rows->count, sizeof(*rows->rows), compare_differences, &first);
}

bool diff_row_is_equal(const struct diff_row *row, enum diff_metric insns)
{
	const uint64_t *a = row->values[SIDE_A], *b = row->values[SIDE_B];

	return a[insns] == b[insns] && a[METRIC_CALLS] == b[METRIC_CALLS];
}

void diff_rows_release(struct diff_rows *rows)
{
	free(rows->rows);
	*rows = (struct diff_rows){ 0 };
}
