/* SPDX-License-Identifier: MIT */
/* ptrace2ftf: one conversion, or a batch of them; or a trace is shown. */
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/io/interrupt.h"
#include "src/batch/batch.h"
#include "src/cli/command_line.h"
#include "src/cli/commands.h"
#include "src/diff/diff.h"
#include "src/pipeline/convert.h"
#include "src/record/record.h"

/* `ptrace2ftf clock-sync`: print this machine's clocks, read at one moment. */
static int print_clocks(void)
{
	struct overlay_sync sync;

	overlay_sync_now(&sync);
	printf("tsc=%" PRIu64 " mono=%" PRId64 " real=%" PRId64 "\n", sync.tsc, sync.mono,
	       sync.real);
	return (int)command_line_printed();
}

/*
 * With --time, for open_trace(): the range of the decoded branches. Other events in the trace can
 * cover a longer time.
 */
static void fill_view(json_t *child_report, const struct report *report)
{
	const struct selection *select = &report->options->select;

	if (!select->from.base && !select->to.base)
		return;
	json_object_set_new(child_report, "view_begin",
			    json_integer((json_int_t)report->summary.first_time));
	json_object_set_new(child_report, "view_end",
			    json_integer((json_int_t)report->summary.last_time));
}

/* Fill the report for --json-lines: batch_convert_fn. */
static void fill_child_report(json_t *child_report, const struct report *report,
			      const struct error *err)
{
	json_t *whole = report_json(report);

	json_object_clear(child_report);
	if (report->status == EXIT_FAILED) {
		json_object_set_new(child_report, "error", batch_line_text(err->text));
	} else {
		json_object_set_new(child_report, "branches",
				    json_integer((json_int_t)report->summary.branches));
		json_object_set_new(child_report, "slices",
				    json_integer((json_int_t)report->summary.slices));
	}
	if (whole)
		json_object_set_new(child_report, "report", whole);
	if (report->options->open)
		fill_view(child_report, report);
}

/* Write the JSON of --json and rename the outputs, or drop them if either fails. */
static int rename_outputs(const struct report *report, bool with_json, struct error *err)
{
	const char *json = report->options->json;

	/* Also a failed run writes it. */
	if (with_json && json && *json && report_write(report, err) < 0) {
		output_drop();
		return -1;
	}
	return output_rename(err);
}

/*
 * Paths that are wrong end the run before it reads anything; --json may be written all
 * the same, unless its own path is wrong.
 */
static int check_paths(const struct options *options, bool *with_json, struct error *err)
{
	int status = input_paths_check(options, err);

	/* Without the input's folder, the output's is missing, too. */
	if (status == 0 && options->input && options->beside &&
	    options->output == options->beside && access(options->input, F_OK) < 0)
		status = error_set_system(err, errno, "%s: cannot open", options->input);
	file_roles_read(options);
	if (file_roles_write(options->output, "--output", err) < 0) {
		/* The folder of the input was nobody's choice. */
		if (status == 0 && options->output == options->beside)
			error_suffix(err, "; choose another place with -o");
		status = -1;
	}
	*with_json = file_roles_write(options->json, "--json", err) == 0;
	return *with_json ? status : -1;
}

/*
 * Libraries need a lot of stack and do not check it: libdw 150 KiB for a line table, libiberty
 * 640 KiB for a D name (DEMANGLE_D_NAME).
 */
static int ensure_stack(struct error *err)
{
	const rlim_t least = 1 << 20;
	struct rlimit limit;

	if (getrlimit(RLIMIT_STACK, &limit) < 0 || limit.rlim_cur >= least)
		return 0;
	if (limit.rlim_max >= least) {
		limit.rlim_cur = least;
		return setrlimit(RLIMIT_STACK, &limit) == 0
			       ? 0
			       : error_set_system(err, errno, "cannot raise the stack limit");
	}
	return error_set(err, ERROR_LIMIT,
			 "cannot convert with a stack of %" PRIu64 " KiB: libraries need %" PRIu64
			 " KiB; raise the limit with `ulimit -s`",
			 (uint64_t)limit.rlim_max >> 10, (uint64_t)least >> 10);
}

static enum exit_status convert_recording(const struct options *options, json_t *child_report)
{
	struct report report;
	struct error err = { 0 };
	struct diag diag;
	enum exit_status status = EXIT_FAILED;
	bool with_json;

