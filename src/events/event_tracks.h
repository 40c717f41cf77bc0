/* SPDX-License-Identifier: MIT */
/*
 * What side events are drawn on: the threads' own tracks, and one of each CPU,
 * in a group of their own.
 *
 * Perfetto learns from a thread's name which process it belongs to, so each
 * thread is named once before anything is said of it.
 */
#ifndef SRC_EVENTS_EVENT_TRACKS_H
#define SRC_EVENTS_EVENT_TRACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "decoder/timeline/timeline.h"
#include "src/select/event_filter.h"
#include "writer/ftf.h"

/* Types of data that an event can have: enum side_data. */
#define SIDE_DATA_TYPES 3

/* A CPU as the trace shows it; cpu -1: of a buffer per thread, not told. */
struct side_cpu {
	int32_t cpu;
	struct ftf_thread track;
	struct ftf_name frequency; /* of its counter */
	uint64_t ratio;            /* as told last; 0: not yet */
	uint64_t last_time;        /* ns: of the event told last; times of a track do not go back */
	/* A sleep that goes on, and the MWAIT that asked for one that has not begun. */
	bool sleeps, waits;
	uint64_t sleep, hints;
	uint32_t extensions;
	bool in_guest;             /* its slice is open */
	uint64_t vmcs;             /* as told last; 0: not yet */
	/* Of EVD packets, by their type, for the next event: */
	struct side_data_value {
		bool known;
		uint64_t value;
	} data[SIDE_DATA_TYPES], exit[SIDE_DATA_TYPES];
	int exit_vector;           /* of the exit that ends the guest's slice, as `exit`; -1: none */
	UT_hash_handle hh;
};

struct side_tracks {
	struct ftf_writer *writer;       /* borrowed */
	const struct timeline *timeline; /* borrowed */
	const struct event_filter *filter; /* borrowed: what was chosen */
	bool *named;                     /* owned; by thread index */
	struct side_cpu *cpus;           /* owned: hash by cpu */
	uint64_t group;                  /* the process that stands for the CPUs; 0: none yet */
};

/* All are borrowed until side_tracks_release(). */
void side_tracks_init(struct side_tracks *tracks, struct ftf_writer *writer,
		      const struct timeline *timeline, const struct event_filter *filter);

/* Returns whether something of a thread (NULL: unknown) and time (ns) was chosen. */
bool side_tracks_wants(const struct side_tracks *tracks, const struct thread *thread,
		       uint64_t time);

/* Returns whether something of a CPU (-1: unknown) and time (ns) was chosen. */
bool side_tracks_wants_cpu(const struct side_tracks *tracks, int32_t cpu, uint64_t time);

/* Idempotent, also on zeroed memory. */
void side_tracks_release(struct side_tracks *tracks);

/* Returns the name that a trace shows of a thread: the last one; NULL: none is known. */
const char *side_thread_name(const struct thread *thread);

/* Returns the track of a thread, named; of NULL and the idle thread, that of their id. */
struct ftf_thread side_tracks_thread(struct side_tracks *tracks, const struct thread *thread);

/* Returns the CPU, made at first use; borrowed. */
struct side_cpu *side_tracks_cpu(struct side_tracks *tracks, int32_t cpu);

/*
 * Write a mark on a CPU's track: a slice without length.  An instant would take
 * in what begins at its time.
 */
void side_tracks_mark(struct side_tracks *tracks, struct side_cpu *cpu, struct ftf_event *event);

/* Returns a time of the CPU's track: that of the event, but never back. */
uint64_t side_cpu_time(struct side_cpu *cpu, uint64_t time);

#endif
