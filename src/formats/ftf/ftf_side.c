/* SPDX-License-Identifier: MIT */
/* Stores the events beside the slices of calls, and writes them into the parts of --split. */
#include "src/formats/ftf/ftf_side.h"

#include <unistd.h>

#include "base/io/big_array.h"
#include "base/tables/hash.h"
#include "reader/trace_reader.h"

/* ---- The store ----------------------------------------------------------- */

/*
 * Events of a trace, in memory or in a file without a name, and the tracks that they are on:
 * to be written again in another order and into other traces.
 */

struct stored_arg {
	const struct name *name;
	enum ftf_arg_type type;
	union {
		const struct name *text;
		uint64_t word;
	};
};

struct stored_event {
	uint64_t time, id;   /* id: of a counter, async slice or flow */
	size_t track, other; /* other: of a switch, the thread that comes */
	const struct name *category, *name;
	size_t args; /* index of the first */
	uint16_t cpu;
	uint8_t kind, type, arg_count; /* enum trace_kind, trace_event */
	uint8_t state;                 /* in which a thread leaves its CPU */
};

/* An event where it begins, or where a whole slice ends. */
struct event_order {
	uint64_t time;
	size_t event; /* twice its index, and 1 of an end */
};

struct stored_track {
	struct trace_ids ids;
	const struct name *name; /* may be NULL */
	size_t index;
	size_t part;              /* the last part of the trace that names it */
	struct ftf_thread thread; /* of that part's writer */
	size_t *open;             /* owned: events, innermost last */
	size_t depth, room;
	UT_hash_handle hh;
};

struct event_store {
	struct name_table *names; /* borrowed */
	struct big_array events;  /* owned: struct stored_event */
	struct big_array args;    /* owned: struct stored_arg */
	struct big_array order;   /* owned: struct event_order */
	size_t count, arg_count, place_count;
	struct stored_track *tracks;    /* owned: hash by pid and tid */
	struct stored_track **by_index; /* owned; the tracks are borrowed */
	size_t track_count, track_room;
	/* Owned: hashes of the processes and threads that have names. */
	struct stored_id {
		uint64_t id;
		const struct name *name; /* of a process */
		size_t part;             /* the last part of the trace that names the process */
		size_t track; /* of the thread that was named last of those with the id */
		UT_hash_handle hh;
	} * processes, *tids;
};

static const struct event_order *event_store_place(const struct event_store *store, size_t index)
{
	return (const struct event_order *)store->order.items + index;
}

static const struct stored_event *event_store_event(const struct event_store *store, size_t index)
{
	return (const struct stored_event *)store->events.items + index;
}

/* Returns the arguments of an event. */
static const struct stored_arg *event_store_args(const struct event_store *store,
						 const struct stored_event *event)
{
	return (const struct stored_arg *)store->args.items + event->args;
}

/* Bytes of each array that stay in memory. */
#define STORE_MEMORY ((size_t)16 << 20)

/* ---- Tracks -------------------------------------------------------------- */

static const struct name *text_of(const struct event_store *store, const struct text_view *text)
{
	return text->length ? name_intern(store->names, text->at, text->length) : NULL;
}

static struct stored_track *stored_track_of(struct event_store *store, const struct trace_ids *ids)
{
	struct stored_track *track;

	HASH_FIND(hh, store->tracks, ids, sizeof(*ids), track);
	if (track)
		return track;
	track = alloc_zeroed(1, sizeof(*track));
	track->ids = *ids;
	track->index = store->track_count;
	HASH_ADD(hh, store->tracks, ids, sizeof(track->ids), track);
	*ARRAY_ADD(store->by_index, store->track_count, store->track_room) = track;
	return track;
}

/* Returns the process or thread with an id, or NULL.  Borrowed. */
static struct stored_id *find_id(struct stored_id *hash, uint64_t id)
{
	struct stored_id *found;

	HASH_FIND(hh, hash, &id, sizeof(id), found);
	return found;
}

/* The same; a new one, if it has no name yet. */
static struct stored_id *make_id(struct stored_id **hash, uint64_t id)
{
	struct stored_id *named = find_id(*hash, id);

	if (named)
		return named;
	named = alloc_zeroed(1, sizeof(*named));
	named->id = id;
	HASH_ADD(hh, *hash, id, sizeof(id), named);
	return named;
}

/*
 * Returns the index of the track of a thread that a record names by its own id alone: the one
 * named last, as in Perfetto.
 */
static size_t event_store_thread(struct event_store *store, uint64_t tid)
{
	const struct trace_ids ids = { 0, tid };
	const struct stored_id *named = find_id(store->tids, tid);

	return named ? named->track : stored_track_of(store, &ids)->index;
}

