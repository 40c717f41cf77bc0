/* SPDX-License-Identifier: MIT */
/* The option of how times are estimated between timing packets. */
#include "src/cli/option_group.h"

enum option_key { KEY_TIMING = 256 };

static const struct option_choice timings[] = {
	{ "steady", false },
	{ "perf", true },
	{ NULL, 0 },
};

static const struct argp_option argp_options[] = {
	{ "timing", KEY_TIMING, "WORD", 0,
	  "Count core cycles (CYC) by the speed measured before (steady, the default), or as perf "
	  "script does, up to the next MTC (perf): its very times, by one thread per buffer",
	  8 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	if (key != KEY_TIMING)
		return ARGP_ERR_UNKNOWN;
	options->perf_times = option_choose(state, timings, "timing", arg);
	return 0;
}

const struct argp option_group_timing = { argp_options, parse, NULL, NULL, NULL, NULL, NULL };
