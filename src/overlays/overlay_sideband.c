/* SPDX-License-Identifier: MIT */
/* Bound an overlay's clock by the order of events in the sideband. */
#include "src/overlays/overlays.h"

struct overlay_points {
	/* A fork or exit (ns, perf's clock) or an event (ns, the overlay's). */
	struct overlay_point {
		uint64_t time;
		uint32_t id; /* id of the thread, or of the ring */
	} * list;            /* owned */
	size_t count, room;
};

enum { BACKUPS, DOMAIN_EXITS, SPAWNS, TERMINATIONS, LISTS };

/* The history of a process, as perf and the overlay recorded it. */
struct process_history {
	/* Each sorted by time.  BACKUPS: forks of domains' first children, with their parents. */
	struct overlay_points lists[LISTS];
	uint64_t exec, main_exit; /* 0: not seen */
};

static void add_point(struct overlay_points *points, uint64_t time, uint32_t id)
{
	*ARRAY_ADD(points->list, points->count, points->room) = (struct overlay_point){ time, id };
}

COMPARE_BY(by_time, struct overlay_point, time)

static void release_history(struct process_history *history)
{
	for (int i = 0; i < LISTS; i++)
		free(history->lists[i].list);
}

/* ---- perf's records --------------------------------------------------------- */

/* Threads of the process that are searched for children, which is quadratic. */
#define THREADS_MAX 2000

/* Set the time of the last exec; without an exec, of the fork. */
static void gather_exec(struct process_history *history, const struct timeline *timeline,
			int32_t pid)
{
	const struct thread *thread = timeline_borrow_thread(timeline, pid, UINT64_MAX);
	const struct process *process = thread ? thread->process : NULL;

	if (!thread || thread->pid != pid)
		return;
	history->exec = thread->begin;
	for (size_t i = 0; process && i < process->epoch_count; i++)
		if (process->epochs[i].exec && process->epochs[i].begin)
			history->exec = process->epochs[i].begin;
}

/* ---- The overlay's events ------------------------------------------------ */

static void gather_history(struct process_history *history, const struct timeline *timeline,
			   const struct overlay_input *input)
{
	struct overlay_points *lists = history->lists;
	const struct thread *const *threads = timeline->threads.threads;
	size_t count = timeline->threads.count, seen = 0;
	struct runtime_ring ring;
	struct runtime_event event;

	for (size_t i = 0; i < count; i++) {
		const struct thread *thread = threads[i], *child = NULL;

		if (thread->pid != input->pid || seen++ > THREADS_MAX)
			continue;
		if (thread->tid == input->pid) {
			if (thread->end != UINT64_MAX && thread->end > history->main_exit)
				history->main_exit = thread->end;
			continue;
		}
		/* Find the first fork by the thread, of its own process. */
		for (size_t j = 0; j < count; j++)
			if (threads[j]->parent == thread && threads[j]->pid == thread->pid &&
			    threads[j]->begin && (!child || threads[j]->begin < child->begin))
				child = threads[j];
		if (!child)
			continue;
		add_point(&history->lists[BACKUPS], child->begin, (uint32_t)thread->tid);
		if (thread->end != UINT64_MAX)
			add_point(&history->lists[DOMAIN_EXITS], thread->end,
				  (uint32_t)thread->tid);
	}
	gather_exec(history, timeline, input->pid);
	/* memtrace has no rings. */
	for (uint32_t i = 1; i < input->events.rings; i++) {
		runtime_ring_start(&ring, &input->events, i);
		while (runtime_ring_next(&ring, &event)) {
			if (event.kind != RUNTIME_LIFECYCLE)
				continue;
			if (event.id == RUNTIME_DOMAIN_SPAWN)
				add_point(&history->lists[SPAWNS], event.time, i);
			if (event.id == RUNTIME_DOMAIN_TERMINATE)
				add_point(&history->lists[TERMINATIONS], event.time, i);
		}
	}
	for (int i = 0; i < LISTS; i++)
		SORT(lists[i].list, lists[i].count, by_time);
}

/* ---- Bounds -------------------------------------------------------------- */

/* Bound by an event not earlier (`after`) or not later than a record. */
static void bound_pair(struct overlay_bounds *bounds, uint64_t event, uint64_t record, bool after)
{
	int64_t ahead = (int64_t)(event - record);

	if (after)
		bounds->high = MIN(bounds->high, ahead);
	else
		bounds->low = MAX(bounds->low, ahead);
}

/*
 * If each event has its own record before it, then the n-th record by time is before the n-th
 * event.  A ring loses its oldest events, so fewer events belong to the last records; more events
 * than records give no bound.
 */
static void bound_pairs(struct overlay_bounds *bounds, const struct overlay_points *events,
			const struct overlay_points *records, bool after)
{
	size_t skip = records->count - events->count;

	if (events->count > records->count)
		return;
	for (size_t i = 0; i < events->count; i++)
		bound_pair(bounds, events->list[i].time, records->list[i + skip].time, after);
}

bool overlay_sideband(struct overlay_bounds *bounds, const struct timeline *timeline,
		      const struct overlay_input *input)
{
	struct process_history history = { 0 };

	*bounds = (struct overlay_bounds){ INT64_MIN, INT64_MAX };
	gather_history(&history, timeline, input);
	if (history.exec && input->first_time)
		bound_pair(bounds, input->first_time, history.exec, true);
	if (history.main_exit && input->last_time)
		bound_pair(bounds, input->last_time, history.main_exit, false);
	bound_pairs(bounds, &history.lists[SPAWNS], &history.lists[BACKUPS], true);
	bound_pairs(bounds, &history.lists[TERMINATIONS], &history.lists[DOMAIN_EXITS], false);
	release_history(&history);
	return bounds->low != INT64_MIN && bounds->high != INT64_MAX && bounds->low <= bounds->high;
}

/* ---- Threads of rings ---------------------------------------------------- */

/* Returns whether a ring had only one domain. */
static bool is_single(const struct overlay_points *spawns, uint32_t ring)
{
	size_t count = 0;

	for (size_t i = 0; i < spawns->count; i++)
		count += spawns->list[i].id == ring;
	return count == 1;
}

void overlay_sideband_tids(struct overlay_input *input, const struct timeline *timeline,
			   int64_t ahead)
{
	struct process_history history = { 0 };
	const struct overlay_points *backups = &history.lists[BACKUPS];
	const struct overlay_points *spawns = &history.lists[SPAWNS];
	size_t count;

	gather_history(&history, timeline, input);
	if (input->pid >= 0)
		overlay_input_add_tid(input, 0, input->pid);
	count = spawns->count == backups->count ? spawns->count : 0;
	for (size_t i = 0; i < count; i++) {
		uint64_t time = spawns->list[i].time - (uint64_t)ahead;
		uint32_t ring = spawns->list[i].id;
		bool alone = i + 1 == count || backups->list[i + 1].time > time;

		if (backups->list[i].time <= time && alone && is_single(spawns, ring))
			overlay_input_add_tid(input, ring, (int32_t)backups->list[i].id);
	}
	release_history(&history);
}