	diag_init(&diag);
	report_init(&report, options);
	/* No output may exist if the exit status is EXIT_FAILED. */
	output_hold();
	if (check_paths(options, &with_json, &err) == 0 && ensure_stack(&err) == 0 &&
	    (!options->format->load || options->format->load(&err) == 0) &&
	    sandbox_enter(&report.sandbox, SANDBOX_CONVERSION, options, &err) == 0)
		status = convert(options, &report, &diag, &err);
	output_obey_closed_pipe(&err);
	if (status == EXIT_FAILED)
		output_drop();
	if (status == EXIT_WITH_GAPS && options->no_warn)
		status = EXIT_WHOLE;
	report_finish(&report, status, &diag, &err);
	if (!options->quiet)
		diag_print(&diag, stderr);
	if (!options->quiet && status != EXIT_FAILED)
		sandbox_warn(&report.sandbox, stderr);
	report_print(&report, stderr);
	if (options->verbose)
		sandbox_print(&report.sandbox, stderr);
	/* Until the first output is renamed, a lack of memory leaves none. */
	if (child_report)
		fill_child_report(child_report, &report, &err);
	if (rename_outputs(&report, with_json, &err) < 0) {
		report.status = EXIT_FAILED;
		if (child_report)
			fill_child_report(child_report, &report, &err);
	}
	output_obey_closed_pipe(&err);
	if (report.status == EXIT_FAILED)
		message_error(&err);
	status = report.status;
	report_release(&report);
	diag_release(&diag);
	return status;
}

static int compare_recordings(int argc, char **argv)
{
	struct options sides[SIDES];
	int status;

	command_line_parse_diff(sides, argc, argv);
	status = diff_command(sides, convert_recording);
	options_release(&sides[SIDE_A]);
	options_release(&sides[SIDE_B]);
	return status;
}

static int convert_inputs(const struct options *options)
{
	if (options->command == COMMAND_ANNOTATE)
		return annotate_command(options, convert_recording);
	if (options->open)
		return open_trace(options, convert_recording);
	if (why_many_wanted(options))
		return why_many_run(options, convert_recording);
	if (options_trace_slow(options))
		return slow_traces_run(options, convert_recording);
	if (batch_wanted(options))
		return batch_run(options, convert_recording);
	return convert_recording(options, NULL);
}

/* Commands that read one command line of options: most of them. */
static int run_command(enum command command, int argc, char **argv)
{
	int status = EXIT_WHOLE, recorded = 0;
	struct options options;

	command_line_parse(&options, command, argc, argv);
	if (options.command != COMMAND_RECORD || record_run(&options, &recorded))
		status = convert_inputs(&options);
	if (recorded && (status == EXIT_WHOLE || status == EXIT_WITH_GAPS))
		status = recorded;
	options_release(&options);
	return status;
}

/*
 * Keep the numbers of standard streams that the shell closed from other files: messages would go
 * into such a file.  Open the placeholder in the wrong mode, so that any I/O on it fails.
 */
static void hold_standard_descriptors(void)
{
	struct error err = { 0 };

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			error_set_system(&err, errno, "cannot open /dev/null");
	if (err.kind == ERROR_NONE)
		return;
	message_error(&err);
	exit(EXIT_FAILED);
}

int main(int argc, char **argv)
{
	static char lines[BUFSIZ];
	enum command command = argc > 1 ? command_find(argv[1]) : COMMAND_CONVERT;

	hold_standard_descriptors();
	/* A write for each line: without a buffer printf() makes one for each byte of some texts.
	 */
	setvbuf(stderr, lines, _IOLBF, sizeof(lines));
	/* No value of JSON lacks memory, in this process and in those that it forks. */
	json_set_alloc_funcs(alloc_bytes, free);
	/* Writes to a closed pipe, or beyond `ulimit -f`, return errors: output_obey_closed_pipe().
	 */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	fault_watch();
	output_watch_signals();
	output_ask(file_use_open_output, file_use_check);
	switch (command) {
	case COMMAND_CLOCK_SYNC:
		command_line_parse_words(command, argc, argv);
		return print_clocks();
	case COMMAND_HELP:
		help_print(command_line_parse_words(command, argc, argv), false);
		return (int)command_line_printed();
	case COMMAND_DIFF:
		return compare_recordings(argc, argv);
	default:
		return run_command(command, argc, argv);
	}
}
