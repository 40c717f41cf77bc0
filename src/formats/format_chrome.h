/* SPDX-License-Identifier: MIT */
/*
 * --format=chrome: JSON of the Trace Event Format ("Trace Event Format", Google,
 * duration events B and E), which chrome://tracing and others read.  Written as
 * slices come; times are microseconds of perf's clock with three decimals.
 */
#ifndef SRC_FORMATS_FORMAT_CHROME_H
#define SRC_FORMATS_FORMAT_CHROME_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "src/options/options.h"
#include "src/slices/slice_sink.h"

struct format_chrome {
	FILE *out;              /* borrowed */
	enum option_args level; /* what slices tell */
	uint64_t slices;
	bool any; /* an event was written */
};

/* Write the beginning; `out` is borrowed.  Errors stay with the stream. */
void format_chrome_init(struct format_chrome *chrome, FILE *out, enum option_args level);

/* Returns the sink; its tracks are struct track, its slices must come in program order. */
struct slice_sink format_chrome_sink(struct format_chrome *chrome);

/* Write the end. */
void format_chrome_finish(struct format_chrome *chrome);

#endif
