/* SPDX-License-Identifier: MIT */
/*
 * Sums the costs of slices by call stack: what --format=pprof and callgrind write.
 *
 * A cost belongs to the innermost open slice.  Memory grows with the distinct stacks.
 */
#ifndef SRC_FORMATS_COST_STACKS_H
#define SRC_FORMATS_COST_STACKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/tables/direct_cache.h"
#include "base/tables/name.h"
#include "src/formats/call_sites.h"
#include "src/slices/pair_table.h"
#include "src/slices/slice_sink.h"

/* What a stack cost in itself, without its callees. */
struct stack_costs {
	uint64_t calls;
	uint64_t insns, cycles; /* 0: not known, or none */
	uint64_t ns;
};

/* A call stack: a function, and the stack that called it. */
struct cost_stack {
	uint32_t caller;           /* index of the stack; 0: none, `thread` is the threads' name */
	uint32_t function;         /* index of the function */
	uint32_t call_line;        /* of the caller's source, that has the call; 0: unknown */
	const struct name *thread; /* borrowed; NULL: the stack has a function */
	struct stack_costs own;
};

struct cost_track;

struct cost_stacks {
	struct slice_sink sink;
	struct cost_stack *stacks; /* owned; [0] is unused; each behind its caller */
	size_t count, room;
	struct pair_table ids;       /* of (caller, frame): the stack's index less 1 */
	struct pair_table frames;    /* of (function, line of the call), or (THREAD, id of name) */
	struct pair_table functions; /* of a symbol, as the key in function_of() */
	const struct symbol **symbols; /* owned; by function; borrowed */
	size_t symbol_room;
	struct call_sites sites;
	struct direct_cache calls; /* owned: of struct cost_call */
	struct cost_track *tracks; /* owned; by index of the track */
	size_t track_room;
	uint64_t slices;
	struct stack_costs sum;   /* of all stacks */
	uint64_t begin, end;      /* ns: of the first and last event; `begin` UINT64_MAX: none */
	struct name_table *names; /* borrowed */
	uint64_t max_stack;       /* deep_stack.h */
	struct symbol truncated;
	uint64_t cut_slices; /* deeper ones */
};

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
