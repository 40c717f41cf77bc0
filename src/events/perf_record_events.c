/* SPDX-License-Identifier: MIT */
/* Write samples, wakeups and lost records of perf. */
#include "src/events/perf_record_events.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "decoder/perf_data/perf_record.h"
#include "decoder/perf_data/perf_sample.h"
#include "src/events/event_place.h"
#include "src/formats/output_format.h"

#define NS_PER_S UINT64_C(1000000000)

/* ---- Samples ------------------------------------------------------------- */

static struct ftf_name event_name(struct perf_record_events *records, const struct perf_attr *attr)
{
	size_t index = (size_t)(attr - records->file->attrs);
	char number[32];

	if (records->events[index].id)
		return records->events[index];
	snprintf(number, sizeof(number), "event %zu", index);
	records->events[index] = ftf_text(records->tracks->writer,
					  attr->name && attr->name[0] ? attr->name : number);
	return records->events[index];
}

static void add_args(struct perf_record_events *records, const struct perf_sample *sample,
		     const struct thread *thread, struct event_record *record)
{
	struct ftf_writer *writer = record->writer;
	uint64_t type = sample->attr->attr.sample_type;

	if (type & PERF_SAMPLE_PERIOD)
		event_record_add_number(record, "period", (int64_t)sample->period);
	if (type & PERF_SAMPLE_IP)
		event_place_add(record, records->resolver, thread, sample->ip);
	if (type & PERF_SAMPLE_ADDR)
		event_record_add_address(record, "data_address", sample->address);
	if (sample->cpu >= 0)
		event_record_add(record, ftf_arg_int32(ftf_text(writer, "cpu"), sample->cpu));
}

/* Each CPU has an idle thread, all of one id: their samples are shown on the CPU's track. */
static struct ftf_thread track_of(struct perf_record_events *records,
				  const struct perf_sample *sample, const struct thread *thread)
{
	if (sample->cpu >= 0 && (sample->tid <= 0 || !thread))
		return event_tracks_cpu(records->tracks, sample->cpu)->track;
	return event_tracks_thread(records->tracks, thread);
}

/* If the recording has sched_waking, the sched_wakeup of the same wakeup is left out. */
static void write_wakeup(struct perf_record_events *records, const struct perf_sample *sample,
			 const struct sched_point *point)
{
	struct ftf_wakeup wakeup = { .time = sample->time,
				     .cpu = (uint16_t)(point->cpu < 0 ? sample->cpu : point->cpu),
				     .tid = (uint32_t)point->tid };
	struct event_tracks *tracks = records->tracks;
	const struct thread *thread, *waker;

	if (point->tid <= 0 ||
	    (point->kind == SCHED_WAKEUP && records->points.formats[SCHED_WAKING].recorded))
		return;
	thread = timeline_borrow_thread(tracks->timeline, point->tid, sample->time);
	waker = sample->tid > 0
			? timeline_borrow_thread(tracks->timeline, sample->tid, sample->time)
			: NULL;
	if (!event_tracks_wants_cpu(tracks, wakeup.cpu, sample->time) ||
	    !event_filter_has(tracks->filter, thread, sample->time))
		return;
	if (thread)
		event_tracks_thread(tracks, thread);
	if (waker)
		event_tracks_thread(tracks, waker);
	wakeup.waker_tid = waker ? (uint32_t)waker->tid : 0;
	wakeup.weight = sched_priorities_find(records->priorities, point->tid, sample->time);
	ftf_thread_wakeup(tracks->writer, &wakeup);
}

static void write_sample(struct perf_record_events *records, const struct perf_record *record)
{
	struct event_record instant;
	struct perf_sample sample;
	struct sched_point point;
	const struct thread *thread = NULL;
	struct ftf_thread track;

	if (perf_sample_read(records->file, record, &sample) < 0 || !sample.time ||
	    (sample.tid < 0 && sample.cpu < 0)) {
		records->untimed += records->samples;
		return;
	}
	if (sched_points_read(&records->points, &sample, &point)) {
		if (point.kind != SCHED_SWITCH)
			write_wakeup(records, &sample, &point);
		return;
	}
	if (!records->samples)
		return;
	if (sample.tid >= 0)
		thread = timeline_borrow_thread(records->tracks->timeline, sample.tid, sample.time);
	if (!event_filter_has(records->tracks->filter, thread, sample.time) ||
	    !event_tracks_wants_cpu(records->tracks, sample.cpu, sample.time))
		return;
	track = track_of(records, &sample, thread);
	event_record_init(&instant, records->tracks->writer, "sample", NULL, sample.time);
	instant.event.thread = track;
	instant.event.name = event_name(records, sample.attr);
	add_args(records, &sample, thread, &instant);
	ftf_instant(records->tracks->writer, &instant.event);
}

