/* SPDX-License-Identifier: MIT */
/* Counts slices by call stack, with the source locations of their calls. */
#include "src/formats/cost_stacks.h"

#include "src/slices/slice_args.h"

/* A call from a stack at a source location. */
struct cost_call {
	uint32_t caller, stack;      /* indexes; `stack` is the call's own, or 0 */
	const struct symbol *symbol; /* that is called */
	const struct symbol *place;  /* has the call; NULL: unknown */
	uint64_t offset;             /* of the call in `place` */
};

/* Powers of two: slots of the cache of calls. */
#define CALL_CACHE_BITS 12

/*
 * Returns the line of the call in the innermost slice's function; 0: unknown, or it is in another
 * function or file, as of a tail call or of code that was put in line.
 */
static uint32_t line_of_call(struct cost_stacks *stacks, const struct cost_call *call)
{
	const struct source_line *line;
	const struct symbol *symbol;

	if (!call->place || cost_is_thread(stacks, call->caller))
		return 0;
	symbol = stacks->functions.functions[cost_frame(stacks, call->caller).first].symbol;
	if (symbol_function(call->place) != symbol_function(symbol))
		return 0;
	line = call_sites_line(&stacks->sites, call->place, call->offset);
	return line && line->file == slice_source_line(symbol).file ? line->line : 0;
}

static uint32_t frame_of(struct cost_stacks *stacks, const struct symbol *symbol, uint32_t line)
{
	return pair_table_find(&stacks->frames, function_table_find(&stacks->functions, symbol),
			       line);
}

/* Returns the stack of a call, from the cache if it has it: most calls are as others were. */
static uint32_t find_cached(struct cost_stacks *stacks, const struct cost_call *call)
{
	uint64_t key =
		call->offset + ((uint64_t)call->caller << 32) + (uint64_t)(uintptr_t)call->symbol;
	struct cost_call *slot =
		(struct cost_call *)stacks->calls.slots + direct_cache_index(key, CALL_CACHE_BITS);

	if (slot->stack && slot->caller == call->caller && slot->symbol == call->symbol &&
	    slot->place == call->place && slot->offset == call->offset)
		return slot->stack;
	*slot = *call;
	slot->stack =
		call_tree_child(&stacks->tree, call->caller,
				frame_of(stacks, call->symbol, line_of_call(stacks, call)), NULL);
	return slot->stack;
}

static uint32_t enter_stack(struct call_tree *tree, struct call_thread *thread,
			    const struct slice_event *event, const struct slice_detail *detail)
{
	struct cost_stacks *stacks = (struct cost_stacks *)tree;
	struct cost_call call = { .symbol = event->symbol };

	if (call_thread_depth(thread) == tree->max_stack)
		tree->truncated_key = frame_of(stacks, &stacks->truncated, 0);
	call.caller = call_tree_caller(tree, thread);
	if (detail) {
		call.place = detail->caller;
		call.offset = detail->caller_offset;
	}
	return find_cached(stacks, &call);
}

static const struct call_rules rules = { .costs = true, .enter = enter_stack };

static void count_stack_events(const struct slice_sink *sink, void *track,
			       const struct slice_batch *batch)
{
	struct cost_stacks *stacks = sink->context;

	call_tree_follow(&stacks->tree, track, batch, &rules);
}

struct source_line cost_function_line(const struct symbol *symbol)
{
	return symbol->inlined ? (struct source_line){ 0 } : slice_source_line(symbol);
}

void cost_stacks_init(struct cost_stacks *stacks, struct name_table *names, uint64_t max_stack)
{
	const struct name *truncated = name_intern_text(names, TRUNCATED_NAME);

	*stacks = (struct cost_stacks){
		.sink = { .events = count_stack_events, .context = stacks, .details = true },
		.sites.names = names,
		.truncated = { .name = truncated, .linkage = truncated, .kind = SYMBOL_SPECIAL },
	};
	call_tree_init(&stacks->tree, names, max_stack);
	direct_cache_init(&stacks->calls, CALL_CACHE_BITS, sizeof(struct cost_call));
}

void cost_stacks_release(struct cost_stacks *stacks)
{
	call_tree_release(&stacks->tree);
	pair_table_release(&stacks->frames);
	function_table_release(&stacks->functions);
	call_sites_release(&stacks->sites);
	direct_cache_release(&stacks->calls);
	*stacks = (struct cost_stacks){ 0 };
}
