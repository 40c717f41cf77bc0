/* SPDX-License-Identifier: MIT */
/* The options that choose a part of a recording. */
#include "option_group.h"

enum option_key {
	KEY_TIME = 256,
	KEY_PID,
	KEY_TID,
	KEY_COMM,
	KEY_CPU,
	KEY_SYMBOL,
	KEY_DSO,
	KEY_BETWEEN,
	KEY_DEPTH,
	KEY_MIN_DURATION,
	KEY_HIDE,
};

static const struct argp_option argp_options[] = {
	{ NULL, 0, NULL, 0, "Selection:", 3 },
	{ "time", KEY_TIME, "FROM,TO", 0,
	  "Decode this time only; each is empty, seconds of perf's clock, +1.5ms after the start, "
	  "-2ms before the end, or a percentage: 10%,20%", 3 },
	{ "pid", KEY_PID, "LIST", 0, "Show these processes: 1,2,5-7; as all lists, may be repeated", 3 },
	{ "tid", KEY_TID, "LIST", 0, "Show these threads", 3 },
	{ "comm", KEY_COMM, "GLOB", 0, "Show threads that had such a name; may be repeated", 3 },
	{ "cpu", KEY_CPU, "LIST", 0, "Decode what these CPUs ran", 3 },
	{ 0 }
};

static void add_numbers(struct argp_state *state, struct number_list *list, const char *option,
			const char *text)
{
	if (!number_list_add(list, text))
		argp_error(state, "--%s: '%s' is no list of numbers like 1,2,5-7", option, text);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;
	struct selection *select = &options->select;

	switch (key) {
	case KEY_TIME:
		if (!selection_time(select, arg))
			argp_error(state, "--time: '%s' is no FROM,TO like 12.5,12.75 or +1ms,+2ms or 10%%,20%%",
				   arg);
		return 0;
	case KEY_PID:
		add_numbers(state, &select->pids, "pid", arg);
		return 0;
	case KEY_TID:
		add_numbers(state, &select->tids, "tid", arg);
		return 0;
	case KEY_CPU:
		add_numbers(state, &select->cpus, "cpu", arg);
		return 0;
	case KEY_COMM:
		pattern_list_add(&select->comms, arg);
		return 0;
	case ARGP_KEY_END:
		if (options->input_kind != INPUT_PERF_DATA && selection_of_events(select))
			argp_error(state, "--time, --pid, --tid, --comm and --cpu need a perf.data file; "
				   "perf script has options of these names");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp option_group_select = { argp_options, parse, NULL, NULL, NULL, NULL, NULL };
