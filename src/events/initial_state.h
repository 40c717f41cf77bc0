/* SPDX-License-Identifier: MIT */
/*
 * The state of CPUs and threads where the selected time begins: a sleep, a guest, a
 * transaction, a frequency that began before it.  The last event of each is kept,
 * unless its end came too, and emitted at the beginning of that time.
 */
#ifndef SRC_EVENTS_INITIAL_STATE_H
#define SRC_EVENTS_INITIAL_STATE_H

#include "src/events/cpu_event_sink.h"

struct state_owner;

struct initial_state {
	uint64_t begin;             /* ns: of the selected time */
	struct state_owner *owners; /* owned: hash of CPUs and threads */
};

/* Returns whether events of this kind begin or end a state. */
bool initial_state_is_state(enum cpu_event_kind kind);

/* Keep or drop a state by an event of it; those of a CPU come in order of time. */
void initial_state_update(struct initial_state *initial, const struct cpu_event *event);

/* Emit the states of an event's CPU and thread, if they were not emitted yet. */
void initial_state_emit(struct initial_state *initial, const struct cpu_event *event,
			struct cpu_event_sink *sink);

/* Emit all states that were not emitted yet. */
void initial_state_emit_all(struct initial_state *initial, struct cpu_event_sink *sink);

/* Idempotent, also on zeroed memory. */
void initial_state_release(struct initial_state *initial);

#endif
