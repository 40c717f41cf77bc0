/* SPDX-License-Identifier: MIT */
/* Store the events that are not slices of calls; read them, or write them into parts. */
#include "src/formats/ftf/ftf_side.h"

/* Bytes of the spool, and of the events, in memory. */
#define SIDE_MEMORY ((size_t)16 << 20)

/* A record to write again at `time`. */
struct side_event {
	uint64_t time;
	uint64_t at;      /* the record's offset; plus 1: end of a whole slice */
	uint32_t out, in; /* tracks of a context switch; a wakeup has only `out` */
	enum side_kind kind;
};

struct side_track {
	struct trace_ids ids;
	const struct name *name; /* NULL: not named */
	uint32_t index;
	size_t part;              /* the last part that names it */
	struct ftf_thread thread; /* thread of that part's writer */
	uint64_t *open;           /* owned: offsets of begins, innermost last */
	size_t depth, room;
	UT_hash_handle hh;
};

struct side_state {
	/* Key by which Perfetto merges counter tracks; an async slice has no name here. */
	struct state_key {
		uint64_t pid, id;
		const struct name *name;
	} key;
	uint64_t at; /* offset of the last event */
	UT_hash_handle hh;
};

static const struct side_event *event_at(const struct ftf_side *side, size_t index)
{
	return (const struct side_event *)side->events.items + index;
}

static const struct name *side_name(const struct ftf_side *side, const struct text_view *text)
{
	return text->length ? name_intern(side->names, text->at, text->length) : NULL;
}

/* ---- Tracks -------------------------------------------------------------- */

static struct side_track *track_of(struct ftf_side *side, struct trace_ids ids)
{
	struct side_track *track;

	HASH_FIND_OR_ADD(side->by_ids, ids, &ids, track);
	if (HASH_COUNT(side->by_ids) > side->track_count) {
		track->index = (uint32_t)side->track_count;
		*ARRAY_ADD(side->tracks, side->track_count, side->track_room) = track;
	}
	return track;
}

/* Returns the process or thread with an id, or NULL.  Borrowed. */
static struct side_id *find_id(struct side_id *hash, uint64_t id)
{
	struct side_id *found;

	HASH_FIND(hh, hash, &id, sizeof(id), found);
	return found;
}

/*
 * Returns the index of the track of a thread that a record identifies only by tid: the last one
 * named, as in Perfetto.
 */
static uint32_t track_of_thread(struct ftf_side *side, uint64_t tid)
{
	const struct side_id *named = find_id(side->threads, tid);

	return named ? named->track : track_of(side, (struct trace_ids){ 0, tid })->index;
}

static void take_name(struct ftf_side *side, const struct trace_record *record)
{
	struct trace_ids ids = { 0, record->id };
	struct side_track *track;
	struct side_id *named;

	if (record->type == FTF_OBJECT_PROCESS) {
		HASH_FIND_OR_ADD(side->processes, id, &record->id, named);
		named->name = side_name(side, &record->name);
		return;
	}
	for (size_t i = 0; i < record->arg_count; i++)
		if (record->args[i].type == ARG_KOID)
			ids.pid = record->args[i].word;
	track = track_of(side, ids);
	/* An empty name also counts: it shows the thread's process. */
	track->name = name_intern(side->names, record->name.at, record->name.length);
	HASH_FIND_OR_ADD(side->threads, id, &ids.tid, named);
	named->track = track->index;
}

/* ---- The spool ----------------------------------------------------------- */

static int write_spool(void *context, const void *bytes, size_t size)
{
	struct ftf_side *side = context;

	big_array_grow(&side->spool, side->size + size, 1, SIDE_MEMORY);
	memcpy((uint8_t *)side->spool.items + side->size, bytes, size);
	big_array_rest(&side->spool, side->size, side->size + size, 1);
	side->size += size;
	return 0;
}

void ftf_side_init(struct ftf_side *side, struct name_table *names, const struct trace_facts *facts)
{
	const struct ftf_destination to = { write_spool, side };
	const struct ftf_options options = { .inlined = true };

	*side = (struct ftf_side){ .names = names };
	side->writer = ALLOC_CHECKED(ftf_open_destination(&to, &options, NULL));
	side->target.writer = side->writer;
	side->target.events = (struct event_sink){ ftf_sink_event, &side->target, facts->free_id };
}

