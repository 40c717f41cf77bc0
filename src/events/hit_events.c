/* SPDX-License-Identifier: MIT */
/* Write and print hits. */
#include "src/events/hit_events.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/printable.h"
#include "decoder/clock/tsc_clock.h"
#include "decoder/timeline/hits.h"
#include "src/events/event_place.h"
#include "src/formats/ftf/event_record.h"
#include "src/formats/json_text.h"

/* A hit and what it was of. */
struct shown_hit {
	struct hit hit;
	const struct thread *thread;
	struct location place;    /* where it was */
	struct location function; /* that it is of */
	bool has_passed;          /* the program passed: */
	uint64_t passed_time;     /* ns */
	int64_t passed_value;
};

/* OCaml passes a number as twice that and 1. */
static int64_t ocaml_number(uint64_t word)
{
	return (int64_t)word >> 1;
}

/* magic_trace_stop_indicator(start, value): `start` is of the time stamp counter, or 0. */
static void find_passed(const struct hit_source *source, struct shown_hit *shown)
{
	static const char stop[] = "magic_trace_stop_indicator";
	struct tsc_clock clock = pt_info_tsc_clock(source->info);
	const struct symbol *symbol = shown->function.symbol;
	uint64_t start, value;

	if (!symbol || strcmp(symbol->linkage->text, stop) != 0 ||
	    !hit_register(&shown->hit, HIT_RDI, &start) ||
	    !hit_register(&shown->hit, HIT_RSI, &value))
		return;
	shown->has_passed = true;
	shown->passed_value = ocaml_number(value);
	if (ocaml_number(start) > 0)
		shown->passed_time = tsc_clock_ns(&clock, (uint64_t)ocaml_number(start));
}

/* Returns false if the hit is not chosen, or cannot be read. */
static bool read_shown(const struct hit_source *source, size_t index, struct shown_hit *shown)
{
	const struct event_filter *filter = source->filter;
	struct hit *hit = &shown->hit;

	*shown = (struct shown_hit){ 0 };
	if (!hits_read(timeline_hits(source->timeline), index, hit))
		return false;
	if (hit->sample.tid >= 0)
		shown->thread =
			timeline_borrow_thread(source->timeline, hit->sample.tid, hit->sample.time);
	if (!event_filter_has(filter, shown->thread, hit->sample.time) ||
	    !event_filter_has_cpu(filter, hit->sample.cpu, hit->sample.time))
		return false;
	shown->place = event_place_find(source->resolver, shown->thread, hit->sample.time, hit->ip);
	shown->function =
		event_place_find(source->resolver, shown->thread, hit->sample.time, hit->function);
	find_passed(source, shown);
	return true;
}

/* ---- FTF ----------------------------------------------------------------- */

/* The track of an event. */
struct hit_track {
	bool made;
	struct ftf_thread thread;
	uint64_t last_time; /* ns: of its last hit: no other hit lasts since before */
};

struct hit_writer {
	const struct hit_source *source;
	struct event_tracks *tracks;
	uint64_t begin; /* ns: of the trace */
	uint64_t group;
	struct hit_track *of; /* by attribute */
};

static struct hit_track *hit_track_of(struct hit_writer *writer, const struct perf_attr *attr)
{
	const struct hits *hits = timeline_hits(writer->source->timeline);
	struct hit_track *track = &writer->of[attr - hits->file->attrs];
	struct ftf_writer *to = writer->tracks->writer;
	char room[32];

	if (!writer->group)
		writer->group = ftf_process_new(to, ftf_text(to, "hits"));
	if (!track->made)
		track->thread = ftf_thread_new(to, writer->group,
					       ftf_text(to, hits_event_name(hits, attr, room)));
	track->made = true;
	return track;
}

static struct ftf_name name_hit(struct ftf_writer *writer, const struct shown_hit *shown)
{
	const struct symbol *symbol = shown->function.symbol;
	struct ftf_name name;
	char *text;
	int length;

	if (symbol)
		length = asprintf(&text, "hit %s", symbol->name->text);
	else
		length = asprintf(&text, "hit 0x%" PRIx64, shown->hit.function);
	if (length < 0)
		alloc_fail(0);
	name = ftf_name(writer, text, (size_t)length);
	free(text);
	return name;
}

/* A later argument of the same name would hide the first one. */
static bool is_taken(const struct event_record *record, const char *name)
{
	for (size_t i = 0; i < record->event.arg_count; i++)
		if (!strcmp(ftf_name_text(record->writer, record->args[i].name, NULL), name))
			return true;
	return false;
}

static void add_value(struct event_record *record, const struct hit_arg *arg)
{
	struct ftf_writer *writer = record->writer;
	char other[160];
	struct ftf_name name;

	snprintf(other, sizeof(other), "%s%s", arg->name, is_taken(record, arg->name) ? "_" : "");
	name = ftf_text(writer, other);
	if (arg->type == HIT_TEXT || arg->type == HIT_ARRAY)
		event_record_add(record,
				 ftf_arg_string(name, ftf_name(writer, arg->text, arg->length)));
	else if (arg->type == HIT_HEX || (arg->type == HIT_UNSIGNED && arg->number > INT64_MAX))
		event_record_add(record, ftf_arg_pointer(name, arg->number));
	else
		event_record_add(record, ftf_arg_int64(name, (int64_t)arg->number));
}

