/* SPDX-License-Identifier: MIT */
#include "src/events/event_output.h"

#include <inttypes.h>

#include "src/events/perf_record_events.h"
#include "src/events/switch_events.h"

/* Bytes of events that wait in memory. */
#define EVENTS_MEMORY ((size_t)16 << 20)

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
	view->early.begin = input->filter->begin;
}

static void mark(struct side_view *view, const struct branch_event *event)
{
	if (!view->input.stacks)
		return;
	if (event->gap == SIDE_PTWRITE)
		thread_stacks_mark(view->input.stacks, event, &view->ptwrite);
	else if (event->gap == SIDE_TX_ABORT)
		thread_stacks_mark(view->input.stacks, event, &view->abort);
	else if (event->gap == SIDE_DATA)
		thread_stacks_event_data(view->input.stacks, event->thread, event->cycles,
					 event->to);
	else if (event->gap == SIDE_CONTROL && event->cycles == CONTROL_INTERRUPT)
		thread_stacks_interrupt(view->input.stacks, event->thread, (uint8_t)event->to);
	else if (event->gap == SIDE_CONTROL)
		thread_stacks_drop_event_data(view->input.stacks, event->thread);
}

/* While the trace is decoded, the writer belongs to the thread that writes slices. */
static void wait(struct side_view *view, const struct side_event *event)
{
	struct side_event *events;

	if (view->event_count == view->events.room)
		big_array_grow(&view->events, view->event_count + 1, sizeof(*events),
			       EVENTS_MEMORY);
	events = view->events.items;
	events[view->event_count++] = *event;
}

/* Whether it may begin what goes on when the chosen time begins. */
static bool goes_on(const struct side_view *view, const struct side_event *side)
{
	uint64_t begin = view->input.filter->begin;

	if (!view->input.writer || !side->time || side->time >= begin ||
	    !side_early_is_state(side->kind))
		return false;
	return side_is_of_thread(side->kind)
		       ? side_tracks_wants(&view->tracks, side->thread, begin)
		       : side_tracks_wants_cpu(&view->tracks, side->cpu, begin);
}

void side_view_event(struct side_view *view, const struct branch_event *event)
{
	struct side_event side = side_event_of(event);

	if (goes_on(view, &side)) {
		wait(view, &side);
		return;
	}
	if (side_is_of_thread(side.kind) &&
	    !event_filter_has(view->input.filter, event->thread, event->time))
		return;
	mark(view, event);
	if (view->input.writer && side_tracks_wants_cpu(&view->tracks, side.cpu, side.time))
		wait(view, &side);
}

static void write_event(void *context, const struct side_event *event)
{
	side_sink_event(context, event);
}

static void write_events(struct side_view *view)
{
	const struct side_early_out out = { write_event, &view->sink };
	const struct side_event *events = view->events.items;

	for (size_t i = 0; i < view->event_count; i++) {
		if (events[i].time && events[i].time < view->early.begin) {
			side_early_take(&view->early, &events[i]);
		} else {
			side_early_give(&view->early, &events[i], &out);
			side_sink_event(&view->sink, &events[i]);
		}
	}
	side_early_give_all(&view->early, &out);
	view->event_count = 0;
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
	write_events(view);
	side_sink_finish(&view->sink, end);
	if (view->sink.untimed)
		diag_warn(view->input.diag, "side-untimed",
			  "%" PRIu64 " side events (frequency, sleep and others) came before any "
			  "time was known, and are not shown", view->sink.untimed);
	side_switches_write(&view->tracks, view->input.file);
	side_records_write(&records);
	side_clock_write(view->input.writer, &view->input.file->features, begin);
}

void side_view_release(struct side_view *view)
{
	big_array_release(&view->events);
	side_sink_release(&view->sink);
	side_early_release(&view->early);
	side_tracks_release(&view->tracks);
}
