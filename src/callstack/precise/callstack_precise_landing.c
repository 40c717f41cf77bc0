/* SPDX-License-Identifier: MIT */
/* Find the frame that an exception enters, among several of one function. */
#include "src/callstack/precise/callstack_precise_stack.h"
#include "symbols/dso/dso_store.h"

/* Limit of the search for the frame that an exception enters. */
#define LANDING_FRAMES ((size_t)4096)

/* Returns whether an exception that passes through a frame's call lands at `to`. */
static bool call_lands_at(const struct frame *called, const struct location *to)
{
	const struct symbol *caller = called->caller;

	return called->kind == FRAME_CALLED && caller && caller->dso &&
	       caller->dso == to->symbol->dso &&
	       dso_find_landing_pad(caller->dso, caller->start + called->caller_offset) ==
		       to->symbol->start + to->offset;
}

size_t precise_find_handler(struct precise_stack *stack, const struct location *to)
{
	const struct frame_list *now = &stack->now;
	const struct frame *called = NULL;
	size_t least = now->depth > LANDING_FRAMES ? now->depth - LANDING_FRAMES : 0;

	if (location_is_function_entry(to) ||
	    !frame_list_find_function(&stack->now, FRAME_BY_FUNCTION, to->symbol))
		return 0;
	for (size_t i = now->depth; i-- > least;) {
		const struct frame *frame = &now->frames[i];

		/* The call is made by the function around an inlined call. */
		if (frame->kind == FRAME_INLINED)
			continue;
		if (called && same_function(frame->symbol, to->symbol) && call_lands_at(called, to))
			return i + 1;
		called = frame;
	}
	return 0;
}
