/* SPDX-License-Identifier: MIT */
/* OCaml's runtime events as an overlay, ring by ring. */
#include "src/overlays/overlay_importer.h"

#define NAME_ROOM       160
#define TEXT_MAX        1000 /* bytes shown of a custom event */
#define LOST_BEGINS_MAX 64

/* Only broken programs have more slices that cross each other. */
#define OVERLAY_LANES 16

/* Deeper slices are left out; Perfetto's limit is 512. */
#define OVERLAY_DEPTH 500

/* Open slices searched for an end, so that programs that never end a slice take linear time. */
#define SEARCH_MAX 256

/* One ring, while its events are written. */
struct ring_trace {
	struct overlay_sink *out;
	const struct runtime_events *file;
	const struct overlay_clock *clock;
	int32_t pid, tid; /* tid -1: not known */
	uint32_t ring;
	struct event_track gc, events, lanes[OVERLAY_LANES]; /* tid 0: not made yet */
	uint64_t now;                                        /* ns, trace: of the latest event */
	uint16_t phases[OVERLAY_DEPTH];                      /* open ones, innermost last */
	size_t depth, too_deep; /* open phases; open phases beyond OVERLAY_DEPTH, not shown */
	/* Phases that were open before the first event, innermost first. */
	uint16_t lost_begins[LOST_BEGINS_MAX];
	size_t lost_count;
	const char *cause;           /* cause of the next minor collection; NULL: unknown */
	int64_t promoted, allocated; /* bytes of the current minor collection; -1: unknown */
	/* A span that the program marked by name. */
	struct overlay_slice {
		uint64_t begin, end; /* ns */
		const struct name *name;
		bool unfinished; /* no end was seen */
		bool placed;     /* on a lane */
	} * slices;              /* owned; in the order of begin */
	size_t slice_count, slice_room;
	size_t *open; /* owned: indices of slices without an end, in order */
	size_t open_count, open_room;
	struct event_record record; /* record of start_record() */
};

/* ---- Names and tracks ---------------------------------------------------- */

static struct event_track make_track(const struct ring_trace *ring, const char *what, unsigned lane)
{
	char name[NAME_ROOM], which[NAME_ROOM / 4] = "", thread[NAME_ROOM / 4] = "";

	if (lane)
		snprintf(which, sizeof(which), " %u", lane + 1);
	if (ring->tid >= 0)
		snprintf(thread, sizeof(thread), " (thread %d)", ring->tid);
	snprintf(name, sizeof(name), "domain %u %s%s%s", ring->ring, what, which, thread);
	return overlay_sink_track(ring->out, ring->pid, name);
}

/* Start an event of the domain's GC track, replacing the previous one. */
static struct event_record *start_record(struct ring_trace *ring, const char *category,
					 const char *name)
{
	event_record_init(&ring->record, ring->out->sink, ring->gc, category, name, ring->now);
	return &ring->record;
}

/* As start_record(), on the track of the program's events. */
static struct event_record *start_user_record(struct ring_trace *ring, const char *name)
{
	struct event_record *record = start_record(ring, "ocaml", name);

	if (!ring->events.tid)
		ring->events = make_track(ring, "events", 0);
	record->event.track = ring->events;
	return record;
}

/* Returns `name`; if it is NULL, a kind and number in `room`. */
static const char *name_or_number(const char *name, const char *kind, unsigned number,
				  char room[NAME_ROOM])
{
	if (!name)
		snprintf(room, NAME_ROOM, "%s %u", kind, number);
	return name ? name : room;
}

/* ---- The collector's phases ---------------------------------------------- */

static bool is_minor(const struct ring_trace *ring, unsigned phase)
{
	return phase ==
	       (ring->file->phases == RUNTIME_PHASES_5_0 ? RUNTIME_MINOR_5_0 : RUNTIME_MINOR_5_3);
}

