/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/output.h"
#include "convert.h"
#include "options.h"
#include "overlay_clock.h"

/* `ptrace2ftf clock-sync`: one line that tells how the clocks of this machine differ now. */
static int print_clocks(void)
{
	struct overlay_sync sync;

	overlay_sync_now(&sync);
	printf("tsc=%" PRIu64 " mono=%" PRId64 " real=%" PRId64 "\n", sync.tsc, sync.mono, sync.real);
	return ferror(stdout) || fflush(stdout) ? EXIT_FAILED : EXIT_WHOLE;
}

int main(int argc, char **argv)
{
	struct options options;
	struct report report;
	struct error err = { 0 };
	struct diag diag;
	enum exit_status status;

	/* A closed pipe is an error of write(), with a message, not a silent death. */
	signal(SIGPIPE, SIG_IGN);
	output_watch_signals();
	if (argc == 2 && strcmp(argv[1], "clock-sync") == 0)
		return print_clocks();
	options_parse(&options, argc, argv);
	diag_init(&diag);
	report_init(&report, &options);
	status = convert(&options, &report, &diag, &err);
	if (status == EXIT_WITH_GAPS && options.no_warn)
		status = EXIT_WHOLE;
	report_finish(&report, status, &diag, &err);
	if (!options.quiet)
		diag_print(&diag, stderr);
	report_print(&report, stderr);
	if (report_write(&report, &err) < 0)
		status = EXIT_FAILED;
	if (status == EXIT_FAILED)
		fprintf(stderr, "ptrace2ftf: %s\n", err.text);
	report_release(&report);
	diag_release(&diag);
	options_release(&options);
	return status;
}
