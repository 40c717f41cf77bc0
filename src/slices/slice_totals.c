/* SPDX-License-Identifier: MIT */
#include "src/slices/slice_totals.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "src/slices/track.h"

#define OPEN_ROOM_MIN 16

struct tally_frame {
	struct tally_function *function;
	uint64_t begin, callees; /* ns */
};

/* How many frames of a function are open, so that a recursion counts once. */
struct tally_open {
	uint32_t function; /* its number; 0: the place is free */
	uint32_t frames;
};

static bool is_same(const struct symbol *a, const struct symbol *b)
{
	if (a == b)
		return true;
	/* Each place where the compiler put a function in line has a symbol of its own. */
	return a->dso == b->dso && a->inlined && b->inlined;
}

static struct tally_function *add_function(struct slice_totals *tally, const struct symbol *symbol)
{
	struct tally_function *function = arena_alloc(&tally->arena, sizeof(*function));

	function->symbol = symbol;
	function->number = (uint32_t)++tally->function_count;
	function->next_named = tally->by_name[symbol->name->id];
	tally->by_name[symbol->name->id] = function;
	*tally->last = function;
	tally->last = &function->next;
	return function;
}

static struct tally_function *function_of(struct slice_totals *tally, const struct symbol *symbol)
{
	size_t old = tally->name_room;
	struct tally_function *function;

	if (symbol->name->id >= old) {
		tally->by_name =
			alloc_grow(tally->by_name, &tally->name_room, (size_t)symbol->name->id + 1,
				   sizeof(struct tally_function *));
		memset(tally->by_name + old, 0,
		       (tally->name_room - old) * sizeof(struct tally_function *));
	}
	function = tally->by_name[symbol->name->id];
	while (function && !is_same(function->symbol, symbol))
		function = function->next_named;
	return function ? function : add_function(tally, symbol);
}

static struct tally_thread *thread_of(struct slice_totals *tally, const struct track *track)
{
	size_t old = tally->thread_room;

	if (track->index >= old) {
		tally->threads = alloc_grow(tally->threads, &tally->thread_room,
					    (size_t)track->index + 1, sizeof(*tally->threads));
		memset(tally->threads + old, 0,
		       (tally->thread_room - old) * sizeof(*tally->threads));
	}
	if (track->index >= tally->thread_count)
		tally->thread_count = (size_t)track->index + 1;
	return &tally->threads[track->index];
}

/* The place of a function, which may be free; Fibonacci hashing. */
static struct tally_open *place_of(struct tally_open *open, size_t room, uint32_t function)
{
	size_t at = function * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (room - 1);

	while (open[at].function && open[at].function != function)
		at = (at + 1) & (room - 1);
	return &open[at];
}

static void grow_open(struct tally_thread *thread)
{
	size_t room = thread->open_room ? 2 * thread->open_room : OPEN_ROOM_MIN;
	struct tally_open *open = alloc_zeroed(room, sizeof(*open));

	for (size_t i = 0; i < thread->open_room; i++) {
		if (thread->open[i].function)
			*place_of(open, room, thread->open[i].function) = thread->open[i];
	}
	free(thread->open);
	thread->open = open;
	thread->open_room = room;
}

static struct tally_open *open_of(struct tally_thread *thread, uint32_t function)
{
	struct tally_open *open;

	if (2 * thread->open_count >= thread->open_room)
		grow_open(thread);
	open = place_of(thread->open, thread->open_room, function);
	if (!open->function) {
		open->function = function;
		thread->open_count++;
	}
	return open;
}

static void push(struct slice_totals *tally, const struct track *track, uint64_t time,
		 const struct symbol *symbol, unsigned flags)
{
	struct tally_thread *thread = thread_of(tally, track);
	struct tally_function *function = function_of(tally, symbol);

	thread->frames = alloc_grow(thread->frames, &thread->room, thread->depth + 1,
				    sizeof(*thread->frames));
	thread->frames[thread->depth++] = (struct tally_frame){ function, time, 0 };
	open_of(thread, function->number)->frames++;
	if (thread->depth > thread->deepest)
		thread->deepest = thread->depth;
	thread->slices++;
	function->calls++;
	thread->calls += symbol->kind != SYMBOL_SPECIAL && symbol->kind != SYMBOL_MARK &&
			 !(flags & SLICE_INFERRED_START);
}

static void pop(struct slice_totals *tally, const struct track *track, uint64_t time)
{
	struct tally_thread *thread = thread_of(tally, track);
	struct tally_frame *frame;
	uint64_t duration;

	if (!thread->depth)
		return;
	frame = &thread->frames[--thread->depth];
	duration = time - frame->begin;
	frame->function->self_ns += duration - frame->callees;
	if (!--open_of(thread, frame->function->number)->frames)
		frame->function->total_ns += duration;
	if (thread->depth)
		thread->frames[thread->depth - 1].callees += duration;
}

static void count_events(const struct slice_sink *sink, void *track,
			 const struct slice_batch *batch)
{
	struct slice_totals *tally = sink->context;

	for (size_t i = 0; i < batch->count; i++) {
		const struct slice_event *event = &batch->events[i];

		if (event->kind == SLICE_BEGIN)
			push(tally, track, event->time, event->symbol, event->flags);
		else if (event->kind == SLICE_END)
			pop(tally, track, event->time);
	}
	tally->next->events(tally->next, track, batch);
}

void slice_totals_init(struct slice_totals *tally, const struct slice_sink *next)
{
	*tally = (struct slice_totals){
		.sink = {
			.events = count_events,
			.context = tally,
			.details = next->details,
			.folded = next->folded,
		},
		.next = next,
		.last = &tally->first,
	};
	arena_init(&tally->arena);
}

void slice_totals_release(struct slice_totals *tally)
{
	for (size_t i = 0; i < tally->thread_count; i++) {
		free(tally->threads[i].frames);
		free(tally->threads[i].open);
	}
	free(tally->threads);
	free(tally->by_name);
	arena_release(&tally->arena);
	*tally = (struct slice_totals){ 0 };
}
