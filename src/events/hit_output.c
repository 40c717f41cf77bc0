/* SPDX-License-Identifier: MIT */
/* Write, print and count hits. */
#include "src/events/hit_output.h"

#include "src/formats/output_format.h"
#include "src/formats/text/any_text.h"
#include "src/formats/text/digits.h"

static struct hit_event_shown *find_event(struct hit_output *output, const char *name)
{
	struct hit_event_shown *event;
	size_t length = strlen(name);

	HASH_FIND(hh, output->events, name, length, event);
	if (event)
		return event;
	event = alloc_zeroed(1, sizeof(*event));
	event->name = ALLOC_CHECKED(strdup(name));
	HASH_ADD_KEYPTR(hh, output->events, event->name, length, event);
	return event;
}

void hit_output_release(struct hit_output *output)
{
	struct hit_event_shown *event;

	HASH_FREE_ALL(output->events, event, free(event->name));
	*output = (struct hit_output){ 0 };
}

/* ---- Text ---------------------------------------------------------------- */

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
		escaped_text_print(arg->text, arg->length, out);
	else
		json_text_print(arg->text, arg->length, out);
}

/* ---- Events -------------------------------------------------------------- */

static struct event_track hit_track(struct hit_output *output, struct hit_event_shown *event)
{
	if (!output->group)
		output->group = event_sink_new_process(
			output->sink, output->like ? "Snapshot symbol hits" : "hits");
	/* In magic-trace's format, all events share one track. */
	if (output->like)
		event = output->events;
	if (!event->has_track)
		event->track = event_sink_new_track(output->sink, output->group,
						    output->like ? "hits" : event->name);
	event->has_track = true;
	return event->track;
}

/* A later argument of the same name would hide the first one. */
static bool is_taken(const struct event_record *record, const char *name)
{
	for (size_t i = 0; i < record->event.arg_count; i++)
		if (!strcmp(record->args[i].name.at, name))
			return true;
	return false;
}

static void add_value(struct event_record *record, const struct hit_arg *arg)
{
	char other[160];
	const char *name;

	snprintf(other, sizeof(other), "%s%s", arg->name, is_taken(record, arg->name) ? "_" : "");
	name = event_record_copy(record, other);
	if (arg->type == HIT_TEXT || arg->type == HIT_ARRAY)
		event_record_add_part(record, name, arg->text, arg->length);
	else if (arg->type == HIT_HEX || (arg->type == HIT_UNSIGNED && arg->number > INT64_MAX))
		event_record_add_address(record, name, arg->number);
	else
		event_record_add_number(record, name, (int64_t)arg->number);
}

/* Returns values as one text, owned by the caller. */
static char *print_rest(const struct hit_arg *args, size_t count)
{
	char *text;
	FILE *out = OPEN_TEXT(text);

	for (size_t i = 0; i < count; i++) {
		if (i)
			putc(' ', out);
		print_hit_arg(&args[i], out);
	}
	alloc_close_text(out, &text);
	return text;
}

/*
 * An event has few arguments: the last one contains the values that do not fit.  Returns its text,
 * owned by the caller, or NULL.
 */
static char *add_hit_values(struct event_record *record, const struct hit_arg *args, size_t count)
{
	char *rest;

	for (size_t i = 0; i < count; i++) {
		if (record->event.arg_count == EVENT_ARGS_MAX - 1 && i + 1 < count) {
			rest = print_rest(args + i, count - i);
			event_record_add_text(record, "more", rest);
			return rest;
		}
		add_value(record, &args[i]);
	}
	return NULL;
}

/* Emit a slice that lasts from `begin` to the hit. */
static void emit_lasting(struct hit_output *output, struct event_record *record, uint64_t begin,
			 uint64_t end)
{
	record->event.time = begin;
	record->event.end = end;
	event_record_emit(record, TRACK_WHOLE);
	output->slices++;
}

static void write_hit(struct hit_output *output, struct hit_event_shown *event,
		      const struct shown_hit *hit)
{
	char *name = hit->function ? alloc_text("hit %s", hit->function->name->text)
				   : alloc_text("hit 0x%" PRIx64, hit->function_ip);
	char *rest = NULL;
	uint64_t since = hit->passed_time;
	struct event_record record;

	event_record_init(&record, output->sink, hit_track(output, event), "hit", name, hit->time);
	if (hit->has_passed) {
		event_record_add_number(&record, "timestamp_passed", (int64_t)hit->passed_time);
		event_record_add_number(&record, "arg", hit->passed_value);
	}
	event_record_add_number(&record, "timestamp", (int64_t)hit->time);
	event_record_add_number(&record, "tid", hit->tid);
	event_record_add_address(&record, "ip", hit->ip);
	if (!output->like)
		rest = add_hit_values(&record, hit->args, hit->arg_count);
	if (output->like) {
		uint64_t begin = output->begin, end = hit->time > begin ? hit->time - begin : 0;
		bool lasts = hit->passed_time > begin && hit->passed_time < hit->time;

		/* In text input, a hit may follow a later event. */
		record.event.category = (struct text_view){ NULL, 0 };
		emit_lasting(output, &record, lasts ? hit->passed_time - begin : end, end);
	} else if (since && since >= output->begin && since < hit->time &&
		   event->last < hit->time) {
		/* Perfetto drops slices that overlap partly. */
		emit_lasting(output, &record, MAX(event->last, since), hit->time);
	} else {
		event_record_emit(&record, TRACK_INSTANT);
	}
	free(name);
	free(rest);
}

/* ---- All ----------------------------------------------------------------- */

void hit_output_add(struct hit_output *output, const struct shown_hit *hit)
{
	struct hit_event_shown *event = find_event(output, hit->event);

	if (output->sink)
		write_hit(output, event, hit);
	if (output->text) {
		struct line line;
		char *at;

		line.out = output->text;
		printable_printf(output->text, "%" PRId32 "/%" PRId32 " %" PRIu64 " %s", hit->pid,
				 hit->tid, hit->time, hit->event);
		at = digits_hex(stpcpy(line.text, " 0x"), hit->ip);
		*at++ = ' ';
		line_end(&line, format_location(&line, at, &hit->location));
		for (size_t i = 0; i < hit->arg_count; i++) {
			putc(' ', output->text);
			print_hit_arg(&hit->args[i], output->text);
		}
		putc('\n', output->text);
	}
	if (!event->count++ || hit->time < event->first)
		event->first = hit->time;
	event->last = MAX(event->last, hit->time);
	if (!output->count++ || hit->time < output->first)
		output->first = hit->time;
}
