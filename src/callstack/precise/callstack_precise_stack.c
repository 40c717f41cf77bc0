/* SPDX-License-Identifier: MIT */
/* Operations on the frames of the precise machine. */
#include "src/callstack/precise/callstack_precise_stack.h"
#include "symbols/dso/dso_store.h"

void precise_set_detail(struct precise_stack *stack, const struct frame *frame)
{
	struct slice_detail *detail;

	if (!stack->group.details) {
		if (frame && !(frame->slice_flags & SLICE_HAS_CAUSE))
			stack->group.events[stack->group.count - 1].ip = frame_site(frame);
		return;
	}
	detail = &stack->group.details[stack->group.count - 1];
	detail->insns = frame ? frame->called_insns : stack->insns;
	detail->branch = stack->base.machine->branch;
	detail->caller = frame ? frame->caller : NULL;
	detail->caller_offset = frame ? frame->caller_offset : 0;
	timestamp_group_set_cycles(&stack->group);
}

void precise_emit_enclosing(struct precise_stack *stack, const struct frame *frame, uint16_t flags)
{
	uint16_t uncertain = frame->slice_flags & SLICE_UNCERTAIN_LEVEL;
	uint16_t continued = frame->slice_flags & SLICE_CONTINUED;
	uint16_t tail = machine_of(stack)->nests ? frame->slice_flags & SLICE_TAIL_CALLED : 0;
	struct slice_event event = { .symbol = frame->symbol,
				     .ip = stack->base.machine->sites ? 0 : frame->entry_ip,
				     .flags = uncertain | continued | tail | flags,
				     .order = SLICE_ORDER_DEFERRED };
	struct slice_detail detail = stack->at_since;

	if (frame->kind == FRAME_CALLED && !flags) {
		detail.caller = frame->caller;
		detail.caller_offset = frame->caller_offset;
	}
	if (stack->watched)
		timestamp_group_infer_watched(&stack->group, &event, &detail);
	else
		timestamp_group_infer(&stack->group, stack->group.since, &event, &detail);
	if (uncertain)
		callstack_count_uncertain(stack->base.machine, stack->group.since);
}

void precise_save_for_undo(struct precise_stack *stack, size_t depth)
{
	while (stack->unchanged > depth)
		*frame_list_add(&stack->undo) = stack->now.frames[--stack->unchanged];
}

bool precise_return_to_call(struct precise_stack *stack, int64_t time, uint64_t ip)
{
	size_t at = frame_list_find(&stack->now, FRAME_BY_RETURN, ip);

	if (at)
		precise_pop_to(stack, time, at - 1);
	return at;
}

void precise_rename(struct precise_stack *stack, const struct symbol *symbol)
{
	if (!timestamp_group_rename(&stack->group, symbol, 0))
		return;
	precise_before_change(stack, stack->now.depth - 1);
	top(stack)->symbol = symbol;
}

void precise_reveal(struct precise_stack *stack, int64_t time)
{
	struct frame *frame = top(stack);

	if (!frame || !frame->hidden || frame->symbol->kind != SYMBOL_PLT)
		return;
	precise_emit_begin(stack, time, frame);
	frame->hidden = false;
}

bool precise_go_back(struct precise_stack *stack, int64_t time, const struct location *to)
{
	struct frame last = *top(stack), *outermost;
	struct frame *frame =
		precise_find_left(top(stack), symbol_function(symbol_of(stack, to)), &outermost);

	if (!frame)
		return false;
	while (top(stack) != frame)
		precise_pop_one(stack, time);
	precise_before_change(stack, stack->now.depth - 1);
	frame_go_back(frame, &last, to->ip);
	return true;
}

void precise_tail_call(struct precise_stack *stack, int64_t time,
		       const struct location_pair *locations)
{
	const struct symbol *to = symbol_of(stack, &locations->to);
	struct frame *frame = top(stack), *outermost = frame;

	if (!machine_of(stack)->nests || !frame_calls_on(frame) ||
	    precise_find_left(frame, symbol_function(to), &outermost) ||
	    frame - outermost >= TAIL_CALLS_MOST - 1) {
		precise_hand_over(stack, time, &locations->to);
		return;
	}
	precise_before_change(stack, stack->now.depth - 1);
	frame_list_add(&stack->now);
	frame_call_on(top(stack) - 1, locations, to, to->kind == SYMBOL_PLT);
	top(stack)->called_insns = stack->insns;
	if (!top(stack)->hidden)
		precise_emit_begin(stack, time, top(stack));
}

