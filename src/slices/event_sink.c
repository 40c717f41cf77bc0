/* SPDX-License-Identifier: MIT */
/* Build single events with arguments, and name tracks. */
#include "src/slices/event_sink.h"

void event_sink_name_process(struct event_sink *sink, uint64_t pid, const char *name)
{
	event_sink_emit(sink, &(struct track_event){ .kind = TRACK_PROCESS,
						     .track.pid = pid,
						     .name = text_view_of(name) });
}

void event_sink_name_track(struct event_sink *sink, struct event_track track, const char *name)
{
	event_sink_emit(sink, &(struct track_event){ .kind = TRACK_THREAD,
						     .track = track,
						     .name = text_view_of(name) });
}

uint64_t event_sink_new_process(struct event_sink *sink, const char *name)
{
	event_sink_name_process(sink, ++sink->last_id, name);
	return sink->last_id;
}

struct event_track event_sink_new_track(struct event_sink *sink, uint64_t pid, const char *name)
{
	struct event_track track = { pid, ++sink->last_id };

	event_sink_name_track(sink, track, name);
	return track;
}

void event_record_init(struct event_record *record, struct event_sink *sink,
		       struct event_track track, const char *category, const char *name,
		       uint64_t time)
{
	record->sink = sink;
	record->event = (struct track_event){ .time = time,
					      .track = track,
					      .category = text_view_of(category),
					      .name = text_view_of(name),
					      .args = record->args };
	record->used = 0;
}

const char *event_record_copy(struct event_record *record, const char *text)
{
	char *copy = record->texts + record->used;
	size_t room = sizeof(record->texts) - record->used;
	size_t length = strnlen(text, room - 1);

	memcpy(copy, text, length);
	copy[length] = 0;
	record->used += MIN(length + 1, room - 1);
	return copy;
}

static struct event_arg *add_arg(struct event_record *record, const char *name,
				 enum event_arg_type type)
{
	struct event_arg *arg = &record->args[record->event.arg_count++];

	arg->name = text_view_of(name);
	arg->type = type;
	return arg;
}

void event_record_add_int32(struct event_record *record, const char *name, int32_t value)
{
	add_arg(record, name, EVENT_ARG_INT32)->number = value;
}

void event_record_add_number(struct event_record *record, const char *name, int64_t value)
{
	add_arg(record, name, EVENT_ARG_INT64)->number = value;
}

void event_record_add_address(struct event_record *record, const char *name, uint64_t value)
{
	add_arg(record, name, EVENT_ARG_POINTER)->pointer = value;
}

void event_record_add_double(struct event_record *record, const char *name, double value)
{
	add_arg(record, name, EVENT_ARG_REAL)->real = value;
}

void event_record_add_text(struct event_record *record, const char *name, const char *value)
{
	event_record_add_part(record, name, value, strlen(value));
}

void event_record_add_part(struct event_record *record, const char *name, const char *value,
			   size_t length)
{
	add_arg(record, name, EVENT_ARG_TEXT)->text = (struct text_view){ value, length };
}

void event_record_emit(struct event_record *record, enum track_event_kind kind)
{
	record->event.kind = kind;
	event_sink_emit(record->sink, &record->event);
}
