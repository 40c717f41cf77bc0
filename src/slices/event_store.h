/* SPDX-License-Identifier: MIT */
/*
 * Stores events that are not slices of calls, with copies of their texts, for targets that need
 * them in order of time.  Whole slices become a begin and an end.
 *
 * For targets without records of scheduling, a switch can become the end and the begin of slices on
 * a track of the CPU, which have the names of threads, and a wakeup an instant of its thread.
 *
 * --fit only copies the events, and has an order of its own (src/formats/ftf/ftf_fit.h).
 *
 * The events are in memory, or in a file without a name (base/io/big_array.h) if there are many.
 */
#pragma once

#include "base/io/big_array.h"
#include "base/tables/hash.h"
#include "base/tables/name.h"
#include "src/slices/event_sink.h"
#include "src/slices/track.h"

/* A track, and the process of its pid. */
struct stored_track {
	struct event_track ids;
	uint32_t index;          /* dense, in the order of first use */
	const struct name *name; /* NULL: not named */
	struct stored_process {
		uint64_t pid;
		const struct name *name; /* NULL: not named */
		size_t part;             /* for the reader: the last part that names it */
		UT_hash_handle hh;
	} * process; /* borrowed */
	/* For the reader, zeroed: the same, and its items of the open slices, innermost last. */
	size_t part;
	union open_item {
		uint64_t number;
		const struct symbol *symbol;
	} * open; /* owned */
	size_t depth, room;
	UT_hash_handle hh;
};

struct event_store {
	struct event_sink sink;
	struct name_table *names; /* borrowed: names of tracks and processes */
	struct big_array bytes;   /* owned: each event, its arguments, and all its texts */
	size_t size;
	struct big_array order; /* owned: struct stored_event */
	size_t count;
	uint64_t last_time; /* ns: the latest of an event */
	/* Both may be set after init. */
	bool shows_switches, shows_wakeups; /* as slices; as instants */
	struct switch_track {
		struct event_track track; /* tid 0: not yet made */
		bool open;                /* a slice is */
	} * cpus;                         /* owned; by CPU */
	size_t cpu_room;
	uint64_t cpu_group;                    /* the process of their tracks; 0: not yet made */
	struct stored_track *tracks;           /* owned: hash, in the order of `index` */
	struct stored_process *processes;      /* owned: hash */
	struct event_arg args[EVENT_ARGS_MAX]; /* of the event read last */
};

/* Borrows `names`.  New ids follow `last_id`.  The store must not move. */
void event_store_init(struct event_store *store, struct name_table *names, uint64_t last_id);

/* After the last event: end open slices of switches, and sort by time; equal times keep their
 * order. */
void event_store_sort(struct event_store *store);

/* Returns the time (ns) of the event with a number below `count`, or else UINT64_MAX. */
uint64_t event_store_time(const struct event_store *store, size_t number);

/* Returns an event, whose texts and arguments are borrowed until the next call. */
struct track_event event_store_at(struct event_store *store, size_t number);

/* Only copy an event, of any kind. Returns its place, for event_store_read(). */
uint64_t event_store_keep(struct event_store *store, const struct track_event *event);

/* Returns a copied event, whose texts and arguments are borrowed until the next call. */
struct track_event event_store_read(struct event_store *store, uint64_t at);

/* Returns a track, made at first use; borrowed. */
struct stored_track *event_store_track(struct event_store *store, struct event_track ids);

/* Returns the ids and names of a track, which are borrowed. */
struct track stored_track_describe(const struct stored_track *from);

void event_store_release(struct event_store *store);
