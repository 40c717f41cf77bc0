/* SPDX-License-Identifier: MIT */
/* The whole conversion: from a perf.data file to the output, as the options say. */
#ifndef SRC_CONVERT_H
#define SRC_CONVERT_H

#include "base/diag.h"
#include "base/error.h"
#include "options.h"
#include "summary.h"

/*
 * Convert the input.  Warnings go to `diag`; the summary to standard error, its
 * numbers to `summary`.
 * Returns EXIT_WHOLE or EXIT_WITH_GAPS; EXIT_FAILED with err filled, and no
 * output left behind.
 */
enum exit_status convert(const struct options *options, struct summary *summary, struct diag *diag,
			 struct error *err);

#endif