static void add_event(struct ftf_side *side, const struct side_event *event)
{
	if (side->count == side->events.room)
		big_array_grow(&side->events, side->count + 1, sizeof(*event), SIDE_MEMORY);
	((struct side_event *)side->events.items)[side->count++] = *event;
}

static enum side_kind kind_of(const struct trace_record *record)
{
	switch (record->type) {
	case EVENT_BEGIN:
	case EVENT_COMPLETE:
	case EVENT_ASYNC_BEGIN:
	case EVENT_INSTANT:
		return SIDE_SLICE;
	case EVENT_COUNTER:
		return SIDE_VALUE;
	default:
		return SIDE_PLAIN;
	}
}

/* Add an event, or a name of a process or thread; other records have no time. */
static void take_record(struct ftf_side *side, const struct trace_record *record)
{
	struct side_event event = { .time = record->time,
				    .at = record->offset,
				    .kind = SIDE_VALUE };

	if (record->kind == TRACE_KERNEL_OBJECT) {
		take_name(side, record);
	} else if (record->kind == TRACE_EVENT) {
		track_of(side, record->thread);
		event.kind = kind_of(record);
		add_event(side, &event);
		if (record->type == EVENT_COMPLETE)
			add_event(side, &(struct side_event){ .time = record->id,
							      .at = record->offset + 1 });
	} else if (record->kind == TRACE_CONTEXT_SWITCH || record->kind == TRACE_THREAD_WAKEUP) {
		event.out = track_of_thread(side, record->thread.tid);
		event.in = track_of_thread(side, record->other.tid);
		add_event(side, &event);
	}
}

/* Events of equal times keep their order. */
COMPARE_BY_TWO(compare_events, struct side_event, time, at)

int ftf_side_read(struct ftf_side *side, struct error *err)
{
	struct ftf_error failure = { 0 };
	int status = ftf_close(side->writer, &failure);

	side->writer = NULL;
	if (status < 0)
		return error_set(err, ERROR_LIMIT, "trace: %s", failure.text);
	trace_reader_open_bytes(&side->reader, side->spool.items, side->size);
	while ((status = trace_reader_next(&side->reader, &side->record, err)) > 0)
		take_record(side, &side->record);
	if (side->count)
		qsort(side->events.items, side->count, sizeof(struct side_event), compare_events);
	return status < 0 ? error_prefix(err, "events beside the calls") : 0;
}

/* Returns the record at an offset, borrowed until the next read. */
static const struct trace_record *read_at(struct ftf_side *side, uint64_t at)
{
	trace_reader_seek(&side->reader, at);
	trace_reader_next(&side->reader, &side->record, NULL);
	return &side->record;
}

uint64_t ftf_side_time(const struct ftf_side *side)
{
	return side->next < side->count ? event_at(side, side->next)->time : UINT64_MAX;
}

enum side_kind ftf_side_kind(const struct ftf_side *side)
{
	return event_at(side, side->next)->kind;
}

size_t ftf_side_take(struct ftf_side *side)
{
	const struct side_event *event = event_at(side, side->next++);
	struct side_track *track;

	read_at(side, event->at & ~UINT64_C(1));
	side->record.time = event->time;
	if (event->at & 1) {
		side->record.type = EVENT_END;
		side->record.arg_count = 0;
	}
	HASH_FIND(hh, side->by_ids, &side->record.thread, sizeof(side->record.thread), track);
	return track ? track->index : 0;
}

void ftf_side_describe(const struct ftf_side *side, size_t index, struct track *track)
{
	const struct side_track *from = side->tracks[index];
	const struct side_id *process = find_id(side->processes, from->ids.pid);

	track->pid = (int32_t)from->ids.pid;
	track->tid = (int32_t)from->ids.tid;
	track->thread_name = from->name ? from->name->text : NULL;
	track->process_name = process ? process->name->text : NULL;
}

/* ---- Writing ------------------------------------------------------------- */

/* Returns the writer's thread of a track, which the part names at its first use. */
static struct ftf_thread name_track(struct ftf_side *side, struct ftf_sink *part,
				    struct side_track *track)
{
	struct side_id *process;

