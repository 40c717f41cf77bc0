/* SPDX-License-Identifier: MIT */
/* The options that lay an OCaml program's own files over the trace. */
#include <stdlib.h>

#include "base/alloc.h"
#include "src/cli/option_group.h"

enum option_key {
	KEY_RUNTIME_EVENTS = 256,
	KEY_MEMTRACE,
	KEY_CLOCK_OFFSET,
	KEY_CLOCK_SYNC,
};

static const struct argp_option argp_options[] = {
	{ NULL, 0, NULL, 0, "OCaml:", 6 },
	{ "runtime-events", KEY_RUNTIME_EVENTS, "FILE[,pid=N][,ocaml=5.N][,tid.RING=N]", 0,
	  "Show the collector's work and the program's events of FILE, which OCaml 5 calls "
	  "PID.events; may be repeated, and needs no INPUT",
	  6 },
	{ "memtrace", KEY_MEMTRACE, "FILE[,pid=N][,lives]", 0,
	  "Show the sampled allocations of memtrace's FILE; may be repeated, and needs no INPUT",
	  6 },
	{ "clock-offset", KEY_CLOCK_OFFSET, "CLOCK=TIME", 0,
	  "Add TIME (ns, or with a unit) to times of runtime events (mono=TIME) or memtrace "
	  "(real=TIME); may be repeated",
	  6 },
	{ "clock-sync", KEY_CLOCK_SYNC, "FILE", 0,
	  "Match clocks by the lines of FILE, which `ptrace2ftf clock-sync` prints", 6 },
	{ 0 }
};

static void add_overlay(struct options *options, enum overlay_kind kind, const char *text)
{
	size_t size = (options->overlay_count + 1) * sizeof(*options->overlays);

	options->overlays = realloc(options->overlays, size);
	if (!options->overlays)
		alloc_fail(size);
	options->overlays[options->overlay_count++] = (struct overlay_option){ kind, text };
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case KEY_RUNTIME_EVENTS:
		add_overlay(options, OVERLAY_RUNTIME_EVENTS, arg);
		return 0;
	case KEY_MEMTRACE:
		add_overlay(options, OVERLAY_MEMTRACE, arg);
		return 0;
	case KEY_CLOCK_OFFSET:
		if (!overlay_clocks_offset(&options->clocks, arg))
			argp_error(state, "--clock-offset: '%s' is neither mono=TIME nor real=TIME",
				   arg);
		return 0;
	case KEY_CLOCK_SYNC:
		options->clock_sync = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp option_group_overlays = { argp_options, parse, NULL, NULL, NULL, NULL, NULL };
