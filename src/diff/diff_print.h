/* SPDX-License-Identifier: MIT */
/* The difference of two recordings as text and as JSON. */
#ifndef SRC_DIFF_DIFF_PRINT_H
#define SRC_DIFF_DIFF_PRINT_H

#include "src/diff/diff_rows.h"

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