static void name_thread(struct event_store *store, const struct trace_record *record)
{
	struct trace_ids ids = { 0, record->id };
	struct stored_track *track;

	for (size_t i = 0; i < record->arg_count; i++)
		if (record->args[i].type == ARG_KOID)
			ids.pid = record->args[i].word;
	track = stored_track_of(store, &ids);
	/* An empty name is one, too: it says which process the thread is of. */
	track->name = name_intern(store->names, record->name.at, record->name.length);
	make_id(&store->tids, ids.tid)->track = track->index;
}

/* ---- Reading the spool --------------------------------------------------- */

static void add_place(struct event_store *store, uint64_t time, size_t event)
{
	struct event_order *places;

	if (store->place_count == store->order.room)
		big_array_grow(&store->order, store->place_count + 1, sizeof(*places),
			       STORE_MEMORY);
	places = store->order.items;
	places[store->place_count++] = (struct event_order){ time, event };
}

static void add_args(struct event_store *store, const struct trace_record *record)
{
	struct stored_arg *args;

	if (store->arg_count + record->arg_count > store->args.room)
		big_array_grow(&store->args, store->arg_count + record->arg_count, sizeof(*args),
			       STORE_MEMORY);
	args = store->args.items;
	for (size_t i = 0; i < record->arg_count; i++) {
		const struct trace_arg *from = &record->args[i];
		struct stored_arg *to = &args[store->arg_count++];

		*to = (struct stored_arg){ .name = text_of(store, &from->name),
					   .type = (enum ftf_arg_type)from->type,
					   .word = from->word };
		if (from->type == ARG_STRING)
			to->text = text_of(store, &from->string);
	}
}

static void add_event(struct event_store *store, const struct trace_record *record)
{
	struct stored_event event = {
		.time = record->time,
		.id = record->id,
		.category = text_of(store, &record->category),
		.name = text_of(store, &record->name),
		.args = store->arg_count,
		.cpu = (uint16_t)record->number,
		.kind = (uint8_t)record->kind,
		.type = (uint8_t)record->type,
		.arg_count = (uint8_t)record->arg_count,
		.state = (uint8_t)record->state,
	};
	struct stored_event *events;

	if (record->kind == TRACE_EVENT) {
		event.track = stored_track_of(store, &record->thread)->index;
	} else {
		event.track = event_store_thread(store, record->thread.tid);
		event.other = event_store_thread(store, record->other.tid);
	}
	if (store->count == store->events.room)
		big_array_grow(&store->events, store->count + 1, sizeof(*events), STORE_MEMORY);
	events = store->events.items;
	events[store->count] = event;
	add_args(store, record);
	add_place(store, record->time, 2 * store->count);
	if (record->kind == TRACE_EVENT && record->type == EVENT_COMPLETE)
		add_place(store, record->id, 2 * store->count + 1);
	store->count++;
}

/* Add an event, or a name of a process or thread; other records are passed over. */
static void event_store_add(struct event_store *store, const struct trace_record *record)
{
	switch (record->kind) {
	case TRACE_EVENT:
	case TRACE_CONTEXT_SWITCH:
	case TRACE_THREAD_WAKEUP:
		add_event(store, record);
		break;
	case TRACE_KERNEL_OBJECT:
		if (record->type == FTF_OBJECT_PROCESS)
			make_id(&store->processes, record->id)->name =
				text_of(store, &record->name);
		else
			name_thread(store, record);
		break;
	default:
		break; /* without a time: of the writer itself */
	}
}

/* ---- Order --------------------------------------------------------------- */

static int compare_places(const void *a, const void *b)
{
	const struct event_order *x = a, *y = b;

	return COMPARE(x->time, y->time) ?: COMPARE(x->event, y->event);
}

/* Sort the records by time; equal times keep their order. */
static void event_store_sort(struct event_store *store)
{
	if (store->place_count)
		qsort(store->order.items, store->place_count, sizeof(struct event_order),
		      compare_places);
}

static void event_store_release(struct event_store *store)
{
	struct stored_track *track;
	struct stored_id *named;

	HASH_FREE_ALL(store->tids, named);
	HASH_FREE_ALL(store->processes, named);
	HASH_FREE_ALL(store->tracks, track, free(track->open));
	free(store->by_index);
	big_array_release(&store->events);
	big_array_release(&store->args);
	big_array_release(&store->order);
	free(store);
}

/* The file without a name, in messages. */
#define SPOOL_NAME "events of --split"

