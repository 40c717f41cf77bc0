/* SPDX-License-Identifier: MIT */
#include "src/pipeline/convert.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/io/interrupt.h"
#include "src/options/output_check.h"
#include "src/overlays/overlays.h"
#include "src/perf_script/perf_script.h"
#include "src/pipeline/convert_perf_data.h"
#include "src/pipeline/output_pipeline.h"
#include "src/report/perfetto_memory_hint.h"
#include "src/report/summary.h"

static void *add_track(void *context, int32_t pid, int32_t tid)
{
	return output_pipeline_add_track(context, pid, tid, NULL, NULL);
}

static void show_line(void *context, const char *line, size_t length)
{
	struct output_pipeline *pipeline = context;

	if (pipeline->format->input_line)
		pipeline->format->input_line(pipeline->end, line, length);
}

static void show_end(void *context, bool newer)
{
	struct output_pipeline *pipeline = context;

	if (pipeline->format->input_end)
		pipeline->format->input_end(pipeline->end, newer);
}

static void report_outputs(const struct output_pipeline *pipeline, struct summary *summary)
{
	const char *path;

	for (size_t i = 0; (path = output_pipeline_path(pipeline, i)) != NULL; i++)
		summary_add_output(summary, path);
}

static int feed_text(struct output_pipeline *pipeline, FILE *in, struct name_table *names,
		     struct arena *arena, struct summary *summary, struct diag *diag,
		     struct error *err)
{
	struct perf_script_options options = {
		.machine = pipeline->machine,
		.names = names,
		.arena = arena,
		.diag = diag,
		.context = pipeline,
		.track = add_track,
		.echo = show_line,
		.input_end = show_end,
	};
	struct perf_script_counts counts;

	summary_allow_interrupt(pipeline->options->quiet);
	if (perf_script_convert(in, &options, &counts, err) < 0 ||
	    output_pipeline_close(pipeline, err) < 0)
		return -1;
	summary->interrupted = interrupt_asked();
	summary->branches = counts.branches;
	summary->gaps[GAP_UNKNOWN] = counts.errors;
	summary->threads = pipeline->track_count;
	summary->slices = output_pipeline_slices(pipeline);
	report_outputs(pipeline, summary);
	return 0;
}

static int convert_perf_script(const struct options *options, struct name_table *names,
			       struct summary *summary, struct diag *diag, struct error *err)
{
	FILE *in = strcmp(options->input, "-") == 0 ? stdin : fopen(options->input, "r");
	struct arena arena = { 0 };
	struct output_pipeline pipeline;
	int status = -1;

	if (!in)
		return error_set_system(err, errno, "%s: cannot open", options->input);
	if (options->format->slices == SLICES_NONE)
		error_set(err, ERROR_UNSUPPORTED,
			  "perf script text has no branches to decode: use --format=ftf, calls or "
			  "slices");
	else if (output_pipeline_open(&pipeline, options, options->mode, names, diag, err) == 0) {
		status = feed_text(&pipeline, in, names, &arena, summary, diag, err);
		output_pipeline_release(&pipeline);
	}
	if (in != stdin)
		fclose(in);
	arena_release(&arena);
	return status;
}

static int convert_overlays(const struct options *options, struct name_table *names,
			    struct summary *summary, struct diag *diag, struct error *err)
{
	if (overlays_convert(options, names, &summary->slices, diag, err) < 0)
		return -1;
	summary_add_output(summary, options->output ? options->output : "-");
	return 0;
}

enum exit_status convert(const struct options *options, struct report *report, struct diag *diag,
			 struct error *err)
{
	const struct output_format *format = options->format;
	struct summary *summary = &report->summary;
	struct name_table names;
	int status;

	if (format->default_output != DEFAULT_NONE && output_check(options, err) < 0)
		return EXIT_FAILED;
	name_table_init(&names);
	if (options->overlay_count && options->input && format->overlays != OVERLAYS_ONLY &&
	    (format->overlays == OVERLAYS_NONE || options->input_kind != INPUT_PERF_DATA))
		diag_warn(
			diag, "overlays-left-out",
			"overlays are shown in FTF of a perf.data file, and by --format=events, only");
	if (options->input_kind == INPUT_PERF_SCRIPT || !options->input)
		report_phase(report, "convert");
	if (!options->input || format->overlays == OVERLAYS_ONLY)
		status = convert_overlays(options, &names, summary, diag, err);
	else if (options->input_kind == INPUT_PERF_SCRIPT)
		status = convert_perf_script(options, &names, summary, diag, err);
	else
		status = convert_perf_data(options, &names, report, diag, err);
	name_table_release(&names);
	if (status < 0)
		return EXIT_FAILED;
	summary_warn(summary, diag);
	if (!options->quiet && options->input && format->overlays != OVERLAYS_ONLY)
		summary_print(summary, format->is_trace, stderr);
	if (!options->quiet && format->is_trace && !options->select.split.unit)
		perfetto_memory_hint_print(summary->slices, options->args != OPTION_ARGS_NONE,
					   stderr);
	if (summary->interrupted)
		return EXIT_INTERRUPTED;
	return diag_kinds(diag) ? EXIT_WITH_GAPS : EXIT_WHOLE;
}
