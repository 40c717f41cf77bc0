/* SPDX-License-Identifier: MIT */
/* The list of all output formats, and formats without a file of their own. */
#include "src/formats/output_format.h"

/* Decoding only, to measure it or to find gaps. */
const struct output_format format_none = {
	.name = "none",
	.default_output = DEFAULT_NONE,
};

/* Written by convert_events(): no trace is decoded. */
const struct output_format format_events = {
	.name = "events",
	.lines = true,
	.overlays = OVERLAYS_ONLY,
};

#define OUTPUT_FORMAT_ADDRESS(name) &format_##name,
const struct output_format *const output_formats[] = { OUTPUT_FORMATS(OUTPUT_FORMAT_ADDRESS) NULL };

const char *output_format_suffix(const struct output_format *format)
{
	return format->suffix ? format->suffix : format->name;
}
