/* SPDX-License-Identifier: MIT */
/*
 * Selects the trace to decode, and the branches for call stacks, by time, process, thread, thread
 * name and CPU.
 *
 * Other CPUs' and threads' streams are not decoded, and of each stream only the selected time.
 */
#pragma once

#include "decoder/engine/pt_stream.h"
#include "decoder/streams/auxtrace.h"
#include "decoder/timeline/timeline.h"
#include "src/options/options.h"

struct event_filter {
	const struct selection *selection; /* borrowed */
	uint64_t begin, end;               /* ns: events in [begin, end] are wanted */
	bool *threads; /* owned; by index, the last for unknown threads: wanted */
	/*
	 * Owned; by index: time (ns) up to which to follow an unwanted thread's stack; UINT64_MAX:
	 * until it has begun. NULL: no such stacks.
	 */
	uint64_t *needed;
	size_t thread_count;
	bool active;                /* the selection excludes something */
	uint64_t gaps[GAP_REASONS]; /* unwanted gaps, by enum gap_reason */
	uint64_t bytes_left_out;    /* bytes of trace not decoded */
};

/*
 * Resolve a selection to times and threads, and cut the trace's streams accordingly: replaces
 * auxtrace->streams, in its arena. Borrows `options` until release. Returns 0; -1 with err filled
 * if the trace lacks the selection.
 */
int event_filter_init(struct event_filter *filter, const struct options *options,
		      struct auxtrace *auxtrace, const struct timeline *timeline, struct diag *diag,
		      struct error *err);

/* Find the start and end of the trace, in ns. Returns false if it has no TSC packets. */
bool event_filter_extent(const struct auxtrace *auxtrace, uint64_t *begin, uint64_t *end);

void event_filter_release(struct event_filter *filter);

/* Returns whether times are excluded. */
static inline bool event_filter_by_time(const struct event_filter *filter)
{
	return filter->begin || filter->end != UINT64_MAX;
}

/* Returns whether threads are excluded. */
static inline bool event_filter_by_thread(const struct event_filter *filter)
{
	return filter->active && (filter->selection->pids.count || filter->selection->tids.count ||
				  filter->selection->comms.count);
}

/* Returns whether events of a thread (NULL: unknown) are wanted at any time. */
static inline bool event_filter_has_thread(const struct event_filter *filter,
					   const struct thread *thread)
{
	return !filter->active || filter->threads[thread ? thread->index : filter->thread_count];
}

/* Returns whether events of a thread (NULL: unknown) at a time (ns) are wanted. */
static inline bool event_filter_has(const struct event_filter *filter, const struct thread *thread,
				    uint64_t time)
{
	return event_filter_has_thread(filter, thread) &&
	       (!filter->active || (time >= filter->begin && time <= filter->end));
}

/*
 * Returns whether unwanted events of a thread can affect the stack that a wanted thread inherits:
 * before the fork, or at the start of a sibling.
 */
static inline bool event_filter_needs(const struct event_filter *filter,
				      const struct thread *thread, uint64_t time)
{
	return filter->needed && thread && time < filter->needed[thread->index] &&
	       time >= filter->begin && time <= filter->end;
}

/* Returns whether events of a CPU (-1: unknown) at a time (ns) are wanted. */
static inline bool event_filter_has_cpu(const struct event_filter *filter, int32_t cpu,
					uint64_t time)
{
	const struct number_list *cpus = &filter->selection->cpus;

	return !filter->active || (time >= filter->begin && time <= filter->end &&
				   (cpu < 0 || !cpus->count || number_list_has(cpus, cpu)));
}

/* Returns the number of wanted events before the first unwanted one. */
static inline size_t event_filter_first(const struct event_filter *filter,
					const struct branch_event *events, size_t count)
{
	size_t wanted = filter->active ? 0 : count;

	while (wanted < count &&
	       event_filter_has(filter, events[wanted].thread, branch_event_time(&events[wanted])))
		wanted++;
	return wanted;
}

/* Count an unwanted gap; ignores other events. */
static inline void event_filter_drop(struct event_filter *filter, const struct branch_event *event)
{
	/* The `gap` of a CPU event is its kind, which can exceed GAP_REASONS. */
	if (event->kind == BRANCH_GAP)
		filter->gaps[event->gap]++;
}
