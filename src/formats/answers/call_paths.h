/* SPDX-License-Identifier: MIT */
/*
 * What the calls of some functions cost, by call path and by how long the call took.
 *
 * A call of a chosen function, the outermost one of a recursion, is the root of paths: what it
 * calls, what that calls, and so on.  Each path has its own costs, without its callees'.  A call
 * is counted when it ends: into its class, of calls that took about as long (1/16).  So which calls
 * are slow can be decided at the end, and memory grows with the different paths and classes, not
 * with the calls.  A bound of --slow is exact: then there are two classes, 0 and 1.
 *
 * If the trace has no times between PSBs, calls are compared by instructions, by which their times
 * are estimated.
 */
#ifndef SRC_FORMATS_ANSWERS_CALL_PATHS_H
#define SRC_FORMATS_ANSWERS_CALL_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/callstack/callstack.h"
#include "src/options/selection.h"
#include "src/options/slow_choice.h"
#include "src/select/function_choice.h"
#include "src/slices/durations.h"
#include "src/slices/pair_table.h"
#include "src/slices/slice_sink.h"
#include "src/slices/track.h"

/* Classes beside those of durations: the two calls of --pair. */
#define CLASS_PAIR_A UINT32_MAX
#define CLASS_PAIR_B (UINT32_MAX - 1)

struct path_cost {
	uint64_t time;  /* ns */
	uint64_t calls; /* of the path's last function */
	uint64_t insns, cycles;
	/* Of a root: code of its calls that are long enough to measure the clock. */
	uint64_t clock_time, clock_cycles;
};

/* A path: a function, called by another path; number 0 is the caller of all roots. */
struct path_node {
	const struct symbol *symbol; /* borrowed */
	uint32_t caller;             /* 0: it is a root */
	uint32_t root;               /* its root's number; its own, if it is one */
};

struct options;
struct path_track;

struct call_paths {
	struct slice_sink sink; /* slices in program order */
	struct function_choice choice;
	struct call_pair pair; /* given: only these are counted */
	struct slow_choice slow;
	const struct callstack_machine *const *machine; /* borrowed; set before the first slice */
	bool by_insns;           /* the last call's class and duration are of instructions */
	struct pair_table ids;   /* of (caller, id of name): number less 1 */
	struct path_node *nodes; /* owned; [0] is unused */
	size_t node_room;
	struct pair_table
		classes; /* of (node, class): place in `costs`; keys as of call_paths_key() */
	struct path_cost *costs; /* owned */
	size_t cost_room;
	struct durations *durations; /* owned; by root: of its calls */
	size_t duration_room;
	uint64_t slices; /* that came */
	uint64_t cut;    /* calls of which the begin or the end is not known: not counted */
	uint64_t nested; /* chosen calls within those of another chosen function: not counted */
	struct path_track *tracks; /* owned; by index of the track */
	size_t track_room;
	struct pair_table open;    /* of (index of track, node): place in `current` */
	struct path_cost *current; /* owned: the costs of calls that are open */
	size_t current_room;
};

/*
 * Start without calls of the functions of the options' selection, which is borrowed.  The paths
 * borrow themselves: they must not move.
 */
void call_paths_init(struct call_paths *paths, const struct options *options,
		     const struct callstack_machine *const *machine);

/* Returns the number of paths. */
size_t call_paths_count(const struct call_paths *paths);

struct path_key {
	uint32_t node, class;
};

/* Returns what the costs at a place are of. */
static inline struct path_key call_paths_key(const struct call_paths *paths, size_t place)
{
	struct pair pair = pair_table_pair(&paths->classes, place);

	return (struct path_key){ pair.first, pair.second };
}

/* Returns the shortest duration of a class, ns or instructions; or the bound, which is shorter. */
uint64_t call_paths_class_begin(const struct call_paths *paths, uint32_t number);

/* Returns whether --slow is a time. */
static inline bool call_paths_have_bound(const struct call_paths *paths)
{
	return paths->slow.has_bound && !paths->slow.percentile;
}

/* Idempotent, also on zeroed memory. */
void call_paths_release(struct call_paths *paths);

#endif
