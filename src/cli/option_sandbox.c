/* SPDX-License-Identifier: MIT */
/* The option of what the program gives up: sandbox.h. */
#include "src/cli/option_group.h"

enum option_key {
	KEY_SANDBOX = 256,
};

static const struct argp_option argp_options[] = {
	{ "sandbox", KEY_SANDBOX, "WHEN", 0,
	  "Give up what a conversion does not need, before the recording is read: auto (default: "
	  "where the system has a way), on (fail if it has none), off",
	  7 },
	{ 0 }
};

static const struct option_choice whens[] = {
	{ "auto", SANDBOX_AUTO }, { "on", SANDBOX_ON }, { "off", SANDBOX_OFF }, { NULL, 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	if (key != KEY_SANDBOX)
		return ARGP_ERR_UNKNOWN;
	options->sandbox = (enum option_sandbox)option_choose(state, whens, "sandbox", arg);
	return 0;
}

const struct argp option_group_sandbox = { argp_options, parse, NULL, NULL, NULL, NULL, NULL };
