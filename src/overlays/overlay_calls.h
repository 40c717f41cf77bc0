/* SPDX-License-Identifier: MIT */
/*
 * Matches the recorded program's calls into OCaml's runtime-events writer, which
 * Intel PT traced, with the messages that the calls wrote.
 *
 * Every message of a ring comes from one call of caml_ev_begin, caml_ev_end, caml_ev_counter,
 * caml_ev_lifecycle, caml_ev_alloc_flush or caml_runtime_events_user_write, which then calls
 * caml_time_counter for the message's time (runtime/runtime_events.c).  So a thread's calls of both
 * have the kinds of its ring's messages, at the same distances in time.  The shift at which both
 * fit is the offset between the clocks, as precise as PT's timestamps.
 */
#ifndef SRC_OVERLAYS_OVERLAY_CALLS_H
#define SRC_OVERLAYS_OVERLAY_CALLS_H

#include "base/tables/name.h"
#include "src/overlays/overlay_input.h"

/* Calls kept per thread: the latest, since a ring keeps its latest messages too. */
#define OVERLAY_CALLS_KEPT 4096

#define OVERLAY_CALL_KINDS 6

/* A call that writes a message, or the message. */
struct overlay_call {
	uint64_t time; /* ns: of perf, when caml_time_counter was called; of the ring's clock */
	uint8_t kind;  /* enum runtime_event_kind; of the program's events RUNTIME_USER_UNIT */
};

struct overlay_thread_calls {
	int32_t pid, tid;
	int pending;                /* kind of the call that runs; -1: none */
	size_t count;               /* of all calls; the latest are kept */
	struct overlay_call *calls; /* owned; a ring of OVERLAY_CALLS_KEPT */
};

struct overlay_calls {
	const struct name *writers[OVERLAY_CALL_KINDS]; /* borrowed: names of the functions */
	const struct name *time_counter;
	struct overlay_thread_calls *threads; /* owned */
	size_t count, room;
	uint64_t resolution; /* ns by which a call's time may be off */
};

/* Start without calls; `names` (borrowed) must be the table of the symbols' names. */
void overlay_calls_init(struct overlay_calls *calls, struct name_table *names);

/* Idempotent, also on zeroed memory. */
void overlay_calls_release(struct overlay_calls *calls);

/* Note that a call or jump entered a function of the program; most are ignored. */
void overlay_calls_enter(struct overlay_calls *calls, int32_t pid, int32_t tid, uint64_t time,
			 const struct name *function);

struct overlay_match {
	int64_t ahead;        /* ns by which the overlay's clock is ahead of perf's */
	uint64_t uncertainty; /* ns */
	size_t matched;       /* calls that fit */
	bool paired;          /* in order, each with its message; else by time only */
};

/*
 * Find the offset at which a process's calls fit the messages of its rings, and add
 * the threads of the rings to input->tids, unless the user named them.
 * Returns whether one offset fits, and much better than any other.
 */
bool overlay_calls_match(struct overlay_match *match, const struct overlay_calls *calls,
			 struct overlay_input *input);

#endif
