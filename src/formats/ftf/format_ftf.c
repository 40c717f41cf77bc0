/* SPDX-License-Identifier: MIT */
/* --format=ftf: a trace for Perfetto; --format=magic-trace: magic-trace's records. */
#include "src/callstack/callstack.h"
#include "src/formats/ftf/ftf_sink.h"
#include "src/formats/output_format.h"
#include "src/slices/slice_sorter.h"

struct ftf_output {
	struct format_output output; /* first */
	struct ftf_sink ftf;
};

static void open_ftf(struct format_output *output, const struct format_request *request)
{
	struct ftf_output *made = (struct ftf_output *)output;
	const char *stamp = request->options->stamp;

	ftf_sink_init(&made->ftf, request->output, request->names, request->options,
		      &request->facts);
	/* Viewers skip a blob.  Readers look for it at the trace's start. */
	if (stamp)
		ftf_blob(made->ftf.writer,
			 &(struct ftf_blob){ FTF_BLOB_DATA,
					     ftf_text(made->ftf.writer, "ptrace2ftf"), stamp,
					     strlen(stamp) });
	output->sink = ftf_sink_slices(&made->ftf);
	output->slices = made->ftf.fit.limit ? &made->ftf.fit.slices : &made->ftf.slices;
	output->most = made->ftf.most < UINT64_MAX ? made->ftf.most : 0;
	output->fit = made->ftf.fit.limit ? &made->ftf.fit : NULL;
	output->events = &made->ftf.events;
	output->fold = &made->ftf.fit.counts;
}

static void finish_ftf(struct format_output *output)
{
	struct ftf_sink *ftf = &((struct ftf_output *)output)->ftf;

	ftf->others = output->other_slices;
	ftf_sink_close(ftf, &output->err);
	output->records = ftf->records;
}

static void release_ftf(struct format_output *output)
{
	ftf_sink_release(&((struct ftf_output *)output)->ftf);
}

const struct output_format format_ftf = {
	.name = "ftf",
	.default_output = DEFAULT_FILE,
	.slices = SLICES_SORTED,
	.overlays = OVERLAYS_AS_SLICES,
	.queued = true,
	.depth = SLICE_SORTER_DEPTH,
	.cpu_events = true,
	.is_trace = true,
	.split = &format_ftf_split,
	.size = sizeof(struct ftf_output),
	.open = open_ftf,
	.finish = finish_ftf,
	.release = release_ftf,
};

/* ---- --format=magic-trace ------------------------------------------------- */

/* Ids count from 1 in the order of the threads' first events; hits have the first ids. */
static void announce_thread(const struct ftf_output *made, struct track *track)
{
	const uint32_t process = 2 * track->index + 1 + made->output.ids_taken;
	struct ftf_writer *writer = made->ftf.writer;
	struct ftf_thread thread;

	if (track->announced)
		return;
	thread = ftf_thread(writer, process, process + 1);
	ftf_process_name(writer, process, ftf_text(writer, track->ids));
	ftf_thread_name(writer, thread, ftf_text(writer, "main"));
	track->writer_thread = thread.id;
	track->announced = true;
}

/* Returns the time since the run's first event, at least 0. */
static uint64_t since_base(const struct ftf_output *made, uint64_t time)
{
	uint64_t base = made->output.machine->base_time;

	return time > base ? time - base : 0;
}

/* Write an event, with the next one if both form one record. Returns the following event. */
static const struct slice_event *write_record(struct ftf_output *made, const struct track *track,
					      const struct slice_event *event,
					      const struct slice_event *limit)
{
	struct ftf_sink *ftf = &made->ftf;
	struct ftf_arg args[6];
	struct ftf_event record = { .thread = { track->writer_thread },
				    .time = since_base(made, event->time),
				    .args = args };
	uint64_t end = record.time;

	ftf->slices += event->kind != SLICE_END;
	record.name = event->kind == SLICE_INSTANT ? ftf_text(ftf->writer, event->text)
						   : ftf_sink_name(ftf, event->symbol->name);
	if (event->kind == SLICE_END) {
		ftf_end(ftf->writer, &record);
	} else if (event->kind == SLICE_INSTANT) {
		ftf_complete(ftf->writer, &record, end);
	} else if (event + 1 < limit && event[1].order == SLICE_ORDER_WHOLE) {
		end = since_base(made, (++event)->time);
		ftf_complete(ftf->writer, &record, MAX(end, record.time));
	} else {
		const struct symbol *symbol = event->symbol;
		struct source_line line = slice_source_line(symbol);
		size_t count = 0;

		args[count++] = ftf_arg_pointer(ftf->keys[SLICE_ARG_ADDRESS], event->ip);
		if (line.line) {
			args[count++] =
				ftf_arg_int32(ftf->keys[SLICE_ARG_LINE], (int32_t)line.line);
			args[count++] =
				ftf_arg_int32(ftf->keys[SLICE_ARG_COLUMN], (int32_t)line.column);
		}
		args[count++] = ftf_arg_string(ftf->keys[SLICE_ARG_SYMBOL],
					       ftf_sink_name(ftf, symbol->name));
		if (line.line && line.file)
			args[count++] = ftf_arg_string(ftf->keys[SLICE_ARG_FILE],
						       ftf_sink_name(ftf, line.file));
		if (event->flags & SLICE_INFERRED_START)
			args[count++] = ftf_arg_string(ftf->keys[SLICE_ARG_INFERRED], ftf->is_true);
		record.arg_count = count;
		ftf_begin(ftf->writer, &record);
	}
	return event + 1;
}

static void write_records(const struct slice_sink *sink, void *context,
			  const struct slice_batch *batch)
{
	const struct slice_event *event = batch->events, *limit = event + batch->count;

	announce_thread(sink->context, context);
	while (event < limit)
		event = write_record(sink->context, context, event, limit);
}

static void open_magic_trace(struct format_output *output, const struct format_request *request)
{
	struct format_request own = *request;

	/* magic-trace uses the wall clock of the conversion. */
	own.facts.wall_base = WALL_BASE_UNKNOWN;
	if (request->options->input_kind == INPUT_PERF_DATA)
		own.facts.free_id = 0;
	open_ftf(output, &own);
	output->sink = (struct slice_sink){ .events = write_records,
					    .context = output,
					    .immediate = true };
}

const struct output_format format_magic_trace = {
	.name = "magic-trace",
	.suffix = "ftf",
	.default_output = DEFAULT_FILE,
	.slices = SLICES_AS_FOUND,
	.as_perf = true,
	.is_trace = true,
	.imitates = true,
	.size = sizeof(struct ftf_output),
	.open = open_magic_trace,
	.finish = finish_ftf,
	.release = release_ftf,
};
