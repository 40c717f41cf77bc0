/* SPDX-License-Identifier: MIT */
/* The whole conversion from a perf.data file to the output. */
#ifndef SRC_PIPELINE_CONVERT_H
#define SRC_PIPELINE_CONVERT_H

#include "src/report/report.h"

/*
 * Convert the input. Warnings go to `diag`, results to `report` (initialized with the options), the
 * summary to standard error. Returns EXIT_WHOLE or EXIT_WITH_GAPS; EXIT_FAILED with err filled and
 * the output removed.
 */
enum exit_status convert(const struct options *options, struct report *report, struct diag *diag,
			 struct error *err);

/*
 * The conversions for each kind of input and answer. `names` lasts as long as the run; counts, gaps
 * and answers go to `report`, warnings to `diag`. They return 0; -1 with err filled and the output
 * removed.
 */

/* Convert a perf.data file: connect the stages of doc/ARCHITECTURE.md. */
int convert_perf_data(const struct options *options, struct name_table *names,
		      struct report *report, struct diag *diag, struct error *err);

/* Convert the text of perf script (--input=perf-script; "-": standard input). */
int convert_perf_script(const struct options *options, struct name_table *names,
			struct report *report, struct diag *diag, struct error *err);

/* Print the hits of a recording, if there is one, and the overlays' events (--format=events). */
int convert_events(struct name_table *names, struct report *report, struct diag *diag, FILE *text,
		   struct error *err);

/*
 * Print the contents of a recording by its sideband (`ptrace2ftf list`): threads, buffers, losses,
 * files. Decodes no trace, and reads no bytes of trace except for --time.
 */
int list_recording(struct name_table *names, struct report *report, struct diag *diag, FILE *text,
		   struct error *err);

struct perf_recording;
struct pt_stream_input;

/*
 * Give a format the branches of the times that it asks for (struct output_format), if the trace has
 * times.  `input` is that of each stream, but for `aux` and `diag`.
 */
void second_look(struct perf_recording *recording, const struct pt_stream_input *input,
		 const struct output_format *format, struct format_output *end);

/* Returns whether the inputs are provably parts of one recording (perf_file.h), by a process. */
bool input_parts_are_one(const struct options *options);

#endif