static void begin_phase(struct ring_trace *ring, unsigned phase, const char *note)
{
	char room[NAME_ROOM];
	const char *name = runtime_event_name(ring->file, RUNTIME_BEGIN, phase);
	struct event_record *record =
		start_record(ring, "gc", name_or_number(name, "phase", phase, room));

	if (ring->depth == OVERLAY_DEPTH) {
		ring->too_deep++;
		return;
	}
	if (note)
		event_record_add_text(record, note, "true");
	ring->phases[ring->depth++] = (uint16_t)phase;
	ring->out->slices++;
	if (is_minor(ring, phase))
		ring->promoted = ring->allocated = -1;
	event_record_emit(record, TRACK_BEGIN);
}

/* End the innermost open phase; `unfinished`: its own end was not seen. */
static void end_phase(struct ring_trace *ring, bool unfinished)
{
	struct event_record *record = start_record(ring, NULL, NULL);

	if (is_minor(ring, ring->phases[--ring->depth])) {
		/* Add the arguments of a minor collection. */
		if (ring->promoted >= 0)
			event_record_add_number(record, "promoted_bytes", ring->promoted);
		if (ring->allocated >= 0)
			event_record_add_number(record, "allocated_bytes", ring->allocated);
		/* No percentage if the domain promoted blocks of other domains. */
		if (ring->promoted >= 0 && ring->allocated > 0 && ring->promoted <= ring->allocated)
			event_record_add_double(record, "promoted_percent",
						100.0 * (double)ring->promoted /
							(double)ring->allocated);
		if (ring->cause)
			event_record_add_text(record, "cause", ring->cause);
		ring->cause = NULL;
	}
	if (unfinished)
		event_record_add_text(record, "unfinished", "true");
	event_record_emit(record, TRACK_END);
}

static void end_all_phases(struct ring_trace *ring)
{
	while (ring->depth)
		end_phase(ring, true);
	ring->too_deep = 0;
}

/* Returns the 1-based position of an open phase on the stack; 0: it is not open. */
static size_t find_open(const struct ring_trace *ring, unsigned phase)
{
	size_t at = ring->depth;

	while (at && ring->phases[at - 1] != phase)
		at--;
	return at;
}

static void end_phase_by_event(struct ring_trace *ring, unsigned phase)
{
	size_t at;

	if (ring->too_deep) {
		ring->too_deep--;
		return;
	}
	at = find_open(ring, phase);
	if (!at)
		return; /* the ring was paused at its begin */
	while (ring->depth > at)
		end_phase(ring, true);
	end_phase(ring, false);
}

/* ---- Counters, instants -------------------------------------------------- */

static void write_runtime_counter(struct ring_trace *ring, const struct runtime_event *event)
{
	const char *name = runtime_event_name(ring->file, event->kind, event->id);
	const char *unit = runtime_counter_unit(event->id);
	struct event_record *record;
	char room[NAME_ROOM];

	if (event->id == RUNTIME_MINOR_PROMOTED)
		ring->promoted = event->value;
	if (event->id == RUNTIME_MINOR_ALLOCATED)
		ring->allocated = event->value;
	name = name_or_number(name, "counter", event->id, room);
	record = start_record(ring, "gc", name);
	event_record_add_number(record, unit ? unit : "value", event->value);
	if (unit) {
		record->event.id = ring->ring;
		event_record_emit(record, TRACK_COUNTER);
		return;
	}
	/* The events force_minor_... and request_minor_... cause the next minor collection. */
	if (strstr(name, "_minor_"))
		ring->cause = name;
	event_record_emit(record, TRACK_INSTANT);
}

static void write_lifecycle(struct ring_trace *ring, const struct runtime_event *event)
{
	const char *name = runtime_event_name(ring->file, event->kind, event->id);
	struct event_record *record;

	/* Ends of phases may be missing: nothing was written while the ring was paused. */
	if (event->id == RUNTIME_RING_RESUME)
		end_all_phases(ring);
	record = start_record(ring, "lifecycle", name ? name : "lifecycle");
	if (event->value)
		event_record_add_number(record, "pid", event->value);
	event_record_emit(record, TRACK_INSTANT);
}

static void write_loss(struct ring_trace *ring, int64_t words, uint64_t time)
{
	struct event_record *record;

	end_all_phases(ring);
	ring->now = MAX(time, ring->now);
	record = start_record(ring, "gap", "lost events: the ring was overwritten");
	event_record_add_number(record, "words", words);
	event_record_emit(record, TRACK_INSTANT);
}