void precise_set_since(struct precise_stack *stack, int64_t time)
{
	stack->group.since = time;
	stack->watched = stack->begun_by_jump = false;
	stack->in_stretch = true;
	stack->at_since = (struct slice_detail){
		.insns = stack->insns,
		.cycles = timestamp_group_split(&stack->group, stack->insns),
		.branch = stack->base.machine->branch,
	};
}

void precise_begin_stack(struct precise_stack *stack, int64_t time)
{
	bool watched;

	precise_end_stretch(stack, time);
	watched = timestamp_group_cut(&stack->group, time, precise_insns(stack));
	precise_set_since(stack, time);
	stack->watched = watched;
}

void precise_end_frames(struct precise_stack *stack, int64_t time)
{
	precise_pop_to(stack, time, 0);
	if (stack->group.since < stack->group.settled)
		precise_begin_stack(stack, time);
}

void precise_infer_root(struct precise_stack *stack, const struct location *location)
{
	struct frame frame = { .symbol = symbol_of(stack, location),
			       .entry_ip = location->ip,
			       .kind = FRAME_INFERRED };

	if (stack->group.since < stack->group.settled)
		precise_begin_stack(stack, stack->last_time);
	precise_forget_candidates(stack);
	precise_emit_enclosing(stack, &frame, SLICE_INFERRED_START);
	stack->first = frame.symbol;
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
		callstack_count_uncertain(stack->base.machine, stack->group.since);
}

void precise_enter_unseen(struct precise_stack *stack, int64_t time, const struct location *to)
{
	size_t root = 0;
	bool here;

	while (frame_is_left(&stack->now, root))
		root++;
	here = same_function(stack->now.frames[root].symbol, symbol_of(stack, to));
	if (!stack->root_number) {
		/* The root's slice can no longer be marked: start a new stack. */
		precise_pop_to(stack, time, 0);
		precise_begin_stack(stack, time);
		precise_infer_root(stack, to);
		return;
	}
	precise_pop_to(stack, time, here ? root + 1 : 0);
	if (!here)
		precise_infer_root(stack, to);
	precise_mark_level(stack);
}

/* Limit of the search for an exception's or longjmp()'s frame. */
#define UNWINDER_FRAMES 64

bool precise_unwinds(const struct precise_stack *stack)
{
	const struct frame_list *now = &stack->now;
	size_t least = now->depth > UNWINDER_FRAMES ? now->depth - UNWINDER_FRAMES : 0;

	for (size_t i = now->depth; i-- > least;) {
		const struct frame *frame = &now->frames[i];
		bool named = frame->kind == FRAME_INFERRED || i == now->depth - 1;

		if (frame_is_left(now, i))
			continue;
		if ((named && location_unwinds(frame->symbol->name)) ||
		    (frame->kind == FRAME_CALLED && !frame->return_ip))
			return true;
	}
	return false;
}

/* ---- Exceptions ---------------------------------------------------------- */

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

size_t precise_find_landing(struct frame_list *list, size_t depth, const struct location *to)
{
	const struct frame *called = depth < list->depth ? &list->frames[depth] : NULL;
	size_t least = depth > LANDING_FRAMES ? depth - LANDING_FRAMES : 0;

	if (location_is_function_entry(to) ||
	    !frame_list_find_function(list, FRAME_BY_FUNCTION, to->symbol))
		return 0;
	for (size_t i = depth; i-- > least;) {
		const struct frame *frame = &list->frames[i];

		/* The caller is the function that contains an inlined call. */
		if (frame->kind == FRAME_INLINED)
			continue;
		if (called && !frame_is_left(list, i) && same_function(frame->symbol, to->symbol) &&
		    call_lands_at(called, to))
			return i + 1;
		called = frame;
	}
	return 0;
}

size_t precise_find_handler(struct precise_stack *stack, const struct location *to)
{
	size_t at = precise_find_landing(&stack->now, stack->now.depth, to);

	/* An exception leaves the frames that are known of the stack. */
	if (!at && !location_is_function_entry(to) && precise_unwinds(stack) &&
	    precise_land_on_parked(stack, to))
		at = precise_find_landing(&stack->now, stack->now.depth, to);
	return at;
}

/* ---- setjmp ---------------------------------------------------------------- */

