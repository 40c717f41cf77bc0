/* SPDX-License-Identifier: MIT */
/*
 * Costs of the calls of some functions, by call path and by the call's duration.
 *
 * A call of a chosen function, the outermost one of a recursion, is the root of paths: its callees,
 * their callees, and so on.  It is also a part of the chosen calls around it, so a slice has a path
 * in each of them; their number is limited.  Each path has its own costs, without its callees'.  A
 * call is counted when it ends: into its class, of calls that took about as long (1/16).  So which
 * calls are slow can be decided at the end, and memory grows with the different paths and classes,
 * not with the calls.  A bound of --slow is exact: then there are two classes, 0 and 1.
 *
 * If times are unknown, calls are compared by instructions.
 */
#ifndef SRC_FORMATS_ANSWERS_CALL_PATHS_H
#define SRC_FORMATS_ANSWERS_CALL_PATHS_H

#include "src/callstack/callstack.h"
#include "src/select/function_choice.h"
#include "src/slices/call_tree.h"
#include "src/slices/durations.h"

/* Classes beside those of durations: the two calls of --pair. */
#define CLASS_PAIR_A UINT32_MAX
#define CLASS_PAIR_B (UINT32_MAX - 1)

/* Chosen calls around a slice, at most, of which it is a part. */
#define CALL_PATHS_OPEN_MOST 64

/* Percentile without --slow, in millionths. */
#define SLOW_DEFAULT 990000

struct class_count {
	uint32_t number; /* of the class */
	uint64_t calls;
};

struct path_cost {
	uint32_t node, class;    /* of the path, and of the calls of its root */
	struct call_costs own;   /* of the path's last function, without callees */
	uint64_t calls;          /* of it */
	struct call_costs clock; /* of a root: code of calls that are long enough to measure it */
};

static inline void path_cost_add(struct path_cost *to, const struct path_cost *cost)
{
	call_tree_add(&to->own, &cost->own, true);
	to->calls += cost->calls;
	call_tree_add(&to->clock, &cost->clock, true);
}

struct path_node {
	uint32_t root; /* its root's number; its own, if it is one */
	bool special;  /* its last function is SYMBOL_SPECIAL */
};

struct options;
struct path_track;

struct call_paths {
	struct call_tree tree;  /* first; of all slices, whose own costs it finds */
	struct slice_sink sink; /* slices in program order */
	struct function_choice choice;
	struct call_pair pair; /* given: only these are counted */
	struct slow_choice slow;
	const struct callstack_machine *const *machine; /* borrowed; set before the first slice */
	struct call_tree paths;  /* by ids of names; the roots have no caller */
	struct path_node *nodes; /* owned; by path */
	size_t node_room;
	struct pair_table classes; /* of (node, class): index in `costs` */
	struct path_cost *costs;   /* owned */
	size_t cost_room;
	struct durations *durations; /* owned; by root: of its calls */
	size_t duration_room;
	uint64_t cut;    /* calls of which the begin or the end is not known: not counted */
	uint64_t nested; /* chosen calls in those of too many other chosen functions: not counted */
	struct path_track *tracks; /* owned; by index of the track */
	size_t track_room;
	struct path_cost
		*current; /* owned; by call_tree_place(): the costs of calls that are open */
	size_t current_room;
	uint32_t *sorted; /* owned: indexes in `costs`, once call_paths_sort() has run; else NULL */
};

/*
 * Start without calls of the functions of the options' selection, which is borrowed.  The paths
 * borrow themselves: they must not move.
 */
void call_paths_init(struct call_paths *paths, const struct options *options,
		     const struct callstack_machine *const *machine);

/* Returns the number of paths. */
size_t call_paths_count(const struct call_paths *paths);

/* Returns the shortest duration of a class, ns or instructions; or the bound, which is shorter. */
uint64_t call_paths_class_begin(const struct call_paths *paths, uint32_t number);

/* Returns whether --slow is a time. */
static inline bool call_paths_have_bound(const struct call_paths *paths)
{
	return paths->slow.has_bound && !paths->slow.percentile;
}

/* Returns whether classes and durations are of instructions. */
bool call_paths_by_insns(const struct call_paths *paths);

/* All slices have come: sort the costs by root, then by node. */
void call_paths_sort(struct call_paths *paths);

/*
 * Returns the lowest class of slow calls.  With a percentile, slow classes lie above it as a whole;
 * the class of the longest calls is always slow.  With a bound, slow calls take longer than it.
 * Sorts the classes, longest calls first.  Returns 0 without classes.
 */
uint32_t slow_classes_find(struct class_count *classes, size_t count,
			   const struct slow_choice *slow);

/* Idempotent, also on zeroed memory. */
void call_paths_release(struct call_paths *paths);

#endif
