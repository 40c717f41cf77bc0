/* SPDX-License-Identifier: MIT */
/* Match the functions of two reports, and sort them. */
#include "src/diff/diff.h"

#include "src/formats/text/any_text.h"
#include "src/select/function_labels.h"

const char *diff_metric_keys[METRICS] = {
	[METRIC_CALLS] = "calls",
	[METRIC_SELF] = "self_ns",
	[METRIC_INSNS] = "self_insns",
	[METRIC_TOTAL] = "total_ns",
	[METRIC_TOTAL_INSNS] = "total_insns",
};

static void add_function(struct diff_rows *rows, enum diff_side side, const json_t *function,
			 size_t number)
{
	const char *path = json_value_text(function, "file");
	struct diff_row *row = ARRAY_ADD(rows->rows, rows->count, rows->room);

	*row = (struct diff_row){
		.name = json_value_text(function, "name"),
		.file = base_name(path),
		.identity = json_value_text(function, "identity"),
		.linkage = json_value_text(function, "linkage"),
		.signature = json_value_text(function, "signature"),
		.source = json_value_text(function, "source"),
		.start = json_value_count(function, "start"),
		.outside = json_is_false(json_object_get(function, "function")),
		.code = json_value_count(function, "code"),
	};
	row->label = row->name;
	row->has[side] = true;
	row->number[side] = number;
	for (int metric = 0; metric < METRICS; metric++)
		row->values[side][metric] = json_value_count(function, diff_metric_keys[metric]);
}

static void merge(struct diff_row *into, const struct diff_row *row)
{
	for (int side = 0; side < SIDES; side++) {
		into->has[side] |= row->has[side];
		into->number[side] |= row->number[side];
		for (int metric = 0; metric < METRICS; metric++)
			into->values[side][metric] += row->values[side][metric];
	}
}

COMPARE_WITH(compare_names, struct diff_row,
	     strcmp(a->name, b->name) ?: strcmp(a->file, b->file) ?:
	     strcmp(a->identity, b->identity))

/* Drop the rows that were merged: they have no name. */
static void drop_merged(struct diff_rows *rows)
{
	size_t kept = 0;

	for (size_t i = 0; i < rows->count; i++)
		if (rows->rows[i].name)
			rows->rows[kept++] = rows->rows[i];
	rows->count = kept;
}

/* ---- Pairs of rows ------------------------------------------------------- */

struct pair_key {
	uint64_t first, second;
	size_t row; /* index */
};

static bool is_alone(const struct diff_row *row)
{
	return row->name && row->has[SIDE_A] != row->has[SIDE_B] && !row->outside;
}

/* Returns the index of the first row of a name. */
static size_t row_of_name(const struct diff_rows *rows, const char *name)
{
	return LOWER_BOUND(i, rows->count, strcmp(rows->rows[i].name, name) < 0);
}

COMPARE_BY_THREE(compare_keys, struct pair_key, first, second, row)

/*
 * Merge two rows of one side each if their keys are equal, and no other key is.  `was_by` as in the
 * row.  Stores the row of B in `into`, by row, if that is not NULL. Returns whether there were any.
 */
static bool merge_pairs(struct diff_rows *rows, struct pair_key *keys, size_t count,
			const char *was_by, size_t *into)
{
	bool found = false;

	SORT(keys, count, compare_keys);
	for (size_t i = 0, end; i < count; i = end) {
		struct diff_row *a = &rows->rows[keys[i].row], *b;

		for (end = i + 1; end < count && keys[end].first == keys[i].first &&
				  keys[end].second == keys[i].second;)
			end++;
		if (end - i != 2)
			continue;
		b = &rows->rows[keys[i + 1].row];
		if (a->has[SIDE_A] == b->has[SIDE_A])
			continue;
		if (b->has[SIDE_A]) {
			b = a;
			a = &rows->rows[keys[i + 1].row];
		}
		merge(b, a);
		b->was = was_by ? a->label : NULL;
		b->was_by = was_by;
		a->name = NULL;
		if (into)
			into[a - rows->rows] = (size_t)(b - rows->rows);
		found = true;
	}
	return found;
}

