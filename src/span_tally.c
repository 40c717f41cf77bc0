/* SPDX-License-Identifier: MIT */
#include "span_tally.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "track.h"

/* Frames per thread that are told apart at once; others are looked for one by one. */
#define OPEN_SLOTS 1024

struct tally_frame {
	struct tally_function *function;
	uint64_t begin, callees; /* ns */
};

static size_t slot_of(const struct tally_function *function)
{
	return function->symbol->name->id % OPEN_SLOTS;
}

static bool is_same(const struct symbol *a, const struct symbol *b)
{
	if (a == b)
		return true;
	/* Each place where the compiler put a function in line has a symbol of its own. */
	return a->dso == b->dso && a->inlined && b->inlined;
}

static struct tally_function *add_function(struct span_tally *tally, const struct symbol *symbol)
{
	struct tally_function *function = arena_alloc(&tally->arena, sizeof(*function));

	function->symbol = symbol;
	function->next_named = tally->by_name[symbol->name->id];
	tally->by_name[symbol->name->id] = function;
	*tally->last = function;
	tally->last = &function->next;
	tally->function_count++;
	return function;
}

static struct tally_function *function_of(struct span_tally *tally, const struct symbol *symbol)
{
	size_t old = tally->name_room;
	struct tally_function *function;

	if (symbol->name->id >= old) {
		tally->by_name = alloc_grow(tally->by_name, &tally->name_room,
					    (size_t)symbol->name->id + 1,
					    sizeof(struct tally_function *));
		memset(tally->by_name + old, 0,
		       (tally->name_room - old) * sizeof(struct tally_function *));
	}
	function = tally->by_name[symbol->name->id];
	while (function && !is_same(function->symbol, symbol))
		function = function->next_named;
	return function ? function : add_function(tally, symbol);
}

static struct tally_thread *thread_of(struct span_tally *tally, const struct track *track)
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
	if (!tally->threads[track->index].open)
		tally->threads[track->index].open = alloc_zeroed(OPEN_SLOTS, sizeof(uint32_t));
	return &tally->threads[track->index];
}

static void push(struct span_tally *tally, const struct track *track, uint64_t time,
		 const struct symbol *symbol, unsigned flags)
{
	struct tally_thread *thread = thread_of(tally, track);
	struct tally_function *function = function_of(tally, symbol);

	thread->frames = alloc_grow(thread->frames, &thread->room, thread->depth + 1,
				    sizeof(*thread->frames));
	thread->frames[thread->depth++] = (struct tally_frame){ function, time, 0 };
	thread->open[slot_of(function)]++;
	if (thread->depth > thread->deepest)
		thread->deepest = thread->depth;
	thread->slices++;
	function->calls++;
	thread->calls += symbol->kind != SYMBOL_SPECIAL && !(flags & SPAN_INFERRED_START);
}

static bool is_open(const struct tally_thread *thread, const struct tally_function *function)
{
	if (!thread->open[slot_of(function)])
		return false;
	for (size_t i = 0; i < thread->depth; i++) {
		if (thread->frames[i].function == function)
			return true;
	}
	return false;
}

static void pop(struct span_tally *tally, const struct track *track, uint64_t time)
{
	struct tally_thread *thread = thread_of(tally, track);
	struct tally_frame *frame;
	uint64_t duration;

	if (!thread->depth)
		return;
	frame = &thread->frames[--thread->depth];
	thread->open[slot_of(frame->function)]--;
	duration = time - frame->begin;
	frame->function->self_ns += duration - frame->callees;
	if (!is_open(thread, frame->function))
		frame->function->total_ns += duration;
	if (thread->depth)
		thread->frames[thread->depth - 1].callees += duration;
}

static void detail(const struct span_sink *sink, void *track, const struct span_detail *detail)
{
	struct span_tally *tally = sink->context;

	tally->next->detail(tally->next, track, detail);
}

static void begin(const struct span_sink *sink, void *track, uint64_t time,
		  const struct symbol *symbol, uint64_t ip, unsigned flags)
{
	struct span_tally *tally = sink->context;

	push(tally, track, time, symbol, flags);
	tally->next->begin(tally->next, track, time, symbol, ip, flags);
}

static void end(const struct span_sink *sink, void *track, uint64_t time,
		const struct symbol *symbol)
{
	struct span_tally *tally = sink->context;

	pop(tally, track, time);
	tally->next->end(tally->next, track, time, symbol);
}

static void complete(const struct span_sink *sink, void *track, uint64_t begin_time,
		     uint64_t end_time, const struct symbol *symbol, unsigned flags)
{
	struct span_tally *tally = sink->context;

	push(tally, track, begin_time, symbol, flags);
	pop(tally, track, end_time);
	tally->next->complete(tally->next, track, begin_time, end_time, symbol, flags);
}

static void instant(const struct span_sink *sink, void *track, uint64_t time, const char *text)
{
	struct span_tally *tally = sink->context;

	tally->next->instant(tally->next, track, time, text);
}

static void segment_end(const struct span_sink *sink, void *track)
{
	struct span_tally *tally = sink->context;

	tally->next->segment_end(tally->next, track);
}

void span_tally_init(struct span_tally *tally, const struct span_sink *next)
{
	*tally = (struct span_tally){
		.sink = {
			.detail = next->detail ? detail : NULL,
			.begin = begin,
			.end = end,
			.complete = complete,
			.instant = instant,
			.segment_end = segment_end,
			.context = tally,
		},
		.next = next,
		.last = &tally->first,
	};
	arena_init(&tally->arena);
}

void span_tally_release(struct span_tally *tally)
{
	for (size_t i = 0; i < tally->thread_count; i++) {
		free(tally->threads[i].frames);
		free(tally->threads[i].open);
	}
	free(tally->threads);
	free(tally->by_name);
	arena_release(&tally->arena);
	*tally = (struct span_tally){ 0 };
}
