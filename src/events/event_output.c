/* SPDX-License-Identifier: MIT */
/* Collect all events other than calls, in order of time. */
#include "src/events/event_output.h"

/* Bytes of queued events that stay in memory. */
#define EVENTS_MEMORY ((size_t)16 << 20)

/* ---- States before the selected time ------------------------------------- */

/*
 * Sleeps, guests, transactions and frequencies that began before the selected time.  The last event
 * of each is kept until its end, and emitted at the beginning of that time.
 */

/* In the order in which they are emitted: a guest's slice shows its VMCS. */
enum state {
	STATE_NONE = 0,
	STATE_FREQUENCY,
	STATE_VMCS,
	STATE_GUEST,
	STATE_MWAIT,
	STATE_SLEEP,
	STATE_TRANSACTION, /* state of a thread; the others are of a CPU */
	STATES
};

/* The states that events begin or end. */
static const uint8_t state_of[CPU_EVENT_KINDS] = {
	[CPU_EVENT_CBR] = STATE_FREQUENCY,
	[CPU_EVENT_VMCS] = STATE_VMCS,
	[CPU_EVENT_PIP] = STATE_GUEST,
	[CPU_EVENT_MWAIT] = STATE_MWAIT,
	[CPU_EVENT_PWRE] = STATE_SLEEP,
	[CPU_EVENT_PWRX] = STATE_SLEEP,
	[CPU_EVENT_TX_BEGIN] = STATE_TRANSACTION,
	[CPU_EVENT_TX_COMMIT] = STATE_TRANSACTION,
	[CPU_EVENT_TX_ABORT] = STATE_TRANSACTION,
	[CPU_EVENT_TX_LOST] = STATE_TRANSACTION,
};

struct state_owner {
	struct event_owner key;
	struct cpu_event states[STATES]; /* kind CPU_EVENT_NONE: unset */
	UT_hash_handle hh;
};

/* Keep or drop a state by its event. */
static void update_state(struct event_output *output, const struct cpu_event *event)
{
	const struct event_owner key = state_of[event->kind] == STATE_TRANSACTION
					       ? (struct event_owner){ event->thread, EVENT_NO_CPU }
					       : (struct event_owner){ NULL, event->cpu };
	struct state_owner *owner;
	struct cpu_event *state;

	HASH_FIND_OR_ADD(output->states, key, &key, owner);
	state = &owner->states[state_of[event->kind]];
	if ((cpu_event_is_tx(event->kind) && event->kind != CPU_EVENT_TX_BEGIN) ||
	    event->kind == CPU_EVENT_PWRX || (event->kind == CPU_EVENT_PIP && !event->extra))
		state->kind = CPU_EVENT_NONE;
	/* The guest's slice has the CR3 of its entry. */
	else if (event->kind != CPU_EVENT_PIP || state->kind == CPU_EVENT_NONE)
		*state = *event;
	if (event->kind == CPU_EVENT_PWRX)
		owner->states[STATE_MWAIT].kind = CPU_EVENT_NONE;
}

/* ---- All events ---------------------------------------------------------- */

void event_output_init(struct event_output *output, const struct event_output_input *input,
		       struct name_table *names)
{
	*output = (struct event_output){ .input = *input };
	output->ptwrite = symbol_special(names, "ptwrite", SPECIAL_OTHER);
	output->ptwrite.kind = SYMBOL_MARK;
	output->abort = symbol_special(names, "[transaction aborted]", SPECIAL_OTHER);
	if (!input->sink)
		return;
	output->tracks = (struct event_tracks){
		.sink = input->sink,
		.timeline = input->timeline,
		.filter = input->filter,
		.named = alloc_zeroed(input->timeline->threads.count + 1,
				      sizeof(*output->tracks.named)),
		.unknown = input->facts.free_id,
	};
}

