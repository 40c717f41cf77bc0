/* SPDX-License-Identifier: MIT */
/*
 * Finds the slowest calls of the functions of --symbol and --dso (--slowest, --slow); where
 * times are estimated by instructions, those with the most instructions.
 *
 * Nothing is kept but the slowest calls, and a histogram of all durations.
 */
#ifndef SRC_SLOW_SLOW_CALLS_H
#define SRC_SLOW_SLOW_CALLS_H

#include "base/diag.h"
#include "src/callstack/callstack.h"
#include "src/formats/answers/chosen_calls.h"
#include "src/options/options.h"
#include "src/slices/durations.h"

struct slow_calls {
	struct chosen_calls chosen;
	const struct callstack_machine *const *machine; /* borrowed; set before the first slice */
	struct slow_choice choice;
	struct durations durations; /* of all calls */
	uint64_t longer;            /* calls above choice.longer */
	/* Owned.  A heap, the fastest of them on top; from slow_calls_finish() on slowest first. */
	struct chosen_call *calls;
	size_t count, room;
	/* From slow_calls_finish() on: */
	uint64_t bound;  /* ns: of --slow, or 0 */
	uint64_t slower; /* calls above it; of a percentile to one part in 128 of the durations */
};

/* `options` are borrowed.  The calls borrow themselves: they must not move. */
void slow_calls_init(struct slow_calls *calls, const struct options *options,
		     const struct callstack_machine *const *machine);

/* After the last slice: order the calls, and warn (`diag` may be NULL) if there were no calls. */
void slow_calls_finish(struct slow_calls *calls, struct diag *diag);

/* Idempotent, also on zeroed memory. */
void slow_calls_release(struct slow_calls *calls);

#endif