/* Merge functions of files with two names: of one linkage name and source, or the only ones. */
static void merge_renamed(struct diff_rows *rows, bool by_linkage)
{
	struct pair_key *keys = alloc_zeroed(rows->count + 1, sizeof(*keys));
	size_t count = 0;

	for (size_t i = 0; i < rows->count; i++) {
		const struct diff_row *row = &rows->rows[i];
		uint64_t facts = hash_bytes(row->identity, strlen(row->identity));

		if (is_alone(row))
			keys[count++] = (struct pair_key){ row_of_name(rows, row->name),
							   by_linkage ? facts : 0, i };
	}
	merge_pairs(rows, keys, count, NULL, NULL);
	drop_merged(rows);
	free(keys);
}

/* Returns the facts of a row, whose texts belong to the rows. */
static struct function_facts facts_of(struct diff_rows *rows, const struct diff_row *row)
{
	const char *source = row->source;
	char *linkage = *row->linkage ? (char *)row->linkage : NULL;
	char *place = alloc_text("%s+0x%" PRIx64, row->file, row->start);
	const struct name *kept = name_intern_text(&rows->labels, place);

	free(place);
	return (struct function_facts){
		.name = row->name,
		.texts = { [FACT_SIGNATURE] = *row->signature ? (char *)row->signature : NULL,
			   [FACT_SOURCE] = *source ? (char *)base_name(source) : NULL,
			   [FACT_LIBRARY] = *row->file ? (char *)row->file : NULL,
			   [FACT_LINKAGE] = linkage,
			   [FACT_BARE] = linkage,
			   [FACT_SOURCE_PATH] = *source ? (char *)source : NULL,
			   [FACT_PLACE] = (char *)kept->text },
	};
}

