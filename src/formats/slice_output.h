/* SPDX-License-Identifier: MIT */
/*
 * The formats of slices for other tools and eyes: each a sink behind the
 * sorter, and text at the end.
 */
#ifndef SRC_FORMATS_SLICE_OUTPUT_H
#define SRC_FORMATS_SLICE_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/name.h"
#include "src/formats/format_chrome.h"
#include "src/formats/format_folded.h"
#include "src/formats/format_functions.h"
#include "src/options/options.h"
#include "src/slices/slice_sink.h"
#include "src/slices/slice_store.h"

struct slice_output {
	const struct options *options; /* borrowed */
	FILE *out;                     /* borrowed */
	union {                        /* of the format in use */
		struct format_chrome chrome;
		struct format_folded folded;
		struct format_functions functions;
		struct slice_store spool; /* of speedscope and svg */
	};
};

/* Returns whether a format is one of these. */
bool slice_output_is(enum output_format format);

/*
 * Begin the format that the options ask for, which is one of these.  All is
 * borrowed until release.  *tail gets the sink, whose tracks are struct track.
 * Returns 0; -1 with err filled.
 */
int slice_output_init(struct slice_output *output, const struct options *options, FILE *out,
		      struct name_table *names, struct slice_sink *tail, struct error *err);

/* Returns the number of slices that came. */
uint64_t slice_output_slices(const struct slice_output *output);

/* All slices have come: write the rest.  Returns 0; -1 with err filled; errors of `out` stay with
 * it. */
int slice_output_finish(struct slice_output *output, struct error *err);

/* Idempotent, also on zeroed memory. */
void slice_output_release(struct slice_output *output);

#endif
