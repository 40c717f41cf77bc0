/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "base/io/output.h"
#include "base/printable.h"
#include "src/batch/batch.h"
#include "src/batch/batch_line.h"
#include "src/cli/command_line.h"
#include "src/overlays/overlay_clock.h"
#include "src/pipeline/convert.h"
#include "src/sandbox/sandbox.h"

/* `ptrace2ftf clock-sync`: one line that tells how the clocks of this machine differ now. */
static int print_clocks(void)
{
	struct overlay_sync sync;

	overlay_sync_now(&sync);
	printf("tsc=%" PRIu64 " mono=%" PRId64 " real=%" PRId64 "\n", sync.tsc, sync.mono,
	       sync.real);
	return ferror(stdout) || fflush(stdout) ? EXIT_FAILED : EXIT_WHOLE;
}

static void print_error(const struct error *err)
{
	fputs("ptrace2ftf: ", stderr);
	printable_print(err->text, stderr);
	putc('\n', stderr);
}

/* What --json-lines says beside how the process ended: batch.h. */
static void tell(json_t *told, const struct report *report, const struct error *err)
{
	json_t *whole = report_json(report);

	if (report->status == EXIT_FAILED) {
		json_object_set_new(told, "error", batch_line_text(err->text));
	} else {
		json_object_set_new(told, "branches",
				    json_integer((json_int_t)report->summary.branches));
		json_object_set_new(told, "slices",
				    json_integer((json_int_t)report->summary.slices));
	}
	if (whole)
		json_object_set_new(told, "report", whole);
}

/*
 * The last thing that can fail: write the JSON, and put that and the outputs into
 * their places.  Returns the status of the run.
 */
static enum exit_status put_in_place(struct report *report, json_t *told, struct error *err)
{
	bool asked = report->options->json && *report->options->json;

	if (asked && report_write(report, err) < 0)
		output_drop();
	else if (output_place(err) == 0)
		return report->status;
	report->status = EXIT_FAILED;
	if (told)
		tell(told, report, err);
	return EXIT_FAILED;
}

/* `told`: NULL if nobody wants to know. */
static enum exit_status convert_one(const struct options *options, json_t *told)
{
	struct sandbox sandbox;
	struct report report;
	struct error err = { 0 };
	struct diag diag;
	enum exit_status status = EXIT_FAILED;

	diag_init(&diag);
	report_init(&report, options);
	/* Whatever fails from here on, there is no output when the status says so. */
	output_hold();
	if (sandbox_enter(&sandbox, options, &err) == 0)
		status = convert(options, &report, &diag, &err);
	if (status == EXIT_FAILED)
		output_drop();
	if (status == EXIT_WITH_GAPS && options->no_warn)
		status = EXIT_WHOLE;
	report_finish(&report, status, &diag, &err);
	if (!options->quiet)
		diag_print(&diag, stderr);
	report_print(&report, stderr);
	if (options->verbose)
		sandbox_print(&sandbox, stderr);
	if (told)
		tell(told, &report, &err);
	status = put_in_place(&report, told, &err);
	if (status == EXIT_FAILED)
		print_error(&err);
	if (status == EXIT_FAILED && options->input_count > 1)
		fprintf(stderr, "ptrace2ftf: several inputs are taken for the files of one "
				"recording: -o DIR/ converts each on its own\n");
	report_release(&report);
	diag_release(&diag);
	return status;
}

int main(int argc, char **argv)
{
	struct options options;
	int status;

	/* A closed pipe is an error of write(), with a message, not a silent death. */
	signal(SIGPIPE, SIG_IGN);
	/* So is a file beyond `ulimit -f`. */
	signal(SIGXFSZ, SIG_IGN);
	fault_watch();
	output_watch_signals();
	if (argc == 2 && strcmp(argv[1], "clock-sync") == 0)
		return print_clocks();
	command_line_parse(&options, argc, argv);
	if (batch_wanted(&options))
		status = batch_run(&options, convert_one);
	else
		status = convert_one(&options, NULL);
	options_release(&options);
	return status;
}
