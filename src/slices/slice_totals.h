/* SPDX-License-Identifier: MIT */
/*
 * Sums per function and per thread: calls, time and instructions with and without callees, and the
 * slowest call.
 *
 * A sink that passes all events on.  Slices must come in program order, as from a
 * slice_sorter.  Memory grows with the functions and threads of the run and the
 * depth of stacks, not with the trace.
 */
#ifndef SRC_SLICES_SLICE_TOTALS_H
#define SRC_SLICES_SLICE_TOTALS_H

#include <stddef.h>

#include "base/arena.h"
#include "src/slices/pair_table.h"
#include "src/slices/slice_sink.h"

struct total_call {
	const struct track *track; /* borrowed; NULL: none */
	uint64_t begin, duration;  /* ns */
};

/* One function; those of one name in one place of one file are the same. */
struct total_function {
	const struct symbol *symbol;       /* borrowed */
	uint32_t number;                   /* 1, 2, ... */
	uint64_t calls;                    /* slices */
	uint64_t self_ns;                  /* without callees */
	uint64_t total_ns;                 /* with callees; of a recursion the outermost call's */
	uint64_t self_insns, total_insns;  /* the same of instructions, if they are counted */
	struct total_call slowest;         /* the first one of the longest */
	uint32_t last_track, last_open;    /* 1 + a track's index, and its number in `open` */
	struct total_function *next_named; /* another one of this name */
	struct total_function *next;       /* in the order of first calls */
};

struct total_thread {
	uint64_t calls;             /* slices of functions whose call was seen */
	uint64_t slices;            /* all */
	size_t deepest;             /* slices open at a time, at most */
	uint64_t insns;             /* up to the last event that had them */
	struct total_frame *frames; /* owned */
	size_t depth, room;
};

struct slice_totals {
	struct slice_sink sink;        /* give this to the sorter; its tracks are struct track */
	const struct slice_sink *next; /* borrowed */
	bool report;                   /* all sums are made */
	struct total_thread *threads;  /* owned; by index of the track */
	size_t thread_count, thread_room;
	struct total_function **by_name; /* owned; by id of the name */
	size_t name_room;
	struct total_function *first, **last;
	size_t function_count;
	struct pair_table open; /* of (index of track, number of function), for: */
	uint32_t *open_counts;  /* owned: open frames; a recursion counts once in total_ns */
	size_t open_room;
	struct arena arena; /* owns the functions */
};

/*
 * Start without slices, in front of `next` (borrowed).  The totals borrow themselves: they must
 * not move.  Without `report` only self times and slowest calls are known.  `insns`: count
 * instructions, too, also if `next` uses no details.
 */
void slice_totals_init(struct slice_totals *totals, const struct slice_sink *next, bool report,
		       bool insns);

/* Idempotent, also on zeroed memory. */
void slice_totals_release(struct slice_totals *totals);

#endif
