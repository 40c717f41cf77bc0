/* SPDX-License-Identifier: MIT */
/* The options that say what is told of a run. */
#include "src/cli/option_group.h"

enum option_key {
	KEY_QUIET = 'q',
	KEY_VERBOSE = 'v',
	KEY_JSON = 256,
	KEY_NO_WARN,
};

static const struct argp_option argp_options[] = {
	{ NULL, 0, NULL, 0, "Diagnostics:", 7 },
	{ "json", KEY_JSON, "FILE", OPTION_ARG_OPTIONAL,
	  "Write a summary in JSON to FILE (default: standard output): inputs, streams, threads, "
	  "functions, files, gaps, warnings",
	  7 },
	{ "no-warn", KEY_NO_WARN, NULL, 0, "Exit with 0 also if there are gaps or warnings", 7 },
	{ "quiet", KEY_QUIET, NULL, 0, "Print errors only", 7 },
	{ "verbose", KEY_VERBOSE, NULL, 0,
	  "Print also what took how long, what each buffer held, and what was found for each file "
	  "of code; twice: also all threads, files that were not used, how it was recorded",
	  7 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case KEY_JSON:
		options->json = arg ? arg : "-";
		return 0;
	case KEY_NO_WARN:
		options->no_warn = true;
		return 0;
	case KEY_QUIET:
		options->quiet = true;
		return 0;
	case KEY_VERBOSE:
		options->verbose++;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp option_group_report = { argp_options, parse, NULL, NULL, NULL, NULL, NULL };
