/* SPDX-License-Identifier: MIT */
/* The options of how the work is done; what is written does not depend on them. */
#include <errno.h>
#include <stdlib.h>

#include "option_group.h"

enum option_key {
	KEY_THREADS = 'j',
};

#define THREADS_MAX 1024

static const struct argp_option argp_options[] = {
	{ NULL, 0, NULL, 0, "Speed:", 8 },
	{ "threads", KEY_THREADS, "N", 0,
	  "Decode with N threads (default: one per CPU; 1: without any beside the program's own); "
	  "the output is the same", 8 },
	{ 0 }
};

static unsigned read_count(struct argp_state *state, const char *text)
{
	char *end;
	unsigned long count;

	errno = 0;
	count = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || !count || count > THREADS_MAX)
		argp_error(state, "--threads: '%s' is no number from 1 to %d", text, THREADS_MAX);
	return (unsigned)count;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	if (key != KEY_THREADS)
		return ARGP_ERR_UNKNOWN;
	options->threads = read_count(state, arg);
	return 0;
}

const struct argp option_group_speed = { argp_options, parse, NULL, NULL, NULL, NULL, NULL };
