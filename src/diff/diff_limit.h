/* SPDX-License-Identifier: MIT */
/* The conditions of --fail-if: how much may grow from recording A to recording B. */
#ifndef SRC_DIFF_DIFF_LIMIT_H
#define SRC_DIFF_DIFF_LIMIT_H

#include "src/diff/diff_rows.h"

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

#endif
