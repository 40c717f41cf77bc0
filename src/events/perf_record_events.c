/* SPDX-License-Identifier: MIT */
#include "src/events/perf_record_events.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "decoder/perf_data/perf_record.h"
#include "decoder/perf_data/perf_sample.h"

#define NS_PER_S        UINT64_C(1000000000)
#define SAMPLE_ARGS_MAX 6

/* ---- Samples ------------------------------------------------------------- */

/* Whose code it was, at that time. */
static const struct address_space *space_of(const struct thread *thread, uint64_t time)
{
	const struct process *process = thread ? thread->process : NULL;
	size_t low = 0, high = process ? process->epoch_count : 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (process->epochs[middle].begin <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? process->epochs[low - 1].space : NULL;
}

static struct ftf_name event_name(struct record_events *records, const struct perf_attr *attr)
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

static size_t fill_args(struct record_events *records, const struct perf_sample *sample,
			const struct thread *thread, struct ftf_arg args[SAMPLE_ARGS_MAX])
{
	struct ftf_writer *writer = records->tracks->writer;
	uint64_t type = sample->attr->attr.sample_type;
	size_t count = 0;

	if (type & PERF_SAMPLE_PERIOD)
		args[count++] = ftf_arg_int64(ftf_text(writer, "period"), (int64_t)sample->period);
	if (type & PERF_SAMPLE_IP) {
		struct location at = resolver_find(records->resolver,
						   space_of(thread, sample->time), sample->ip);

		args[count++] = ftf_arg_pointer(ftf_text(writer, "address"), sample->ip);
		if (at.symbol)
			args[count++] = ftf_arg_string(
				ftf_text(writer, "function"),
				ftf_name(writer, at.symbol->name->text, at.symbol->name->length));
	}
	if (type & PERF_SAMPLE_ADDR)
		args[count++] = ftf_arg_pointer(ftf_text(writer, "data_address"), sample->address);
	if (sample->cpu >= 0)
		args[count++] = ftf_arg_int32(ftf_text(writer, "cpu"), sample->cpu);
	return count;
}

/* The idle thread is as many as there are CPUs: its samples are of the CPU. */
static struct ftf_thread track_of(struct record_events *records, const struct perf_sample *sample,
				  const struct thread *thread)
{
	if (sample->cpu >= 0 && (sample->tid <= 0 || !thread))
		return event_tracks_cpu(records->tracks, sample->cpu)->track;
	return event_tracks_thread(records->tracks, thread);
}

/*
 * The waker told who will run.  Where that CPU told it again, once it was done,
 * the first is shown.
 */
static void on_wakeup(struct record_events *records, const struct perf_sample *sample,
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
	    !event_tracks_wants(tracks, thread, sample->time))
		return;
	if (thread)
		event_tracks_thread(tracks, thread);
	if (waker)
		event_tracks_thread(tracks, waker);
	wakeup.waker_tid = waker ? (uint32_t)waker->tid : 0;
	ftf_thread_wakeup(tracks->writer, &wakeup);
}

static void on_sample(struct record_events *records, const struct perf_record *record)
{
	struct ftf_arg args[SAMPLE_ARGS_MAX];
	struct perf_sample sample;
	struct sched_point point;
	const struct thread *thread = NULL;
	struct ftf_event event = { .args = args };

	if (perf_sample_read(records->file, record, &sample) < 0 || !sample.time ||
	    (sample.tid < 0 && sample.cpu < 0)) {
		records->untimed += records->samples;
		return;
	}
	if (sched_points_read(&records->points, &sample, &point)) {
		if (point.kind != SCHED_SWITCH)
			on_wakeup(records, &sample, &point);
		return;
	}
	if (!records->samples)
		return;
	if (sample.tid >= 0)
		thread = timeline_borrow_thread(records->tracks->timeline, sample.tid, sample.time);
	if (!event_tracks_wants(records->tracks, thread, sample.time) ||
	    !event_tracks_wants_cpu(records->tracks, sample.cpu, sample.time))
		return;
	event.thread = track_of(records, &sample, thread);
	event.category = ftf_text(records->tracks->writer, "sample");
	event.name = event_name(records, sample.attr);
	event.time = sample.time;
	event.arg_count = fill_args(records, &sample, thread, args);
	ftf_instant(records->tracks->writer, &event);
	records->sample_count++;
}

/* ---- Losses -------------------------------------------------------------- */

static void on_lost(struct record_events *records, const struct perf_record *record)
{
	struct ftf_writer *writer = records->tracks->writer;
	bool of_records = record->type == PERF_RECORD_LOST;
	uint64_t lost = of_records ? perf_record_lost_count(record)
				   : perf_record_lost_samples_count(record);
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

/* They stay instants, and say nothing of who runs. */
static void warn_formatless(const struct record_events *records)
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
				"samples do not tell who runs",
				sched_switch);
	}
}

/* ---- All records --------------------------------------------------------- */

void record_events_write(struct record_events *records)
{
	struct perf_record record;
	uint64_t position = 0;

	sched_points_init(&records->points, records->file);
	warn_formatless(records);
	records->events = alloc_zeroed(records->file->attr_count, sizeof(*records->events));
	while (perf_file_next(records->file, &position, &record, NULL)) {
		if (record.type == PERF_RECORD_SAMPLE)
			on_sample(records, &record);
		else if (record.type == PERF_RECORD_LOST || record.type == PERF_RECORD_LOST_SAMPLES)
			on_lost(records, &record);
	}
	free(records->events);
	records->events = NULL;
	if (records->untimed)
		diag_warn(records->diag, "samples-untimed",
			  "%" PRIu64 " samples say neither when nor on which CPU or thread they "
			  "were taken, and are not shown",
			  records->untimed);
}

/* ---- The wall clock ------------------------------------------------------ */

void side_clock_write(struct ftf_writer *writer, const struct perf_features *features,
		      uint64_t time)
{
	uint64_t wall = features->clock_wall_ns + (time - features->clock_ns);
	time_t seconds = (time_t)(wall / NS_PER_S);
	char text[80], date[40];
	struct ftf_arg args[3];
	struct ftf_event event = { .time = time, .args = args, .arg_count = 3 };
	struct tm tm;
	uint64_t group;

	if (!features->has_clock_data || !gmtime_r(&seconds, &tm))
		return;
	strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &tm);
	snprintf(text, sizeof(text), "%s.%09" PRIu64 " UTC", date, wall % NS_PER_S);
	group = ftf_process_new(writer, ftf_text(writer, "recording"));
	event.thread = ftf_thread_new(writer, group, ftf_text(writer, "wall clock"));
	event.name = ftf_text(writer, "wall clock");
	args[0] = ftf_arg_string(ftf_text(writer, "wall_clock"), ftf_text(writer, text));
	args[1] = ftf_arg_int64(ftf_text(writer, "wall_ns"), (int64_t)wall);
	args[2] = ftf_arg_int64(ftf_text(writer, "trace_ns"), (int64_t)time);
	ftf_instant(writer, &event);
}
