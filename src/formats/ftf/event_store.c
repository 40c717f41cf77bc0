/* SPDX-License-Identifier: MIT */
/* Keeps the events of a trace, with their texts among the program's names. */
#include "src/formats/ftf/event_store.h"

#include <stdlib.h>

#include "base/alloc.h"

/* Bytes of each array that stay in memory. */
#define STORE_MEMORY ((size_t)16 << 20)

/* The thread that was named last of those with an id. */
struct stored_tid {
	uint64_t tid;
	size_t track;
	UT_hash_handle hh;
};

/* ---- Tracks -------------------------------------------------------------- */

static const struct name *text_of(const struct event_store *store, const struct trace_text *text)
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
	store->by_index = alloc_grow(store->by_index, &store->track_room, store->track_count + 1,
				     sizeof(*store->by_index));
	store->by_index[store->track_count++] = track;
	return track;
}

size_t event_store_thread(struct event_store *store, uint64_t tid)
{
	const struct trace_ids ids = { 0, tid };
	struct stored_tid *named;

	HASH_FIND(hh, store->tids, &tid, sizeof(tid), named);
	return named ? named->track : stored_track_of(store, &ids)->index;
}

static void name_process(struct event_store *store, uint64_t pid, const struct name *name)
{
	struct stored_process *process;

	HASH_FIND(hh, store->processes, &pid, sizeof(pid), process);
	if (!process) {
		process = alloc_zeroed(1, sizeof(*process));
		process->pid = pid;
		HASH_ADD(hh, store->processes, pid, sizeof(pid), process);
	}
	process->name = name;
}

static void name_thread(struct event_store *store, const struct trace_record *record)
{
	struct trace_ids ids = { 0, record->id };
	struct stored_track *track;
	struct stored_tid *named;

	for (size_t i = 0; i < record->arg_count; i++)
		if (record->args[i].type == ARG_KOID)
			ids.pid = record->args[i].word;
	track = stored_track_of(store, &ids);
	/* An empty name is one, too: it says which process the thread is of. */
	track->name = name_intern(store->names, record->name.at, record->name.length);
	HASH_FIND(hh, store->tids, &ids.tid, sizeof(ids.tid), named);
	if (!named) {
		named = alloc_zeroed(1, sizeof(*named));
		named->tid = ids.tid;
		HASH_ADD(hh, store->tids, tid, sizeof(named->tid), named);
	}
	named->track = track->index;
}

/* ---- Reading the spool --------------------------------------------------- */

static void add_place(struct event_store *store, uint64_t time, size_t event)
{
	struct stored_place *places;

	if (store->place_count == store->order.room)
		big_array_grow(&store->order, store->place_count + 1, sizeof(*places),
			       STORE_MEMORY);
	places = store->order.items;
	places[store->place_count++] = (struct stored_place){ time, event };
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

void event_store_add(struct event_store *store, const struct trace_record *record)
{
	switch (record->kind) {
	case TRACE_EVENT:
	case TRACE_CONTEXT_SWITCH:
	case TRACE_THREAD_WAKEUP:
		add_event(store, record);
		break;
	case TRACE_KERNEL_OBJECT:
		if (record->type == FTF_OBJECT_PROCESS)
			name_process(store, record->id, text_of(store, &record->name));
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
	const struct stored_place *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->event < y->event ? -1 : x->event > y->event;
}

void event_store_sort(struct event_store *store)
{
	if (store->place_count)
		qsort(store->order.items, store->place_count, sizeof(struct stored_place),
		      compare_places);
}

struct stored_process *event_store_process(const struct event_store *store, uint64_t pid)
{
	struct stored_process *process;

	HASH_FIND(hh, store->processes, &pid, sizeof(pid), process);
	return process;
}

void event_store_release(struct event_store *store)
{
	struct stored_process *process, *next_process;
	struct stored_track *track, *next_track;
	struct stored_tid *named, *next_named;

	HASH_ITER(hh, store->tids, named, next_named)
	{
		HASH_DEL(store->tids, named);
		free(named);
	}
	HASH_ITER(hh, store->processes, process, next_process)
	{
		HASH_DEL(store->processes, process);
		free(process);
	}
	HASH_ITER(hh, store->tracks, track, next_track)
	{
		HASH_DEL(store->tracks, track);
		free(track->open);
		free(track);
	}
	free(store->by_index);
	big_array_release(&store->events);
	big_array_release(&store->args);
	big_array_release(&store->order);
	*store = (struct event_store){ 0 };
}
