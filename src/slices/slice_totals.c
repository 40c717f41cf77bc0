/* SPDX-License-Identifier: MIT */
/* Sums of slices per function and per thread. */
#include "src/slices/slice_totals.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "src/slices/track.h"

struct total_frame {
	struct total_function *function; /* NULL: SLICE_CONTEXT */
	uint64_t begin, callees;         /* ns */
	uint64_t insns, callee_insns;
	uint32_t open; /* index in open_counts */
};

static bool is_same(const struct symbol *a, const struct symbol *b)
{
	if (a == b)
		return true;
	/* Each place where the compiler put a function in line has a symbol of its own. */
	return a->dso == b->dso && a->inlined && b->inlined;
}

static struct total_function *add_function(struct slice_totals *totals, const struct symbol *symbol)
{
	struct total_function *function = arena_alloc(&totals->arena, sizeof(*function));

	function->symbol = symbol;
	function->number = (uint32_t)++totals->function_count;
	function->next_named = totals->by_name[symbol->name->id];
	totals->by_name[symbol->name->id] = function;
	*totals->last = function;
	totals->last = &function->next;
	return function;
}

static struct total_function *function_of(struct slice_totals *totals, const struct symbol *symbol)
{
	struct total_function *function;

	totals->by_name = alloc_grow_zeroed(totals->by_name, &totals->name_room,
					    (size_t)symbol->name->id + 1, sizeof(function));
	function = totals->by_name[symbol->name->id];
	while (function && !is_same(function->symbol, symbol))
		function = function->next_named;
	return function ? function : add_function(totals, symbol);
}

static struct total_thread *totals_thread_of(struct slice_totals *totals, const struct track *track)
{
	totals->threads = alloc_grow_zeroed(totals->threads, &totals->thread_room,
					    (size_t)track->index + 1, sizeof(*totals->threads));
	if (track->index >= totals->thread_count)
		totals->thread_count = (size_t)track->index + 1;
	return &totals->threads[track->index];
}

/* Returns the index of the count of a function's open frames on a track. */
static uint32_t open_of(struct slice_totals *totals, uint32_t track, uint32_t function)
{
	uint32_t open = pair_table_find(&totals->open, track, function);

	totals->open_counts = alloc_grow_zeroed(totals->open_counts, &totals->open_room,
						(size_t)open + 1, sizeof(*totals->open_counts));
	return open;
}

static void push(struct slice_totals *totals, const struct track *track,
		 const struct slice_event *event, const struct slice_detail *detail)
{
	const struct symbol *symbol = event->symbol;
	struct total_thread *thread = totals_thread_of(totals, track);
	struct total_function *function =
		event->flags & SLICE_CONTEXT ? NULL : function_of(totals, symbol);

	thread->insns = detail ? detail->insns : thread->insns;
	thread->frames = alloc_grow(thread->frames, &thread->room, thread->depth + 1,
				    sizeof(*thread->frames));
	thread->frames[thread->depth++] = (struct total_frame){ .function = function,
								.begin = event->time,
								.insns = thread->insns };
	if (thread->depth > thread->deepest)
		thread->deepest = thread->depth;
	thread->slices++;
	if (!function)
		return;
	thread->frames[thread->depth - 1].open = open_of(totals, track->index, function->number);
	totals->open_counts[thread->frames[thread->depth - 1].open]++;
	function->calls++;
	thread->calls += symbol->kind != SYMBOL_SPECIAL && symbol->kind != SYMBOL_MARK &&
			 !(event->flags & SLICE_INFERRED_START);
}

static void pop(struct slice_totals *totals, const struct track *track, uint64_t time,
		const struct slice_detail *detail)
{
	struct total_thread *thread = totals_thread_of(totals, track);
	struct total_frame *frame;
	uint64_t duration, insns;

	if (!thread->depth)
		return;
	thread->insns = detail ? detail->insns : thread->insns;
	frame = &thread->frames[--thread->depth];
	if (!frame->function)
		return;
	duration = time - frame->begin;
	insns = thread->insns - frame->insns;
	frame->function->self_ns += duration - frame->callees;
	frame->function->self_insns += insns - frame->callee_insns;
	if (!--totals->open_counts[frame->open]) {
		frame->function->total_ns += duration;
		frame->function->total_insns += insns;
	}
	if (thread->depth) {
		thread->frames[thread->depth - 1].callees += duration;
		thread->frames[thread->depth - 1].callee_insns += insns;
	}
}

static void count_events(const struct slice_sink *sink, void *track,
			 const struct slice_batch *batch)
{
	struct slice_totals *totals = sink->context;

	for (size_t i = 0; i < batch->count; i++) {
		const struct slice_event *event = &batch->events[i];
		const struct slice_detail *detail = slice_batch_detail(batch, event);

		if (event->kind == SLICE_BEGIN)
			push(totals, track, event, detail);
		else if (event->kind == SLICE_END)
			pop(totals, track, event->time, detail);
	}
	totals->next->events(totals->next, track, batch);
}

void slice_totals_init(struct slice_totals *totals, const struct slice_sink *next, bool insns)
{
	*totals = (struct slice_totals){
		.sink = {
			.events = count_events,
			.context = totals,
			.details = next->details || insns,
			.folded = next->folded,
		},
		.next = next,
		.last = &totals->first,
	};
	arena_init(&totals->arena);
}

void slice_totals_release(struct slice_totals *totals)
{
	for (size_t i = 0; i < totals->thread_count; i++)
		free(totals->threads[i].frames);
	pair_table_release(&totals->open);
	free(totals->open_counts);
	free(totals->threads);
	free(totals->by_name);
	arena_release(&totals->arena);
	*totals = (struct slice_totals){ 0 };
}
