/* SPDX-License-Identifier: MIT */
/* Converts the text of perf script (--input=perf-script): its branches go straight to the stacks.
 */
#ifndef SRC_PIPELINE_CONVERT_PERF_SCRIPT_H
#define SRC_PIPELINE_CONVERT_PERF_SCRIPT_H

#include "base/diag.h"
#include "base/error.h"
#include "base/tables/name.h"
#include "src/options/options.h"
#include "src/report/report.h"

/*
 * Convert options->input ("-": standard input).  Counts go to `report`, warnings to `diag`.
 * Returns 0; -1 with err filled, and no output is left.
 */
int convert_perf_script(const struct options *options, struct name_table *names,
			struct report *report, struct diag *diag, struct error *err);

#endif
