/* SPDX-License-Identifier: MIT */
/* Print hits and overlays. */
#include "src/pipeline/convert.h"

#include "src/callstack/callstack.h"
#include "src/events/event_output.h"
#include "src/perf_script/perf_script.h"
#include "src/pipeline/recording.h"

struct hit_input {
	struct name_table *names;
	struct diag *diag;
	struct report *report;
	struct hit_output hits;
};

static int show_recorded_hits(struct hit_input *input, struct error *err)
{
	struct perf_recording recording = { 0 };
	int status =
		recording_open(&recording, input->report->options, input->names, input->diag, err);

	if (status == 0) {
		const struct event_output_input source = {
			.timeline = recording.timeline,
			.filter = &recording.filter,
			.info = &recording.auxtrace.info,
			.resolver = &recording.resolver,
		};

		hit_events_show(&source, &input->hits);
		report_recording(input->report, &recording.file);
	}
	recording_close(&recording);
	return status;
}

static void show_line_hit(void *context, const struct perf_line *line,
			  const struct location *location)
{
	struct hit_input *input = context;

	hit_events_show_line(line, location, &input->hits);
}

/* Build the text's calls and drop them. */
static int show_text_hits(struct hit_input *input, struct error *err)
{
	static const struct slice_sink nowhere = { .events = slice_sink_drop };
	struct callstack_options stacks = { .sink = &nowhere,
					    .names = input->names,
					    .diag = input->diag };
	struct arena arena = { 0 };
	struct perf_script_options script = {
		.names = input->names,
		.arena = &arena,
		.diag = input->diag,
		.demangle = input->report->options->names,
		.context = input,
		.hit = show_line_hit,
	};
	FILE *in = file_use_open_stream(input->report->options->input);
	int status;

	if (!in)
		return error_set_system(err, errno, "%s: cannot open",
					input->report->options->input);
	script.machine = callstack_precise_open(&stacks);
	status = perf_script_convert(in, &script, NULL, err);
	fclose(in);
	callstack_machine_close(script.machine);
	arena_release(&arena);
	return status;
}

int convert_events(struct name_table *names, struct report *report, struct diag *diag, FILE *text,
		   struct error *err)
{
	struct hit_input input = {
		.names = names, .diag = diag, .report = report, .hits.text = text
	};
	struct overlays overlays;
	int status = 0;

	if (report->options->input)
		status = report->options->input_kind == INPUT_PERF_DATA
				 ? show_recorded_hits(&input, err)
				 : show_text_hits(&input, err);
	report_hits(report, &input.hits);
	hit_output_release(&input.hits);
	if (status != 0)
		return status;
	status = overlays_open(&overlays, report->options, diag, err);
	if (status == 0) {
		overlays_print(&overlays, text);
		report_overlays(report, &overlays);
	}
	overlays_close(&overlays);
	return status;
}
