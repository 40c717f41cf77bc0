/* SPDX-License-Identifier: MIT */
#include "src/pipeline/convert.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/interrupt.h"
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

static void echo(void *context, const char *line, size_t length)
{
	struct output_pipeline *view = context;

	if (view->options->format == FORMAT_CALLS)
		format_calls_echo(&view->calls, line, length);
}

static void input_end(void *context, bool newer)
{
	struct output_pipeline *view = context;

	if (view->options->format == FORMAT_CALLS)
		format_calls_input_end(&view->calls, newer);
}

static void tell_outputs(const struct output_pipeline *view, struct summary *summary)
{
	const char *path;

	for (size_t i = 0; (path = output_pipeline_output(view, i)) != NULL; i++)
		summary_add_output(summary, path);
}

static int feed_text(struct output_pipeline *view, FILE *in, struct name_table *names,
		     struct arena *arena, struct summary *summary, struct diag *diag,
		     struct error *err)
{
	struct perf_script_options options = {
		.machine = view->machine,
		.names = names,
		.arena = arena,
		.diag = diag,
		.context = view,
		.track = add_track,
		.echo = echo,
		.input_end = input_end,
	};
	struct perf_script_counts counts;

	summary_allow_interrupt(view->options->quiet);
	if (perf_script_convert(in, &options, &counts, err) < 0 ||
	    output_pipeline_close(view, err) < 0)
		return -1;
	summary->interrupted = interrupt_asked();
	summary->branches = counts.branches;
	summary->gaps[GAP_UNKNOWN] = counts.errors;
	summary->threads = view->track_count;
	summary->slices = output_pipeline_slices(view);
	tell_outputs(view, summary);
	return 0;
}

static int convert_perf_script(const struct options *options, struct name_table *names,
			       struct summary *summary, struct diag *diag, struct error *err)
{
	FILE *in = strcmp(options->input, "-") == 0 ? stdin : fopen(options->input, "r");
	struct arena arena = { 0 };
	struct output_pipeline view;
	int status = -1;

	if (!in)
		return error_set_system(err, errno, "%s: cannot open", options->input);
	if (options->format == FORMAT_BRANCHES || options->format == FORMAT_NONE)
		error_set(err, ERROR_UNSUPPORTED,
			  "perf script text has no branches to decode: use --format=ftf, calls or "
			  "slices");
	else if (output_pipeline_open(&view, options, options->mode, names, diag, err) == 0) {
		status = feed_text(&view, in, names, &arena, summary, diag, err);
		output_pipeline_release(&view);
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
	struct summary *summary = &report->summary;
	struct name_table names;
	int status;

	if (output_check(options, err) < 0)
		return EXIT_FAILED;
	name_table_init(&names);
	if (options->overlay_count && options->input && options->format != FORMAT_EVENTS &&
	    (options->format != FORMAT_FTF || options->input_kind != INPUT_PERF_DATA))
		diag_warn(
			diag, "overlays-left-out",
			"overlays are shown in FTF of a perf.data file, and by --format=events, only");
	if (options->input_kind == INPUT_PERF_SCRIPT || !options->input)
		report_phase(report, "convert");
	if (!options->input || options->format == FORMAT_EVENTS)
		status = convert_overlays(options, &names, summary, diag, err);
	else if (options->input_kind == INPUT_PERF_SCRIPT)
		status = convert_perf_script(options, &names, summary, diag, err);
	else
		status = convert_perf_data(options, &names, report, diag, err);
	name_table_release(&names);
	if (status < 0)
		return EXIT_FAILED;
	summary_warn(summary, diag);
	if (!options->quiet && options->input && options->format != FORMAT_EVENTS)
		summary_print(summary, options->format == FORMAT_FTF, stderr);
	if (!options->quiet && options->format == FORMAT_FTF && !options->select.split.unit)
		perfetto_memory_hint_print(summary->slices, options->args != OPTION_ARGS_NONE,
					   stderr);
	if (summary->interrupted)
		return EXIT_INTERRUPTED;
	return diag_kinds(diag) ? EXIT_WITH_GAPS : EXIT_WHOLE;
}
