/* SPDX-License-Identifier: MIT */
/* The options of what is shown beside the calls. */
#include "option_group.h"

enum option_key {
	KEY_NO_SAMPLES = 256,
};

static const struct argp_option argp_options[] = {
	{ NULL, 0, NULL, 0, "Beside the calls:", 6 },
	{ "no-samples", KEY_NO_SAMPLES, NULL, 0,
	  "Leave out samples of other events of the recording (cycles, tracepoints)", 6 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	(void)arg;
	if (key != KEY_NO_SAMPLES)
		return ARGP_ERR_UNKNOWN;
	options->no_samples = true;
	return 0;
}

const struct argp option_group_side = { argp_options, parse, NULL, NULL, NULL, NULL, NULL };
