/* SPDX-License-Identifier: MIT */
/* Write context switches as scheduling records. */
#include "src/events/switch_events.h"

#include "decoder/timeline/sched_points.h"

static bool are_recorded(const struct perf_file *file)
{
	struct sched_points points;

	for (size_t i = 0; i < file->attr_count; i++) {
		if (file->attrs[i].attr.context_switch)
			return true;
	}
	sched_points_init(&points, file);
	return points.formats[SCHED_SWITCH].recorded;
}

/* Returns why the thread left the CPU; its exit record comes before its last switch. */
static enum ftf_thread_state state_of(const struct thread *thread, const struct cpu_switch *change)
{
	if (change->preempted)
		return FTF_STATE_RUNNING;
	if (change->dead || change->exec)
		return FTF_STATE_DEAD;
	return thread && thread->tid && thread->end <= change->time ? FTF_STATE_DEAD
								    : FTF_STATE_BLOCKED;
}

static void write_switch(struct event_tracks *tracks, const struct sched_priorities *priorities,
			 const struct thread *before, const struct cpu_switch *change)
{
	struct ftf_switch out = {
		.time = change->time,
		.cpu = (uint16_t)change->cpu,
		.state = state_of(before, change),
		.out_tid = before ? (uint32_t)before->tid : 0,
		.in_tid = (uint32_t)change->thread->tid,
	};

	out.out_weight = out.out_tid ? 0 : FTF_IDLE_WEIGHT;
	out.in_weight =
		out.in_tid ? sched_priorities_find(priorities, change->thread->tid, change->time)
			   : FTF_IDLE_WEIGHT;
	event_tracks_thread(tracks, change->thread);
	ftf_context_switch(tracks->writer, &out);
}

/* Returns whether either thread of a switch is selected. */
static bool wants(const struct event_tracks *tracks, int32_t cpu, const struct thread *before,
		  const struct cpu_switch *change)
{
	return event_tracks_wants_cpu(tracks, cpu, change->time) &&
	       (event_filter_has(tracks->filter, change->thread, change->time) ||
		(before && event_filter_has(tracks->filter, before, change->time)));
}

/*
 * Write which thread was on the CPU when the selected time begins: its switch came before.
 * Perfetto would show nothing until the CPU's next switch.
 */
static void write_state(struct event_tracks *tracks, const struct sched_priorities *priorities,
			const struct cpu_switch *last)
{
	struct cpu_switch state = { .time = tracks->filter->begin };

	state.cpu = last->cpu;
	state.thread = last->thread;
	if (last->thread->tid && wants(tracks, last->cpu, NULL, &state))
		write_switch(tracks, priorities, NULL, &state);
}

/* Write the switches of a CPU; returns how many have no time. */
static uint64_t write_cpu(struct event_tracks *tracks, const struct sched_priorities *priorities,
			  const struct cpu_switch *switches, size_t count)
{
	const uint64_t begin = tracks->filter->active ? tracks->filter->begin : 0;
	const struct cpu_switch *last = NULL; /* before the selected time */
	const struct thread *before = NULL;
	uint64_t untimed = 0;

	for (size_t i = 0; i < count; i++) {
		const struct cpu_switch *change = &switches[i];

		if (!change->time) {
			untimed++;
		} else if (change->time < begin) {
			last = change;
		} else {
			if (last && change->time > begin)
				write_state(tracks, priorities, last);
			last = NULL;
			if (wants(tracks, change->cpu, before, change))
				write_switch(tracks, priorities, before, change);
		}
		before = change->thread;
	}
	if (last)
		write_state(tracks, priorities, last);
	return untimed;
}

uint64_t switch_events_count(const struct timeline *timeline, const struct perf_file *file)
{
	uint64_t sum = 0;
	size_t count;
	int32_t cpu;

	if (!are_recorded(file))
		return 0;
	for (size_t i = 0; (cpu = timeline_switched_cpu(timeline, i)) >= 0; i++) {
		timeline_switches(timeline, cpu, &count);
		sum += count;
	}
	return sum;
}

uint64_t switch_events_write(struct event_tracks *tracks, const struct perf_file *file,
			     const struct sched_priorities *priorities)
{
	uint64_t untimed = 0;
	int32_t cpu;

	if (!are_recorded(file))
		return 0;
	for (size_t i = 0; (cpu = timeline_switched_cpu(tracks->timeline, i)) >= 0; i++) {
		const struct cpu_switch *switches;
		size_t count;

		switches = timeline_switches(tracks->timeline, cpu, &count);
		/* The format has 16 bits for a CPU, and Linux at most 8192 CPUs. */
		if (cpu <= UINT16_MAX)
			untimed += write_cpu(tracks, priorities, switches, count);
	}
	return untimed;
}
