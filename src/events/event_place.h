/* SPDX-License-Identifier: MIT */
/* The code location of an event, as its arguments. */
#ifndef SRC_EVENTS_EVENT_PLACE_H
#define SRC_EVENTS_EVENT_PLACE_H

#include "src/formats/ftf/event_record.h"
#include "src/resolve/resolve.h"

/* Returns the code at `ip` at a time in the thread's process (NULL: unknown). */
struct location event_place_find(struct resolver *resolver, const struct thread *thread,
				 uint64_t time, uint64_t ip);

/*
 * Add the arguments "address" and, if it has one, "function" of `ip`, as it is at the event's time
 * in the thread's process (NULL: unknown).
 */
void event_place_add(struct event_record *record, struct resolver *resolver,
		     const struct thread *thread, uint64_t ip);

#endif