	if (track->part == side->part)
		return track->thread;
	track->part = side->part;
	track->thread = ftf_thread(part->writer, track->ids.pid, track->ids.tid);
	process = find_id(side->processes, track->ids.pid);
	if (process && process->part != side->part) {
		process->part = side->part;
		ftf_process_name(part->writer, process->id, ftf_sink_name(part, process->name));
	}
	if (track->name)
		ftf_thread_name(part->writer, track->thread, ftf_sink_name(part, track->name));
	return track->thread;
}

/* Write an event at another time; `continued`: as the begin of an already open slice. */
static void write_side_event(struct ftf_side *side, struct ftf_sink *part,
			     const struct trace_record *record, uint64_t time, bool continued)
{
	/* A whole slice can end in another part. */
	unsigned type = record->type == EVENT_COMPLETE ? EVENT_BEGIN : record->type;
	struct ftf_arg args[FTF_ARGS_MAX];
	struct ftf_event event = {
		.thread = name_track(side, part, track_of(side, record->thread)),
		.category = ftf_sink_name(part, side_name(side, &record->category)),
		.name = ftf_sink_name(part, side_name(side, &record->name)),
		.time = time,
		.args = args,
		.arg_count = record->arg_count,
	};

	for (size_t i = 0; i < record->arg_count; i++) {
		const struct trace_arg *from = &record->args[i];

		args[i] = ftf_arg_word(ftf_sink_name(part, side_name(side, &from->name)),
				       (enum ftf_arg_type)from->type, from->word);
		if (from->type == ARG_STRING)
			args[i].value.string = ftf_sink_name(part, side_name(side, &from->string));
	}
	if (continued && part->level != OPTION_ARGS_NONE && event.arg_count < FTF_ARGS_MAX)
		args[event.arg_count++] =
			ftf_arg_string(part->keys[SLICE_ARG_CONTINUED], part->is_true);
	ftf_any_event(part->writer, (enum ftf_event_type)type, &event, record->id);
}

static void write_end(struct ftf_side *side, struct ftf_sink *part, struct side_track *track,
		      uint64_t time)
{
	ftf_end(part->writer,
		&(struct ftf_event){ .thread = name_track(side, part, track), .time = time });
}

/* Returns the value of a 32-bit argument, or 0 if absent. */
static int32_t number_arg(const struct trace_record *record, const char *name)
{
	for (size_t i = 0; i < record->arg_count; i++) {
		const struct text_view *found = &record->args[i].name;

		if (found->length == strlen(name) && !memcmp(found->at, name, found->length))
			return (int32_t)record->args[i].word;
	}
	return 0;
}

static void write_switch(struct ftf_side *side, struct ftf_sink *part,
			 const struct side_event *event, const struct trace_record *record)
{
	const struct ftf_switch change = {
		.time = event->time,
		.cpu = (uint16_t)record->number,
		.state = (enum ftf_thread_state)record->state,
		.out_tid = record->thread.tid,
		.in_tid = record->other.tid,
		.out_weight = number_arg(record, "outgoing_weight"),
		.in_weight = number_arg(record, "incoming_weight"),
	};

	name_track(side, part, side->tracks[event->out]);
	name_track(side, part, side->tracks[event->in]);
	ftf_context_switch(part->writer, &change);
	ARRAY_GROW_ZEROED(side->switches, side->switch_room, record->number + 1);
	side->switches[record->number] = side->next;
}

static void write_wakeup(struct ftf_side *side, struct ftf_sink *part,
			 const struct side_event *event, const struct trace_record *record)
{
	const struct ftf_wakeup wakeup = {
		.time = event->time,
		.cpu = (uint16_t)record->number,
		.tid = record->thread.tid,
		.waker_tid = (uint32_t)number_arg(record, "waker"),
		.weight = number_arg(record, "weight"),
	};

	name_track(side, part, side->tracks[event->out]);
	if (wakeup.waker_tid)
		name_track(side, part, side->tracks[track_of_thread(side, wakeup.waker_tid)]);
	ftf_thread_wakeup(part->writer, &wakeup);
}

/* ---- The state ----------------------------------------------------------- */

/* Set the offset of a key's last event; 0: ended. */
static void set_state(struct side_state **states, const struct state_key *key, uint64_t at)
{
	struct side_state *state;

	HASH_FIND_OR_ADD(*states, key, key, state);
	state->at = at;
	if (!at) {
		HASH_DEL(*states, state);
		free(state);
	}
}

