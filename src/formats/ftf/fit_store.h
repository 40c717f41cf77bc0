/* SPDX-License-Identifier: MIT */
/*
 * --fit: events in order of arrival. The last ones are in memory, the ones before them in a file
 * without a name (base/io/temp_file.h), or in memory, too, if it cannot be written.
 *
 * The file is written and read by system calls. In a mapping, each new page would cost a page
 * fault, and be filled with zeros first.
 */
#pragma once

#include "base/io/temp_file.h"
#include "src/slices/slice_sink.h"

/*
 * An event, or a slice without details. `more` units with an event's details follow: a struct
 * slice_detail; of the end of a late slice, which needs all fields, a struct slice_event; of
 * another event its place in the event_store.
 */
union fit_unit {
	struct slice_event event;
	struct {
		uint64_t time;
		union {
			struct fit_track *track; /* of a unit that names the track; borrowed */
			uint64_t end;            /* of a whole slice */
			uint64_t folded[2];      /* an end: number of slices, and their ns */
		};
		uint32_t more : 4;
		uint32_t rank : 28; /* of a begin or a whole slice */
	};
	/* A slice without others in it: its begin, with the end in unused bits. */
	struct {
		uint64_t begin;
		uint64_t symbol : 48, duration_low : 16;
		int64_t ip : 48;
		uint64_t duration_high : 16;
		uint32_t : 32;
		uint16_t flags;
		uint8_t kind, end_flags;
	} leaf;
};

_Static_assert(sizeof(union fit_unit) == sizeof(struct slice_event), "events are passed in place");

/* Zeroed memory, but for the file, is empty. */
struct fit_store {
	struct temp_file *file; /* borrowed: opened when needed */
	union fit_unit *recent; /* owned: the units in memory, each at its index & `mask` */
	size_t room, mask;      /* size of `recent`, less 1 in `mask` */
	size_t filed, end;      /* indexes: of the first unit in memory, and of the next unit */
	bool stays;             /* in memory: the file could not be written */
};

/* Returns the index of the next unit. */
static inline size_t fit_store_end(const struct fit_store *store)
{
	return store->end;
}

/* Make room in `recent`. */
void fit_store_make_room(struct fit_store *store);

static inline void fit_store_add(struct fit_store *store, const union fit_unit *unit)
{
	if (store->end - store->filed == store->room)
		fit_store_make_room(store);
	store->recent[store->end++ & store->mask] = *unit;
}

/* fit_store_set_rank() of a unit in the file. */
void fit_store_set_filed(struct fit_store *store, size_t at, const union fit_unit *from);

/* Set `rank` and `more` of a unit to those of another one. */
static inline void fit_store_set_rank(struct fit_store *store, size_t at,
				      const union fit_unit *from)
{
	if (at < store->filed)
		fit_store_set_filed(store, at, from);
	else
		store->recent[at & store->mask].event.detail = from->event.detail;
}

/* Copy `count` units. Returns 0; -1 with errno set. */
int fit_store_read(const struct fit_store *store, size_t at, union fit_unit *to, size_t count);
