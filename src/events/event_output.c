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

void event_output_init(struct event_output *view, const struct event_output_input *input,
		       struct name_table *names)
{
	*view = (struct event_output){ .input = *input };
	init_mark(&view->ptwrite, names, "ptwrite", SYMBOL_MARK);
	init_mark(&view->abort, names, "[transaction aborted]", SYMBOL_SPECIAL);
	if (!input->writer)
		return;
	event_tracks_init(&view->tracks, input->writer, input->timeline, input->filter);
	event_sink_init(&view->sink, &view->tracks, input->info);
	view->early.begin = input->filter->begin;
}

static void mark(struct event_output *view, const struct branch_event *event)
{
	if (!view->input.stacks)
		return;
	if (event->gap == CPU_EVENT_PTWRITE)
		thread_stacks_mark(view->input.stacks, event, &view->ptwrite);
	else if (event->gap == CPU_EVENT_TX_ABORT)
		thread_stacks_mark(view->input.stacks, event, &view->abort);
	else if (event->gap == CPU_EVENT_EVD)
		thread_stacks_event_data(view->input.stacks, event->thread, event->cycles,
					 event->to);
	else if (event->gap == CPU_EVENT_CFE && event->cycles == CONTROL_INTERRUPT)
		thread_stacks_interrupt(view->input.stacks, event->thread, (uint8_t)event->to);
	else if (event->gap == CPU_EVENT_CFE)
		thread_stacks_drop_event_data(view->input.stacks, event->thread);
}

/* While the trace is decoded, the writer belongs to the thread that writes slices. */
static void wait(struct event_output *view, const struct cpu_event *event)
{
	struct cpu_event *events;

	if (view->event_count == view->events.room)
		big_array_grow(&view->events, view->event_count + 1, sizeof(*events),
			       EVENTS_MEMORY);
	events = view->events.items;
	events[view->event_count++] = *event;
}

/* Whether it may begin what goes on when the chosen time begins. */
static bool goes_on(const struct event_output *view, const struct cpu_event *side)
{
	uint64_t begin = view->input.filter->begin;

	if (!view->input.writer || !side->time || side->time >= begin ||
	    !initial_state_is_state(side->kind))
		return false;
	return cpu_event_has_thread(side->kind)
		       ? event_tracks_wants(&view->tracks, side->thread, begin)
		       : event_tracks_wants_cpu(&view->tracks, side->cpu, begin);
}

void event_output_event(struct event_output *view, const struct branch_event *event)
{
	struct cpu_event side = cpu_event_of(event);

	if (goes_on(view, &side)) {
		wait(view, &side);
		return;
	}
	if (cpu_event_has_thread(side.kind) &&
	    !event_filter_has(view->input.filter, event->thread, event->time))
		return;
	mark(view, event);
	if (view->input.writer && event_tracks_wants_cpu(&view->tracks, side.cpu, side.time))
		wait(view, &side);
}

static void write_event(void *context, const struct cpu_event *event)
{
	event_sink_event(context, event);
}

static void write_events(struct event_output *view)
{
	const struct initial_state_out out = { write_event, &view->sink };
	const struct cpu_event *events = view->events.items;

	for (size_t i = 0; i < view->event_count; i++) {
		if (events[i].time && events[i].time < view->early.begin) {
			initial_state_take(&view->early, &events[i]);
		} else {
			initial_state_give(&view->early, &events[i], &out);
			event_sink_event(&view->sink, &events[i]);
		}
	}
	initial_state_give_all(&view->early, &out);
	view->event_count = 0;
}

void event_output_finish(struct event_output *view, uint64_t begin, uint64_t end)
{
	struct record_events records = {
		.tracks = &view->tracks,
		.file = view->input.file,
		.resolver = view->input.resolver,
		.diag = view->input.diag,
		.samples = view->input.samples,
	};

	if (!view->input.writer)
		return;
	write_events(view);
	event_sink_finish(&view->sink, end);
	if (view->sink.untimed)
		diag_warn(view->input.diag, "side-untimed",
			  "%" PRIu64 " side events (frequency, sleep and others) came before any "
			  "time was known, and are not shown",
			  view->sink.untimed);
	switch_events_write(&view->tracks, view->input.file);
	record_events_write(&records);
	side_clock_write(view->input.writer, &view->input.file->features, begin);
}

void event_output_release(struct event_output *view)
{
	big_array_release(&view->events);
	event_sink_release(&view->sink);
	initial_state_release(&view->early);
	event_tracks_release(&view->tracks);
}