struct side_counter {
	/* Key by which Perfetto merges counter tracks; an async slice has no name here. */
	struct counter_key {
		uint64_t pid, id;
		const struct name *name;
	} key;
	size_t event; /* the last one */
	UT_hash_handle hh;
};

/* ---- The spool ----------------------------------------------------------- */

static int write_spool(void *context, const void *bytes, size_t size)
{
	struct ftf_side *side = context;

	if (side->err.kind == ERROR_NONE)
		temp_file_write(&side->spool, bytes, size, &side->err);
	return 0;
}

int ftf_side_init(struct ftf_side *side, struct name_table *names, const struct trace_facts *facts,
		  struct error *err)
{
	const struct ftf_destination to = { write_spool, side };
	const struct ftf_options options = { .first_new_id = (uint64_t)facts->free_id + 1 };

	*side = (struct ftf_side){ .store = alloc_zeroed(1, sizeof(*side->store)) };
	side->store->names = names;
	if (temp_file_open(&side->spool, err) < 0)
		return -1;
	side->writer = ftf_open_destination(&to, &options, NULL);
	if (!side->writer)
		alloc_fail(0);
	return 0;
}

static int read_records(struct ftf_side *side, struct error *err)
{
	struct trace_reader reader;
	struct trace_record record;
	int status, fd = side->spool.fd;

	side->spool.open = 0; /* the reader closes it */
	if (lseek(fd, 0, SEEK_SET) < 0) {
		error_set_system(err, errno, SPOOL_NAME ": cannot read");
		close(fd);
		return -1;
	}
	if (trace_reader_open_fd(&reader, fd, err) < 0)
		return error_prefix(err, SPOOL_NAME);
	while ((status = trace_reader_next(&reader, &record, err)) > 0)
		event_store_add(side->store, &record);
	trace_reader_close(&reader);
	if (status < 0)
		error_prefix(err, SPOOL_NAME);
	return status;
}

int ftf_side_read(struct ftf_side *side, struct error *err)
{
	struct ftf_error failure = { 0 };
	int status = ftf_close(side->writer, &failure);

	side->writer = NULL;
	if (side->err.kind != ERROR_NONE) {
		*err = side->err;
		return -1;
	}
	if (status < 0)
		return error_set(err, ERROR_LIMIT, "trace: %s", failure.text);
	if (read_records(side, err) < 0)
		return -1;
	event_store_sort(side->store);
	return 0;
}

/* ---- The next event ------------------------------------------------------ */

static const struct event_order *next_place(const struct ftf_side *side)
{
	return event_store_place(side->store, side->next);
}

uint64_t ftf_side_time(const struct ftf_side *side)
{
	return side->next < side->store->place_count ? next_place(side)->time : UINT64_MAX;
}

enum side_kind ftf_side_kind(const struct ftf_side *side)
{
	const struct stored_event *event =
		event_store_event(side->store, next_place(side)->event / 2);

