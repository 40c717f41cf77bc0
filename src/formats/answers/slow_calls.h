/* SPDX-License-Identifier: MIT */
/*
 * Keeps the slowest calls of each function, with the costs of all paths in them.
 *
 * A path is a function called by another path; a function that is open already continues its own
 * path, so recursions are folded.  Each thread has a log of the costs of the calls that ended in
 * open calls, which is summed up by path when it gets long: when a call ends, the log has its
 * costs.  So one pass suffices, and memory grows with the distinct paths and the kept calls, not
 * with the trace.
 *
 * Of a recursion, only the outermost call counts.  Amounts are ns or, if times are unknown,
 * instructions.  Stops that can hit any code (interrupts, context switches) are not part of amounts
 * and paths, unless the user gives the duration above which a call is slow.
 */
#pragma once

#include "src/formats/output_format.h"
#include "src/options/options.h"
#include "src/select/function_choice.h"
#include "src/slices/call_tree.h"
#include "src/slices/durations.h"

struct path_cost {
	uint32_t path, calls;
	struct call_costs own; /* without callees */
};

struct slow_call {
	uint64_t amount;
	uint64_t begin, duration;  /* ns */
	const struct track *track; /* borrowed */
	struct path_cost *costs;   /* owned: of each path in the call, unordered */
	size_t count;
};

/* For a sort: the slowest first.  Equal calls are in the order of time, then of threads. */
static inline int slow_call_compare(const struct slow_call *a, const struct slow_call *b)
{
	return COMPARE(b->amount, a->amount)
		       ?: COMPARE(a->begin, b->begin)
		       ?: COMPARE(a->track->index, b->track->index);
}

/* Calls of a function that may be decoded again to compare, with a call of each octave. */
#define USUAL_CALLS 4

/* The owner of code: later values are closer to the user's own code. */
enum code_owner {
	OWNER_UNKNOWN = 0, /* not looked up */
	OWNER_LIBRARY,
	OWNER_PROGRAM, /* it is in the recorded program, which may contain libraries, */
	OWNER_SOURCE,  /* and has source lines */
};

struct slow_function {
	const struct symbol *symbol; /* borrowed: the first one of this name */
	enum code_owner owner;
	bool kept;                  /* its calls are counted */
	struct durations durations; /* amounts of its calls */
	uint64_t first_begin;       /* ns: of its first call */
	uint64_t stopped_calls;     /* of these: calls that were stopped, */
	uint64_t longest;           /* ns: of the longest stop */
	struct usual_call {
		const struct track *track; /* borrowed; NULL: unset */
		uint64_t begin;            /* ns */
	} usual[USUAL_CALLS];
	uint64_t cut;           /* calls without a seen begin or end: not counted */
	struct path_cost *lost; /* owned: costs of these; a path may be there twice */
	size_t lost_count, lost_room;
	struct slow_call *slow; /* owned: a heap with the fastest on top */
	size_t slow_count, slow_room;
};

struct slow_calls {
	struct call_tree tree;  /* first; of paths */
	struct slice_sink sink; /* slices in program order; their tracks are struct track */
	struct function_choice choice;
	const struct dso *program;       /* borrowed: the recorded program; NULL: unknown */
	bool by_insns, with_stops;       /* in amounts */
	uint64_t resolution;             /* of amounts; to be set before they are compared */
	size_t most;                     /* kept calls of a function, at most */
	struct slow_function *functions; /* owned */
	size_t function_count, function_room;
	struct slow_path {
		uint32_t function; /* index of its last one */
		uint32_t fold;     /* the path itself, or the path that a recursion continues */
		bool in_syscall;
		bool stop; /* fold is NODE_NONE */
	} * paths;         /* owned; by node of the tree */
	size_t path_room;
	struct pair_table by_name; /* of (0, id of the name): index of the function */
	uint32_t *seen; /* owned; by path: a guess of its index in the list being summed up */
	size_t seen_room;
	struct path_cost *sums; /* owned: of the call that ends */
	size_t sum_room;
	struct slow_log *logs; /* owned; by index of the track */
	size_t log_room;
};

/*
 * Start without calls, of functions of the options' selection or, if it names none, of all.  The
 * sink borrows the calls: they must not move.
 */
void slow_calls_init(struct slow_calls *calls, const struct options *options,
		     const struct trace_facts *facts, size_t most);

void slow_calls_release(struct slow_calls *calls);
