/* SPDX-License-Identifier: MIT */
/* Write perf's own records: samples, wakeups, losses, context switches, and the wall clock. */
#include <time.h>

#include "decoder/timeline/tracepoint_formats.h"
#include "src/events/event_output.h"

struct perf_record_events {
	const struct event_output_input *input; /* borrowed */
	struct event_tracks *tracks;            /* borrowed */
	/* Owned; by thread, then time: see sched_priorities_read(). */
	struct sched_priority *priorities;
	size_t priority_count, priority_room;
	uint64_t untimed; /* samples without a time, or without thread and CPU */
	/* Borrowed: the tracepoints that are not written as instants. */
	const struct sched_points *points;
};

/* ---- Priorities ---------------------------------------------------------- */

/*
 * The priorities of threads over time, as the scheduler's tracepoints have them: of the kernel,
 * below 100 for real-time threads, 100 to 139 for others (include/linux/sched/prio.h).
 */

/* The priority of nice value 0: DEFAULT_PRIO. */
#define SCHED_PRIORITY_DEFAULT 120

struct sched_priority {
	uint64_t time;
	int32_t tid, priority;
};

COMPARE_BY_TWO(by_thread, struct sched_priority, tid, time)

/* Read the priorities of all samples of the tracepoints, if there are any. */
static void sched_priorities_read(struct perf_record_events *records)
{
	const struct sched_points *points = records->points;
	struct perf_record record;
	struct perf_sample sample;
	struct sched_point point;
	uint64_t position = 0;
	bool any = false;

	for (int kind = 0; kind < SCHED_KINDS; kind++)
		any |= points->formats[kind].recorded &&
		       points->formats[kind].fields[SCHED_PRIORITY].size;
	if (!any)
		return;
	while (perf_file_next(records->input->file, &position, &record, NULL)) {
		if (record.type != PERF_RECORD_SAMPLE ||
		    perf_sample_read(records->input->file, &record, &sample) < 0 ||
		    !sched_points_read(points, &sample, &point) || !point.has_priority)
			continue;
		*ARRAY_ADD(records->priorities, records->priority_count, records->priority_room) =
			(struct sched_priority){ sample.time, point.tid, point.priority };
	}
	SORT(records->priorities, records->priority_count, by_thread);
}

/* Returns a thread's priority at `time` (ns): the last recorded, or else the first. */
static int32_t sched_priorities_find(const struct perf_record_events *records, int32_t tid,
				     uint64_t time)
{
	const struct sched_priority *all = records->priorities,
				    wanted = { .tid = tid, .time = time };
	size_t after = LOWER_BOUND(i, records->priority_count, by_thread(&all[i], &wanted) <= 0);

	if (after && all[after - 1].tid == tid)
		return all[after - 1].priority;
	return after < records->priority_count && all[after].tid == tid ? all[after].priority
									: SCHED_PRIORITY_DEFAULT;
}

/* ---- Samples ------------------------------------------------------------- */

static void add_args(struct perf_record_events *records, const struct perf_sample *sample,
		     const struct thread *thread, struct event_record *record)
{
	uint64_t type = sample->attr->attr.sample_type;

	if (type & PERF_SAMPLE_PERIOD)
		event_record_add_number(record, "period", (int64_t)sample->period);
	if (type & PERF_SAMPLE_IP)
		event_location_add(record, records->input->resolver, thread, sample->ip);
	if (type & PERF_SAMPLE_ADDR)
		event_record_add_address(record, "data_address", sample->address);
	if (sample->cpu >= 0)
		event_record_add_int32(record, "cpu", sample->cpu);
}

/* If the recording has sched_waking, the sched_wakeup of the same wakeup is left out. */
static void write_wakeup(struct perf_record_events *records, const struct perf_sample *sample,
			 const struct sched_point *point)
{
	struct track_event wakeup = { .kind = TRACK_WAKEUP,
				      .time = sample->time,
				      .cpu = (uint16_t)(point->cpu < 0 ? sample->cpu : point->cpu),
				      .track.tid = (uint32_t)point->tid };
	struct event_tracks *tracks = records->tracks;
	const struct thread *thread, *waker;

	if (point->tid <= 0 ||
	    (point->kind == SCHED_WAKEUP && records->points->formats[SCHED_WAKING].recorded))
		return;
	thread = timeline_borrow_thread(tracks->timeline, point->tid, sample->time);
	waker = sample->tid > 0
			? timeline_borrow_thread(tracks->timeline, sample->tid, sample->time)
			: NULL;
	if (!event_filter_has_cpu(tracks->filter, (int32_t)wakeup.cpu, sample->time) ||
	    !event_filter_has(tracks->filter, thread, sample->time))
		return;
	if (thread)
		wakeup.track = event_tracks_thread(tracks, thread);
	if (waker)
		wakeup.change.other = event_tracks_thread(tracks, waker);
	wakeup.change.priority = sched_priorities_find(records, point->tid, sample->time);
	event_sink_emit(tracks->sink, &wakeup);
}

