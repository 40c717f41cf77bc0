/* SPDX-License-Identifier: MIT */
/*
 * The functions with most self time, and the slowest call of each: a table of the summary.  Where
 * times are unknown, those with most instructions.
 */
#ifndef SRC_REPORT_TOP_FUNCTIONS_H
#define SRC_REPORT_TOP_FUNCTIONS_H

#include "src/slices/slice_totals.h"

/*
 * Returns lines of text, printable on a terminal, owned by the caller; NULL if no function took
 * time.  The slowest call's begin is in seconds of perf's clock, as --time takes it.  The shares
 * are those of --format=functions: of the self time of all slices, also of those that are no
 * functions.
 */
char *top_functions_make(const struct slice_totals *totals);

#endif