static void print_hit_arg(const struct hit_arg *arg, FILE *out)
{
	fprintf(out, "%s=", arg->name);
	if (arg->type == HIT_SIGNED)
		fprintf(out, "%" PRId64, (int64_t)arg->number);
	else if (arg->type == HIT_UNSIGNED)
		fprintf(out, "%" PRIu64, arg->number);
	else if (arg->type == HIT_HEX)
		fprintf(out, "0x%" PRIx64, arg->number);
	else if (arg->type == HIT_ARRAY)
		fprintf(out, "%.*s", (int)arg->length, arg->text);
	else
		json_text_print(arg->text, arg->length, out);
}

/* A record has few arguments: the last one is a text of those that there is no room for. */
static void add_rest(struct event_record *record, const struct hit_arg *args, size_t count)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		alloc_fail(0);
	for (size_t i = 0; i < count; i++) {
		if (i)
			putc(' ', out);
		print_hit_arg(&args[i], out);
	}
	fclose(out);
	event_record_add_text(record, "more", text);
	free(text);
}

static void add_values(struct event_record *record, const struct hits *hits, const struct hit *hit)
{
	struct hit_args args;
	size_t i = 0;

	hits_list_args(hits, hit, &args);
	for (; i < args.count; i++) {
		if (record->event.arg_count == EVENT_RECORD_ARGS - 1 && i + 1 < args.count) {
			add_rest(record, args.list + i, args.count - i);
			return;
		}
		add_value(record, &args.list[i]);
	}
}

static void write_hit(struct hit_writer *writer, const struct shown_hit *shown)
{
	const struct perf_sample *sample = &shown->hit.sample;
	struct hit_track *track = hit_track_of(writer, sample->attr);
	struct ftf_writer *to = writer->tracks->writer;
	uint64_t since = shown->passed_time;
	struct event_record record;

	event_record_init(&record, to, "hit", NULL, sample->time);
	record.event.thread = track->thread;
	record.event.name = name_hit(to, shown);
	if (shown->has_passed) {
		event_record_add_number(&record, "timestamp_passed", (int64_t)shown->passed_time);
		event_record_add_number(&record, "arg", shown->passed_value);
	}
	event_record_add_number(&record, "timestamp", (int64_t)sample->time);
	event_record_add_number(&record, "tid", sample->tid);
	event_record_add_address(&record, "ip", shown->hit.ip);
	add_values(&record, timeline_hits(writer->source->timeline), &shown->hit);
	if (since >= writer->begin && since && since < sample->time &&
	    track->last_time < sample->time) {
		record.event.time = since < track->last_time ? track->last_time : since;
		ftf_complete(to, &record.event, sample->time);
	} else {
		ftf_instant(to, &record.event);
	}
	track->last_time = sample->time;
}

void hit_events_write(const struct hit_source *source, struct event_tracks *tracks, uint64_t begin)
{
	const struct hits *hits = timeline_hits(source->timeline);
	struct hit_writer writer = { .source = source, .tracks = tracks, .begin = begin };
	struct shown_hit shown;

	if (!hits->count)
		return;
	writer.of = alloc_zeroed(hits->file->attr_count, sizeof(*writer.of));
	for (size_t i = 0; i < hits->count; i++)
		if (read_shown(source, i, &shown))
			write_hit(&writer, &shown);
	free(writer.of);
}

/* ---- Text ---------------------------------------------------------------- */

static void print_place(const struct location *place, FILE *out)
{
	if (!place->symbol) {
		fputs(" [unknown]", out);
		return;
	}
	putc(' ', out);
	printable_print(place->symbol->name->text, out);
	fprintf(out, "+0x%" PRIx64, place->offset);
}

void hit_events_print(const struct hit_source *source, FILE *out)
{
	const struct hits *hits = timeline_hits(source->timeline);
	struct shown_hit shown;
	struct hit_args args;
	char room[32];

	for (size_t i = 0; i < hits->count; i++) {
		const struct perf_sample *sample = &shown.hit.sample;

		if (!read_shown(source, i, &shown))
			continue;
		fprintf(out, "%" PRId32 "/%" PRId32 " %" PRIu64 " ", sample->pid, sample->tid,
			sample->time);
		printable_print(hits_event_name(hits, sample->attr, room), out);
		fprintf(out, " 0x%" PRIx64, shown.hit.ip);
		print_place(&shown.place, out);
		hits_list_args(hits, &shown.hit, &args);
		for (size_t k = 0; k < args.count; k++) {
			putc(' ', out);
			print_hit_arg(&args.list[k], out);
		}
		putc('\n', out);
	}
}
