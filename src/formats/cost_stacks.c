/* SPDX-License-Identifier: MIT */
/* Counts slices by call stack, with the places of their calls. */
#include "src/formats/cost_stacks.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "src/formats/deep_stack.h"
#include "src/slices/slice_args.h"
#include "src/slices/track.h"

struct cost_track {
	uint32_t root;          /* the threads' name; 0: not yet */
	uint32_t stack;         /* of the innermost open slice; `root` if none is */
	uint64_t time;          /* ns; up to which costs were counted */
	uint64_t insns, cycles; /* the same of the thread's counters */
	struct deep_stack open;
};

/* A call from a stack at a place. */
struct cost_call {
	uint32_t caller, stack;      /* indexes; `stack` is the call's own; 0: none */
	const struct symbol *symbol; /* that is called */
	const struct symbol *place;  /* has the call; NULL: unknown */
	uint64_t offset;             /* of the call in `place` */
};

/* Powers of two: slots of the cache of calls. */
#define CALL_CACHE_BITS 12

/* In the place of a function in `frames`: a thread's name. */
#define THREAD UINT32_MAX

/* In the place of a pointer's upper half in `functions`: an inlined function, by name. */
#define INLINED UINT32_MAX

/*
 * Returns a function's index.  Each place where the compiler put a function in line has a symbol
 * of its own; all of one name are one function.
 */
static uint32_t function_of(struct cost_stacks *stacks, const struct symbol *symbol)
{
	size_t count = stacks->functions.count;
	uint32_t function = symbol->inlined
				    ? pair_table_find(&stacks->functions, INLINED, symbol->name->id)
				    : pair_table_find_pointer(&stacks->functions, symbol);

	if (function == count) {
		stacks->symbols = alloc_grow(stacks->symbols, &stacks->symbol_room, count + 1,
					     sizeof(*stacks->symbols));
		stacks->symbols[function] = symbol;
	}
	return function;
}

/* Returns the stack like `wanted`, of which `frame` says what the caller calls. */
static uint32_t stack_of(struct cost_stacks *stacks, const struct cost_stack *wanted,
			 uint32_t frame)
{
	uint32_t stack = pair_table_find(&stacks->ids, wanted->caller, frame) + 1;

	if (stack == stacks->count) {
		stacks->stacks = alloc_grow(stacks->stacks, &stacks->room, stacks->count + 1,
					    sizeof(*stacks->stacks));
		stacks->stacks[stacks->count++] = *wanted;
	}
	return stack;
}

static struct cost_track *cost_track_of(struct cost_stacks *stacks, const struct track *track)
{
	struct cost_track *found;

	stacks->tracks = alloc_grow_zeroed(stacks->tracks, &stacks->track_room,
					   (size_t)track->index + 1, sizeof(*stacks->tracks));
	found = &stacks->tracks[track->index];
	if (!found->root) {
		const char *text = track->thread_name ? track->thread_name : "unknown";
		const struct cost_stack root = { .thread = name_intern_text(stacks->names, text) };

		found->root = found->stack = stack_of(
			stacks, &root, pair_table_find(&stacks->frames, THREAD, root.thread->id));
	}
	return found;
}

/*
 * Returns the line of the call in the innermost slice's function; 0: unknown, or it is in another
 * function or file, as of a tail call or of code that was put in line.
 */
static uint32_t line_of_call(struct cost_stacks *stacks, const struct cost_stack *caller,
			     const struct slice_detail *detail)
{
	const struct source_line *line;
	const struct symbol *symbol;

	if (!detail->caller || caller->thread)
		return 0;
	symbol = stacks->symbols[caller->function];
	if (symbol_function(detail->caller) != symbol_function(symbol))
		return 0;
	line = call_sites_line(&stacks->sites, detail->caller, detail->caller_offset);
	return line && line->file == slice_source_line(symbol).file ? line->line : 0;
}

/* Returns the stack of a slice that begins within another stack. */
static uint32_t find_stack(struct cost_stacks *stacks, const struct cost_call *call)
{
	const struct slice_detail detail = { .caller = call->place, .caller_offset = call->offset };
	struct cost_stack stack = { .caller = call->caller };

	stack.call_line = line_of_call(stacks, &stacks->stacks[call->caller], &detail);
	stack.function = function_of(stacks, call->symbol);
	return stack_of(stacks, &stack,
			pair_table_find(&stacks->frames, stack.function, stack.call_line));
}