void precise_remember_setjmp(struct precise_stack *stack)
{
	struct jump_points *jumps = &stack->jumps;
	const struct frame *frame = top(stack);
	size_t depth = frame_list_around(&stack->now, stack->now.depth);
	const struct frame *caller = depth ? &stack->now.frames[depth - 1] : NULL;

	struct jump_point point = { .return_ip = frame->return_ip,
				    .return_slack = frame->return_slack };
	const struct jump_point *last;

	if (depth > 1 && caller->kind == FRAME_CALLED &&
	    location_is_bare(frame->caller, frame->caller_offset)) {
		point.bare = caller->symbol;
		point.bare_return_ip = caller->return_ip;
		depth = frame_list_around(&stack->now, depth);
	}
	point.function = depth ? stack->now.frames[depth - 1].symbol : NULL;
	point.depth = depth;
	/* A loop must not displace the others. */
	last = &jumps->points[(jumps->next - 1) % JUMP_POINTS];
	if (jumps->next && last->return_ip == point.return_ip && last->depth == depth &&
	    last->function == point.function)
		jumps->next--;
	jumps->points[jumps->next++ % JUMP_POINTS] = point;
}

/* Returns whether the frame that called setjmp() seems to be active. */
static bool is_alive(const struct jump_point *point, const struct frame_list *list)
{
	const struct frame *caller;

	if (!point->return_ip || point->depth > list->depth)
		return false;
	caller = point->function ? &list->frames[point->depth - 1] : NULL;
	return !caller || caller->kind == FRAME_INLINED ||
	       (same_function(caller->symbol, point->function) &&
		!frame_is_left(list, point->depth - 1));
}

/* Returns the innermost setjmp() (`last`: the last, or NULL) that returns to ip; NULL: none. */
static const struct jump_point *find_point(const struct jump_points *jumps,
					   const struct frame_list *list, uint64_t ip, bool last)
{
	for (unsigned i = 1; i <= JUMP_POINTS && i <= jumps->next; i++) {
		const struct jump_point *point = &jumps->points[(jumps->next - i) % JUMP_POINTS];

		if (!is_alive(point, list))
			continue;
		if (ip - point->return_ip <= point->return_slack)
			return point;
		if (last)
			break;
	}
	return NULL;
}

size_t precise_find_setjmp(const struct jump_points *jumps, const struct frame_list *list,
			   uint64_t ip, bool last)
{
	const struct jump_point *point = find_point(jumps, list, ip, last);

	return point ? point->depth + 1 : 0;
}

/* Returns whether a setjmp() that returns to ip is known; `*alive`: its caller seems to be active.
 */
static bool knows_setjmp(const struct jump_points *jumps, const struct frame_list *list,
			 uint64_t ip, bool *alive)
{
	for (unsigned i = 0; i < JUMP_POINTS && i < jumps->next; i++) {
		const struct jump_point *point = &jumps->points[i];

		*alive = is_alive(point, list);
		if (point->return_ip && ip - point->return_ip <= point->return_slack)
			return true;
	}
	return false;
}

bool precise_setjmp_ended(const struct precise_stack *stack, uint64_t ip)
{
	size_t root = 0;
	bool alive;

	if (knows_setjmp(&stack->jumps, &stack->now, ip, &alive))
		return !alive;
	while (frame_is_left(&stack->now, root))
		root++;
	/* An unseen caller can have called it. */
	if (precise_has_unseen_callers(stack) && !stack->candidates &&
	    !(stack->now.frames[root].roles & FRAME_SWITCHED_TO))
		return false;
	for (size_t i = 0; i < stack->pool->count; i++) {
		const struct parked_stack *parked = &stack->pool->parked[i];

		if (parked->frames.depth &&
		    knows_setjmp(&parked->jumps, &parked->frames, ip, &alive) && !alive)
			return true;
	}
	return false;
}

bool precise_return_to_setjmp(struct precise_stack *stack, int64_t time, uint64_t ip)
{
	const struct jump_point *point = find_point(&stack->jumps, &stack->now, ip, false);

	if (!point)
		return false;
	precise_pop_to(stack, time, point->depth);
	if (point->bare)
		precise_push(stack, time,
			     &(struct frame){ .symbol = point->bare,
					      .caller = top(stack)->symbol,
					      .return_ip = point->bare_return_ip,
					      .entry_ip = ip,
					      .kind = FRAME_CALLED,
					      .jumped = true,
					      .hidden = true });
	return true;
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
