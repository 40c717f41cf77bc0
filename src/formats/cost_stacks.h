/* SPDX-License-Identifier: MIT */
/*
 * Sums the costs of slices by call stack: for --format=pprof and callgrind.
 *
 * A cost belongs to the innermost open slice.  Memory grows with the distinct stacks.
 */
#ifndef SRC_FORMATS_COST_STACKS_H
#define SRC_FORMATS_COST_STACKS_H

#include "base/tables/direct_cache.h"
#include "src/formats/call_sites.h"
#include "src/slices/call_tree.h"
#include "src/slices/slice_sink.h"

struct cost_stacks {
	struct call_tree tree; /* first; of paths, whose keys are indexes in `frames` */
	struct slice_sink sink;
	struct pair_table frames;        /* of (function, line of the call; 0: unknown) */
	struct function_table functions; /* by number */
	struct call_sites sites;
	struct direct_cache calls; /* owned: of struct cost_call */
	struct symbol truncated;
};

/* Returns whether a node is the root of threads, and has their name. */
static inline bool cost_is_thread(const struct cost_stacks *stacks, uint32_t node)
{
	return stacks->tree.nodes[node].caller == NODE_NONE;
}

/* Returns the number of a path's function, and the line of the caller's source with the call. */
static inline struct pair cost_frame(const struct cost_stacks *stacks, uint32_t path)
{
	return pair_table_pair(&stacks->frames, stacks->tree.nodes[path].key);
}

/*
 * Returns where a function begins in the source; parts may be unknown, as of an inlined one, whose
 * symbol has the line of its call, in another function.
 */
struct source_line cost_function_line(const struct symbol *symbol);

/*
 * Begin with no stacks, which are cut at `max_stack` functions.  The sink borrows the stacks: they
 * must not move.
 */
void cost_stacks_init(struct cost_stacks *stacks, struct name_table *names, uint64_t max_stack);

/* Release the memory.  Idempotent, also on zeroed memory. */
void cost_stacks_release(struct cost_stacks *stacks);

#endif