static void note_event(struct ftf_side *side, const struct trace_record *record)
{
	struct side_track *track = track_of(side, record->thread);
	struct state_key key = { .pid = record->thread.pid, .id = record->id };

	if (record->type == EVENT_BEGIN || record->type == EVENT_COMPLETE) {
		*ARRAY_ADD(track->open, track->depth, track->room) = record->offset;
	} else if (record->type == EVENT_END) {
		track->depth -= track->depth > 0;
	} else if (record->type == EVENT_COUNTER) {
		key.name = side_name(side, &record->name);
		set_state(&side->counters, &key, record->offset);
	} else if (record->type == EVENT_ASYNC_BEGIN || record->type == EVENT_ASYNC_END) {
		set_state(&side->asyncs, &key,
			  record->type == EVENT_ASYNC_BEGIN ? record->offset : 0);
	}
}

void ftf_side_write(struct ftf_side *side, struct ftf_sink *part)
{
	const struct side_event *event = event_at(side, side->next++);
	const struct trace_record *record = read_at(side, event->at & ~UINT64_C(1));
	struct side_track *track;

	if (event->at & 1) {
		track = track_of(side, record->thread);
		write_end(side, part, track, event->time);
		track->depth -= track->depth > 0;
	} else if (record->kind == TRACE_EVENT) {
		write_side_event(side, part, record, event->time, false);
		note_event(side, record);
	} else if (record->kind == TRACE_CONTEXT_SWITCH) {
		write_switch(side, part, event, record);
	} else {
		write_wakeup(side, part, event, record);
	}
}

void ftf_side_end_part(struct ftf_side *side, struct ftf_sink *part, uint64_t time)
{
	for (size_t i = 0; i < side->track_count; i++)
		for (size_t k = side->tracks[i]->depth; k-- > 0;)
			write_end(side, part, side->tracks[i], time);
	for (struct side_state *async = side->asyncs; async; async = async->hh.next) {
		read_at(side, async->at);
		side->record.type = EVENT_ASYNC_END;
		side->record.arg_count = 0;
		write_side_event(side, part, &side->record, time, false);
	}
}

static void begin_switches(struct ftf_side *side, struct ftf_sink *part, uint64_t time)
{
	for (size_t cpu = 0; cpu < side->switch_room; cpu++) {
		const struct trace_record *record;
		const struct side_event *last;

		if (!side->switches[cpu])
			continue;
		last = event_at(side, side->switches[cpu] - 1);
		record = read_at(side, last->at);
		if (!record->other.tid)
			continue;
		name_track(side, part, side->tracks[last->in]);
		ftf_context_switch(
			part->writer,
			&(struct ftf_switch){ .time = time,
					      .cpu = (uint16_t)cpu,
					      .state = FTF_STATE_BLOCKED,
					      .in_tid = record->other.tid,
					      .in_weight = number_arg(record, "incoming_weight"),
					      .out_weight = FTF_IDLE_WEIGHT });
	}
}

void ftf_side_begin_part(struct ftf_side *side, struct ftf_sink *part, uint64_t time)
{
	side->part++;
	for (size_t i = 0; i < side->track_count; i++)
		for (size_t k = 0; k < side->tracks[i]->depth; k++)
			write_side_event(side, part, read_at(side, side->tracks[i]->open[k]), time,
					 true);
	for (struct side_state *open = side->asyncs; open; open = open->hh.next)
		write_side_event(side, part, read_at(side, open->at), time, true);
	for (struct side_state *last = side->counters; last; last = last->hh.next)
		write_side_event(side, part, read_at(side, last->at), time, false);
	begin_switches(side, part, time);
}

void ftf_side_release(struct ftf_side *side)
{
	struct side_track *track;
	struct side_state *state;
	struct side_id *named;

	ftf_abandon(side->writer);
	trace_reader_close(&side->reader);
	HASH_FREE_ALL(side->threads, named);
	HASH_FREE_ALL(side->processes, named);
	HASH_FREE_ALL(side->by_ids, track, free(track->open));
	HASH_FREE_ALL(side->counters, state);
	HASH_FREE_ALL(side->asyncs, state);
	free(side->tracks);
	free(side->switches);
	big_array_release(&side->spool);
	big_array_release(&side->events);
	*side = (struct ftf_side){ 0 };
}
