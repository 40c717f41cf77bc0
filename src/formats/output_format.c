/* SPDX-License-Identifier: MIT */
/* The list of all output formats, and formats without a file of their own. */
#include "src/formats/output_format.h"

/* Decoding only, to measure it or to find gaps. */
const struct output_format format_none = {
	.name = "none",
	.default_output = DEFAULT_NONE,
};

static void pass_over(const struct slice_sink *sink, void *track, const struct slice_batch *batch)
{
	(void)sink;
	(void)track;
	(void)batch;
}

static struct format_output *open_totals(const struct format_request *request, struct error *err)
{
	struct format_output *output = alloc_zeroed(1, sizeof(*output));

	(void)request;
	(void)err;
	output->sink.events = pass_over;
	return output;
}

/* Of `ptrace2ftf diff`: slices are summed up for the report on their way to here. */
const struct output_format format_totals = {
	.name = "totals",
	.default_output = DEFAULT_NONE,
	.slices = SLICES_SORTED,
	.open = open_totals,
};

/* Written by convert_events(): no trace is decoded. */
const struct output_format format_events = {
	.name = "events",
	.lines = true,
	.overlays = OVERLAYS_ONLY,
};

/* Written by convert(): a memtrace file is cut. */
const struct output_format format_memtrace = {
	.name = "memtrace",
	.suffix = "ctf",
	.default_output = DEFAULT_FILE,
	.overlays = OVERLAYS_ONLY,
};

/* Written by list_recording(): no trace is decoded. */
const struct output_format format_list = {
	.name = "list",
	.suffix = "txt",
	.lines = true,
	.sideband = true,
};

#define OUTPUT_FORMAT_ADDRESS(name) &format_##name,
const struct output_format *const output_formats[] = { OUTPUT_FORMATS(OUTPUT_FORMAT_ADDRESS) NULL };

const char *output_format_suffix(const struct output_format *format)
{
	return format->suffix ? format->suffix : format->name;
}
