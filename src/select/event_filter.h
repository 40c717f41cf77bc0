/* SPDX-License-Identifier: MIT */
/*
 * Selects the trace data to decode, and the decoded branches to feed to the call
 * stacks: by time, process, thread, name of the thread, and CPU.
 *
 * Streams of other CPUs and threads are not decoded, and of each stream only the selected
 * time.
 */
#ifndef SRC_SELECT_EVENT_FILTER_H
#define SRC_SELECT_EVENT_FILTER_H

#include "base/diag.h"
#include "decoder/aux/auxtrace.h"
#include "decoder/branch_event.h"
#include "decoder/engine/pt_stream.h"
#include "decoder/timeline/timeline.h"
#include "src/options/options.h"

struct event_filter {
	const struct selection *selection; /* borrowed */
	uint64_t begin, end;               /* ns: events of [begin, end] are wanted */
	bool *threads;                     /* owned; by index, the last for unknown ones: wanted */
	/*
	 * Owned; by index: up to when (ns) the stack of a thread that is not wanted must be
	 * followed; UINT64_MAX: until it has begun.  NULL: none must be.
	 */
	uint64_t *needed;
	size_t thread_count;
	bool active;                /* something is chosen */
	uint64_t gaps[GAP_REASONS]; /* by enum gap_reason: that are not wanted */
	uint64_t bytes_left_out;    /* of trace: not decoded */
};

/*
 * Turn a selection into times and threads, and cut the streams of the trace
 * accordingly: auxtrace->streams is replaced, in its arena.  `options` are
 * borrowed until release.
 * Returns 0; -1 with err filled if the selection cannot be made of this trace.
 */
int event_filter_init(struct event_filter *filter, const struct options *options,
		      struct auxtrace *auxtrace, const struct timeline *timeline, struct diag *diag,
		      struct error *err);

/* Idempotent, also on zeroed memory. */
void event_filter_release(struct event_filter *filter);

/* Returns whether some times are left out. */
static inline bool event_filter_by_time(const struct event_filter *filter)
{
	return filter->begin || filter->end != UINT64_MAX;
}

/* Returns whether some threads are left out. */
static inline bool event_filter_by_thread(const struct event_filter *filter)
{
	return filter->active && (filter->selection->pids.count || filter->selection->tids.count ||
				  filter->selection->comms.count);
}

/* Returns whether the events of a thread (NULL: unknown) are wanted at some time. */
static inline bool event_filter_has_thread(const struct event_filter *filter,
					   const struct thread *thread)
{
	return !filter->active || filter->threads[thread ? thread->index : filter->thread_count];
}

/* Returns whether the events of a thread (NULL: unknown) at a time (ns) are wanted. */
static inline bool event_filter_has(const struct event_filter *filter, const struct thread *thread,
				    uint64_t time)
{
	return event_filter_has_thread(filter, thread) &&
	       (!filter->active || (time >= filter->begin && time <= filter->end));
}

/*
 * Returns whether the events of a thread that are not wanted may change the stack that a wanted
 * thread begins with: they are of its parent before the fork, or of a sibling's begin.
 */
static inline bool event_filter_needs(const struct event_filter *filter,
				      const struct thread *thread, uint64_t time)
{
	return filter->needed && thread && time < filter->needed[thread->index] &&
	       time >= filter->begin && time <= filter->end;
}

/* Returns whether the events of a CPU (-1: unknown) at a time (ns) are wanted. */
static inline bool event_filter_has_cpu(const struct event_filter *filter, int32_t cpu,
					uint64_t time)
{
	const struct number_list *cpus = &filter->selection->cpus;

	return !filter->active || (time >= filter->begin && time <= filter->end &&
				   (cpu < 0 || !cpus->count || number_list_has(cpus, cpu)));
}

/* Returns how many events, from the first on, are wanted. */
static inline size_t event_filter_first(const struct event_filter *filter,
					const struct branch_event *events, size_t count)
{
	size_t wanted = filter->active ? 0 : count;

	while (wanted < count &&
	       event_filter_has(filter, events[wanted].thread, events[wanted].time))
		wanted++;
	return wanted;
}

/* Count an event that is not wanted, if it is a gap. */
static inline void event_filter_drop(struct event_filter *filter, const struct branch_event *event)
{
	/* Of a CPU event `gap` is its kind, of which there are more. */
	if (event->kind == BRANCH_GAP)
		filter->gaps[event->gap]++;
}

#endif
