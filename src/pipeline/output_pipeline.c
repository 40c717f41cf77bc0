/* SPDX-License-Identifier: MIT */
#include "src/pipeline/output_pipeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "src/batch/batch_stamp.h"
#include "src/callstack/magic_trace/callstack_magic_trace.h"
#include "src/callstack/precise/callstack_precise.h"
#include "base/io/output_path.h"
#include "src/slices/slice_queue.h"
#include "src/slices/track.h"

struct view_track {
	struct track track;
	struct view_track *next;
};

static bool is_sorted(const struct view *view)
{
	return view->options->format == FORMAT_FTF || view->options->format == FORMAT_SLICES ||
	       slice_output_is(view->options->format);
}

static bool is_split(const struct view *view)
{
	return view->options->format == FORMAT_FTF && view->options->select.split.unit;
}

/* Where the output goes: as asked for; else INPUT.ftf, and standard output for text. */
static const char *output_path(struct view *view)
{
	const struct options *options = view->options;

	if (options->output)
		return options->output;
	if (options->format != FORMAT_FTF)
		return "-";
	view->default_path = output_path_beside(options->input, "ftf");
	return view->default_path;
}

static int open_output(struct view *view, struct error *err)
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
static const struct span_sink *before_tail(struct view *view)
{
	if (!view->options->json)
		return &view->tail;
	span_tally_init(&view->tally, &view->tail);
	return &view->tally.sink;
}

static bool is_filtered(const struct view *view)
{
	return is_sorted(view) && selection_of_slices(&view->options->select);
}

/* What the sink at the end needs in front of it. */
static void connect_tail(struct view *view, struct diag *diag)
{
	size_t most = view->options->format == FORMAT_FTF ? SPAN_SORTER_DEPTH : SIZE_MAX;

	view->head = &view->sorter.sink;
	if (!is_filtered(view)) {
		span_sorter_init(&view->sorter, before_tail(view), diag);
		view->sorter.depth = most;
		return;
	}
	span_filter_init(&view->filter, &view->options->select, before_tail(view), diag);
	view->filter.most = most;
	span_sorter_init(&view->sorter, &view->filter.sink, diag);
	view->sorter.depth = SIZE_MAX;
}

static int connect(struct view *view, struct name_table *names, struct diag *diag,
		   struct error *err)
{
	switch (view->options->format) {
	case FORMAT_FTF:
		if (is_split(view))
			break;
		ftf_sink_init(&view->ftf, &view->output, names, view->options->args);
		if (view->options->stamp)
			ftf_sink_note(&view->ftf, STAMP_NAME, view->options->stamp);
		view->tail = ftf_sink_spans(&view->ftf);
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

int view_open(struct view *view, const struct options *options, enum trace_mode mode,
	      struct name_table *names, struct diag *diag, struct error *err)
{
	struct callstack_options machine = { .mode = mode, .names = names, .diag = diag };

	*view = (struct view){ .options = options };
	if (open_output(view, err) < 0)
		return -1;
	if (connect(view, names, diag, err) < 0) {
		view_release(view);
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

void *view_add_track(struct view *view, int32_t pid, int32_t tid, const char *process_name,
		     const char *thread_name)
{
	struct view_track *added = alloc_zeroed(1, sizeof(*added));

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
		return span_sorter_track(&view->sorter,
					 span_filter_track(&view->filter, &added->track));
	return span_sorter_track(&view->sorter, &added->track);
}

void view_write_aside(struct view *view, struct pt_workers *workers)
{
	if (view->options->format != FORMAT_FTF || is_split(view))
		return;
	view->relay = span_relay_open(view->head, &view->output, &view->ftf.slices, workers);
	view->machine->sink = span_relay_sink(view->relay);
}

void view_settle(struct view *view)
{
	if (!view->relay)
		return;
	span_relay_wait(view->relay);
	span_relay_close(view->relay);
	view->relay = NULL;
	view->machine->sink = view->head;
}

uint64_t view_slices(const struct view *view)
{
	return view->slices.count + slice_output_slices(&view->other) + view->split.slices +
	       (view->relay ? span_relay_slices(view->relay) : view->ftf.slices);
}

const char *view_output(const struct view *view, size_t number)
{
	if (is_split(view))
		return number < view->split.part_count ? view->split.parts[number] : NULL;
	return number == 0 ? view->output.path : NULL;
}

const struct tally_thread *view_borrow_tally(const struct view *view, uint32_t index)
{
	return index < view->tally.thread_count ? &view->tally.threads[index] : NULL;
}

bool view_failed(const struct view *view)
{
	if (view->relay)
		return span_relay_failed(view->relay);
	return output_failed(&view->output);
}

int view_close(struct view *view, struct error *err)
{
	if (is_sorted(view))
		span_sorter_finish(&view->sorter);
	if (is_filtered(view))
		span_filter_finish(&view->filter);
	view_settle(view);
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

void view_release(struct view *view)
{
	span_relay_close(view->relay);
	view->relay = NULL;
	if (view->text)
		fclose(view->text);
	view->text = NULL;
	output_abandon(&view->output);
	while (view->tracks) {
		struct view_track *track = view->tracks;

		view->tracks = track->next;
		free(track->track.open);
		slice_costs_release(&track->track.costs);
		free(track);
	}
	callstack_machine_close(view->machine);
	view->machine = NULL;
	span_sorter_release(&view->sorter);
	span_tally_release(&view->tally);
	span_filter_release(&view->filter);
	ftf_sink_release(&view->ftf);
	slice_list_release(&view->slices);
	slice_output_release(&view->other);
	ftf_split_release(&view->split);
	free(view->default_path);
	view->default_path = NULL;
}