/*
 * Write the number of major-heap blocks by words, which the instrumented runtime counts: of each
 * size up to 9, by tens up to 99, and of all others (runtime/runtime_events.c, caml_ev_alloc()).
 * The number of size 0 counts from the start, as the runtime never resets it.
 */
static void write_block_sizes(struct ring_trace *ring, const struct runtime_event *event)
{
	static const char *const sizes[] = { "0",     "1",     "2",     "3",     "4",
					     "5",     "6",     "7",     "8",     "9",
					     "10-19", "20-29", "30-39", "40-49", "50-59",
					     "60-69", "70-79", "80-89", "90-99", "100+" };
	char text[NAME_ROOM * 4] = "";
	struct event_record *record = start_record(ring, "gc", "major heap blocks by size");
	size_t used = 0;

	for (size_t i = 0; i < COUNT_OF(sizes); i++) {
		uint64_t number;

		memcpy(&number, event->payload + 8 * i, sizeof(number));
		if (number)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s: %" PRIu64,
						 used ? ", " : "", sizes[i], number);
	}
	event_record_add_text(record, "words: blocks", text);
	event_record_emit(record, TRACK_INSTANT);
}

/* ---- Spans of the program ------------------------------------------------ */

/*
 * A program may end its slices in any order, but slices of one track must nest.  So pair begins and
 * ends by name first, the innermost of a name first; then put each slice on the first of a few
 * lanes where it nests.  Memory grows by one slice per begin, a small multiple of the input.
 */

/* Times do not decrease. */
static void begin_slice(struct ring_trace *ring, const struct name *name)
{
	*ARRAY_ADD(ring->open, ring->open_count, ring->open_room) = ring->slice_count;
	*ARRAY_ADD(ring->slices, ring->slice_count, ring->slice_room) =
		(struct overlay_slice){ .begin = ring->now, .name = name };
}

/* End the innermost open slice of a name, if there is one. */
static void end_slice(struct ring_trace *ring, const struct name *name)
{
	size_t last = ring->open_count > SEARCH_MAX ? ring->open_count - SEARCH_MAX : 0;

	for (size_t i = ring->open_count; i-- > last;) {
		struct overlay_slice *slice = &ring->slices[ring->open[i]];

		if (slice->name != name)
			continue;
		slice->end = ring->now;
		memmove(&ring->open[i], &ring->open[i + 1],
			(--ring->open_count - i) * sizeof(*ring->open));
		return;
	}
}

static void write_end(struct ring_trace *ring, unsigned lane, uint64_t time)
{
	event_sink_emit(ring->out->sink, &(struct track_event){ .kind = TRACK_END,
								.time = time,
								.track = ring->lanes[lane] });
}

/* Emit the remaining slices that nest on a lane.  Returns how many remain. */
static size_t fill_lane(struct ring_trace *ring, unsigned lane)
{
	const struct overlay_slice *stack[OVERLAY_DEPTH];
	size_t depth = 0, left = 0;

	for (size_t i = 0; i < ring->slice_count; i++) {
		struct overlay_slice *slice = &ring->slices[i];
		struct event_record *record;

		if (slice->placed)
			continue;
		for (; depth && stack[depth - 1]->end <= slice->begin; depth--)
			write_end(ring, lane, stack[depth - 1]->end);
		if (depth == OVERLAY_DEPTH || (depth && stack[depth - 1]->end < slice->end)) {
			left++;
			continue;
		}
		slice->placed = true;
		stack[depth++] = slice;
		record = start_record(ring, "ocaml", NULL);
		if (!ring->lanes[lane].tid)
			ring->lanes[lane] = make_track(ring, "spans", lane);
		record->event.track = ring->lanes[lane];
		record->event.name = (struct text_view){ slice->name->text, slice->name->length };
		record->event.time = slice->begin;
		if (slice->unfinished)
			event_record_add_text(record, "unfinished", "true");
		ring->out->slices++;
		event_record_emit(record, TRACK_BEGIN);
	}
	for (; depth; depth--)
		write_end(ring, lane, stack[depth - 1]->end);
	return left;
}

/* ---- Events of the program ----------------------------------------------- */

static bool has_controls(const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (bytes[i] < ' ' || bytes[i] == 0x7f)
			return true;
	return false;
}

