/* SPDX-License-Identifier: MIT */
/* The whole conversion: from a perf.data file to the output, as the options say. */
#ifndef SRC_PIPELINE_CONVERT_H
#define SRC_PIPELINE_CONVERT_H

#include "base/diag.h"
#include "base/tables/name.h"
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

/*
 * The conversions of each kind of input and answer.  `names` lasts as long as the run; counts, gaps
 * and answers go to `report`, warnings to `diag`.  They return 0; -1 with err filled, and no output
 * is left.
 */

/* Convert a perf.data file: connect the stages of doc/ARCHITECTURE.md. */
int convert_perf_data(const struct options *options, struct name_table *names,
		      struct report *report, struct diag *diag, struct error *err);

/* Convert the text of perf script (--input=perf-script; "-": standard input). */
int convert_perf_script(const struct options *options, struct name_table *names,
			struct report *report, struct diag *diag, struct error *err);

/*
 * Print the hits of the recording, if there is one, then the events of the overlays
 * (--format=events).  No trace is decoded.
 */
int convert_events(const struct options *options, struct name_table *names, struct report *report,
		   struct diag *diag, struct error *err);

/*
 * Print what a recording holds, from its sideband (`ptrace2ftf list`): threads, buffers, losses,
 * files.  No trace is decoded, and but for --time the bytes of the trace are not read.
 */
int list_recording(const struct options *options, struct name_table *names, struct report *report,
		   struct diag *diag, struct error *err);

#endif