/* While the trace is decoded, the target belongs to the thread that writes slices. */
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

	if (!output->input.sink || !event->time || event->time >= filter->begin ||
	    event->kind >= CPU_EVENT_KINDS || state_of[event->kind] == STATE_NONE)
		return false;
	return cpu_event_has_thread(event->kind)
		       ? event_filter_has(filter, event->thread, filter->begin)
		       : event_filter_has_cpu(filter, event->cpu, filter->begin);
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
	if (output->input.stacks) {
		/* Pass the events that concern the thread's calls to its stack. */
		if (branch->gap == CPU_EVENT_PTWRITE)
			thread_stacks_mark(output->input.stacks, branch, &output->ptwrite);
		else if (branch->gap == CPU_EVENT_TX_ABORT)
			thread_stacks_mark(output->input.stacks, branch, &output->abort);
		else if (branch->gap == CPU_EVENT_EVD)
			thread_stacks_event_data(output->input.stacks, branch->thread,
						 branch->cycles, branch->to);
		else if (branch->gap == CPU_EVENT_CFE &&
			 (branch->cycles == CONTROL_INTERRUPT ||
			  branch->cycles == CONTROL_SOFTWARE_INTERRUPT))
			thread_stacks_interrupt(output->input.stacks, branch->thread,
						(uint8_t)branch->to);
		else if (branch->gap == CPU_EVENT_CFE)
			thread_stacks_drop_event_data(output->input.stacks, branch->thread);
	}
	if (output->input.sink && event_filter_has_cpu(output->input.filter, event.cpu, event.time))
		queue_event(output, &event);
}

static void write_events(struct event_output *output)
{
	const struct cpu_event *events = output->events.items;
	uint64_t begin = output->input.filter->begin;

	for (size_t i = 0; i < output->event_count; i++)
		if (events[i].time && events[i].time < begin)
			update_state(output, &events[i]);
	for (struct state_owner *owner = output->states; owner; owner = owner->hh.next) {
		for (int i = STATE_NONE + 1; i < STATES; i++) {
			if (owner->states[i].kind == CPU_EVENT_NONE)
				continue;
			owner->states[i].time = output->input.filter->begin;
			cpu_event_write(output, &owner->states[i]);
		}
	}
	for (size_t i = 0; i < output->event_count; i++) {
		enum cpu_event_kind kind = events[i].kind;

		if (events[i].time && events[i].time < begin)
			continue;
		if (!events[i].time || (kind != CPU_EVENT_PEBS && kind != CPU_EVENT_PEBS_ITEM))
			cpu_event_write(output, &events[i]);
		else if (output->input.samples)
			pebs_events_add(output, &events[i]);
	}
	output->event_count = 0;
}

void event_output_finish(struct event_output *output, uint64_t begin, uint64_t end, bool untimed)
{
	const struct timeline *timeline = output->input.timeline;

	if (output->input.sink) {
		write_events(output);
		cpu_events_finish(output, end);
		if (output->untimed)
			diag_warn(output->input.diag, "side-untimed",
				  "%" PRIu64
				  " side events (frequency, sleep and others) came before any "
				  "time was known, or with an impossible time; not shown",
				  output->untimed);
		/* Perfetto would show the time since boot between the calls and these events. */
		if (untimed)
			diag_warn(
				output->input.diag, "trace-untimed",
				"the trace has no times; side events with times are not shown: %" PRIu64
				" context switches, and samples",
				(uint64_t)(timeline->has_switches ? timeline->switch_count : 0));
		else
			record_events_write(output, begin);
	}
	if (output->input.samples && !untimed)
		output->hits.sink = output->input.sink;
	output->hits.begin = begin;
	hit_events_show(&output->input, &output->hits);
}

void event_output_release(struct event_output *output)
{
	struct transaction_track *transactions;
	struct state_owner *owner;
	struct cpu_track *cpu;

	big_array_release(&output->events);
	hit_output_release(&output->hits);
	pebs_events_release(output);
	HASH_FREE_ALL(output->states, owner);
	HASH_FREE_ALL(output->transactions, transactions);
	HASH_FREE_ALL(output->tracks.cpus, cpu);
	free(output->tracks.named);
}
