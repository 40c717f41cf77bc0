/* SPDX-License-Identifier: MIT */
#include "src/pipeline/output_pipeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/io/output_path.h"
#include "src/batch/batch_stamp.h"
#include "src/callstack/magic_trace/callstack_magic_trace.h"
#include "src/callstack/precise/callstack_precise.h"
#include "src/slices/slice_queue.h"
#include "src/slices/track.h"

struct pipeline_track {
	struct track track;
	struct pipeline_track *next;
};

static bool is_sorted(const struct output_pipeline *view)
{
	return view->options->format == FORMAT_FTF || view->options->format == FORMAT_SLICES ||
	       slice_output_is(view->options->format);
}

static bool is_split(const struct output_pipeline *view)
{
	return view->options->format == FORMAT_FTF && view->options->select.split.unit;
}

/* Where the output goes: as asked for; else INPUT.ftf, and standard output for text. */
static const char *output_path(struct output_pipeline *view)
{
	const struct options *options = view->options;

	if (options->output)
		return options->output;
	if (options->format != FORMAT_FTF)
		return "-";
	view->default_path = output_path_beside(options->input, "ftf");
	return view->default_path;
}

static int open_output(struct output_pipeline *view, struct error *err)
{
	if (view->options->format == FORMAT_NONE || is_split(view))
		return 0;
	if (output_open(&view->output, output_path(view), err) < 0)
		return -1;
	if (view->options->format == FORMAT_FTF)
		return 0;
	view->text = output_stream(&view->output);
	return view->text ? 0 : error_set_system(err, errno, "cannot open a stream");
}

/* Returns what the sorter writes to. */
static const struct slice_sink *before_tail(struct output_pipeline *view)
{
	if (!view->options->json)
		return &view->tail;
	slice_totals_init(&view->tally, &view->tail);
	return &view->tally.sink;
}

static bool is_filtered(const struct output_pipeline *view)
{
	return is_sorted(view) && selection_of_slices(&view->options->select);
}

/* What the sink at the end needs in front of it. */
static void connect_tail(struct output_pipeline *view, struct diag *diag)
{
	size_t most = view->options->format == FORMAT_FTF ? SLICE_SORTER_DEPTH : SIZE_MAX;

	view->head = &view->sorter.sink;
	if (!is_filtered(view)) {
		slice_sorter_init(&view->sorter, before_tail(view), diag);
		view->sorter.depth = most;
		return;
	}
	slice_filter_init(&view->filter, &view->options->select, before_tail(view), diag);
	view->filter.most = most;
	slice_sorter_init(&view->sorter, &view->filter.sink, diag);
	view->sorter.depth = SIZE_MAX;
}

static int connect(struct output_pipeline *view, struct name_table *names, struct diag *diag,
		   struct error *err)
{
	switch (view->options->format) {
	case FORMAT_FTF:
		if (is_split(view))
			break;
		ftf_sink_init(&view->ftf, &view->output, names, view->options->args);
		if (view->options->stamp)
			ftf_sink_note(&view->ftf, STAMP_NAME, view->options->stamp);
		view->tail = ftf_sink_slices(&view->ftf);
		break;
	case FORMAT_SLICES:
		slice_list_init(&view->slices, names, view->options->args);
		view->tail = slice_list_sink(&view->slices);
		break;
	case FORMAT_CALLS:
		format_calls_init(&view->calls, view->text);
		view->head = &view->calls.sink;
		break;
	default:
		break;
	}
	if (is_split(view)) {
		if (ftf_split_init(&view->split, view->options, output_path(view), names, err) < 0)
			return -1;
		view->tail = ftf_split_sink(&view->split);
	}
	if (slice_output_is(view->options->format) &&
	    slice_output_init(&view->other, view->options, view->text, names, &view->tail, err) < 0)
		return -1;
	if (is_sorted(view))
		connect_tail(view, diag);
	return 0;
}

int output_pipeline_open(struct output_pipeline *view, const struct options *options,
			 enum trace_mode mode, struct name_table *names, struct diag *diag,
			 struct error *err)
{
	struct callstack_options machine = { .mode = mode, .names = names, .diag = diag };

