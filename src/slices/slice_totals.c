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

static inline struct total_function *function_of(struct slice_totals *totals,
						 const struct symbol *symbol)
{
	struct total_function *function;

	if (symbol->name->id >= totals->name_room)
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
static uint32_t open_of(struct slice_totals *totals, uint32_t track,
			struct total_function *function)
{
	if (function->last_track == track + 1)
		return function->last_open;
	function->last_track = track + 1;
	function->last_open = pair_table_find(&totals->open, track, function->number);
	totals->open_counts =
		alloc_grow_zeroed(totals->open_counts, &totals->open_room,
				  (size_t)function->last_open + 1, sizeof(*totals->open_counts));
	return function->last_open;
}

/* Count what only the report shows of the innermost frame's begin. */
static void push_report(struct slice_totals *totals, struct total_thread *thread,
			const struct track *track, const struct slice_event *event)
{
	const struct symbol *symbol = event->symbol;
	struct total_frame *frame = &thread->frames[thread->depth - 1];

	frame->insns = thread->insns;
	frame->callee_insns = 0;
	if (thread->depth > thread->deepest)
		thread->deepest = thread->depth;
	thread->slices++;
	if (!frame->function)
		return;
	frame->open = open_of(totals, track->index, frame->function);
	totals->open_counts[frame->open]++;
	frame->function->calls++;
	thread->calls += symbol->kind != SYMBOL_SPECIAL && symbol->kind != SYMBOL_MARK &&
			 !(event->flags & SLICE_INFERRED_START);
}

/* Count what only the report shows of an end. */
static void pop_report(struct slice_totals *totals, struct total_thread *thread,
		       struct total_frame *frame, uint64_t duration)
{
	struct total_function *function = frame->function;
	uint64_t insns = thread->insns - frame->insns;

	function->self_insns += insns - frame->callee_insns;
	if (!--totals->open_counts[frame->open]) {
		function->total_ns += duration;
		function->total_insns += insns;
	}
	if (thread->depth)
		frame[-1].callee_insns += insns;
}

/*
 * The functions below are instantiated twice, with `report` constant: the few lines of a summary
 * need half of the sums, in a quarter of the instructions.
 */
#define INSTANTIATED static inline __attribute__((always_inline))

INSTANTIATED void push(struct slice_totals *totals, struct total_thread *thread,
		       const struct track *track, const struct slice_event *event, bool report)
{
	struct total_frame *frame;

	if (thread->depth == thread->room)
		thread->frames = alloc_grow(thread->frames, &thread->room, thread->depth + 1,
					    sizeof(*thread->frames));
	frame = &thread->frames[thread->depth++];
	frame->function = event->flags & SLICE_CONTEXT ? NULL : function_of(totals, event->symbol);
	frame->begin = event->time;
	frame->callees = 0;
	if (report)
		push_report(totals, thread, track, event);
}

INSTANTIATED void pop(struct slice_totals *totals, struct total_thread *thread,
		      const struct track *track, uint64_t time, bool report)
{
	struct total_frame *frame;
	struct total_function *function;
	uint64_t duration;

	if (!thread->depth)
		return;
	frame = &thread->frames[--thread->depth];
	function = frame->function;
	if (!function)
		return;
	duration = time - frame->begin;
	function->self_ns += duration - frame->callees;
	if (duration > function->slowest.duration)
		function->slowest = (struct total_call){ track, frame->begin, duration };
	if (thread->depth)
		frame[-1].callees += duration;
	if (report)
		pop_report(totals, thread, frame, duration);
}

INSTANTIATED void count(const struct slice_sink *sink, void *context,
			const struct slice_batch *batch, bool report)
{
	struct slice_totals *totals = sink->context;
	struct total_thread *thread = totals_thread_of(totals, context);
	const struct slice_event *event = batch->events;

	for (const struct slice_event *end = event + batch->count; event < end; event++) {
		const struct slice_detail *detail = slice_batch_detail(batch, event);

		/* A slice inferred beside a gap may have an earlier count than the last one. */
		if (report && detail && event->kind != SLICE_INSTANT &&
		    detail->insns > thread->insns)
			thread->insns = detail->insns;
		if (event->kind == SLICE_BEGIN)
			push(totals, thread, context, event, report);
		else if (event->kind == SLICE_END)
			pop(totals, thread, context, event->time, report);
	}
	totals->next->events(totals->next, context, batch);
}

static void count_events(const struct slice_sink *sink, void *track,
			 const struct slice_batch *batch)
{
	count(sink, track, batch, true);
}

static void count_self(const struct slice_sink *sink, void *track, const struct slice_batch *batch)
{
	count(sink, track, batch, false);
}

void slice_totals_init(struct slice_totals *totals, const struct slice_sink *next, bool report,
		       bool insns)
{
	*totals = (struct slice_totals){
		.sink = {
			.events = report ? count_events : count_self,
			.context = totals,
			.details = next->details || insns,
			.folded = next->folded,
		},
		.next = next,
		.report = report,
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
