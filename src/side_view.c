/* SPDX-License-Identifier: MIT */
#include "side_view.h"

#include "side_records.h"
#include "side_switches.h"

static void init_mark(struct symbol *mark, struct name_table *names, const char *text,
		      enum symbol_kind kind)
{
	mark->kind = (uint8_t)kind;
	mark->name = mark->linkage = name_intern_text(names, text);
}

void side_view_init(struct side_view *view, const struct side_view_input *input,
		    struct name_table *names)
{
	*view = (struct side_view){ .input = *input };
	init_mark(&view->ptwrite, names, "ptwrite", SYMBOL_MARK);
	init_mark(&view->abort, names, "[transaction aborted]", SYMBOL_SPECIAL);
	if (!input->writer)
		return;
	side_tracks_init(&view->tracks, input->writer, input->timeline, input->filter);
	side_sink_init(&view->sink, &view->tracks, input->info);
}

static void mark(struct side_view *view, const struct branch_event *event)
{
	if (!view->input.stacks)
		return;
	if (event->gap == SIDE_PTWRITE)
		thread_stacks_mark(view->input.stacks, event, &view->ptwrite);
	else if (event->gap == SIDE_TX_ABORT)
		thread_stacks_mark(view->input.stacks, event, &view->abort);
	else if (event->gap == SIDE_CONTROL && event->cycles == CONTROL_INTERRUPT)
		thread_stacks_interrupt(view->input.stacks, event->thread, (uint8_t)event->to);
}

void side_view_event(struct side_view *view, const struct branch_event *event)
{
	struct side_event side = side_event_of(event);

	if (side_is_of_thread(side.kind) && !event_filter_wants(view->input.filter, event))
		return;
	mark(view, event);
	if (view->input.writer && side_tracks_wants_cpu(&view->tracks, side.cpu, side.time))
		side_sink_event(&view->sink, &side);
}

void side_view_finish(struct side_view *view, uint64_t begin, uint64_t end)
{
	struct side_records records = {
		.tracks = &view->tracks,
		.file = view->input.file,
		.resolver = view->input.resolver,
		.diag = view->input.diag,
		.samples = view->input.samples,
	};

	if (!view->input.writer)
		return;
	side_sink_finish(&view->sink, end);
	side_switches_write(&view->tracks, view->input.file);
	side_records_write(&records);
	side_clock_write(view->input.writer, &view->input.file->features, begin);
}

void side_view_release(struct side_view *view)
{
	side_sink_release(&view->sink);
	side_tracks_release(&view->tracks);
}