void diff_rows_make(struct diff_rows *rows, const json_t *const reports[SIDES])
{
	struct function_facts *facts;

	*rows = (struct diff_rows){ 0 };
	name_table_init(&rows->labels);
	for (int side = 0; side < SIDES; side++) {
		const json_t *functions = json_object_get(reports[side], "functions");
		const json_t *all = json_object_get(functions, "all");

		for (size_t i = 0; i < json_array_size(all); i++)
			add_function(rows, (enum diff_side)side, json_array_get(all, i), i);
	}
	/* Merge rows of the same function. */
	SORT(rows->rows, rows->count, compare_names);
	for (size_t i = rows->count; i-- > 1;) {
		if (compare_names(&rows->rows[i - 1], &rows->rows[i]) != 0)
			continue;
		merge(&rows->rows[i - 1], &rows->rows[i]);
		rows->rows[i].name = NULL;
	}
	drop_merged(rows);
	merge_renamed(rows, true);
	merge_renamed(rows, false);
	facts = alloc_zeroed(rows->count + 1, sizeof(*facts));
	for (size_t i = 0, end; i < rows->count; i = end) {
		for (end = i;
		     end < rows->count && !strcmp(rows->rows[i].name, rows->rows[end].name); end++)
			facts[end - i] = facts_of(rows, &rows->rows[end]);
		function_facts_distinguish(facts, end - i);
		for (size_t j = i; j < end; j++) {
			char *label = function_facts_label(&facts[j - i]);

			rows->rows[j].label = name_intern_text(&rows->labels, label)->text;
			free(label);
		}
	}
	free(facts);
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

struct pairing {
	struct diff_rows *rows; /* borrowed; by name */
	struct neighbours {
		uint64_t callers, callees; /* sums of hashes */
		unsigned known;            /* those with a row of both sides */
	} * neighbours;                    /* owned; by row */
	size_t *into;          /* owned; by row: itself, or the row that it was merged into */
	struct pair_key *keys; /* owned */
	struct pair_edge {
		size_t caller, callee; /* rows */
	} * edges;                     /* owned */
	size_t edge_count, edge_room;
};

static void add_edges(struct pairing *pairing, const json_t *report, enum diff_side side)
{
	const json_t *all = json_object_get(json_object_get(report, "functions"), "all");
	size_t *row_of = alloc_zeroed(json_array_size(all) + 1, sizeof(*row_of));

	for (size_t i = 0; i < pairing->rows->count; i++)
		if (pairing->rows->rows[i].has[side])
			row_of[pairing->rows->rows[i].number[side]] = i;
	for (size_t i = 0; i < json_array_size(all); i++) {
		const json_t *callees = json_object_get(json_array_get(all, i), "callees");
		size_t row = row_of[i];

		for (size_t j = 0; j < json_array_size(callees); j++) {
			json_int_t number = json_integer_value(json_array_get(callees, j));
			size_t callee = row_of[number];

			/* An interrupt can hit any function. */
			if (!pairing->rows->rows[row].outside &&
			    !pairing->rows->rows[callee].outside)
				*ARRAY_ADD(pairing->edges, pairing->edge_count,
					   pairing->edge_room) = (struct pair_edge){ row, callee };
		}
	}
	free(row_of);
}

/* Returns the hash of a caller or callee; all that are alone have the same one. */
static uint64_t neighbour_hash(const struct pairing *pairing, size_t row, struct neighbours *of)
{
	bool known = !is_alone(&pairing->rows->rows[row]);
	uint64_t hash = fibonacci_hash(known ? row + 2 : 1, 64);

	of->known += known;
	hash ^= hash >> 32;
	return hash * hash; /* sums of it differ, unlike those of hashes that are proportional */
}

/* Pair rows by their code, or by their callers.  Returns whether there were any. */
static bool pair_rows(struct pairing *pairing, bool by_code)
{
	struct neighbours *neighbours = pairing->neighbours;
	const struct diff_row *rows = pairing->rows->rows;
	size_t count = 0;

	memset(neighbours, 0, pairing->rows->count * sizeof(*neighbours));
	for (size_t i = 0; i < pairing->edge_count; i++) {
		size_t from = pairing->into[pairing->edges[i].caller];
		size_t to = pairing->into[pairing->edges[i].callee];

		neighbours[from].callees += neighbour_hash(pairing, to, &neighbours[from]);
		neighbours[to].callers += neighbour_hash(pairing, from, &neighbours[to]);
	}
	for (size_t i = 0; i < pairing->rows->count; i++)
		if (is_alone(&rows[i]) &&
		    (by_code ? rows[i].code : neighbours[i].known >= KNOWN_BY))
			pairing->keys[count++] =
				(struct pair_key){ by_code ? rows[i].code : neighbours[i].callers,
						   neighbours[i].callees, i };
	return merge_pairs(pairing->rows, pairing->keys, count,
			   by_code ? "code" : "callers and callees", pairing->into);
}

void diff_rows_pair(struct diff_rows *rows, const json_t *const reports[SIDES])
{
	struct pairing pairing = { .rows = rows };

	pairing.neighbours = alloc_zeroed(rows->count + 1, sizeof(*pairing.neighbours));
	pairing.into = alloc_zeroed(rows->count + 1, sizeof(*pairing.into));
	pairing.keys = alloc_zeroed(rows->count + 1, sizeof(*pairing.keys));
	for (size_t i = 0; i < rows->count; i++)
		pairing.into[i] = i;
	for (int side = 0; side < SIDES; side++)
		add_edges(&pairing, reports[side], (enum diff_side)side);
	for (int i = 0; i < ROUNDS_MOST; i++)
		if (!pair_rows(&pairing, true) && !pair_rows(&pairing, false))
			break;
	drop_merged(rows);
	free(pairing.neighbours);
	free(pairing.into);
	free(pairing.keys);
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

	if (order == ORDER_NAME)
		SORT(rows->rows, rows->count, compare_names);
	else
		SORT_WITHIN(rows->rows, rows->count, compare_differences, &first);
}

bool diff_row_is_equal(const struct diff_row *row, enum diff_metric insns)
{
	const uint64_t *a = row->values[SIDE_A], *b = row->values[SIDE_B];

	return a[insns] == b[insns] && a[METRIC_CALLS] == b[METRIC_CALLS];
}

void diff_rows_release(struct diff_rows *rows)
{
	free(rows->rows);
	name_table_release(&rows->labels);
	*rows = (struct diff_rows){ 0 };
}
