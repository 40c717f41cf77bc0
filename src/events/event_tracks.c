/* SPDX-License-Identifier: MIT */
/* Open and name the tracks of events. */
#include "src/events/event_output.h"

struct event_track event_tracks_thread(struct event_tracks *tracks, const struct thread *thread)
{
	struct event_track track;

	if (!thread)
		return (struct event_track){ tracks->unknown, tracks->unknown };
	track = (struct event_track){ (uint32_t)thread->pid, (uint32_t)thread->tid };
	/* Name only threads that have events: Perfetto shows a track for each name. */
	if (thread->tid && !tracks->named[thread->index]) {
		const struct thread *leader =
			timeline_borrow_thread(tracks->timeline, thread->pid, thread->begin);
		const char *process = thread_last_name(leader), *name = thread_last_name(thread);

		/* An empty name is like a missing one: the record also names the process. */
		if (!name)
			name = process ? process : "";
		if (process)
			event_sink_name_process(tracks->sink, track.pid, process);
		event_sink_name_track(tracks->sink, track, name);
	}
	tracks->named[thread->index] = true;
	return track;
}

static struct cpu_track *add_cpu(struct event_tracks *tracks, int32_t number)
{
	struct cpu_track *cpu = alloc_zeroed(1, sizeof(*cpu));
	char text[64];

	if (!tracks->group)
		tracks->group = event_sink_new_process(tracks->sink, "CPUs");
	cpu->cpu = number;
	cpu->exit_vector = -1;
	HASH_ADD_INT(tracks->cpus, cpu, cpu);
	if (number < 0)
		snprintf(text, sizeof(text), "CPU unknown");
	else
		snprintf(text, sizeof(text), "CPU %d", number);
	cpu->track = event_sink_new_track(tracks->sink, tracks->group, text);
	return cpu;
}

struct cpu_track *event_tracks_cpu(struct event_tracks *tracks, int32_t number)
{
	struct cpu_track *cpu;

	HASH_FIND_INT(tracks->cpus, &number, cpu);
	return cpu ? cpu : add_cpu(tracks, number);
}

uint64_t cpu_track_time(struct cpu_track *cpu, uint64_t time)
{
	cpu->last_time = MAX(cpu->last_time, time);
	return cpu->last_time;
}

void event_tracks_begin(struct event_tracks *tracks, struct event_record *record)
{
	event_record_emit(record, TRACK_BEGIN);
	tracks->slices++;
}

void event_tracks_mark(struct event_tracks *tracks, struct cpu_track *cpu,
		       struct event_record *record)
{
	struct track_event *event = &record->event;

	event->track = cpu->track;
	event->time = cpu_track_time(cpu, event->time);
	event_tracks_begin(tracks, record);
	event->name = event->category = (struct text_view){ NULL, 0 };
	event->arg_count = 0;
	event_record_emit(record, TRACK_END);
}

/* Returns the address space of a thread at a time; NULL: unknown. */
static const struct address_space *space_of(const struct thread *thread, uint64_t time)
{
	const struct process *process = thread ? thread->process : NULL;
	size_t after =
		process ? LOWER_BOUND(i, process->epoch_count, process->epochs[i].begin <= time)
			: 0;

	return after ? process->epochs[after - 1].space : NULL;
}

struct location event_location_find(struct resolver *resolver, const struct thread *thread,
				    uint64_t time, uint64_t ip)
{
	return resolver_find(resolver, space_of(thread, time), ip);
}

void event_location_add(struct event_record *record, struct resolver *resolver,
			const struct thread *thread, uint64_t ip)
{
	struct location at = event_location_find(resolver, thread, record->event.time, ip);

	event_record_add_address(record, "address", ip);
	if (at.symbol)
		event_record_add_part(record, "function", at.symbol->name->text,
				      at.symbol->name->length);
}
