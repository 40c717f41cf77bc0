/* SPDX-License-Identifier: MIT */
/* The options that choose a part of a recording. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/cli/option_group.h"

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
	KEY_NO_SAMPLES,
	KEY_SORT,
	KEY_SPLIT,
};

static const struct argp_option argp_options[] = {
	{ NULL, 0, NULL, 0, "Selection:", 2 },
	{ "time", KEY_TIME, "FROM,TO", 0,
	  "Decode this time only; each is empty, seconds of perf's clock, +1.5ms after the start, "
	  "-2ms before the end, or a percentage: 10%,20%",
	  2 },
	{ "pid", KEY_PID, "LIST", 0, "Show these processes: 1,2,5-7; as all lists, may be repeated",
	  2 },
	{ "tid", KEY_TID, "LIST", 0, "Show these threads", 2 },
	{ "comm", KEY_COMM, "GLOB", 0,
	  "Show threads that had such a name at any time; may be repeated", 2 },
	{ "cpu", KEY_CPU, "LIST", 0, "Decode what these CPUs ran", 2 },
	{ "symbol", KEY_SYMBOL, "GLOB", 0,
	  "Show calls of these functions, with all below them and their callers; may be repeated",
	  2 },
	{ "dso", KEY_DSO, "GLOB", 0,
	  "The same of calls into these files, by path or last part of it", 2 },
	{ "between", KEY_BETWEEN, "START,STOP", 0,
	  "Show each thread from a call of START to the next call of STOP", 2 },
	{ "depth", KEY_DEPTH, "N", 0, "Show so many levels of slices", 2 },
	{ "min-duration", KEY_MIN_DURATION, "TIME", 0,
	  "Leave slices shorter than TIME (1us) out, and count them in those around them", 2 },
	{ "hide", KEY_HIDE, "GLOB", 0,
	  "Leave these functions' slices out, but not what they call; may be repeated", 2 },
	{ "no-samples", KEY_NO_SAMPLES, NULL, 0,
	  "Leave out samples of other events of the recording (cycles, tracepoints)", 2 },
	{ "sort", KEY_SORT, "KEY", 0,
	  "Sort the table of --format=functions by self (default), total, calls or name", 5 },
	{ "split", KEY_SPLIT, "SIZE", 0,
	  "Write OUT.000.ftf and so on, each of so many slices (2M), bytes (500MB) or so much "
	  "time (10ms)",
	  5 },
	{ 0 }
};

static const struct option_choice orders[] = { { "self", ORDER_SELF },
					       { "total", ORDER_TOTAL },
					       { "calls", ORDER_CALLS },
					       { "name", ORDER_NAME },
					       { NULL, 0 } };

static void add_numbers(struct argp_state *state, struct number_list *list, const char *option,
			const char *text)
{
	if (!number_list_add(list, text))
		argp_error(state, "--%s: '%s' is no list of numbers like 1,2,5-7", option, text);
}

static uint32_t read_depth(struct argp_state *state, const char *text)
{
	unsigned long depth;
	char *end;

	errno = 0;
	depth = strtoul(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || errno || !depth || depth > UINT32_MAX)
		argp_error(state, "--depth: '%s' is no number of levels", text);
	return (uint32_t)depth;
}

static void refuse_unfiltered(struct argp_state *state, const struct options *options)
{
	bool slices = options->format != FORMAT_BRANCHES && options->format != FORMAT_CALLS &&
		      options->format != FORMAT_NONE && options->format != FORMAT_EVENTS;

	if (!slices && selection_of_slices(&options->select))
		argp_error(state, "--symbol, --dso, --between, --depth, --min-duration and --hide "
				  "choose slices, which this --format does not show");
}

static void refuse_split(struct argp_state *state, const struct options *options)
{
	if (!options->select.split.unit)
		return;
	if (options->format != FORMAT_FTF)
		argp_error(state, "--split is of --format=ftf");
	if (options->output && strcmp(options->output, "-") == 0)
		argp_error(state, "--split makes several files: standard output is one");
	if (options->overlay_count)
		argp_error(state, "--split leaves overlays out: convert them without it");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;
	struct selection *select = &options->select;

	switch (key) {
	case KEY_TIME:
		if (!selection_time(select, arg))
			argp_error(
				state,
				"--time: '%s' is no FROM,TO like 12.5,12.75 or +1ms,+2ms or 10%%,20%%",
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
	case KEY_SYMBOL:
		pattern_list_add(&select->symbols, arg);
		return 0;
	case KEY_DSO:
		pattern_list_add(&select->dsos, arg);
		return 0;
	case KEY_HIDE:
		pattern_list_add(&select->hidden, arg);
		return 0;
	case KEY_BETWEEN:
		if (!selection_between(select, arg))
			argp_error(state, "--between: '%s' is not START,STOP", arg);
		return 0;
	case KEY_DEPTH:
		select->depth = read_depth(state, arg);
		return 0;
	case KEY_MIN_DURATION:
		if (!selection_duration(arg, &select->min_duration))
			argp_error(state, "--min-duration: '%s' is no time like 500ns or 1.5us",
				   arg);
		return 0;
	case KEY_NO_SAMPLES:
		options->no_samples = true;
		return 0;
	case KEY_SORT:
		select->order = (enum function_order)option_choose(state, orders, "sort", arg);
		return 0;
	case KEY_SPLIT:
		if (!selection_split(&select->split, arg))
			argp_error(state,
				   "--split: '%s' is no size like 2M (slices), 500MB or 10ms", arg);
		return 0;
	case ARGP_KEY_END:
		refuse_split(state, options);
		refuse_unfiltered(state, options);
		if (options->input_kind != INPUT_PERF_DATA && selection_of_events(select))
			argp_error(state,
				   "--time, --pid, --tid, --comm and --cpu need a perf.data file; "
				   "perf script has options of these names");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp option_group_select = { argp_options, parse, NULL, NULL, NULL, NULL, NULL };