/* The same, from the cache if it has it: most calls are as others were. */
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
	slot->stack = find_stack(stacks, call);
	return slot->stack;
}

static void enter_stack(struct cost_stacks *stacks, struct cost_track *track,
			const struct slice_event *event, const struct slice_detail *detail)
{
	struct cost_call call = { .caller = track->stack, .symbol = event->symbol };

	if (detail) {
		call.place = detail->caller;
		call.offset = detail->caller_offset;
	}
	if (deep_stack_begin(&track->open, stacks->max_stack, call.caller)) {
		if (track->open.count == 1)
			track->open.cut = find_cached(
				stacks, &(struct cost_call){ .caller = call.caller,
							     .symbol = &stacks->truncated });
		call.caller = track->open.cut;
		stacks->cut_slices++;
	}
	track->stack = find_cached(stacks, &call);
	stacks->slices++;
	if (event->flags & SLICE_CONTEXT)
		return;
	stacks->stacks[track->stack].own.calls++;
	stacks->sum.calls++;
}

/* Returns what a counter has gained, and keeps its value; one that is not known stays. */
static uint64_t advance(uint64_t *counter, uint64_t to)
{
	uint64_t by = to > *counter ? to - *counter : 0;

	*counter += by;
	return by;
}

/* What has passed is the innermost slice's. */
static void count_costs(struct cost_stacks *stacks, struct cost_track *track, uint64_t time,
			const struct slice_detail *detail)
{
	struct stack_costs passed = { .ns = advance(&track->time, time) };
	struct stack_costs *own = &stacks->stacks[track->stack].own;

	if (detail) {
		passed.insns = advance(&track->insns, detail->insns);
		passed.cycles = advance(&track->cycles, detail->cycles);
	}
	if (track->stack == track->root)
		return;
	own->ns += passed.ns;
	own->insns += passed.insns;
	own->cycles += passed.cycles;
	stacks->sum.ns += passed.ns;
	stacks->sum.insns += passed.insns;
	stacks->sum.cycles += passed.cycles;
}

static void count_event(struct cost_stacks *stacks, struct cost_track *track,
			const struct slice_event *event, const struct slice_detail *detail)
{
	if (event->kind == SLICE_INSTANT)
		return;
	count_costs(stacks, track, event->time, detail);
	if (event->time < stacks->begin)
		stacks->begin = event->time;
	if (event->time > stacks->end)
		stacks->end = event->time;
	if (event->kind == SLICE_BEGIN)
		enter_stack(stacks, track, event, detail);
	else if (track->stack != track->root)
		track->stack = deep_stack_end(&track->open, stacks->stacks[track->stack].caller);
}

static void count_stack_events(const struct slice_sink *sink, void *context,
			       const struct slice_batch *batch)
{
	struct cost_stacks *stacks = sink->context;
	struct cost_track *track = cost_track_of(stacks, context);

	for (size_t i = 0; i < batch->count; i++)
		count_event(stacks, track, &batch->events[i],
			    slice_batch_detail(batch, &batch->events[i]));
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
		.count = 1,
		.names = names,
		.sites.names = names,
		.begin = UINT64_MAX,
		.max_stack = max_stack,
		.truncated = { .name = truncated, .linkage = truncated, .kind = SYMBOL_SPECIAL },
	};
	stacks->stacks = alloc_grow(NULL, &stacks->room, 1, sizeof(*stacks->stacks));
	stacks->stacks[0] = (struct cost_stack){ 0 };
	direct_cache_init(&stacks->calls, CALL_CACHE_BITS, sizeof(struct cost_call));
}

void cost_stacks_release(struct cost_stacks *stacks)
{
	for (size_t i = 0; i < stacks->track_room; i++)
		deep_stack_release(&stacks->tracks[i].open);
	pair_table_release(&stacks->ids);
	pair_table_release(&stacks->frames);
	pair_table_release(&stacks->functions);
	call_sites_release(&stacks->sites);
	direct_cache_release(&stacks->calls);
	free(stacks->stacks);
	free(stacks->symbols);
	free(stacks->tracks);
	*stacks = (struct cost_stacks){ 0 };
}
