/* SPDX-License-Identifier: MIT */
/*
 * Finds the slowest calls of the functions of --symbol and --dso (--slowest, --slower-than).
 *
 * A sink of slices in program order.  Of a recursion the outermost call counts.  Nothing is kept
 * but the slowest calls, and a histogram of all durations; memory grows with the functions,
 * threads and open calls only.
 */
#ifndef SRC_FORMATS_ANSWERS_SLOW_CALLS_H
#define SRC_FORMATS_ANSWERS_SLOW_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/tables/direct_cache.h"
#include "src/options/selection.h"
#include "src/options/slow_choice.h"
#include "src/select/file_verdicts.h"
#include "src/select/name_verdicts.h"
#include "src/slices/durations.h"
#include "src/slices/pair_table.h"
#include "src/slices/slice_sink.h"
#include "src/slices/track.h"

struct slow_track;

struct slow_call {
	const struct symbol *symbol; /* borrowed */
	const struct track *track;   /* borrowed: the thread */
	uint64_t begin, duration;    /* ns */
	uint64_t insns;              /* executed in it */
	uint64_t untraced;           /* ns of it in system calls, other processes and the like */
	bool begin_seen, end_seen;   /* else the duration is the least that it can be */
};

struct slow_calls {
	struct slice_sink sink; /* its tracks are struct track */
	struct slow_choice choice;
	struct name_verdicts names;
	struct file_verdicts files;
	struct direct_cache chosen; /* of struct choice_slot: verdicts by symbol */
	struct slow_track *tracks;  /* owned; by index of the track */
	size_t track_room;
	struct pair_table recursions; /* of (index of track, id of name): place in open_counts */
	uint32_t *open_counts;        /* owned: open calls of this function on this track */
	size_t open_room;
	uint64_t slices;            /* that came */
	struct durations durations; /* of all calls */
	uint64_t longer;            /* calls above choice.longer */
	/* Owned.  A heap, the fastest of them on top; from slow_calls_finish() on slowest first. */
	struct slow_call *calls;
	size_t count, room;
	/* From slow_calls_finish() on: */
	uint64_t bound;  /* ns: of --slower-than; 0: none */
	uint64_t slower; /* calls above it; of a percentile to one part in 128 of the durations */
};

/* `selection` is borrowed.  The calls borrow themselves: they must not move. */
void slow_calls_init(struct slow_calls *calls, const struct selection *selection,
		     const struct slow_choice *choice);

/* All slices have come: order the calls, and warn (`diag` may be NULL) if there were none. */
void slow_calls_finish(struct slow_calls *calls, struct diag *diag);

/* Idempotent, also on zeroed memory. */
void slow_calls_release(struct slow_calls *calls);

#endif