	if (event->kind != TRACE_EVENT)
		return SIDE_VALUE;
	if (next_place(side)->event % 2)
		return SIDE_PLAIN;
	switch (event->type) {
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

/* ---- Writing ------------------------------------------------------------- */

/* Returns the writer's thread of a track, which the part names at its first use. */
static struct ftf_thread name_track(struct ftf_side *side, struct ftf_sink *part, size_t index)
{
	struct stored_track *track = side->store->by_index[index];
	struct stored_id *process;

	if (track->part == side->part)
		return track->thread;
	track->part = side->part;
	track->thread = ftf_thread(part->writer, track->ids.pid, track->ids.tid);
	process = find_id(side->store->processes, track->ids.pid);
	if (process && process->part != side->part) {
		process->part = side->part;
		ftf_process_name(part->writer, process->id, ftf_sink_name(part, process->name));
	}
	if (track->name)
		ftf_thread_name(part->writer, track->thread, ftf_sink_name(part, track->name));
	return track->thread;
}

static size_t fill_args(const struct ftf_side *side, struct ftf_sink *part,
			const struct stored_event *event, struct ftf_arg args[FTF_ARGS_MAX])
{
	const struct stored_arg *from = event_store_args(side->store, event);

	for (size_t i = 0; i < event->arg_count; i++) {
		args[i] =
			ftf_arg_word(ftf_sink_name(part, from[i].name), from[i].type, from[i].word);
		if (from[i].type == FTF_STRING)
			args[i].value.string = ftf_sink_name(part, from[i].text);
	}
	return event->arg_count;
}

/* Returns the value of an argument of 32 bits, or 0 if absent. */
static int32_t number_arg(const struct ftf_side *side, const struct stored_event *event,
			  const char *name)
{
	const struct stored_arg *args = event_store_args(side->store, event);

	for (size_t i = 0; i < event->arg_count; i++)
		if (!strcmp(args[i].name->text, name))
			return (int32_t)args[i].word;
	return 0;
}

static void write_stored(struct ftf_side *side, struct ftf_sink *part,
			 const struct stored_event *event, uint64_t time, bool continued)
{
	struct ftf_arg args[FTF_ARGS_MAX];
	struct ftf_event to = { name_track(side, part, event->track),
				ftf_sink_name(part, event->category),
				ftf_sink_name(part, event->name),
				time,
				args,
				0 };
	struct ftf_writer *writer = part->writer;

	to.arg_count = fill_args(side, part, event, args);
	if (continued && part->level != OPTION_ARGS_NONE && to.arg_count < FTF_ARGS_MAX)
		args[to.arg_count++] =
			ftf_arg_string(part->keys[SLICE_ARG_CONTINUED], part->is_true);
	switch ((enum trace_event)event->type) {
	case EVENT_INSTANT:
		ftf_instant(writer, &to);
		break;
	case EVENT_COUNTER:
		ftf_counter(writer, &to, event->id);
		break;
	case EVENT_BEGIN:
	case EVENT_COMPLETE: /* may end in another part */
		ftf_begin(writer, &to);
		break;
	case EVENT_END:
		ftf_end(writer, &to);
		break;
	case EVENT_ASYNC_BEGIN:
		ftf_async_begin(writer, &to, event->id);
		break;
	case EVENT_ASYNC_INSTANT:
		ftf_async_instant(writer, &to, event->id);
		break;
	case EVENT_ASYNC_END:
		ftf_async_end(writer, &to, event->id);
		break;
	case EVENT_FLOW_BEGIN:
		ftf_flow_begin(writer, &to, event->id);
		break;
	case EVENT_FLOW_STEP:
		ftf_flow_step(writer, &to, event->id);
		break;
	case EVENT_FLOW_END:
		ftf_flow_end(writer, &to, event->id);
		break;
	case EVENT_TYPES:
		break;
	}
}

static void write_end(struct ftf_side *side, struct ftf_sink *part, size_t track, uint64_t time)
{
	ftf_end(part->writer,
		&(struct ftf_event){ .thread = name_track(side, part, track), .time = time });
}

static void write_switch(struct ftf_side *side, struct ftf_sink *part,
			 const struct stored_event *event)
{
	const struct ftf_switch change = {
		.time = event->time,
		.cpu = event->cpu,
		.state = (enum ftf_thread_state)event->state,
		.out_tid = side->store->by_index[event->track]->ids.tid,
		.in_tid = side->store->by_index[event->other]->ids.tid,
		.out_weight = number_arg(side, event, "outgoing_weight"),
		.in_weight = number_arg(side, event, "incoming_weight"),
	};

	name_track(side, part, event->track);
	name_track(side, part, event->other);
	ftf_context_switch(part->writer, &change);
}

static void write_wakeup(struct ftf_side *side, struct ftf_sink *part,
			 const struct stored_event *event)
{
	const struct ftf_wakeup wakeup = {
		.time = event->time,
		.cpu = event->cpu,
		.tid = side->store->by_index[event->track]->ids.tid,
		.waker_tid = (uint32_t)number_arg(side, event, "waker"),
		.weight = number_arg(side, event, "weight"),
	};

	name_track(side, part, event->track);
	if (wakeup.waker_tid)
		name_track(side, part, event_store_thread(side->store, wakeup.waker_tid));
	ftf_thread_wakeup(part->writer, &wakeup);
}

/* ---- The state ----------------------------------------------------------- */

static void set_counter(struct side_counter **counters, const struct counter_key *key, size_t event)
{
	struct side_counter *counter;

	HASH_FIND(hh, *counters, key, sizeof(*key), counter);
	if (!counter) {
		counter = alloc_zeroed(1, sizeof(*counter));
		counter->key = *key;
		HASH_ADD(hh, *counters, key, sizeof(*key), counter);
	}
	counter->event = event;
}

static void drop_counter(struct side_counter **counters, const struct counter_key *key)
{
	struct side_counter *counter;

	HASH_FIND(hh, *counters, key, sizeof(*key), counter);
	if (!counter)
		return;
	HASH_DEL(*counters, counter);
	free(counter);
}

static void push_open(struct stored_track *track, size_t event)
{
	*ARRAY_ADD(track->open, track->depth, track->room) = event;
}

static void pop_open(struct stored_track *track)
{
	if (track->depth)
		track->depth--;
}

static void note_event(struct ftf_side *side, size_t index)
{
	const struct stored_event *event = event_store_event(side->store, index);
	struct stored_track *track = side->store->by_index[event->track];
	const struct counter_key key = {
		.pid = track->ids.pid,
		.id = event->id,
		.name = event->type == EVENT_COUNTER ? event->name : NULL,
	};

	if (event->type == EVENT_BEGIN || event->type == EVENT_COMPLETE)
		push_open(track, index);
	else if (event->type == EVENT_END)
		pop_open(track);
	else if (event->type == EVENT_COUNTER)
		set_counter(&side->counters, &key, index);
	else if (event->type == EVENT_ASYNC_BEGIN)
		set_counter(&side->asyncs, &key, index);
	else if (event->type == EVENT_ASYNC_END)
		drop_counter(&side->asyncs, &key);
}

static void note_switch(struct ftf_side *side, size_t index)
{
	size_t cpu = event_store_event(side->store, index)->cpu;

	side->switches = alloc_grow_zeroed(side->switches, &side->switch_room, cpu + 1,
					   sizeof(*side->switches));
	if (side->switch_count <= cpu)
		side->switch_count = cpu + 1;
	side->switches[cpu] = index + 1;
}

void ftf_side_write(struct ftf_side *side, struct ftf_sink *part)
{
	const struct event_order *place = next_place(side);
	size_t index = place->event / 2;
	const struct stored_event *event = event_store_event(side->store, index);

	side->next++;
	if (place->event % 2) {
		write_end(side, part, event->track, place->time);
		pop_open(side->store->by_index[event->track]);
	} else if (event->kind == TRACE_EVENT) {
		write_stored(side, part, event, event->time, false);
		note_event(side, index);
	} else if (event->kind == TRACE_CONTEXT_SWITCH) {
		write_switch(side, part, event);
		note_switch(side, index);
	} else {
		write_wakeup(side, part, event);
	}
}

void ftf_side_end_part(struct ftf_side *side, struct ftf_sink *part, uint64_t time)
{
	for (size_t i = 0; i < side->store->track_count; i++)
		for (size_t k = side->store->by_index[i]->depth; k-- > 0;)
			write_end(side, part, i, time);
	for (struct side_counter *async = side->asyncs; async; async = async->hh.next) {
		struct stored_event end = *event_store_event(side->store, async->event);

		end.type = EVENT_ASYNC_END;
		end.arg_count = 0;
		write_stored(side, part, &end, time, false);
	}
}

static void begin_switches(struct ftf_side *side, struct ftf_sink *part, uint64_t time)
{
	for (size_t cpu = 0; cpu < side->switch_count; cpu++) {
		const struct stored_event *last;
		struct ftf_switch state = { .time = time, .cpu = (uint16_t)cpu };

		if (!side->switches[cpu])
			continue;
		last = event_store_event(side->store, side->switches[cpu] - 1);
		state.in_tid = side->store->by_index[last->other]->ids.tid;
		if (!state.in_tid)
			continue;
		state.state = FTF_STATE_BLOCKED;
		state.in_weight = number_arg(side, last, "incoming_weight");
		state.out_weight = FTF_IDLE_WEIGHT;
		name_track(side, part, last->other);
		ftf_context_switch(part->writer, &state);
	}
}

void ftf_side_begin_part(struct ftf_side *side, struct ftf_sink *part, uint64_t time)
{
	side->part++;
	for (size_t i = 0; i < side->store->track_count; i++) {
		const struct stored_track *track = side->store->by_index[i];

		for (size_t k = 0; k < track->depth; k++)
			write_stored(side, part, event_store_event(side->store, track->open[k]),
				     time, true);
	}
	for (struct side_counter *open = side->asyncs; open; open = open->hh.next)
		write_stored(side, part, event_store_event(side->store, open->event), time, true);
	for (struct side_counter *last = side->counters; last; last = last->hh.next)
		write_stored(side, part, event_store_event(side->store, last->event), time, false);
	begin_switches(side, part, time);
}

/* ---- Release ------------------------------------------------------------- */

static void release_counters(struct side_counter **counters)
{
	struct side_counter *counter;

	HASH_FREE_ALL(*counters, counter);
}

void ftf_side_release(struct ftf_side *side)
{
	ftf_abandon(side->writer);
	temp_file_close(&side->spool);
	if (side->store)
		event_store_release(side->store);
	release_counters(&side->counters);
	release_counters(&side->asyncs);
	free(side->switches);
	*side = (struct ftf_side){ 0 };
}
