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

/* Types of data that an event can have: enum cpu_event_evd. */
#define EVD_TYPES 3

/* A CPU as the trace shows it; cpu -1: of a buffer per thread, not told. */
struct cpu_tracks_cpu {
	int32_t cpu;
	struct ftf_thread track;
	struct ftf_name frequency; /* of its counter */
	uint64_t ratio;            /* as told last; 0: not yet */
	uint64_t last_time;        /* ns: of the event told last; times of a track do not go back */
	/* A sleep that goes on, and the MWAIT that asked for one that has not begun. */
	bool sleeps, waits;
	uint64_t sleep, hints;
	uint32_t extensions;
	bool in_guest; /* its slice is open */
	uint64_t vmcs; /* as told last; 0: not yet */
	/* Of EVD packets, by their type, for the next event: */
	struct side_data_value {
		bool known;
		uint64_t value;
	} data[EVD_TYPES], exit[EVD_TYPES];
	int exit_vector; /* of the exit that ends the guest's slice, as `exit`; -1: none */
	UT_hash_handle hh;
};

struct event_tracks {
	struct ftf_writer *writer;         /* borrowed */
	const struct timeline *timeline;   /* borrowed */
	const struct event_filter *filter; /* borrowed: what was chosen */
	bool *named;                       /* owned; by thread index */
	struct cpu_tracks_cpu *cpus;       /* owned: hash by cpu */
	uint64_t group;                    /* the process that stands for the CPUs; 0: none yet */
};

/* All are borrowed until event_tracks_release(). */
void event_tracks_init(struct event_tracks *tracks, struct ftf_writer *writer,
		       const struct timeline *timeline, const struct event_filter *filter);

/* Returns whether something of a thread (NULL: unknown) and time (ns) was chosen. */
bool event_tracks_wants(const struct event_tracks *tracks, const struct thread *thread,
			uint64_t time);

/* Returns whether something of a CPU (-1: unknown) and time (ns) was chosen. */
bool event_tracks_wants_cpu(const struct event_tracks *tracks, int32_t cpu, uint64_t time);

/* Idempotent, also on zeroed memory. */
void event_tracks_release(struct event_tracks *tracks);

/* Returns the name that a trace shows of a thread: the last one; NULL: none is known. */
const char *side_thread_name(const struct thread *thread);

/* Returns the track of a thread, named; of NULL and the idle thread, that of their id. */
struct ftf_thread event_tracks_thread(struct event_tracks *tracks, const struct thread *thread);

/* Returns the CPU, made at first use; borrowed. */
struct cpu_tracks_cpu *event_tracks_cpu(struct event_tracks *tracks, int32_t cpu);

/*
 * Write a mark on a CPU's track: a slice without length.  An instant would take
 * in what begins at its time.
 */
void event_tracks_mark(struct event_tracks *tracks, struct cpu_tracks_cpu *cpu,
		       struct ftf_event *event);

/* Returns a time of the CPU's track: that of the event, but never back. */
uint64_t side_cpu_time(struct cpu_tracks_cpu *cpu, uint64_t time);

#endif
