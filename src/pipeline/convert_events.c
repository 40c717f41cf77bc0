/* SPDX-License-Identifier: MIT */
/* Print hits and overlays. */
#include "src/pipeline/convert_events.h"

#include <errno.h>

#include "base/io/output.h"
#include "src/events/hit_events.h"
#include "src/overlays/overlays.h"
#include "src/pipeline/recording.h"

static int print_hits(const struct options *options, struct name_table *names,
		      struct report *report, struct diag *diag, FILE *text, struct error *err)
{
	struct perf_recording recording = { 0 };
	int status = recording_open(&recording, options, names, diag, err);

	if (status == 0) {
		hit_events_print(&(struct hit_source){ recording.timeline, &recording.filter,
						       &recording.auxtrace.info,
						       &recording.resolver },
				 text);
		report_recording(report, &recording.file);
		report_hits(report, timeline_hits(recording.timeline));
	}
	recording_close(&recording);
	return status;
}

static int print_overlays(const struct options *options, struct diag *diag, FILE *text,
			  struct error *err)
{
	struct overlays overlays;
	int status = overlays_open(&overlays, options, diag, err);

	if (status == 0)
		overlays_print(&overlays, text);
	overlays_close(&overlays);
	return status;
}

int convert_events(const struct options *options, struct name_table *names, struct report *report,
		   struct diag *diag, struct error *err)
{
	struct output output;
	int status = 0;
	FILE *text;

	if (output_open(&output, options->output ? options->output : "-", err) < 0)
		return -1;
	text = output_stream(&output);
	if (!text) {
		output_abandon(&output);
		return error_set_system(err, errno, "cannot open a stream");
	}
	if (options->input && options->input_kind == INPUT_PERF_DATA)
		status = print_hits(options, names, report, diag, text, err);
	if (status == 0)
		status = print_overlays(options, diag, text, err);
	fclose(text); /* write errors show in the output */
	if (status == 0)
		return output_close(&output, err);
	output_abandon(&output);
	return status;
}
