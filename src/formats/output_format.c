/* SPDX-License-Identifier: MIT */
/* The list of all output formats, and formats without a file of their own. */
#include "src/formats/output_format.h"

#include "config.h"

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

static void open_totals(struct format_output *output, const struct format_request *request)
{
	(void)request;
	output->sink.events = pass_over;
}

/* Of `ptrace2ftf diff`: slices are summed up for the report on their way to here. */
const struct output_format format_totals = {
	.name = "totals",
	.default_output = DEFAULT_NONE,
	.slices = SLICES_SORTED,
	.size = sizeof(struct format_output),
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

/* Formats whose library the build lacks. */

#ifndef HAVE_PROTOBUF_C
static int refuse_pprof(struct error *err)
{
	return error_set(
		err, ERROR_UNSUPPORTED,
		"cannot write --format=pprof: this build is without protobuf-c; build it again "
		"with libprotobuf-c-dev and protobuf-c-compiler");
}

const struct output_format format_pprof = { .name = "pprof",
					    .suffix = "pb.gz",
					    .default_output = DEFAULT_FILE,
					    .slices = SLICES_SORTED,
					    .load = refuse_pprof };
#endif

#ifndef HAVE_SQLITE
static int refuse_sqlite(struct error *err)
{
	return error_set(
		err, ERROR_UNSUPPORTED,
		"cannot write --format=sqlite: this build is without libsqlite3; build it again "
		"with libsqlite3-dev");
}

const struct output_format format_sqlite = { .name = "sqlite",
					     .suffix = "db",
					     .default_output = DEFAULT_FILE,
					     .slices = SLICES_SORTED,
					     .load = refuse_sqlite };
#endif

#define OUTPUT_FORMAT_ADDRESS(name) &format_##name,
const struct output_format *const output_formats[] = { OUTPUT_FORMATS(OUTPUT_FORMAT_ADDRESS) NULL };

const char *output_format_suffix(const struct output_format *format)
{
	return format->suffix ? format->suffix : format->name;
}

struct format_output *output_format_open(const struct output_format *format,
					 const struct format_request *request)
{
	struct format_output *output = format->size ? alloc_zeroed(1, format->size) : NULL;

	if (!output)
		return NULL;
	output->text = request->text;
	if (format->open)
		format->open(output, request);
	return output;
}

void output_format_close(const struct output_format *format, struct format_output *output)
{
	if (output && format->release)
		format->release(output);
	free(output);
}
