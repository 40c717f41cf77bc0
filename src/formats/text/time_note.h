/* SPDX-License-Identifier: MIT */
/* How far the times of an answer can be trusted, in words and for --json. */
#ifndef SRC_FORMATS_TEXT_TIME_NOTE_H
#define SRC_FORMATS_TEXT_TIME_NOTE_H

#include <jansson.h>

#include "src/callstack/callstack.h"

/* Returns whether instructions say more about a call than its time. */
static inline bool times_are_unknown(const struct callstack_machine *machine)
{
	return machine->times >= TIMES_ESTIMATED;
}

/* Print a line. */
void time_note_print(const struct callstack_machine *machine, FILE *out);

/* Add "times" and "resolution_ns" to an answer. */
void time_note_add(json_t *answer, const struct callstack_machine *machine);

#endif
