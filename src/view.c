/* SPDX-License-Identifier: MIT */
#include "view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "batch_stamp.h"
#include "callstack_magic_trace.h"
#include "callstack_precise.h"
#include "output_path.h"
#include "track.h"

struct view_track {
	struct track track;
	struct view_track *next;
};

static bool is_sorted(const struct view *view)
{
	return view->options->format == FORMAT_FTF || view->options->format == FORMAT_SLICES;
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
	if (view->options->format == FORMAT_NONE)
		return 0;
	if (output_open(&view->output, output_path(view), err) < 0)
		return -1;
	if (view->options->format == FORMAT_FTF)
		return 0;
	view->text = output_stream(&view->output);
	return view->text ? 0 : error_set_system(err, errno, "cannot open a stream");
}

static void connect(struct view *view, struct name_table *names, struct diag *diag)
{
	switch (view->options->format) {
	case FORMAT_FTF:
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
	if (is_sorted(view)) {
		span_sorter_init(&view->sorter, &view->tail, diag);
		if (view->options->format != FORMAT_FTF)
			view->sorter.depth = SIZE_MAX;
		view->head = &view->sorter.sink;
	}
}

int view_open(struct view *view, const struct options *options, enum trace_mode mode,
	      struct name_table *names, struct diag *diag, struct error *err)
{
	struct callstack_options machine = { .mode = mode, .names = names, .diag = diag };

	*view = (struct view){ .options = options };
	if (open_output(view, err) < 0)
		return -1;
	connect(view, names, diag);
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
	return is_sorted(view) ? (void *)span_sorter_track(&view->sorter, &added->track)
			       : (void *)&added->track;
}

uint64_t view_slices(const struct view *view)
{
	return view->slices.count + view->ftf.slices;
}

bool view_failed(const struct view *view)
{
	return output_failed(&view->output);
}

int view_close(struct view *view, struct error *err)
{
	if (is_sorted(view))
		span_sorter_finish(&view->sorter);
	if (view->options->format == FORMAT_FTF && ftf_sink_close(&view->ftf, err) < 0)
		return -1;
	if (view->options->format == FORMAT_SLICES)
		slice_list_print(&view->slices, view->text);
	if (view->text)
		fclose(view->text); /* what fails here shows in the output */
	view->text = NULL;
	return view->options->format == FORMAT_NONE ? 0 : output_close(&view->output, err);
}

void view_release(struct view *view)
{
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
	ftf_sink_release(&view->ftf);
	slice_list_release(&view->slices);
	free(view->default_path);
	view->default_path = NULL;
}
