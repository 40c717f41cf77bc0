/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <stdio.h>

#include "base/output.h"
#include "convert.h"
#include "options.h"

int main(int argc, char **argv)
{
	struct options options;
	struct error err = { 0 };
	struct diag diag;
	enum exit_status status;

	/* A closed pipe is an error of write(), with a message, not a silent death. */
	signal(SIGPIPE, SIG_IGN);
	output_watch_signals();
	options_parse(&options, argc, argv);
	diag_init(&diag);
	status = convert(&options, &diag, &err);
	if (!options.quiet)
		diag_print(&diag, stderr);
	if (status == EXIT_FAILED)
		fprintf(stderr, "ptrace2ftf: %s\n", err.text);
	if (status == EXIT_WITH_GAPS && options.no_warn)
		status = EXIT_WHOLE;
	diag_release(&diag);
	return status;
}
