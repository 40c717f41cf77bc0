/* SPDX-License-Identifier: MIT */
/* The whole conversion: from a perf.data file to the output, as the options say. */
#ifndef SRC_PIPELINE_CONVERT_H
#define SRC_PIPELINE_CONVERT_H

#include "base/diag.h"
#include "base/error.h"
#include "src/options/options.h"
#include "src/report/report.h"

/*
 * Convert the input.  Warnings go to `diag`, what was done to `report` (initialised
 * with the options); the summary to standard error.
 * Returns EXIT_WHOLE or EXIT_WITH_GAPS; EXIT_FAILED with err filled, and no
 * output left behind.
 */
enum exit_status convert(const struct options *options, struct report *report, struct diag *diag,
			 struct error *err);

#endif
