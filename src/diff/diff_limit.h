/* SPDX-License-Identifier: MIT */
/* The conditions of --fail-if: how much may grow from recording A to recording B. */
#ifndef SRC_DIFF_DIFF_LIMIT_H
#define SRC_DIFF_DIFF_LIMIT_H

#include <stdbool.h>
#include <stdio.h>

#include "src/diff/diff_rows.h"

/*
 * Check all conditions, METRIC[@GLOB]:+N[%]; METRIC is insns, calls or time.  Without GLOB the sum
 * of all functions is meant, with one each matching function with its callees.
 * Prints a line to `out` for each that is exceeded, and for a pattern that matches nothing.
 * `exceeded` gets an object for each (owned by the array): condition, function, a, b.
 * Returns whether one is exceeded.
 */
bool diff_limits_check(const struct pattern_list *conditions, const struct diff_rows *rows,
		       json_t *exceeded, bool *unmatched, FILE *out);

/* Returns whether a text is a condition. */
bool diff_limit_is_valid(const char *text);

#endif