/* Add the payload as text if it has no control characters; else as hexadecimal. */
static void add_bytes(struct event_record *record, const struct runtime_event *event)
{
	size_t size = MIN(event->payload_size, TEXT_MAX);
	char hex[2 * TEXT_MAX + 1] = "";

	event_record_add_number(record, "bytes", (int64_t)event->payload_size);
	if (!has_controls(event->payload, size)) {
		event_record_add_part(record, "text", (const char *)event->payload, size);
		return;
	}
	for (size_t i = 0; i < size; i++)
		snprintf(hex + 2 * i, 3, "%02x", event->payload[i]);
	event_record_add_text(record, "hex", event_record_copy(record, hex));
}

static void add_fields(struct event_record *record, const struct runtime_custom *custom)
{
	for (const struct runtime_field *field = custom->fields;
	     field < custom->fields + custom->count; field++) {
		double real;

		memcpy(&real, &field->bits, sizeof(real));
		if (field->word)
			event_record_add_text(record, field->name, field->word);
		else if (field->is_real)
			event_record_add_double(record, field->name, real);
		else
			event_record_add_number(record, field->name, (int64_t)field->bits);
	}
}

/* Add the event to its span or counter.  Returns whether it has one. */
static bool write_custom(struct ring_trace *ring, const struct runtime_custom *custom)
{
	struct name_table *names = &ring->out->names;
	struct event_record *record;

	switch (custom->kind) {
	case RUNTIME_CUSTOM_SPAN_BEGIN:
		begin_slice(ring, name_intern(names, custom->text.at, custom->text.length));
		return true;
	case RUNTIME_CUSTOM_SPAN_END:
		end_slice(ring, name_intern(names, custom->text.at, custom->text.length));
		return true;
	case RUNTIME_CUSTOM_COUNTER:
		record = start_record(ring, "ocaml", NULL);
		record->event.name = custom->text;
		record->event.id = ring->ring;
		add_fields(record, custom);
		event_record_emit(record, TRACK_COUNTER);
		return true;
	default:
		return false;
	}
}

static void write_custom_event(struct ring_trace *ring, const char *name,
			       const struct runtime_event *event)
{
	struct event_record *record;
	struct runtime_custom custom;
	bool known = runtime_custom_read(&custom, name, event->payload, event->payload_size);

	if (known && write_custom(ring, &custom))
		return;
	record = start_user_record(ring, name);
	if (known)
		add_fields(record, &custom);
	if (known && custom.text.at)
		event_record_add_part(record, "text", custom.text.at, custom.text.length);
	else if (!known)
		add_bytes(record, event);
	event_record_emit(record, TRACK_INSTANT);
}

/* ---- A ring -------------------------------------------------------------- */

static void write_event(struct ring_trace *ring, const struct runtime_event *event)
{
	struct name_table *names = &ring->out->names;
	struct event_record *record;
	char name[128];

	if (event->kind >= RUNTIME_USER_UNIT)
		runtime_events_user_name(ring->file, event->id, name);
	switch (event->kind) {
	case RUNTIME_LIFECYCLE:
		write_lifecycle(ring, event);
		break;
	case RUNTIME_BEGIN:
		begin_phase(ring, event->id, NULL);
		break;
	case RUNTIME_END:
		end_phase_by_event(ring, event->id);
		break;
	case RUNTIME_COUNTER:
		write_runtime_counter(ring, event);
		break;
	case RUNTIME_ALLOC:
		write_block_sizes(ring, event);
		break;
	case RUNTIME_USER_INT:
		record = start_record(ring, "ocaml", name);
		event_record_add_number(record, "value", event->value);
		record->event.id = ring->ring;
		event_record_emit(record, TRACK_COUNTER);
		break;
	case RUNTIME_USER_SPAN_BEGIN:
		begin_slice(ring, name_intern_text(names, name));
		break;
	case RUNTIME_USER_SPAN_END:
		end_slice(ring, name_intern_text(names, name));
		break;
	case RUNTIME_USER_CUSTOM:
		write_custom_event(ring, name, event);
		break;
	default:
		event_record_emit(start_user_record(ring, name), TRACK_INSTANT);
	}
}

