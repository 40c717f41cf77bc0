/* SPDX-License-Identifier: MIT */
/* Choose the conversion for the input. */
#include "src/pipeline/convert.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io/temp_file.h"
#include "src/pipeline/output_pipeline.h"

static int write_overlays_alone(struct output_pipeline *pipeline, struct overlays *overlays,
				struct report *report, struct error *err)
{
	if (!pipeline->end || pipeline->format->overlays != OVERLAYS_AS_SLICES)
		return error_set(
			err, ERROR_UNSUPPORTED,
			"overlays alone have no branches; use --format=ftf, html or events");
	overlays_write(overlays, pipeline->end->events, &pipeline->output, NULL);
	pipeline->end->other_slices = overlays->out.slices;
	if (output_pipeline_close(pipeline, err) < 0)
		return -1;
	report_overlays(report, overlays);
	output_pipeline_sum_up(pipeline, &report->summary);
	return 0;
}

static int convert_overlays(const struct options *options, struct name_table *names,
			    struct report *report, struct diag *diag, struct error *err)
{
	const struct callstack_options machine = { .names = names, .diag = diag };
	struct output_pipeline pipeline = { 0 };
	struct trace_facts facts;
	struct overlays overlays;
	int status;

	report_phase(report, "convert");
	status = overlays_open(&overlays, options, diag, err);
	if (status == 0) {
		facts = (struct trace_facts){
			.wall_base = overlays_wall(&overlays, NULL),
			.free_id = (uint32_t)overlays_highest_id(&overlays) + 1,
		};
		status = output_pipeline_open(&pipeline, options, &machine, &facts, err);
	}
	if (status == 0) {
		status = write_overlays_alone(&pipeline, &overlays, report, err);
		output_pipeline_release(&pipeline);
	}
	overlays_close(&overlays);
	return status;
}

static int cut_memtrace(const struct options *options, struct report *report, struct diag *diag,
			struct error *err)
{
	struct overlay_cut_counts counts;
	struct overlays overlays;
	struct output output = { 0 };
	int status;

	report_phase(report, "convert");
	status = overlays_open(&overlays, options, diag, err);
	if (status == 0)
		status = output_open(&output, options->output, err);
	if (status == 0) {
		output_limit(&output, options->max_output, false);
		status = overlay_cut(overlays.inputs, &options->select, &output, &counts, err);
	}
	report->summary.output_cut = output.cut;
	if (status == 0)
		status = output_close(&output, err);
	if (status == 0) {
		report_overlays(report, &overlays);
		summary_add_output(&report->summary, options->output);
		if (!options->quiet)
			fprintf(stderr,
				"%" PRIu64 " of %" PRIu64 " events of memtrace, %" PRIu64
				" of them blocks that were allocated before\n",
				counts.written, counts.events, counts.alive);
	}
	output_abandon(&output);
	overlays_close(&overlays);
	return status;
}

/* Print a list or events, which need no decoding. */
static int print_undecoded(const struct options *options, struct name_table *names,
			   struct report *report, struct diag *diag, struct error *err)
{
	const char *path = options->output ? options->output : "-";
	bool list = options->format->sideband;
	struct output output;
	FILE *text;
	int status;

	report_phase(report, list ? "read" : "convert");
	text = output_open_text(&output, path, options->max_output, err);
	if (!text)
		return -1;
	status = (list ? list_recording : convert_events)(names, report, diag, text, err);
	fclose(text); /* the output reports write errors */
	report->summary.output_cut = output.cut;
	if (status == 0)
		status = output_close(&output, err);
	if (status == 0)
		summary_add_output(&report->summary, path);
	output_abandon(&output);
	return status;
}

static int convert_once(const struct options *options, struct report *report, struct diag *diag,
			struct error *err)
{
	struct name_table names;
	int status;

	name_table_init(&names);
	if (options->format == &format_memtrace)
		status = cut_memtrace(options, report, diag, err);
	else if (options->format->sideband || options->format->overlays == OVERLAYS_ONLY)
		status = print_undecoded(options, &names, report, diag, err);
	else if (!options->input)
		status = convert_overlays(options, &names, report, diag, err);
	else if (options->input_kind == INPUT_PERF_SCRIPT)
		status = convert_perf_script(options, &names, report, diag, err);
	else
		status = convert_perf_data(options, &names, report, diag, err);
	name_table_release(&names);
	return status;
}

