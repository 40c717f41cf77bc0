/* SPDX-License-Identifier: MIT */
/* The whole conversion from a perf.data file to the output. */
#pragma once

#include "src/report/report.h"

/*
 * Convert the input. Warnings go to `diag`, results to `report` (initialized with the options), the
 * summary to standard error. Returns EXIT_WHOLE or EXIT_WITH_GAPS; EXIT_FAILED with err filled and
 * the output removed.
 */
enum exit_status convert(const struct options *options, struct report *report, struct diag *diag,
			 struct error *err);

/*
 * The conversions by kind of input and answer. `names` lives as long as the run; counts, gaps and
 * answers go to `report`, warnings to `diag`. Each returns 0; -1 with err filled and the output
 * removed.
 */

/* Convert a perf.data file: connect the stages of doc/ARCHITECTURE.md. */
int convert_perf_data(const struct options *options, struct name_table *names,
		      struct report *report, struct diag *diag, struct error *err);

/* Convert the text of perf script (--input=perf-script; "-": standard input). */
int convert_perf_script(const struct options *options, struct name_table *names,
			struct report *report, struct diag *diag, struct error *err);

/* Print the hits of the recording, if any, and the overlays' events (--format=events). */
int convert_events(struct name_table *names, struct report *report, struct diag *diag, FILE *text,
		   struct error *err);

/*
 * Print a recording's threads, buffers, losses and files from the sideband (`ptrace2ftf list`).
 * Decodes no trace, and reads trace only for --time.
 */
int list_recording(struct name_table *names, struct report *report, struct diag *diag, FILE *text,
		   struct error *err);

struct perf_recording;
struct pt_stream_input;

/*
 * Pass the branches of the times that a format requests (struct output_format), if the trace has
 * times. `input` is used for each stream, with another `aux` and `diag`.
 */
void second_look(struct perf_recording *recording, const struct pt_stream_input *input,
		 const struct output_format *format, struct format_output *end);

/* Returns whether the inputs are provably parts of one recording (perf_file.h). Runs a process. */
bool input_parts_are_one(const struct options *options);
