/* SPDX-License-Identifier: MIT */
#include "src/overlays/overlay_sideband.h"

#include <stdlib.h>

#include "base/alloc.h"

/* Something at a time: a fork or exit (ns, perf) or an event (ns, the overlay's clock). */
struct clock_point {
	uint64_t time;
	uint32_t who; /* tid, or ring */
};

struct moments {
	struct clock_point *list; /* owned */
	size_t count, room;
};

/* What the two sides know of one process. */
struct facts {
	struct moments backups; /* forks of domains' first children: when, by whom */
	struct moments domain_exits;
	struct moments spawns, terminations;
	uint64_t exec, main_exit; /* 0: not seen */
	uint64_t first_event, last_event;
};

static void add(struct moments *moments, uint64_t time, uint32_t who)
{
	moments->list = alloc_grow(moments->list, &moments->room, moments->count + 1,
				   sizeof(*moments->list));
	moments->list[moments->count++] = (struct clock_point){ time, who };
}

static int by_time(const void *left, const void *right)
{
	const struct clock_point *a = left, *b = right;

	return (a->time > b->time) - (a->time < b->time);
}

static void sort(struct moments *moments)
{
	if (moments->count)
		qsort(moments->list, moments->count, sizeof(*moments->list), by_time);
}

static void release(struct facts *facts)
{
	free(facts->backups.list);
	free(facts->domain_exits.list);
	free(facts->spawns.list);
	free(facts->terminations.list);
}

/* ---- perf's side --------------------------------------------------------- */

/* Returns the first fork by a thread, of its own process; NULL: none was seen. */
static const struct thread *first_child(const struct thread *const *threads, size_t count,
					const struct thread *parent)
{
	const struct thread *first = NULL;

	for (size_t i = 0; i < count; i++)
		if (threads[i]->parent == parent && threads[i]->pid == parent->pid &&
		    threads[i]->begin && (!first || threads[i]->begin < first->begin))
			first = threads[i];
	return first;
}

/* Threads of the process that are looked at: looking for their children is quadratic. */
#define THREADS_MAX 2000

static void gather_threads(struct facts *facts, const struct timeline *timeline, int32_t pid)
{
	size_t count, seen = 0;
	const struct thread *const *threads = timeline_threads(timeline, &count);

	for (size_t i = 0; i < count; i++) {
		const struct thread *thread = threads[i], *child;

		if (thread->pid != pid || seen++ > THREADS_MAX)
			continue;
		if (thread->tid == pid) {
			if (thread->end != UINT64_MAX && thread->end > facts->main_exit)
				facts->main_exit = thread->end;
			continue;
		}
		child = first_child(threads, count, thread);
		if (!child)
			continue;
		add(&facts->backups, child->begin, (uint32_t)thread->tid);
		if (thread->end != UINT64_MAX)
			add(&facts->domain_exits, thread->end, (uint32_t)thread->tid);
	}
	sort(&facts->backups);
	sort(&facts->domain_exits);
}

/* The last exec, which made the program what it is; else its fork. */
static void gather_exec(struct facts *facts, const struct timeline *timeline, int32_t pid)
{
	const struct thread *thread = timeline_borrow_thread(timeline, pid, UINT64_MAX);
	const struct process *process = thread ? thread->process : NULL;

	if (!thread || thread->pid != pid)
		return;
	facts->exec = thread->begin;
	for (size_t i = 0; process && i < process->epoch_count; i++)
		if (process->epochs[i].exec && process->epochs[i].begin)
			facts->exec = process->epochs[i].begin;
}

/* ---- The overlay's side -------------------------------------------------- */

static void gather_ring(struct facts *facts, const struct runtime_events *file, uint32_t index)
{
	struct runtime_ring ring;
	struct runtime_event event;

	if (!runtime_ring_start(&ring, file, index))
		return;
	while (runtime_ring_next(&ring, &event)) {
		if (event.kind != RUNTIME_LIFECYCLE)
			continue;
		if (event.id == RUNTIME_DOMAIN_SPAWN && index > 0)
			add(&facts->spawns, event.time, index);
		if (event.id == RUNTIME_DOMAIN_TERMINATE && index > 0)
			add(&facts->terminations, event.time, index);
	}
}

static void gather_events(struct facts *facts, const struct runtime_events *file)
{
	for (uint32_t i = 0; i < file->rings; i++)
		gather_ring(facts, file, i);
	sort(&facts->spawns);
	sort(&facts->terminations);
	facts->first_event = file->first_time;
	facts->last_event = file->last_time;
}