	*view = (struct output_pipeline){ .options = options };
	if (open_output(view, err) < 0)
		return -1;
	if (connect(view, names, diag, err) < 0) {
		output_pipeline_release(view);
		return -1;
	}
	if (options->format == FORMAT_BRANCHES || options->format == FORMAT_NONE)
		return 0;
	machine.sink = view->head;
	view->machine = options->stacks == STACKS_MAGIC_TRACE ? callstack_magic_trace_open(&machine)
							      : callstack_precise_open(&machine);
	view->calls.machine = view->machine;
	return 0;
}

void *output_pipeline_add_track(struct output_pipeline *view, int32_t pid, int32_t tid,
				const char *process_name, const char *thread_name)
{
	struct pipeline_track *added = alloc_zeroed(1, sizeof(*added));

	added->track.pid = pid;
	added->track.tid = tid;
	added->track.index = view->track_count++;
	added->track.process_name = process_name;
	added->track.thread_name = thread_name;
	added->next = view->tracks;
	view->tracks = added;
	if (!is_sorted(view))
		return &added->track;
	if (is_filtered(view))
		return slice_sorter_track(&view->sorter,
					  slice_filter_track(&view->filter, &added->track));
	return slice_sorter_track(&view->sorter, &added->track);
}

void output_pipeline_start_writer(struct output_pipeline *view, struct workers *workers)
{
	if (view->options->format != FORMAT_FTF || is_split(view))
		return;
	view->relay = slice_queue_open(view->head, &view->output, &view->ftf.slices, workers);
	view->machine->sink = slice_queue_sink(view->relay);
}

void output_pipeline_join_writer(struct output_pipeline *view)
{
	if (!view->relay)
		return;
	slice_queue_wait(view->relay);
	slice_queue_close(view->relay);
	view->relay = NULL;
	view->machine->sink = view->head;
}

uint64_t output_pipeline_slices(const struct output_pipeline *view)
{
	return view->slices.count + slice_output_slices(&view->other) + view->split.slices +
	       (view->relay ? slice_queue_slices(view->relay) : view->ftf.slices);
}

const char *output_pipeline_output(const struct output_pipeline *view, size_t number)
{
	if (is_split(view))
		return number < view->split.part_count ? view->split.parts[number] : NULL;
	return number == 0 ? view->output.path : NULL;
}

const struct tally_thread *output_pipeline_borrow_tally(const struct output_pipeline *view,
							uint32_t index)
{
	return index < view->tally.thread_count ? &view->tally.threads[index] : NULL;
}

bool output_pipeline_failed(const struct output_pipeline *view)
{
	if (view->relay)
		return slice_queue_failed(view->relay);
	return output_failed(&view->output);
}

int output_pipeline_close(struct output_pipeline *view, struct error *err)
{
	if (is_sorted(view))
		slice_sorter_finish(&view->sorter);
	if (is_filtered(view))
		slice_filter_finish(&view->filter);
	output_pipeline_join_writer(view);
	if (is_split(view))
		return ftf_split_close(&view->split, err);
	if (view->options->format == FORMAT_FTF && ftf_sink_close(&view->ftf, err) < 0)
		return -1;
	if (view->options->format == FORMAT_SLICES)
		slice_list_print(&view->slices, view->text);
	if (slice_output_finish(&view->other, err) < 0)
		return -1;
	if (view->text)
		fclose(view->text); /* what fails here shows in the output */
	view->text = NULL;
	return view->options->format == FORMAT_NONE ? 0 : output_close(&view->output, err);
}

void output_pipeline_release(struct output_pipeline *view)
{
	slice_queue_close(view->relay);
	view->relay = NULL;
	if (view->text)
		fclose(view->text);
	view->text = NULL;
	output_abandon(&view->output);
	while (view->tracks) {
		struct pipeline_track *track = view->tracks;

		view->tracks = track->next;
		free(track->track.open);
		slice_costs_release(&track->track.costs);
		free(track);
	}
	callstack_machine_close(view->machine);
	view->machine = NULL;
	slice_sorter_release(&view->sorter);
	slice_totals_release(&view->tally);
	slice_filter_release(&view->filter);
	ftf_sink_release(&view->ftf);
	slice_list_release(&view->slices);
	slice_output_release(&view->other);
	ftf_split_release(&view->split);
	free(view->default_path);
	view->default_path = NULL;
}
