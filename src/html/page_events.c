/* SPDX-License-Identifier: MIT */
/* Show the events other than calls. */
#include "src/html/html_page.h"

#include <math.h>

#include "base/io/output.h"
#include "src/formats/text/any_text.h"
#include "src/formats/text/event_text.h"

/* A slice's name and arguments, in the form of a symbol. */
struct page_symbol {
	struct page_text {
		const struct name *name, *args;
	} text;
	struct symbol symbol;
	UT_hash_handle hh;
};

/* Perfetto has a counter for each argument. */
struct page_counter {
	struct counter_key {
		uint64_t pid, id;
		const struct name *name, *arg;
	} key;
	const struct track *track; /* borrowed: of its first value */
	uint64_t first, last;      /* ns: of its values */
	FILE *stream;              /* stream into `points`: JSON with a comma at its end */
	char *points;              /* owned, as is `stream` */
	size_t size;
	UT_hash_handle hh;
};

/* Returns `head`, which may be empty, and an event's arguments: "head a=1 b=x". */
static const struct name *args_text(const struct page_events *events,
				    const struct track_event *event, struct text_view head)
{
	const struct name *interned;
	char *text;
	FILE *out = OPEN_TEXT(text);

	escaped_text_print(head.at, head.length, out);
	event_args_print(event, false, out);
	alloc_close_text(out, &text);
	interned = name_intern_text(events->store.names, text + (*text == ' '));
	free(text);
	return interned;
}

/* Returns the symbol of a slice: `begun`, or of the event's name, with the event's arguments. */
static const struct symbol *slice_symbol(struct page_events *events,
					 const struct track_event *event,
					 const struct symbol *begun)
{
	const struct name *name =
		begun ? begun->name : view_intern(events->store.names, event->name);
	struct page_text text = { name, begun ? begun->linkage : name };
	struct page_symbol *found;

	if (events->args && event->arg_count)
		text.args =
			args_text(events, event, name_view(text.args == name ? NULL : text.args));
	HASH_FIND_OR_ADD(events->symbols, text, &text, found);
	found->symbol =
		(struct symbol){ .name = text.name, .linkage = text.args, .kind = SYMBOL_MARK };
	return &found->symbol;
}

/* Take an event. The end of a slice has the symbol to show, as it may have more arguments. */
static void take_event(struct page_events *events, const struct slice_sink *sink,
		       const struct track_event *from)
{
	struct stored_track *stored = event_store_track(&events->store, from->track);
	struct track *track = &events->tracks[stored->index];
	struct slice_event event = { .time = from->time };

	if (from->kind == TRACK_COUNTER) {
		struct name_table *names = events->store.names;

		for (size_t i = 0; i < from->arg_count; i++) {
			const struct event_arg *arg = &from->args[i];
			const struct counter_key key = { from->track.pid, from->id,
							 view_intern(names, from->name),
							 view_intern(names, arg->name) };
			double value =
				arg->type == EVENT_ARG_REAL ? arg->real : (double)arg->number;
			struct page_counter *counter;

			HASH_FIND_OR_ADD(events->counters, key, &key, counter);
			if (!counter->stream) {
				counter->stream = ALLOC_CHECKED(
					open_memstream(&counter->points, &counter->size));
				counter->first = counter->last = from->time;
				counter->track = track;
			}
			fprintf(counter->stream, "%" PRIu64 ",%.15g,", from->time - counter->last,
				isfinite(value) ? value : 0);
			counter->last = from->time;
		}
	} else if (from->kind == TRACK_BEGIN) {
		event.symbol = slice_symbol(events, from, NULL);
		ARRAY_ADD(stored->open, stored->depth, stored->room)->symbol = event.symbol;
	} else if (from->kind == TRACK_END && stored->depth) {
		event.kind = SLICE_END;
		event.symbol = slice_symbol(events, from, stored->open[--stored->depth].symbol);
	} else if (from->kind == TRACK_INSTANT) {
		event.kind = SLICE_INSTANT;
		event.text = args_text(events, from, from->name)->text;
	} else {
		return;
	}
	if (from->kind != TRACK_COUNTER)
		slice_sink_emit(sink, track, &event, NULL);
	events->begin = MIN(from->time, events->begin);
	events->end = MAX(from->time, events->end);
}

void page_events_show(struct page_events *events, const struct slice_sink *sink,
		      uint32_t first_index)
{
	struct event_store *store = &events->store;

	event_store_sort(store);
	events->begin = UINT64_MAX;
	events->tracks = alloc_zeroed(HASH_COUNT(store->tracks) + 1, sizeof(*events->tracks));
	for (const struct stored_track *from = store->tracks; from; from = from->hh.next) {
		events->tracks[from->index] = stored_track_describe(from);
		events->tracks[from->index].index = first_index + from->index;
	}
	for (size_t i = 0; i < store->count; i++) {
		struct track_event event = event_store_at(store, i);

		take_event(events, sink, &event);
	}
}

void page_events_print_counters(struct page_events *events, uint64_t origin, struct output *output,
				FILE *out)
{
	const char *between = "\n", *process, *thread;

	fputs(",\n\"counters\":[", out);
	for (struct page_counter *counter = events->counters; counter; counter = counter->hh.next) {
		const struct name *name = counter->key.name, *arg = counter->key.arg;

		fflush(counter->stream);
		if (output_room(output) <= counter->size) {
			output->cut = true;
			continue;
		}
		fprintf(out, "%s{\"pid\":%" PRIu64 ",\"begin\":%" PRIu64 ",\"name\":", between,
			counter->key.pid, counter->first - origin);
		html_json_print(json_name(name), out);
		fputs(",\"unit\":", out);
		html_json_print(json_name(arg), out);
		process = counter->track->process_name ?: "process";
		thread = counter->track->thread_name ?: "";
		fprintf(out, ",\"tid\":%" PRId32 ",\"track\":", counter->track->tid);
		html_json_print(json_any_text(thread, strlen(thread)), out);
		fputs(",\"process\":", out);
		html_json_print(json_any_text(process, strlen(process)), out);
		fprintf(out, ",\"points\":[%.*s]}", (int)counter->size - 1, counter->points);
		between = ",\n";
	}
	putc(']', out);
}

void page_events_release(struct page_events *events)
{
	struct page_counter *counter;
	struct page_symbol *symbol;

	for (size_t i = 0; events->tracks && i < HASH_COUNT(events->store.tracks); i++)
		track_release(&events->tracks[i]);
	HASH_FREE_ALL(events->counters, counter,
		      alloc_close_text(counter->stream, &counter->points);
		      free(counter->points));
	HASH_FREE_ALL(events->symbols, symbol);
	free(events->tracks);
	event_store_release(&events->store);
	*events = (struct page_events){ 0 };
}
