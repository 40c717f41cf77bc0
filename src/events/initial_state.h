/* SPDX-License-Identifier: MIT */
/*
 * What went on when the chosen time began: a sleep, a guest, a transaction, a
 * frequency that were told before it.  The last of each CPU and thread is held,
 * unless its end was told too, and given out as if it began with that time.
 */
#ifndef SRC_EVENTS_INITIAL_STATE_H
#define SRC_EVENTS_INITIAL_STATE_H

#include "decoder/cpu_event.h"

struct early_cpu;
struct early_thread;

struct initial_state {
	uint64_t begin;               /* ns: of the chosen time */
	struct early_cpu *cpus;       /* owned: hash by cpu */
	struct early_thread *threads; /* owned: hash by thread */
};

/* Where what is held is given out. */
struct initial_state_out {
	void (*event)(void *context, const struct cpu_event *event);
	void *context; /* borrowed */
};

/* Returns whether events of this kind begin or end something that goes on. */
bool initial_state_is_state(enum cpu_event_kind kind);

/* Take an event from before the chosen time, in the order of time of its CPU. */
void initial_state_take(struct initial_state *early, const struct cpu_event *event);

/* Give out what is held of an event's CPU and thread; once. */
void initial_state_give(struct initial_state *early, const struct cpu_event *event,
			const struct initial_state_out *out);

/* Give out all that is held. */
void initial_state_give_all(struct initial_state *early, const struct initial_state_out *out);

/* Idempotent, also on zeroed memory. */
void initial_state_release(struct initial_state *early);

#endif
