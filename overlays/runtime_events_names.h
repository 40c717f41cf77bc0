/* SPDX-License-Identifier: MIT */
/*
 * The numbers of OCaml's runtime events and their names.
 *
 * Names are those that the standard library's Runtime_events prints
 * (runtime_phase_name, runtime_counter_name, lifecycle_name).  Source: the
 * enumerations of runtime/caml/runtime_events.h, 5.0 to 5.5.  OCaml 5.3 put
 * four phases into the middle and did not change the file's version, so there
 * are two tables of phases; counters were only ever appended.
 */
#ifndef OVERLAYS_RUNTIME_EVENTS_NAMES_H
#define OVERLAYS_RUNTIME_EVENTS_NAMES_H

#include <stdint.h>

enum runtime_phases {
	RUNTIME_PHASES_UNKNOWN = 0,
	RUNTIME_PHASES_5_0, /* OCaml 5.0, 5.1, 5.2 */
	RUNTIME_PHASES_5_3, /* OCaml 5.3 and later */
};

enum runtime_lifecycle {
	RUNTIME_RING_START = 0,
	RUNTIME_RING_STOP = 1,
	RUNTIME_RING_PAUSE = 2,
	RUNTIME_RING_RESUME = 3,
	RUNTIME_FORK_PARENT = 4,
	RUNTIME_FORK_CHILD = 5,
	RUNTIME_DOMAIN_SPAWN = 6,
	RUNTIME_DOMAIN_TERMINATE = 7,
};

enum runtime_counter {
	RUNTIME_MINOR_PROMOTED = 4,  /* bytes of one minor collection */
	RUNTIME_MINOR_ALLOCATED = 5, /* bytes between two minor collections */
	RUNTIME_COUNTER_5_3 = 17,    /* the first that only OCaml 5.3 and later have */
};

/* The number of the phase "minor" in each table: where minor_promoted is counted. */
#define RUNTIME_MINOR_5_0 10
#define RUNTIME_MINOR_5_3 11

/* The first number of a phase that only the table of 5.3 has. */
#define RUNTIME_PHASE_ONLY_5_3 44

/* What one value of a counter means. */
enum runtime_counter_unit {
	RUNTIME_UNIT_EVENTS = 0, /* it happened: the value is 1, or what was asked for */
	RUNTIME_UNIT_BYTES,
	RUNTIME_UNIT_WORDS,
	RUNTIME_UNIT_BLOCKS,
	RUNTIME_UNIT_WORK, /* the collector's own units of work */
};

/* Returns the name of a phase; NULL if the table has none of that number. */
const char *runtime_phase_name(enum runtime_phases table, unsigned phase);

/* Returns the name of a counter; NULL if there is none of that number. */
const char *runtime_counter_name(unsigned counter);

/* Returns what a counter counts; of an unknown one RUNTIME_UNIT_WORK. */
enum runtime_counter_unit runtime_counter_unit(unsigned counter);

/* Returns the name of a lifecycle event; NULL if there is none of that number. */
const char *runtime_lifecycle_name(unsigned event);

#endif