static void write_sample(struct perf_record_events *records, const struct perf_record *record)
{
	struct event_record instant;
	struct perf_sample sample;
	struct sched_point point;
	const struct thread *thread = NULL;
	struct event_track track;
	char number[32];

	if (perf_sample_read(records->input->file, record, &sample) < 0 || !sample.time ||
	    (sample.tid < 0 && sample.cpu < 0)) {
		records->untimed += records->input->samples;
		return;
	}
	if (sched_points_read(records->points, &sample, &point)) {
		if (point.kind != SCHED_SWITCH)
			write_wakeup(records, &sample, &point);
		return;
	}
	if (!records->input->samples)
		return;
	if (sample.tid >= 0)
		thread = timeline_borrow_thread(records->tracks->timeline, sample.tid, sample.time);
	if (!event_filter_has(records->tracks->filter, thread, sample.time) ||
	    !event_filter_has_cpu(records->tracks->filter, sample.cpu, sample.time))
		return;
	/* Samples of idle threads, which all have one id, are shown on the CPU's track. */
	if (sample.cpu >= 0 && (sample.tid <= 0 || !thread))
		track = event_tracks_cpu(records->tracks, sample.cpu)->track;
	else
		track = event_tracks_thread(records->tracks, thread);
	event_record_init(&instant, records->tracks->sink, track, "sample",
			  hits_event_name(&records->input->timeline->hits, sample.attr, number),
			  sample.time);
	add_args(records, &sample, thread, &instant);
	event_record_emit(&instant, TRACK_INSTANT);
}

/* ---- Losses -------------------------------------------------------------- */

static void write_loss(struct perf_record_events *records, const struct perf_record *record)
{
	struct event_record event;

	if (!record->id.time ||
	    !event_filter_has_cpu(records->tracks->filter, record->id.cpu, record->id.time))
		return;
	event_record_init(&event, records->tracks->sink,
			  event_tracks_cpu(records->tracks, record->id.cpu)->track, "lost",
			  record->type == PERF_RECORD_LOST ? "[lost records]" : "[lost samples]",
			  record->id.time);
	event_record_add_number(&event, "count", (int64_t)perf_record_lost_count(record));
	event_record_emit(&event, TRACK_INSTANT);
}

/* ---- The wall clock ------------------------------------------------------ */

/* `base`: ns since 1970 at the time 0 of perf's clock, or WALL_BASE_UNKNOWN. */
static void wall_clock_write(struct event_sink *sink, uint64_t base, uint64_t time)
{
	uint64_t wall = base + time;
	time_t seconds = (time_t)(wall / NS_PER_S);
	char text[80], date[40];
	struct event_record instant;
	struct tm tm;
	uint64_t group;

	if (base == WALL_BASE_UNKNOWN || !gmtime_r(&seconds, &tm))
		return;
	strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &tm);
	snprintf(text, sizeof(text), "%s.%09" PRIu64 " UTC", date, wall % NS_PER_S);
	group = event_sink_new_process(sink, "recording");
	event_record_init(&instant, sink, event_sink_new_track(sink, group, "wall clock"), NULL,
			  "wall clock", time);
	event_record_add_text(&instant, "wall_clock", text);
	event_record_add_number(&instant, "wall_ns", (int64_t)wall);
	event_record_add_number(&instant, "trace_ns", (int64_t)time);
	event_record_emit(&instant, TRACK_INSTANT);
}

/* ---- Context switches ---------------------------------------------------- */

/* Returns why the thread left the CPU; its exit record comes before its last switch. */
static enum event_thread_state state_of(const struct thread *thread,
					const struct cpu_switch *change)
{
	if (change->preempted)
		return EVENT_THREAD_PREEMPTED;
	if (change->dead || change->exec)
		return EVENT_THREAD_DEAD;
	return thread && thread->tid && thread->end <= change->time ? EVENT_THREAD_DEAD
								    : EVENT_THREAD_BLOCKED;
}