/* Returns whether an input, of which a part may have been read, can be read from its begin. */
static bool can_read_again(const struct options *options)
{
	struct stat info;

	for (int i = 0; i < options->input_count; i++)
		if (stat(options->inputs[i], &info) < 0 ||
		    !(S_ISREG(info.st_mode) || S_ISDIR(info.st_mode)))
			return false;
	return true;
}

/* Convert, and again if an output asks for it: ERROR_MORE_SLICES. */
static int convert_input(const struct options *options, struct report *report, struct diag *diag,
			 struct error *err)
{
	struct options fitted = *options;
	int status;

	fitted.fits = !can_read_again(options);
	status = convert_once(&fitted, report, diag, err);
	if (status == 0 || err->kind != ERROR_MORE_SLICES)
		return status;
	*err = (struct error){ 0 };
	diag_release(diag);
	summary_release(&report->summary);
	fitted.fits = true;
	return convert_once(&fitted, report, diag, err);
}

static void print_summary(const struct options *options, const struct summary *summary)
{
	bool is_trace = options->format->is_trace;

	if (options->format->sideband)
		return;
	if (options->input && options->format->overlays != OVERLAYS_ONLY)
		summary_print(summary, is_trace && !options->open, options->of_several, stderr);
	else
		summary_print_fold(summary, stderr);
	if (is_trace && !options->select.split.unit)
		perfetto_memory_hint_print(summary->slices, summary->trace_records,
					   summary->trace_bytes, stderr);
}

enum exit_status convert(const struct options *options, struct report *report, struct diag *diag,
			 struct error *err)
{
	enum format_overlays shown = options->format->overlays;

	temp_files_limit(options->max_temp);
	if (options->overlay_count && options->input && shown != OVERLAYS_ONLY &&
	    (shown == OVERLAYS_NONE || options->input_kind != INPUT_PERF_DATA))
		diag_warn(
			diag, "overlays-left-out",
			"overlays are left out: only --format=ftf, html and events of a perf.data file show them");
	if (convert_input(options, report, diag, err) < 0 || file_use_shortage(err) < 0)
		return EXIT_FAILED;
	/* The stamp would mark the output as complete, and the next run would keep it. */
	if (options->stamp && ((report->summary.output_cut && !options->max_output) ||
			       (report->summary.temp_cut && !options->max_temp))) {
		error_set(
			err, ERROR_SYSTEM,
			"%s: deleted, because %s a quarter of the free space or 64 GiB; make room "
			"or give %s=SIZE",
			options->output,
			report->summary.temp_cut ? "its temporary files exceed" : "it exceeds",
			report->summary.temp_cut ? "--max-temp" : "--max-output");
		return EXIT_FAILED;
	}
	summary_warn(&report->summary, diag);
	if (!options->quiet)
		print_summary(options, &report->summary);
	if (report->summary.interrupted)
		return EXIT_INTERRUPTED;
	return diag_kinds(diag) ? EXIT_WITH_GAPS : EXIT_WHOLE;
}

/* Print why the inputs are not one recording. Returns false. */
static bool say_apart(const struct options *options, const char *reason)
{
	if (options->quiet || options->command == COMMAND_LIST)
		return false;
	printable_printf(stderr, "ptrace2ftf: each recording gets its own output: %s\n", reason);
	return false;
}

static bool prove(const struct options *options)
{
	struct perf_file file;
	struct sandbox sandbox;
	struct error err = { 0 };
	struct diag diag;

	diag_init(&diag);
	if (sandbox_enter(&sandbox, SANDBOX_CONVERSION, options, &err) < 0 ||
	    perf_file_open(&file, options->input, &diag, &err) < 0)
		return false;
	for (int i = 1; i < options->input_count; i++)
		if (perf_file_append(&file, options->inputs[i], &diag, &err) < 0) {
			/* Cut the advice: it is for one output, and --join would be refused. */
			err.text[strcspn(err.text, ";")] = 0;
			return say_apart(options, err.text);
		}
	return !file.unproven ||
	       say_apart(options, "a host name, command line, clock or time is missing; --join "
				  "treats them as parts of one");
}

bool input_parts_are_one(const struct options *options)
{
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(prove(options) ? EXIT_WHOLE : EXIT_FAILED);
	while (child > 0 && waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_WHOLE;
}
