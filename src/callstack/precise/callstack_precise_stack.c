/* SPDX-License-Identifier: MIT */
/* Operations on the frames of the precise machine. */
#include "src/callstack/precise/callstack_precise_stack.h"

#include <string.h>

void precise_add_begin(struct precise_stack *stack, int64_t time, const struct frame *frame)
{
	struct slice_event event = { .symbol = frame->symbol,
				     .ip = precise_slice_ip(frame),
				     .kind = SLICE_BEGIN,
				     .flags = frame->slice_flags };
	struct slice_detail detail = { .insns = frame->called.insns,
				       .cycles = frame->called.cycles,
				       .caller = frame->caller,
				       .caller_offset = frame->caller_offset };

	timestamp_group_add(&stack->group, time, &event, &detail);
}

void precise_add_end(struct precise_stack *stack, int64_t time, const struct frame *frame)
{
	struct slice_event event = { .symbol = frame->symbol, .kind = SLICE_END };
	struct slice_detail detail = { .insns = stack->counts.insns,
				       .cycles = stack->counts.cycles };

	timestamp_group_add(&stack->group, time, &event, &detail);
}

void precise_emit_inferred(struct precise_stack *stack, const struct frame *frame)
{
	struct slice_event event = { .symbol = frame->symbol,
				     .ip = frame->entry_ip,
				     .flags = frame->slice_flags & SLICE_UNCERTAIN_LEVEL,
				     .order = SLICE_ORDER_DEFERRED };
	struct slice_detail detail = { .insns = stack->counts_since.insns,
				       .cycles = stack->counts_since.cycles };

	timestamp_group_infer(&stack->group, stack->since, &event, &detail);
	stack->base.machine->uncertain_levels += event.flags != 0;
}

void precise_save_for_undo(struct precise_stack *stack, size_t depth)
{
	while (stack->unchanged > depth)
		*frame_list_add(&stack->undo) = stack->now.frames[--stack->unchanged];
}

void precise_reveal(struct precise_stack *stack, int64_t time)
{
	struct frame *frame = top(stack);

	if (frame && frame->hidden)
		precise_emit_begin(stack, time, frame);
	if (frame)
		frame->hidden = false;
}

void precise_set_since(struct precise_stack *stack, int64_t time)
{
	stack->since = time;
	stack->counts_since = stack->counts;
}

/* Begin an empty stack: later events have nothing to do with the frames so far. */
static void begin_stack(struct precise_stack *stack, int64_t time)
{
	timestamp_group_flush(&stack->group, time);
	precise_set_since(stack, time);
}

void precise_end_frames(struct precise_stack *stack, int64_t time)
{
	precise_pop_to(stack, time, 0);
	if (stack->since < stack->settled)
		begin_stack(stack, time);
}

void precise_infer_root(struct precise_stack *stack, const struct location *location)
{
	struct frame frame = { .symbol = symbol_of(stack, location),
			       .entry_ip = location->ip,
			       .kind = FRAME_INFERRED };

	if (stack->since < stack->settled)
		begin_stack(stack, stack->last_time);
	precise_emit_inferred(stack, &frame);
	stack->root_number = stack->group.outer.count;
	*frame_list_add(&stack->now) = frame;
}

/* ---- Levels that the trace does not show --------------------------------- */

void precise_mark_level(struct precise_stack *stack)
{
	struct frame *root = stack->now.frames;

	if (!precise_has_unseen_callers(stack) || root->slice_flags & SLICE_UNCERTAIN_LEVEL)
		return;
	root->slice_flags |= SLICE_UNCERTAIN_LEVEL;
	if (timestamp_group_mark_uncertain(&stack->group, stack->root_number))
		stack->base.machine->uncertain_levels++;
}

void precise_enter_unseen(struct precise_stack *stack, int64_t time, const struct location *to)
{
	bool here = same_function(stack->now.frames[0].symbol, symbol_of(stack, to));

	if (!stack->root_number) {
		/* The root's slice cannot be marked any more: what follows encloses nothing. */
		precise_pop_to(stack, time, 0);
		begin_stack(stack, time);
		precise_infer_root(stack, to);
		return;
	}
	precise_pop_to(stack, time, here);
	if (!here)
		precise_infer_root(stack, to);
	precise_mark_level(stack);
}

/* Innermost frames that may be of an exception or longjmp(). */
#define UNWINDER_FRAMES 64

