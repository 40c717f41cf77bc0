/* SPDX-License-Identifier: MIT */
/*
 * What each function and each thread did, added up: calls, and time with and
 * without callees.
 *
 * A sink in front of another, behind a slice_sorter: slices must come in program
 * order.  Per slice it costs a look-up by the name's id; memory grows with the
 * functions and threads of the run and the depth of stacks, not with the trace.
 */
#ifndef SRC_SLICES_SLICE_TOTALS_H
#define SRC_SLICES_SLICE_TOTALS_H

#include <stddef.h>

#include "base/arena.h"
#include "src/slices/slice_sink.h"

/* One function; those of one name in one place of one file are the same. */
struct tally_function {
	const struct symbol *symbol;       /* borrowed */
	uint32_t number;                   /* 1, 2, ... */
	uint64_t calls;                    /* slices */
	uint64_t self_ns;                  /* without callees */
	uint64_t total_ns;                 /* with callees; of a recursion the outermost call's */
	struct tally_function *next_named; /* another one of this name */
	struct tally_function *next;       /* in the order of first calls */
};

struct tally_thread {
	uint64_t calls;             /* slices of functions whose call was seen */
	uint64_t slices;            /* all */
	size_t deepest;             /* slices open at a time, at most */
	struct tally_frame *frames; /* owned */
	size_t depth, room;
	struct tally_open *open;      /* owned: a hash of the functions that the thread called */
	size_t open_count, open_room; /* the room is a power of two, or 0 */
};

struct slice_totals {
	struct slice_sink sink;        /* give this to the sorter; its tracks are struct track */
	const struct slice_sink *next; /* borrowed */
	struct tally_thread *threads;  /* owned; by index of the track */
	size_t thread_count, thread_room;
	struct tally_function **by_name; /* owned; by id of the name */
	size_t name_room;
	struct tally_function *first, **last;
	size_t function_count;
	struct arena arena; /* the functions */
};

/* Start with nothing, in front of `next` (borrowed).  The tally borrows itself: it must not move.
 */
void slice_totals_init(struct slice_totals *tally, const struct slice_sink *next);

/* Idempotent, also on zeroed memory. */
void slice_totals_release(struct slice_totals *tally);

#endif
