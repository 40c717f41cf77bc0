/* SPDX-License-Identifier: MIT */
/*
 * The functions of two recordings, side by side.
 *
 * Functions of one name and one file (the last part of its path: builds lie in different places)
 * are one row.  What is left of a name in one file of each side is one row, too: the program may
 * have another name.
 */
#ifndef SRC_DIFF_DIFF_ROWS_H
#define SRC_DIFF_DIFF_ROWS_H

#include <jansson.h>

#include "src/options/selection.h"

enum diff_side { SIDE_A = 0, SIDE_B, SIDES };

/* What is compared; times are ns, total: with callees, of a recursion the outermost call's. */
enum diff_metric {
	METRIC_INSNS = 0,
	METRIC_TOTAL_INSNS,
	METRIC_CALLS,
	METRIC_SELF,
	METRIC_TOTAL,
	METRICS
};

struct diff_row {
	const char *name; /* borrowed from the reports */
	const char *file; /* the last part of its path; "": none */
	bool has[SIDES];  /* it ran there */
	bool outside; /* no function, but [syscall] or [untraced]: how many depends on the machine
		       */
	uint64_t values[SIDES][METRICS];
};

struct diff_rows {
	struct diff_row *rows; /* owned */
	size_t count, room;
	uint64_t sums[SIDES][METRICS]; /* calls: without those outside; METRIC_TOTAL*: of no use */
};

/*
 * Make the rows of the reports (report.h, with options->all_functions), which are borrowed until
 * release.
 */
void diff_rows_make(struct diff_rows *rows, const json_t *const reports[SIDES]);

/* Sort by the size of the difference: of own instructions, of instructions with callees, of calls;
 * or by name. */
void diff_rows_sort(struct diff_rows *rows, enum function_order order);

/* Returns whether calls and instructions (METRIC_INSNS, METRIC_TOTAL_INSNS) do not differ. */
bool diff_row_is_equal(const struct diff_row *row, enum diff_metric insns);

/* Idempotent, also on zeroed memory. */
void diff_rows_release(struct diff_rows *rows);

/* ---- The conditions of --fail-if ------------------------------------------- */

/*
 * Check all conditions, METRIC[@GLOB]:+N[%]; METRIC is insns, self, calls or time.  Without GLOB
 * the sum of all functions is meant, with one each matching function, with its callees but for
 * self.  A function that is gone from B, and a pattern that matches nothing, exceed theirs, too.
 * Prints a line to `out` for each that is exceeded; `exceeded` gets an object for each (owned by
 * the array): condition, function, a, b.
 * Returns whether one is exceeded.
 */
bool diff_limits_check(const struct pattern_list *conditions, const struct diff_rows *rows,
		       json_t *exceeded, FILE *out);

/* Returns whether a text is a condition. */
bool diff_limit_is_valid(const char *text);

/* ---- As text and JSON ----------------------------------------------------- */

/*
 * Print the sums, and the rows that differ, in their order, with own instructions, or with those of
 * callees (METRIC_TOTAL_INSNS); the first `top` of them only, unless that is 0.
 */
void diff_print_table(const struct diff_rows *rows, enum diff_metric insns, size_t top,
		      char *const names[SIDES], FILE *out);

/* Returns the same as an object (doc/diff.schema.json), owned by the caller; it takes `exceeded`.
 */
json_t *diff_print_json(const struct diff_rows *rows, char *const names[SIDES],
			const json_t *const reports[SIDES], json_t *exceeded);

/*
 * Print stacks with the numbers of both sides, as difffolded.pl does: "stack A B", sorted.  The
 * texts, of --format=folded, are borrowed.
 */
void diff_print_folded(const char *const texts[SIDES], const size_t sizes[SIDES], FILE *out);

#endif
