/* SPDX-License-Identifier: MIT */
/* The options of how trace is decoded; what is written does not depend on them. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "src/cli/option_group.h"

enum option_key {
	KEY_THREADS = 'j',
	KEY_VERIFY = 256,
};

#define THREADS_MAX 1024

static const struct argp_option argp_options[] = {
	{ NULL, 0, NULL, 0, "Decoding:", 8 },
	{ "threads", KEY_THREADS, "N", 0,
	  "Decode with N threads (default: one per CPU; 1: without any beside the program's own); "
	  "the output is the same",
	  8 },
	{ "verify", KEY_VERIFY, "N", OPTION_ARG_OPTIONAL,
	  "Decode every Nth part of the trace (default: all), from PSB to PSB, with libipt too, and "
	  "tell where it finds other branches",
	  8 },
	{ 0 }
};

/* Returns a number from 1 to `most`. */
static unsigned read_count(struct argp_state *state, const char *option, const char *text,
			   unsigned most)
{
	char *end;
	unsigned long count;

	errno = 0;
	count = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || !count || count > most)
		argp_error(state, "--%s: '%s' is no number from 1 to %u", option, text, most);
	return (unsigned)count;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case KEY_THREADS:
		options->threads = read_count(state, "threads", arg, THREADS_MAX);
		return 0;
	case KEY_VERIFY:
		options->verify = arg ? read_count(state, "verify", arg, INT_MAX) : 1;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp option_group_speed = { argp_options, parse, NULL, NULL, NULL, NULL, NULL };
