/* SPDX-License-Identifier: MIT */
/*
 * The tracks of events: those of the threads, and one of each CPU, in a group of their own.
 *
 * Perfetto takes the process of a thread from the record of the thread's name, so
 * that is written once, before the thread's first event.
 */
#ifndef SRC_EVENTS_EVENT_TRACKS_H
#define SRC_EVENTS_EVENT_TRACKS_H

#include "base/tables/hash.h"
#include "src/formats/ftf/event_record.h"
#include "src/resolve/resolve.h"
#include "src/select/event_filter.h"

/* Types of data that an event can have: enum cpu_event_evd. */
#define EVD_TYPES 3

/* A thread or a CPU, as the key of a hash. */
struct event_owner {
	const struct thread *thread; /* borrowed; NULL: unknown, or the owner is a CPU */
	int64_t cpu;                 /* EVENT_NO_CPU: the owner is a thread */
};

/* CPUs have numbers of 32 bits. */
#define EVENT_NO_CPU INT64_MIN

/* A CPU and its track; cpu -1: unknown (AUX buffers per thread). */
struct cpu_track {
	int32_t cpu;
	struct ftf_thread track;
	struct ftf_name frequency; /* of its counter */
	uint64_t ratio;            /* of the last CBR packet; 0 at first */
	uint64_t last_time;  /* ns: of the last event written; times of a track do not decrease */
	bool sleeps;         /* its slice is open */
	bool waits;          /* an MWAIT asked for a sleep that has not begun */
	uint64_t hints;      /* of the MWAIT */
	uint32_t extensions; /* of the MWAIT */
	bool in_guest;       /* its slice is open */
	uint64_t vmcs;       /* of the last VMCS packet; 0 at first */
	/* Of EVD packets, by their type, for the next event: */
	struct evd_value {
		bool known;
		uint64_t value;
	} data[EVD_TYPES], exit[EVD_TYPES];
	int exit_vector; /* of the exit that ends the guest's slice, as `exit`; -1 if absent */
	UT_hash_handle hh;
};

struct event_tracks {
	struct ftf_writer *writer;         /* borrowed */
	const struct timeline *timeline;   /* borrowed */
	const struct event_filter *filter; /* borrowed */
	bool *named;                       /* owned; by thread index */
	struct cpu_track *cpus;            /* owned: hash by cpu */
	uint32_t unknown;                  /* the id of unknown processes and threads */
	uint64_t group;                    /* the process of the CPUs' tracks; 0 at first */
	uint64_t slices;                   /* begun up to now, marks included */
};

/* All are borrowed until event_tracks_release(). */
void event_tracks_init(struct event_tracks *tracks, struct ftf_writer *writer,
		       const struct timeline *timeline, const struct event_filter *filter);

/* Returns whether events of a CPU (-1: unknown) at a time (ns) are selected. */
bool event_tracks_wants_cpu(const struct event_tracks *tracks, int32_t cpu, uint64_t time);

void event_tracks_release(struct event_tracks *tracks);

/* Returns the last name of a thread (NULL: unknown), or NULL. */
const char *event_thread_name(const struct thread *thread);

/* Returns the track of a thread, whose name is written; NULL: the track of unknown threads. */
struct ftf_thread event_tracks_thread(struct event_tracks *tracks, const struct thread *thread);

/* Returns the track of a CPU, made at first use; borrowed. */
struct cpu_track *event_tracks_cpu(struct event_tracks *tracks, int32_t cpu);

/* Begin a slice. */
void event_tracks_begin(struct event_tracks *tracks, const struct ftf_event *event);

/*
 * Write a mark on a CPU's track: a slice without length, by a begin and an end.  Perfetto puts
 * instants of one time into each other (SliceTracker::MaybeCloseStack()), and marks of a CPU
 * often have one time.
 */
void event_tracks_mark(struct event_tracks *tracks, struct cpu_track *cpu, struct ftf_event *event);

/* Returns the time of an event on the CPU's track, not before the last one's. */
uint64_t cpu_track_time(struct cpu_track *cpu, uint64_t time);

/* The code location of an event, as its arguments. */

/* Returns the code at `ip` at a time in the thread's process (NULL: unknown). */
struct location event_location_find(struct resolver *resolver, const struct thread *thread,
				    uint64_t time, uint64_t ip);

/*
 * Add the arguments "address" and, if it has one, "function" of `ip`, as it is at the event's time
 * in the thread's process (NULL: unknown).
 */
void event_location_add(struct event_record *record, struct resolver *resolver,
			const struct thread *thread, uint64_t ip);

#endif