/* Find the phases of ends without a begin, up to the first pause.  Leaves the stack empty. */
static void find_lost_begins(struct ring_trace *ring)
{
	struct runtime_ring reader;
	struct runtime_event event;
	size_t at;

	runtime_ring_start(&reader, ring->file, ring->ring);
	while (runtime_ring_next(&reader, &event)) {
		if (event.kind == RUNTIME_LIFECYCLE && event.id == RUNTIME_RING_RESUME)
			break;
		if (event.kind == RUNTIME_BEGIN && ring->depth < OVERLAY_DEPTH)
			ring->phases[ring->depth++] = event.id;
		if (event.kind != RUNTIME_END)
			continue;
		at = find_open(ring, event.id);
		if (at)
			ring->depth = at - 1;
		else if (ring->lost_count < LOST_BEGINS_MAX)
			ring->lost_begins[ring->lost_count++] = event.id;
	}
	ring->depth = 0;
}

static void write_ring(struct ring_trace *ring)
{
	struct runtime_ring reader;
	struct runtime_event event;
	int64_t lost_words = 0;
	uint64_t time;
	size_t left;

	find_lost_begins(ring);
	runtime_ring_start(&reader, ring->file, ring->ring);
	while (runtime_ring_next(&reader, &event) && !overlay_sink_full(ring->out)) {
		if (event.kind == RUNTIME_LOST) {
			lost_words += event.value;
			continue;
		}
		time = overlay_clock_time(ring->clock, event.time);
		if (!ring->gc.tid) {
			ring->gc = make_track(ring, "GC", 0);
			ring->now = time;
			overlay_sink_show_clock(ring->out, ring->gc, time, ring->clock);
			if (lost_words)
				write_loss(ring, lost_words, time);
			while (ring->lost_count)
				begin_phase(ring, ring->lost_begins[--ring->lost_count],
					    "begin_lost");
		} else if (lost_words) {
			write_loss(ring, lost_words, time);
		}
		lost_words = 0;
		ring->now = MAX(time, ring->now);
		write_event(ring, &event);
	}
	if (!ring->gc.tid)
		return;
	end_all_phases(ring);
	/* End the open slices and emit all slices, lane by lane, each in program order. */
	left = ring->slice_count;
	for (size_t i = 0; i < ring->open_count; i++) {
		struct overlay_slice *slice = &ring->slices[ring->open[i]];

		slice->end = MAX(ring->now, slice->begin);
		slice->unfinished = true;
	}
	for (unsigned lane = 0; left && lane < OVERLAY_LANES; lane++)
		left = fill_lane(ring, lane);
	if (left)
		diag_warn(ring->out->diag, "runtime-events-spans",
			  "%zu spans of domain %u cross too many others and are left out", left,
			  ring->ring);
	free(ring->slices);
	free(ring->open);
}

static void write_rings(struct overlay_sink *out, struct overlay_input *input,
			const struct overlay_clock *clock)
{
	struct ring_trace ring;

	for (uint32_t i = 0; i < input->events.rings; i++) {
		ring = (struct ring_trace){ .out = out,
					    .file = &input->events,
					    .clock = clock,
					    .pid = input->pid,
					    .tid = overlay_input_tid(input, i),
					    .ring = i,
					    .promoted = -1,
					    .allocated = -1 };
		write_ring(&ring);
	}
}

/* ---- The file ------------------------------------------------------------ */

static bool read_word(struct overlay_input *input, const char *word)
{
	long number, ring;

	if (starts_with(word, "ocaml=5.")) {
		/* A third number, as in 5.2.1, is ignored. */
		input->ocaml_minor = (int)strtol(word + 8, NULL, 10);
		return word[8] >= '0' && word[8] <= '9';
	}
	if (!starts_with(word, "tid.") || !overlay_read_number(word + 4, '=', UINT16_MAX, &ring) ||
	    !overlay_read_number(strchr(word, '=') + 1, '\0', INT32_MAX, &number))
		return false;
	overlay_input_add_tid(input, (uint32_t)ring, (int32_t)number);
	return true;
}

