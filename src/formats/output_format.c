/* SPDX-License-Identifier: MIT */
/* The list of all output formats, and formats without their own file. */
#include "src/formats/output_format.h"

#include "base/io/temp_file.h"
#include "config.h"
#include "src/slices/track.h"

/* Decoding only, to measure it or to find gaps. */
const struct output_format format_none = {
	.name = "none",
	.default_output = DEFAULT_NONE,
};

static void open_totals(struct format_output *output, const struct format_request *request)
{
	(void)request;
	output->sink.events = slice_sink_drop;
}

/* For `ptrace2ftf diff`: earlier stages sum the slices up for the report. */
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

/* Define a format whose library the build lacks. */
#define LACKING_FORMAT(format, its_suffix, library, packages)                                      \
	static int refuse_##format(struct error *err)                                              \
	{                                                                                          \
		return error_set(err, ERROR_UNSUPPORTED,                                           \
				 "cannot write --format=" #format                                  \
				 ": this build is without " library                                \
				 "; build it again with " packages);                               \
	}                                                                                          \
	const struct output_format format_##format = { .name = #format,                            \
						       .suffix = its_suffix,                       \
						       .default_output = DEFAULT_FILE,             \
						       .slices = SLICES_SORTED,                    \
						       .load = refuse_##format };
#ifndef HAVE_PROTOBUF_C
LACKING_FORMAT(pprof, "pb.gz", "protobuf-c", "libprotobuf-c-dev and protobuf-c-compiler")
#endif
#ifndef HAVE_CAPSTONE
LACKING_FORMAT(insns, "insns", "capstone", "libcapstone-dev")
#endif
#ifndef HAVE_SQLITE
LACKING_FORMAT(sqlite, "db", "libsqlite3", "libsqlite3-dev")
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

/* ---- The limit of the output's size ---------------------------------------- */

/* Room for a slice in any format: a name and a path of 32,000 bytes each, escaped. */
#define SLICE_BYTES_SHIFT 18

/*
 * Emit an end or begin of late slices that were open at the limit: of callers, only that of the
 * last slice was known then. Drop others, and what began after the limit.
 */
static void emit_late(const struct slice_limit *limit, struct track *track,
		      const struct slice_event *event)
{
	if (event->kind == SLICE_END) {
		bool known = !track->late_ended || !(event->flags & SLICE_INFERRED_START);

		track->late_ended = true;
		if (!known || event->ip >= track->limit_time) {
			track->late_left_out++;
			return;
		}
	} else if (track->late_left_out) {
		track->late_left_out--;
		return;
	} else if (event->time >= track->limit_time) {
		track->left_out++;
		return;
	}
	slice_sink_emit(limit->next, track, event, NULL);
}

static void limit_events(const struct slice_sink *sink, void *context,
			 const struct slice_batch *batch)
{
	const struct slice_limit *limit = sink->context;
	struct track *track = context;
	struct slice_batch part = *batch;

	for (size_t at = 0; at < batch->count; at += part.count) {
		uint64_t room = limit->stores && temp_files_full() ? 0 : output_room(limit->output);

		part.events = batch->events + at;
		part.count = 1;
		if (!room || limit->output->cut) {
			struct slice_event end = *part.events;

			/*
			 * Emit the end of an open slice at the time of the thread's last event;
			 * drop other events. The amount decoded after the limit depends on the
			 * number of threads, so it must not be visible.
			 */
			limit->output->cut |= output_full(limit->output);
			end.time = MIN(track->limit_time, part.events->time);
			if (part.events->kind == SLICE_LATE)
				slice_sink_emit(limit->next, track, part.events, NULL);
			else if (part.events->order == SLICE_ORDER_DEFERRED)
				emit_late(limit, track, &end);
			else if (part.events->kind == SLICE_BEGIN)
				track->left_out++;
			else if (part.events->kind == SLICE_END && track->left_out)
				track->left_out--;
			else if (part.events->kind == SLICE_END)
				slice_sink_emit(limit->next, track, &end, NULL);
			continue;
		}
		part.count += (size_t)(room >> SLICE_BYTES_SHIFT);
		part.count = MIN(part.count, batch->count - at);
		track->limit_time = MAX(track->limit_time, part.events[part.count - 1].time);
		limit->next->events(limit->next, track, &part);
	}
}

void slice_limit_init(struct slice_limit *limit, const struct slice_sink *next,
		      struct output *output)
{
	*limit = (struct slice_limit){ .sink = *next, .next = next, .output = output };
	limit->sink.events = limit_events;
	limit->sink.context = limit;
}