static void write_switch(const struct perf_record_events *records, const struct thread *before,
			 const struct cpu_switch *change)
{
	struct track_event out = {
		.kind = TRACK_SWITCH,
		.time = change->time,
		.track = event_tracks_thread(records->tracks, change->thread),
		.cpu = (uint64_t)change->cpu,
		.change.state = state_of(before, change),
	};

	if (before)
		out.change.other =
			(struct event_track){ (uint32_t)before->pid, (uint32_t)before->tid };
	if (out.track.tid)
		out.change.priority =
			sched_priorities_find(records, change->thread->tid, change->time);
	event_sink_emit(records->tracks->sink, &out);
}

/* Returns whether either thread of a switch is selected. */
static bool wants(const struct event_tracks *tracks, int32_t cpu, const struct thread *before,
		  const struct cpu_switch *change)
{
	return event_filter_has_cpu(tracks->filter, cpu, change->time) &&
	       (event_filter_has(tracks->filter, change->thread, change->time) ||
		(before && event_filter_has(tracks->filter, before, change->time)));
}

/* Write which thread is on the CPU at the beginning of the selected time, for Perfetto. */
static void write_state(const struct perf_record_events *records, const struct cpu_switch *last)
{
	const struct cpu_switch state = { .time = records->tracks->filter->begin,
					  .cpu = last->cpu,
					  .thread = last->thread };

	if (last->thread->tid && wants(records->tracks, last->cpu, NULL, &state))
		write_switch(records, NULL, &state);
}

/* Write the switches of a CPU; returns the number without a time. */
static uint64_t write_cpu(const struct perf_record_events *records,
			  const struct cpu_switch *switches, size_t count)
{
	const struct event_filter *filter = records->tracks->filter;
	const uint64_t begin = filter->active ? filter->begin : 0;
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
				write_state(records, last);
			last = NULL;
			if (wants(records->tracks, change->cpu, before, change))
				write_switch(records, before, change);
		}
		before = change->thread;
	}
	if (last)
		write_state(records, last);
	return untimed;
}

/*
 * Write the selected switches, if the recording has all switches (perf_event_attr.context_switch,
 * or the tracepoint sched_switch), with the priorities of the incoming threads.  Warns of switches
 * without a time.
 */
static void write_switches(const struct perf_record_events *records)
{
	const struct timeline *timeline = records->tracks->timeline;
	const struct cpu_switch *all = timeline->switches;
	uint64_t untimed = 0;
	size_t count;

	if (!timeline->has_switches)
		return;
	for (size_t i = 0; i < timeline->switch_count; i += count) {
		history_switches(&timeline->history, all[i].cpu, &count);
		/* The format has 16 bits for a CPU, and Linux at most 8192 CPUs. */
		if (all[i].cpu <= UINT16_MAX)
			untimed += write_cpu(records, &all[i], count);
	}
	if (untimed)
		diag_warn(records->input->diag, "switches-untimed",
			  "%" PRIu64 " context switches have no time, and are not shown", untimed);
}

/* ---- All records --------------------------------------------------------- */

void record_events_write(struct event_output *output, uint64_t begin)
{
	struct perf_record_events records = { .input = &output->input,
					      .tracks = &output->tracks,
					      .points = &output->input.timeline->points };
	struct perf_record record;
	uint64_t position = 0, first_time = 0; /* ns: the earliest of a record */

	sched_priorities_read(&records);
	write_switches(&records);
	/* Without its format, a sched_switch is an instant, and no switch is known from it. */
	for (size_t i = 0; i < records.input->file->attr_count; i++) {
		const struct perf_attr *attr = &records.input->file->attrs[i];

		if (attr->attr.type == PERF_TYPE_TRACEPOINT && attr->name &&
		    starts_with(attr->name, "sched:sched_switch") &&
		    !records.points->formats[SCHED_SWITCH].recorded)
			diag_warn(records.input->diag, "tracepoint-format",
				  "sched:sched_switch: the recording lacks the event's format "
				  "(TRACING_DATA), so its samples are not shown as switches");
	}
	while (perf_file_next(records.input->file, &position, &record, NULL)) {
		if (record.id.time && (!first_time || record.id.time < first_time))
			first_time = record.id.time;
		if (record.type == PERF_RECORD_SAMPLE)
			write_sample(&records, &record);
		else if (record.type == PERF_RECORD_LOST || record.type == PERF_RECORD_LOST_SAMPLES)
			write_loss(&records, &record);
	}
	if (records.untimed)
		diag_warn(records.input->diag, "samples-untimed",
			  "%" PRIu64 " samples lack a time, or both CPU and thread, and are not "
			  "shown",
			  records.untimed);
	free(records.priorities);
	if (begin || first_time)
		wall_clock_write(output->input.sink, output->input.facts.wall_base,
				 begin ? begin : first_time);
}
