/* SPDX-License-Identifier: MIT */
/* Converts a perf.data file: connects the stages of doc/ARCHITECTURE.md. */
#ifndef SRC_PIPELINE_CONVERT_PERF_DATA_H
#define SRC_PIPELINE_CONVERT_PERF_DATA_H

#include "base/diag.h"
#include "base/error.h"
#include "base/tables/name.h"
#include "src/options/options.h"
#include "src/report/report.h"

/*
 * Convert options->input.  Gaps and warnings go to `report` and `diag`.
 * Returns 0; -1 with err filled, and no output is left.
 */
int convert_perf_data(const struct options *options, struct name_table *names,
		      struct report *report, struct diag *diag, struct error *err);

#endif
