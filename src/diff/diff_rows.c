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

/* Callers and callees by which a function is known without its code. */
#define KNOWN_BY 2

/* Rounds of pairs, at most: each may need those before. */
#define ROUNDS_MOST 64

struct pair_key {
	uint64_t code;             /* hash; 0: unknown */
	uint64_t callers, callees; /* sums of hashes */
	unsigned known;            /* callers and callees with a row of both sides */
	size_t row;                /* index; if it was merged, of the row of B */
};

struct pairing {
	struct diff_rows *rows; /* borrowed; by name */
	struct pair_key *keys;  /* owned; by row */
	struct pair_key *alone; /* owned: copies of those to pair */
	struct pair_edge {
		size_t caller, callee; /* rows */
	} * edges;                     /* owned */
	size_t edge_count, edge_room;
};

static bool is_alone(const struct diff_row *row)
{
	return row->name && row->has[SIDE_A] != row->has[SIDE_B] && !row->outside;
}

/* Returns the index of the first row of a name. */
static size_t row_of_name(const struct diff_rows *rows, const char *name)
{
	size_t first = 0, end = rows->count, middle;

	while (first < end) {
		middle = (first + end) / 2;
		if (strcmp(rows->rows[middle].name, name) < 0)
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

/* Take the code and callees of the functions of a report. */
static void add_keys(struct pairing *pairing, const json_t *report)
{
	const json_t *all = json_object_get(json_object_get(report, "functions"), "all");
	const json_t *function, *callee;
	size_t i, j;

	json_array_foreach(all, i, function)
	{
		size_t row = row_of_name(pairing->rows, json_value_text(function, "name"));

		pairing->keys[row].code = (uint64_t)json_value_number(function, "code");
		json_array_foreach(json_object_get(function, "callees"), j, callee) *
			ARRAY_ADD(pairing->edges, pairing->edge_count, pairing->edge_room) =
			(struct pair_edge){ row,
					    row_of_name(pairing->rows, json_string_value(callee)) };
	}
}

/* Returns the hash of a caller or callee; all that are alone have the same one. */
static uint64_t neighbour_hash(const struct pairing *pairing, size_t row, struct pair_key *of)
{
	bool known = !is_alone(&pairing->rows->rows[row]);
	uint64_t hash = fibonacci_hash(known ? row + 2 : 1, 64);

	of->known += known;
	hash ^= hash >> 32;
	return hash * hash; /* sums of it differ, unlike those of hashes that are proportional */
}

static void sum_neighbours(struct pairing *pairing)
{
	for (size_t i = 0; i < pairing->rows->count; i++)
		pairing->keys[i].callers = pairing->keys[i].callees = pairing->keys[i].known = 0;
	for (size_t i = 0; i < pairing->edge_count; i++) {
		size_t from = pairing->keys[pairing->edges[i].caller].row;
		size_t to = pairing->keys[pairing->edges[i].callee].row;
		struct pair_key *caller = &pairing->keys[from], *callee = &pairing->keys[to];

		if (pairing->rows->rows[from].outside || pairing->rows->rows[to].outside)
			continue; /* an interrupt can hit any function */
		caller->callees += neighbour_hash(pairing, to, caller);
		callee->callers += neighbour_hash(pairing, from, callee);
	}
}

static int compare_keys(const void *left, const void *right)
{
	const struct pair_key *a = left, *b = right;

	return COMPARE(a->code, b->code) ?: COMPARE(a->callees, b->callees);
}

/* Merge two rows of one side each.  Returns whether they are. */
static bool merge_pair(struct pairing *pairing, size_t a, size_t b, bool by_code)
{
	struct diff_row *rows = pairing->rows->rows;

	if (rows[a].has[SIDE_B])
		return rows[b].has[SIDE_A] && merge_pair(pairing, b, a, by_code);
	if (rows[b].has[SIDE_A])
		return false;
	merge(&rows[b], &rows[a]);
	rows[b].was = rows[a].name;
	rows[b].by_code = by_code;
	rows[a].name = NULL;
	pairing->keys[a].row = b;
	return true;
}

/* Pair rows by their code, or by their callers.  Returns whether there were any. */
static bool pair_rows(struct pairing *pairing, bool by_code)
{
	struct pair_key *alone = pairing->alone;
	size_t count = 0;
	bool found = false;

	sum_neighbours(pairing);
	for (size_t i = 0; i < pairing->rows->count; i++) {
		const struct pair_key *key = &pairing->keys[i];

		if (!is_alone(&pairing->rows->rows[i]) ||
		    (by_code ? !key->code : key->known < KNOWN_BY))
			continue;
		alone[count] = *key;
		alone[count++].code = by_code ? key->code : key->callers;
	}
	if (count)
		qsort(alone, count, sizeof(*alone), compare_keys);
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && compare_keys(&alone[i], &alone[end]) == 0;)
			end++;
		if (end - i == 2)
			found |= merge_pair(pairing, alone[i].row, alone[i + 1].row, by_code);
	}
	return found;
}

void diff_rows_pair(struct diff_rows *rows, const json_t *const reports[SIDES])
{
	struct pairing pairing = { .rows = rows };

	pairing.keys = alloc_zeroed(rows->count + 1, sizeof(*pairing.keys));
	pairing.alone = alloc_zeroed(rows->count + 1, sizeof(*pairing.alone));
	for (size_t i = 0; i < rows->count; i++)
		pairing.keys[i].row = i;
	for (int side = 0; side < SIDES; side++)
		add_keys(&pairing, reports[side]);
	for (int i = 0; i < ROUNDS_MOST; i++)
		if (!pair_rows(&pairing, true) && !pair_rows(&pairing, false))
			break;
	drop_merged(rows);
	free(pairing.keys);
	free(pairing.alone);
	free(pairing.edges);
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
