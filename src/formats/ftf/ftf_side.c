/* SPDX-License-Identifier: MIT */
/* Stores the events beside the slices of calls, and writes them into the parts of --split. */
#include "src/formats/ftf/ftf_side.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/tables/hash.h"
#include "reader/trace_reader.h"

/* The file without a name, in messages. */
#define SPOOL_NAME "events of --split"

/* What makes two counters one in Perfetto; an async slice has no name here. */
struct counter_key {
	uint64_t pid, id;
	const struct name *name;
};

struct side_counter {
	struct counter_key key;
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

	*side = (struct ftf_side){ .store.names = names };
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
		event_store_add(&side->store, &record);
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
	event_store_sort(&side->store);
	return 0;
}

/* ---- The next event ------------------------------------------------------ */

static const struct stored_place *next_place(const struct ftf_side *side)
{
	return event_store_place(&side->store, side->next);
}

uint64_t ftf_side_time(const struct ftf_side *side)
{
	return side->next < side->store.place_count ? next_place(side)->time : UINT64_MAX;
}

enum side_kind ftf_side_kind(const struct ftf_side *side)
{
	const struct stored_event *event =
		event_store_event(&side->store, next_place(side)->event / 2);

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
	struct stored_track *track = side->store.by_index[index];
	struct stored_process *process;

	if (track->part == side->part)
		return track->thread;
	track->part = side->part;
	track->thread = ftf_thread(part->writer, track->ids.pid, track->ids.tid);
	process = event_store_process(&side->store, track->ids.pid);
	if (process && process->part != side->part) {
		process->part = side->part;
		ftf_process_name(part->writer, process->pid, ftf_sink_name(part, process->name));
	}
	if (track->name)
		ftf_thread_name(part->writer, track->thread, ftf_sink_name(part, track->name));
	return track->thread;
}

static size_t fill_args(const struct ftf_side *side, struct ftf_sink *part,
			const struct stored_event *event, struct ftf_arg args[FTF_ARGS_MAX])
{
	const struct stored_arg *from = event_store_args(&side->store, event);

	for (size_t i = 0; i < event->arg_count; i++) {
		args[i] =
			ftf_arg_word(ftf_sink_name(part, from[i].name), from[i].type, from[i].word);
		if (from[i].type == FTF_STRING)
			args[i].value.string = ftf_sink_name(part, from[i].text);
	}
	return event->arg_count;
}

/* Returns the value of an argument of 32 bits; 0: there is none. */
static int32_t number_arg(const struct ftf_side *side, const struct stored_event *event,
			  const char *name)
{
	const struct stored_arg *args = event_store_args(&side->store, event);

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
		.out_tid = side->store.by_index[event->track]->ids.tid,
		.in_tid = side->store.by_index[event->other]->ids.tid,
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
		.tid = side->store.by_index[event->track]->ids.tid,
		.waker_tid = (uint32_t)number_arg(side, event, "waker"),
		.weight = number_arg(side, event, "weight"),
	};

	name_track(side, part, event->track);
	if (wakeup.waker_tid)
		name_track(side, part, event_store_thread(&side->store, wakeup.waker_tid));
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
	track->open = alloc_grow(track->open, &track->room, track->depth + 1, sizeof(*track->open));
	track->open[track->depth++] = event;
}

static void pop_open(struct stored_track *track)
{
	if (track->depth)
		track->depth--;
}

static void note_event(struct ftf_side *side, size_t index)
{
	const struct stored_event *event = event_store_event(&side->store, index);
	struct stored_track *track = side->store.by_index[event->track];
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
	size_t cpu = event_store_event(&side->store, index)->cpu;

	side->switches = alloc_grow_zeroed(side->switches, &side->switch_room, cpu + 1,
					   sizeof(*side->switches));
	if (side->switch_count <= cpu)
		side->switch_count = cpu + 1;
	side->switches[cpu] = index + 1;
}

void ftf_side_write(struct ftf_side *side, struct ftf_sink *part)
{
	const struct stored_place *place = next_place(side);
	size_t index = place->event / 2;
	const struct stored_event *event = event_store_event(&side->store, index);

	side->next++;
	if (place->event % 2) {
		write_end(side, part, event->track, place->time);
		pop_open(side->store.by_index[event->track]);
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
	for (size_t i = 0; i < side->store.track_count; i++)
		for (size_t k = side->store.by_index[i]->depth; k-- > 0;)
			write_end(side, part, i, time);
	for (struct side_counter *async = side->asyncs; async; async = async->hh.next) {
		struct stored_event end = *event_store_event(&side->store, async->event);

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
		last = event_store_event(&side->store, side->switches[cpu] - 1);
		state.in_tid = side->store.by_index[last->other]->ids.tid;
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
	for (size_t i = 0; i < side->store.track_count; i++) {
		const struct stored_track *track = side->store.by_index[i];

		for (size_t k = 0; k < track->depth; k++)
			write_stored(side, part, event_store_event(&side->store, track->open[k]),
				     time, true);
	}
	for (struct side_counter *open = side->asyncs; open; open = open->hh.next)
		write_stored(side, part, event_store_event(&side->store, open->event), time, true);
	for (struct side_counter *last = side->counters; last; last = last->hh.next)
		write_stored(side, part, event_store_event(&side->store, last->event), time, false);
	begin_switches(side, part, time);
}

/* ---- Release ------------------------------------------------------------- */

static void release_counters(struct side_counter **counters)
{
	struct side_counter *counter, *next;

	HASH_ITER(hh, *counters, counter, next)
	{
		HASH_DEL(*counters, counter);
		free(counter);
	}
}

void ftf_side_release(struct ftf_side *side)
{
	ftf_abandon(side->writer);
	temp_file_close(&side->spool);
	event_store_release(&side->store);
	release_counters(&side->counters);
	release_counters(&side->asyncs);
	free(side->switches);
	*side = (struct ftf_side){ 0 };
}