static int open_rings(struct overlay_input *input, struct diag *diag, struct error *err)
{
	struct runtime_events *events = &input->events;
	char *end;
	long named; /* the file is PID.events */

	if (runtime_events_open(events, input->bytes, input->size, diag, err) < 0)
		return -1;
	if (input->ocaml_minor >= 0)
		events->phases = input->ocaml_minor < 3 ? RUNTIME_PHASES_5_0 : RUNTIME_PHASES_5_3;
	else if (events->phases_guessed && events->first_time)
		diag_warn(diag, "runtime-events-release",
			  "%s does not name the OCaml that wrote it; assuming 5.3 or later; "
			  "see ocaml=5.N",
			  input->path);
	if (input->pid < 0)
		input->pid = events->pid;
	named = strtol(base_name(input->path), &end, 10);
	if (input->pid < 0 && named > 0 && named <= INT32_MAX && strcmp(end, ".events") == 0)
		input->pid = (int32_t)named;
	input->first_time = events->first_time;
	input->last_time = events->last_time;
	return 0;
}

/* ---- Text ---------------------------------------------------------------- */

static void print_runtime(const struct runtime_events *file, const struct runtime_event *event,
			  FILE *out)
{
	static const char *const kinds[] = { "lifecycle", "phase", "phase", "counter" };
	bool has_name = event->kind <= RUNTIME_COUNTER;
	const char *name = has_name ? runtime_event_name(file, event->kind, event->id) : NULL;

	for (size_t i = 0; i + 8 <= event->payload_size; i += 8)
		fprintf(out, "%s%" PRIu64, i ? "," : " - ",
			*(const uint64_t *)(const void *)(event->payload + i));
	if (!has_name)
		return;
	if (name)
		fprintf(out, " %s", name);
	else
		fprintf(out, " %s_%u", kinds[event->kind], event->id);
	if (event->kind == RUNTIME_COUNTER || (event->kind == RUNTIME_LIFECYCLE && event->value))
		fprintf(out, " %" PRId64, event->value);
	else
		fputs(event->kind == RUNTIME_LIFECYCLE ? " none" : " -", out);
}

/* Ring by ring, `RING TIME_NS KIND NAME VALUE`. */
static void print_rings(struct overlay_input *input, FILE *out)
{
	const struct runtime_events *file = &input->events;
	static const char *const kinds[] = {
		[RUNTIME_LIFECYCLE] = "lifecycle",
		[RUNTIME_BEGIN] = "begin",
		[RUNTIME_END] = "end",
		[RUNTIME_COUNTER] = "counter",
		[RUNTIME_ALLOC] = "alloc",
		[RUNTIME_USER_UNIT] = "user_unit",
		[RUNTIME_USER_INT] = "user_int",
		[RUNTIME_USER_SPAN_BEGIN] = "user_span_begin",
		[RUNTIME_USER_SPAN_END] = "user_span_end",
		[RUNTIME_USER_CUSTOM] = "user_custom",
	};
	struct runtime_ring ring;
	struct runtime_event event;

	for (uint32_t i = 0; i < file->rings; i++) {
		runtime_ring_start(&ring, file, i);
		while (runtime_ring_next(&ring, &event)) {
			if (event.kind == RUNTIME_LOST) {
				fprintf(out, "%u - lost - %" PRId64 "\n", i, event.value);
				continue;
			}
			fprintf(out, "%u %" PRIu64 " %s", i, event.time, kinds[event.kind]);
			if (event.kind >= RUNTIME_USER_UNIT) {
				char name[128];

				runtime_events_user_name(file, event.id, name);
				fputc(' ', out);
				overlay_print_quoted(name, out);
				if (event.kind == RUNTIME_USER_INT)
					fprintf(out, " %" PRId64, event.value);
				else if (event.kind != RUNTIME_USER_CUSTOM)
					fprintf(out, " -");
				else
					fprintf(out, " %zu:", event.payload_size);
				for (size_t j = 0; j < event.payload_size; j++)
					fprintf(out, "%02x", event.payload[j]);
			} else {
				print_runtime(file, &event, out);
			}
			fputc('\n', out);
		}
	}
}

const struct overlay_importer overlay_runtime_events = {
	.read_word = read_word,
	.open = open_rings,
	.print = print_rings,
	.write = write_rings,
};