bool precise_unwinds(const struct precise_stack *stack)
{
	const struct frame_list *now = &stack->now;
	size_t least = now->depth > UNWINDER_FRAMES ? now->depth - UNWINDER_FRAMES : 0;

	for (size_t i = now->depth; i-- > least;) {
		const struct frame *frame = &now->frames[i];
		bool inferred = frame->kind == FRAME_INFERRED;

		if (inferred ? location_unwinds(frame->symbol->name)
			     : frame->kind == FRAME_CALLED && !frame->return_ip)
			return true;
	}
	return false;
}

/* ---- Other stacks -------------------------------------------------------- */

/* Move the list of frames instead of copying it: it may be long, and keeps its index. */
static void switch_out(struct precise_stack *stack, int64_t time)
{
	struct frame_list *slot = &stack->switched_out[stack->next_switched_out++ % STACKS_MAX];
	struct frame_list freed = *slot;

	stack->has_root = false;
	stack->root_number = 0;
	for (size_t i = stack->now.depth; i-- > 0;) {
		if (!stack->now.frames[i].hidden)
			precise_emit_end(stack, time, &stack->now.frames[i]);
	}
	if (stack->unchanged)
		precise_save_for_undo(stack, 0);
	frame_list_clear(&freed);
	*slot = stack->now;
	stack->now = freed;
}

/* Resume a stack, of which the frame at `at - 1` returns. */
static void switch_in(struct precise_stack *stack, int64_t time, struct frame_list *slot, size_t at)
{
	begin_stack(stack, time);
	for (size_t i = 0; i + 1 < at; i++)
		precise_push(stack, time, &slot->frames[i]);
	frame_list_clear(slot);
}

void precise_switch_stack(struct precise_stack *stack, int64_t time, const struct location *to)
{
	struct frame_list *slot = NULL;
	size_t at = 0;

	/* Stacks that were left at the same place look the same: the one left first comes first. */
	for (unsigned i = 0; i < STACKS_MAX && !at; i++) {
		slot = &stack->switched_out[(stack->next_switched_out + i) % STACKS_MAX];
		at = frame_list_find(slot, FRAME_BY_RETURN, to->ip);
	}
	if (at) {
		struct frame_list found = *slot;

		*slot = (struct frame_list){ .resume = found.resume };
		switch_out(stack, time);
		switch_in(stack, time, &found, at);
		frame_list_release(&found);
		return;
	}
	switch_out(stack, time);
	begin_stack(stack, time);
	precise_infer_root(stack, to);
}

void precise_forget_stacks(struct precise_stack *stack)
{
	for (unsigned i = 0; i < STACKS_MAX; i++)
		frame_list_clear(&stack->switched_out[i]);
	memset(stack->jumps, 0, sizeof(stack->jumps));
}

void precise_remember_setjmp(struct precise_stack *stack)
{
	const struct frame *frame = top(stack);

	stack->jumps[stack->next_jump++ % JUMP_POINTS] =
		(struct jump_point){ frame->return_ip, stack->now.depth - 1, frame->return_slack };
}

bool precise_return_to_setjmp(struct precise_stack *stack, int64_t time, uint64_t ip)
{
	for (unsigned i = 1; i <= JUMP_POINTS && i <= stack->next_jump; i++) {
		const struct jump_point *point =
			&stack->jumps[(stack->next_jump - i) % JUMP_POINTS];

		if (!point->return_ip || ip - point->return_ip > point->return_slack ||
		    point->depth > stack->now.depth)
			continue;
		precise_pop_to(stack, time, point->depth);
		return true;
	}
	return false;
}

/* ---- Transactions -------------------------------------------------------- */

void precise_begin_transaction(struct precise_stack *stack)
{
	stack->undo.depth = 0;
	stack->unchanged = stack->now.depth;
	stack->in_tx = true;
}

void precise_end_transaction(struct precise_stack *stack)
{
	stack->undo.depth = 0;
	stack->unchanged = 0;
	stack->in_tx = false;
}

void precise_roll_back(struct precise_stack *stack, int64_t time)
{
	if (!stack->in_tx || stack->unchanged + stack->undo.depth == 0)
		return;
	precise_pop_to(stack, time, stack->unchanged);
	while (stack->undo.depth)
		precise_push(stack, time, &stack->undo.frames[--stack->undo.depth]);
	precise_end_transaction(stack);
	stack->rolled_back = true;
}
