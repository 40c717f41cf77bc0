/* SPDX-License-Identifier: MIT */
/* The times of an answer and their accuracy, as text and for --json. */
#pragma once

#include <jansson.h>

#include "src/callstack/callstack.h"
#include "src/formats/text/digits.h"

/* Returns a time in ns or, if `by_insns`, a number of instructions. */
struct short_text amount_text(bool by_insns, uint64_t amount);

/* The same for a number, rounded and limited to [0, INT64_MAX]. */
struct short_text extra_text(bool by_insns, double extra);

/* Returns " instructions" or " cycles", by `by_insns` and --clock; "": amounts are times. */
const char *amount_unit(bool by_insns);

/* Set "NAME_ns", "NAME_UNIT" with --clock or, if `by_insns`, "NAME_insns". */
void amount_set(json_t *object, const char *name, bool by_insns, uint64_t amount);

/* Print a line. */
void time_note_print(const struct callstack_machine *machine, FILE *out);

/* Add "times" and "resolution_ns" to an answer. */
void time_note_add(json_t *answer, const struct callstack_machine *machine);