static void gather_memtrace(struct facts *facts, const struct overlay_input *input)
{
	const uint64_t ns_per_us = 1000;
	struct memtrace trace;
	struct memtrace_event event;

	if (memtrace_open(&trace, input->bytes, input->size, NULL, NULL) == 0) {
		facts->first_event = facts->last_event = trace.info.start_time * ns_per_us;
		while (memtrace_next(&trace, &event))
			if ((trace.info.start_time + event.time) * ns_per_us > facts->last_event)
				facts->last_event =
					(trace.info.start_time + event.time) * ns_per_us;
	}
	memtrace_close(&trace);
}

static void gather(struct facts *facts, const struct timeline *timeline,
		   const struct overlay_input *input)
{
	gather_threads(facts, timeline, input->pid);
	gather_exec(facts, timeline, input->pid);
	if (input->kind == OVERLAY_RUNTIME_EVENTS)
		gather_events(facts, &input->events);
	else
		gather_memtrace(facts, input);
}

/* ---- Bounds -------------------------------------------------------------- */

/* `event` is not earlier than `record`. */
static void bound_above(struct overlay_bounds *bounds, uint64_t event, uint64_t record)
{
	int64_t ahead = (int64_t)(event - record);

	if (ahead < bounds->high)
		bounds->high = ahead;
}

static void bound_below(struct overlay_bounds *bounds, uint64_t event, uint64_t record)
{
	int64_t ahead = (int64_t)(event - record);

	if (ahead > bounds->low)
		bounds->low = ahead;
}

/*
 * If each event has a record of its own that comes before it, the same holds
 * of both in the order of time.  A ring loses its oldest events, so where
 * there are fewer of them they are the last ones; more events than records
 * say nothing.
 */
static void bound_pairs(struct overlay_bounds *bounds, const struct moments *events,
			const struct moments *records,
			void (*bound)(struct overlay_bounds *, uint64_t, uint64_t))
{
	size_t skip = records->count - events->count;

	if (events->count > records->count)
		return;
	for (size_t i = 0; i < events->count; i++)
		bound(bounds, events->list[i].time, records->list[i + skip].time);
}

bool overlay_sideband(struct overlay_bounds *bounds, const struct timeline *timeline,
		      const struct overlay_input *input)
{
	struct facts facts = { 0 };

	*bounds = (struct overlay_bounds){ INT64_MIN, INT64_MAX };
	gather(&facts, timeline, input);
	if (facts.exec && facts.first_event)
		bound_above(bounds, facts.first_event, facts.exec);
	if (facts.main_exit && facts.last_event)
		bound_below(bounds, facts.last_event, facts.main_exit);
	bound_pairs(bounds, &facts.spawns, &facts.backups, bound_above);
	bound_pairs(bounds, &facts.terminations, &facts.domain_exits, bound_below);
	release(&facts);
	return bounds->low != INT64_MIN && bounds->high != INT64_MAX && bounds->low <= bounds->high;
}

/* ---- Threads of rings ---------------------------------------------------- */

static bool has_tid(const struct overlay_input *input, uint32_t ring)
{
	for (size_t i = 0; i < input->tid_count; i++)
		if (input->tids[i].ring == ring)
			return true;
	return false;
}

/* Returns whether a ring had one domain only. */
static bool is_single(const struct moments *spawns, uint32_t ring)
{
	size_t count = 0;

	for (size_t i = 0; i < spawns->count; i++)
		count += spawns->list[i].who == ring;
	return count == 1;
}

void overlay_sideband_tids(struct overlay_input *input, const struct timeline *timeline,
			   int64_t ahead)
{
	struct facts facts = { 0 };
	const struct clock_point *backup;

	gather(&facts, timeline, input);
	if (!has_tid(input, 0) && input->pid >= 0)
		overlay_input_add_tid(input, 0, input->pid);
	backup = facts.backups.list;
	for (size_t i = 0; facts.spawns.count == facts.backups.count && i < facts.spawns.count;
	     i++) {
		uint64_t time = facts.spawns.list[i].time - (uint64_t)ahead;
		uint32_t ring = facts.spawns.list[i].who;
		bool alone = i + 1 == facts.backups.count || backup[i + 1].time > time;

		if (backup[i].time <= time && alone && is_single(&facts.spawns, ring) &&
		    !has_tid(input, ring))
			overlay_input_add_tid(input, ring, (int32_t)backup[i].who);
	}
	release(&facts);
}
