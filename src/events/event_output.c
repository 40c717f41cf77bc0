/* SPDX-License-Identifier: MIT */
/* Collect all events beside the calls, in order of time. */
#include "src/events/event_output.h"

/* Bytes of queued events that stay in memory. */
#define EVENTS_MEMORY ((size_t)16 << 20)

static void init_mark(struct symbol *mark, struct name_table *names, const char *text,
		      enum symbol_kind kind)
{
	mark->kind = (uint8_t)kind;
	mark->name = mark->linkage = name_intern_text(names, text);
}

void event_output_init(struct event_output *output, const struct event_output_input *input,
		       struct name_table *names)
{
	*output = (struct event_output){ .input = *input };
	init_mark(&output->ptwrite, names, "ptwrite", SYMBOL_MARK);
	init_mark(&output->abort, names, "[transaction aborted]", SYMBOL_SPECIAL);
	if (!input->writer)
		return;
	event_tracks_init(&output->tracks, input->writer, input->timeline, input->filter);
	output->tracks.unknown = input->facts.free_id;
	cpu_event_sink_init(&output->sink, &output->tracks, input->info);
	output->pebs = (struct pebs_events){ .tracks = &output->tracks,
					     .file = input->file,
					     .info = input->info,
					     .resolver = input->resolver };
	output->initial.begin = input->filter->begin;
}

/* Pass the events that concern the thread's calls to its stack. */
static void mark_calls(struct thread_stacks *stacks, const struct event_output *output,
		       const struct branch_event *event)
{
	if (event->gap == CPU_EVENT_PTWRITE)
		thread_stacks_mark(stacks, event, &output->ptwrite);
	else if (event->gap == CPU_EVENT_TX_ABORT)
		thread_stacks_mark(stacks, event, &output->abort);
	else if (event->gap == CPU_EVENT_EVD)
		thread_stacks_event_data(stacks, event->thread, event->cycles, event->to);
	else if (event->gap == CPU_EVENT_CFE && (event->cycles == CONTROL_INTERRUPT ||
						 event->cycles == CONTROL_SOFTWARE_INTERRUPT))
		thread_stacks_interrupt(stacks, event->thread, (uint8_t)event->to);
	else if (event->gap == CPU_EVENT_CFE)
		thread_stacks_drop_event_data(stacks, event->thread);
}

/* While the trace is decoded, the writer belongs to the thread that writes slices. */
static void queue_event(struct event_output *output, const struct cpu_event *event)
{
	struct cpu_event *events;

	if (output->event_count == output->events.room)
		big_array_grow(&output->events, output->event_count + 1, sizeof(*events),
			       EVENTS_MEMORY);
	events = output->events.items;
	events[output->event_count++] = *event;
}

/* Returns whether an event before the selected time may begin a state that lasts into it. */
static bool may_begin_state(const struct event_output *output, const struct cpu_event *event)
{
	const struct event_filter *filter = output->input.filter;

	if (!output->input.writer || !event->time || event->time >= filter->begin ||
	    !initial_state_is_state(event->kind))
		return false;
	return cpu_event_has_thread(event->kind)
		       ? event_filter_has(filter, event->thread, filter->begin)
		       : event_tracks_wants_cpu(&output->tracks, event->cpu, filter->begin);
}

void event_output_add(struct event_output *output, const struct branch_event *branch)
{
	struct cpu_event event = cpu_event_of(branch);

	if (may_begin_state(output, &event)) {
		queue_event(output, &event);
		return;
	}
	if (cpu_event_has_thread(event.kind) &&
	    !event_filter_has(output->input.filter, branch->thread, branch->time))
		return;
	if (output->input.stacks)
		mark_calls(output->input.stacks, output, branch);
	if (output->input.writer && event_tracks_wants_cpu(&output->tracks, event.cpu, event.time))
		queue_event(output, &event);
}

static void write_event(struct event_output *output, const struct cpu_event *event)
{
	bool sample = event->kind == CPU_EVENT_PEBS || event->kind == CPU_EVENT_PEBS_ITEM;

	if (!sample || !event->time)
		cpu_event_sink_add(&output->sink, event);
	else if (output->input.samples)
		pebs_events_add(&output->pebs, event);
}

static void write_events(struct event_output *output)
{
	const struct cpu_event *events = output->events.items;

	for (size_t i = 0; i < output->event_count; i++) {
		if (events[i].time && events[i].time < output->initial.begin) {
			initial_state_update(&output->initial, &events[i]);
		} else {
			initial_state_emit(&output->initial, &events[i], &output->sink);
			write_event(output, &events[i]);
		}
	}
	initial_state_emit_all(&output->initial, &output->sink);
	output->event_count = 0;
}

static void write_hits(struct event_output *output, uint64_t begin, bool untimed)
{
	if (output->input.samples && !untimed)
		output->hits.writer = output->input.writer;
	output->hits.begin = begin;
	hit_events_show(&output->input, &output->hits);
}

/* Perfetto would show the time since the machine's start between the calls and them. */
static void warn_untimed(const struct event_output *output)
{
	uint64_t switches =
		record_events_count_switches(output->input.timeline, output->input.file);

	diag_warn(output->input.diag, "trace-untimed",
		  "the trace has no times; side events that have one are not shown: %" PRIu64
		  " context switches, and samples",
		  switches);
}

static void write_tracks(struct event_output *output, uint64_t begin, uint64_t end, bool untimed)
{
	write_events(output);
	cpu_event_sink_finish(&output->sink, end);
	if (output->sink.untimed)
		diag_warn(output->input.diag, "side-untimed",
			  "%" PRIu64 " side events (frequency, sleep and others) came before any "
			  "time was known, or with an impossible one; not shown",
			  output->sink.untimed);
	if (untimed)
		warn_untimed(output);
	else
		record_events_write(output, begin);
}

void event_output_finish(struct event_output *output, uint64_t begin, uint64_t end, bool untimed)
{
	if (output->input.writer)
		write_tracks(output, begin, end, untimed);
	write_hits(output, begin, untimed);
}

void event_output_release(struct event_output *output)
{
	big_array_release(&output->events);
	hit_output_release(&output->hits);
	cpu_event_sink_release(&output->sink);
	pebs_events_release(&output->pebs);
	initial_state_release(&output->initial);
	event_tracks_release(&output->tracks);
}