/* ---- Losses -------------------------------------------------------------- */

static void write_loss(struct perf_record_events *records, const struct perf_record *record)
{
	struct ftf_writer *writer = records->tracks->writer;
	bool of_records = record->type == PERF_RECORD_LOST;
	uint64_t lost = perf_record_lost_count(record);
	struct ftf_arg count = ftf_arg_int64(ftf_text(writer, "count"), (int64_t)lost);
	struct ftf_event event = {
		.category = ftf_text(writer, "lost"),
		.name = ftf_text(writer, of_records ? "[lost records]" : "[lost samples]"),
		.time = record->id.time,
		.args = &count,
		.arg_count = 1,
	};

	if (!record->id.time ||
	    !event_tracks_wants_cpu(records->tracks, record->id.cpu, record->id.time))
		return;
	event.thread = event_tracks_cpu(records->tracks, record->id.cpu)->track;
	ftf_instant(writer, &event);
}

/* ---- Events without a format --------------------------------------------- */

/* Without its format, a sched_switch is an instant, and no switch is known from it. */
static void warn_formatless(const struct perf_record_events *records)
{
	static const char sched_switch[] = "sched:sched_switch";

	for (size_t i = 0; i < records->file->attr_count; i++) {
		const struct perf_attr *attr = &records->file->attrs[i];

		if (attr->attr.type == PERF_TYPE_TRACEPOINT && attr->name &&
		    strncmp(attr->name, sched_switch, sizeof(sched_switch) - 1) == 0 &&
		    !records->points.formats[SCHED_SWITCH].recorded)
			diag_warn(
				records->diag, "tracepoint-format",
				"%s: the recording lacks the event's format (TRACING_DATA), so its "
				"samples are not shown as switches",
				sched_switch);
	}
}

/* ---- All records --------------------------------------------------------- */

static void note_time(struct perf_record_events *records, uint64_t time)
{
	if (time && (!records->first_time || time < records->first_time))
		records->first_time = time;
}

void perf_record_events_write(struct perf_record_events *records)
{
	struct perf_record record;
	uint64_t position = 0;

	sched_points_init(&records->points, records->file);
	warn_formatless(records);
	records->events = alloc_zeroed(records->file->attr_count, sizeof(*records->events));
	while (perf_file_next(records->file, &position, &record, NULL)) {
		note_time(records, record.id.time);
		if (record.type == PERF_RECORD_SAMPLE)
			write_sample(records, &record);
		else if (record.type == PERF_RECORD_LOST || record.type == PERF_RECORD_LOST_SAMPLES)
			write_loss(records, &record);
	}
	free(records->events);
	records->events = NULL;
	if (records->untimed)
		diag_warn(records->diag, "samples-untimed",
			  "%" PRIu64 " samples lack a time, or both CPU and thread, and are not "
			  "shown",
			  records->untimed);
}

/* ---- The wall clock ------------------------------------------------------ */

void wall_clock_write(struct ftf_writer *writer, uint64_t base, uint64_t time)
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
	group = ftf_process_new(writer, ftf_text(writer, "recording"));
	event_record_init(&instant, writer, NULL, NULL, time);
	instant.event.thread = ftf_thread_new(writer, group, ftf_text(writer, "wall clock"));
	instant.event.name = ftf_text(writer, "wall clock");
	event_record_add_text(&instant, "wall_clock", text);
	event_record_add_number(&instant, "wall_ns", (int64_t)wall);
	event_record_add_number(&instant, "trace_ns", (int64_t)time);
	ftf_instant(writer, &instant.event);
}
