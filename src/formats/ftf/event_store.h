/* SPDX-License-Identifier: MIT */
/*
 * Events of a trace, in memory or in a file without a name, and the tracks that they are on:
 * to be written again in another order and into other traces.
 */
#ifndef SRC_FORMATS_FTF_EVENT_STORE_H
#define SRC_FORMATS_FTF_EVENT_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "base/io/big_array.h"
#include "base/tables/hash.h"
#include "base/tables/name.h"
#include "reader/trace_reader.h"
#include "writer/ftf.h"

struct stored_tid;

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
struct stored_place {
	uint64_t time;
	size_t event; /* twice its index, and 1 of an end */
};

struct stored_track {
	struct trace_ids ids;
	const struct name *name; /* NULL: none */
	size_t index;
	size_t part;              /* the last one that names it */
	struct ftf_thread thread; /* of that part's writer */
	size_t *open;             /* owned: events, innermost last */
	size_t depth, room;
	UT_hash_handle hh;
};

struct stored_process {
	uint64_t pid;
	const struct name *name;
	size_t part; /* the last one that names it */
	UT_hash_handle hh;
};

struct event_store {
	struct name_table *names; /* borrowed */
	struct big_array events;  /* owned: struct stored_event */
	struct big_array args;    /* owned: struct stored_arg */
	struct big_array order;   /* owned: struct stored_place */
	size_t count, arg_count, place_count;
	struct stored_track *tracks;    /* owned: hash by pid and tid */
	struct stored_track **by_index; /* owned; the tracks are borrowed */
	size_t track_count, track_room;
	struct stored_tid *tids;          /* owned: hash of named threads */
	struct stored_process *processes; /* owned: hash by pid */
};

/* Add an event, or a name of a process or thread; other records are passed over. */
void event_store_add(struct event_store *store, const struct trace_record *record);

/* Put the places in order of time; those of equal time stay in the order that they came in. */
void event_store_sort(struct event_store *store);

static inline const struct stored_place *event_store_place(const struct event_store *store,
							   size_t index)
{
	return (const struct stored_place *)store->order.items + index;
}

static inline const struct stored_event *event_store_event(const struct event_store *store,
							   size_t index)
{
	return (const struct stored_event *)store->events.items + index;
}

/* Returns the arguments of an event. */
static inline const struct stored_arg *event_store_args(const struct event_store *store,
							const struct stored_event *event)
{
	return (const struct stored_arg *)store->args.items + event->args;
}

/*
 * Returns the index of the track of a thread that a record names by its own id alone: the one
 * named last, as in Perfetto.
 */
size_t event_store_thread(struct event_store *store, uint64_t tid);

/* Returns a process that has a name; NULL: it has none.  Borrowed. */
struct stored_process *event_store_process(const struct event_store *store, uint64_t pid);

/* Idempotent, also on zeroed memory, which is an empty store. */
void event_store_release(struct event_store *store);

#endif
