/* SPDX-License-Identifier: MIT */
/*
 * Sums the costs of slices by call stack, and divides a function's own costs among its
 * instructions: for --format=pprof and callgrind.
 *
 * Executions of a function's instructions are counted one by one (src/costs/executed_code.h), for
 * all its calls together. Cycles, time and the costs of each stack are divided in proportion to
 * executions. If a selection omits calls, their executions still count (not with --within), and the
 * chosen calls' instructions are divided in the same way.
 */
#pragma once

#include "base/tables/direct_cache.h"
#include "src/costs/executed_code.h"
#include "src/select/function_labels.h"
#include "symbols/dso/dso_store.h"

struct cost_insn {
	struct executed_insn insn;   /* length 0: code without counts; vaddr is the function's */
	const struct symbol *symbol; /* borrowed: the symbol that contains the instruction */
	uint64_t before;             /* executions of the function's earlier instructions */
	uint32_t function;
};

struct cost_stacks {
	struct call_tree tree; /* first; of paths, whose keys are indexes in `frames` */
	struct slice_sink sink;
	struct executed_code code;
	struct pair_table frames;        /* frames by (function, call site; 0: unknown) */
	struct function_table functions; /* by number */
	struct function_labels labels;   /* made by cost_label() */
	struct pair_table symbols;       /* symbols by their pointer */
	struct pair_table sites;         /* sites minus 1 by (number in `symbols`, offset) */
	struct direct_cache calls;       /* owned: of struct cost_call */
	struct symbol truncated;
	bool inlined; /* inlined calls are slices */
	/* After cost_stacks_finish(): */
	struct call_costs sum;          /* instructions or cycles 0: unknown */
	struct call_costs *own;         /* owned: by function, without callees */
	struct cost_insn *instructions; /* owned: by function and address */
	size_t instruction_count, instruction_room;
	size_t *first; /* owned: by function, the index of its first instruction, and the end */
};

/* A note in outputs, because the numbers look exact. */
#define COST_STACKS_NOTE                                                                           \
	"own costs of a stack are divided among lines by executions of instructions, which are "   \
	"counted for all stacks of a function together"

/* Returns whether a node is the root of threads, with their name. */
static inline bool cost_is_thread(const struct cost_stacks *stacks, uint32_t node)
{
	return stacks->tree.nodes[node].caller == NODE_NONE;
}

/* Returns the number of a path's function, and the site of the call in its caller. */
static inline struct pair cost_frame(const struct cost_stacks *stacks, uint32_t path)
{
	return pair_table_pair(&stacks->frames, stacks->tree.nodes[path].key);
}

/* Returns the number of an address in the code of a symbol; 0: unknown. */
uint32_t cost_site(struct cost_stacks *stacks, const struct symbol *symbol, uint64_t offset);

/* Returns the site of an instruction; 0 for code without counts. */
static inline uint32_t cost_insn_site(struct cost_stacks *stacks,
				      const struct cost_insn *instruction)
{
	return instruction->insn.length
		       ? cost_site(stacks, instruction->symbol,
				   instruction->insn.vaddr - instruction->symbol->start)
		       : 0;
}

/* The source of an address, from the innermost inlined call to a function. */
struct cost_source {
	const struct symbol *symbol; /* has the code; NULL: the end */
	struct source_line at;       /* parts may be unknown */
};

/* Limit of frames of an instruction; the innermost ones above the limit are omitted. */
#define COST_SOURCES 32

/*
 * Find the source of a site in a function; the function's start if the site is unknown or in
 * another function's code. Fills `sources` up to the function. Returns their number, at least 1.
 */
size_t cost_sources(struct cost_stacks *stacks, uint32_t function, uint32_t site,
		    struct cost_source sources[COST_SOURCES]);

/* Returns the address of a site as an ELF virtual address, and sets *symbol; 0: unknown. */
uint64_t cost_site_address(const struct cost_stacks *stacks, uint32_t site,
			   const struct symbol **symbol);

/* Executions `begin` to `end` of `all` executions of a function's instructions. */
struct cost_range {
	uint64_t begin, end, all;
	uint64_t phase; /* less than `all`: rounding */
};

/* Returns the range's part of a cost. Parts with equal `phase` add up to the cost. */
static inline uint64_t cost_share(uint64_t cost, const struct cost_range *range)
{
	return (uint64_t)(((__uint128_t)cost * range->end + range->phase) / range->all -
			  ((__uint128_t)cost * range->begin + range->phase) / range->all);
}

static inline struct call_costs cost_shares(const struct call_costs *costs,
					    const struct cost_range *range)
{
	return (struct call_costs){ .ns = cost_share(costs->ns, range),
				    .insns = cost_share(costs->insns, range),
				    .cycles = cost_share(costs->cycles, range) };
}

/* Returns the executions of all instructions of a function; never 0. */
static inline uint64_t cost_executions(const struct cost_stacks *stacks, uint32_t function)
{
	const struct cost_insn *last = &stacks->instructions[stacks->first[function + 1] - 1];

	return last->before + last->insn.count;
}

/*
 * Returns the source line of a function's start; parts can be unknown, as for an inlined function,
 * whose symbol has the line of its call in another function.
 */
/* After cost_stacks_finish(): returns what to print for a function, borrowed. */
const struct name *cost_label(struct cost_stacks *stacks, const struct symbol *symbol);

struct source_line cost_function_line(const struct symbol *symbol);

/*
 * Start empty; stacks are cut at `max_stack` functions. `inlined`: inlined calls are slices. The
 * sink borrows the stacks: they must not move.
 */
void cost_stacks_init(struct cost_stacks *stacks, struct name_table *names, uint64_t max_stack,
		      bool inlined);

/* After all slices and counts: find the instructions of each function. */
void cost_stacks_finish(struct cost_stacks *stacks);

void cost_stacks_release(struct cost_stacks *stacks);
